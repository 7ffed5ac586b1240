"""mlx-lm's server, on Linux's CPU."""

from tests.servers.environment import Environment
from tests.servers.families import GLM_4_7, QWEN3, READ_GLUED
from tests.servers.recipe import Launch, Recipe


def install(environment: Environment) -> None:
    environment.pip('install', 'mlx[cpu]', 'mlx-lm')


def command(launch: Launch) -> list[str]:
    return [
        *(launch.environment.command('mlx_lm.server'), '--model', launch.model.name),
        *('--host', '127.0.0.1', '--port', str(launch.port)),
    ]


RECIPE = Recipe(
    name='mlx-lm',
    install=install,
    distribution='mlx-lm',
    families=(QWEN3, GLM_4_7),
    command=command,
    misreads={QWEN3.name: READ_GLUED, GLM_4_7.name: READ_GLUED},
)
