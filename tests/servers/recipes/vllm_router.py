"""vLLM's router in front of llama.cpp."""

from tests.servers.environment import Environment
from tests.servers.families import GLM_4_7, QWEN3, READ_NOTHING
from tests.servers.recipe import Launch, Recipe


def install(environment: Environment) -> None:
    environment.pip('install', 'vllm-router')


def command(launch: Launch) -> list[str]:
    return [
        *(launch.environment.command('vllm-router'), '--worker-urls', launch.behind),
        *('--host', '127.0.0.1', '--port', str(launch.port)),
    ]


RECIPE = Recipe(
    name='vllm-router',
    install=install,
    distribution='vllm-router',
    families=(GLM_4_7, QWEN3),
    command=command,
    format='gguf',
    behind='llama.cpp',
    misreads={GLM_4_7.name: READ_NOTHING},
    healed=frozenset({GLM_4_7.name}),  # it forwards the questions that llama.cpp answers
)
