"""`transformers serve`."""

from tests.servers.environment import Environment
from tests.servers.families import QWEN3
from tests.servers.recipe import Launch, Recipe


def install(environment: Environment) -> None:
    environment.pip('install', 'torch==2.13.0')
    environment.pip('install', 'transformers[serving]==5.24.*', 'accelerate')


def command(launch: Launch) -> list[str]:
    return [
        *(launch.environment.command('transformers'), 'serve', '--host', '127.0.0.1', '--port', str(launch.port)),
        *('--device', 'cpu', '--dtype', 'float32'),
    ]


RECIPE = Recipe(
    name='transformers',
    install=install,
    distribution='transformers',
    families=(QWEN3,),
    command=command,
)
