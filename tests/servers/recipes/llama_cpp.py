"""llama.cpp's own HTTP server, run in process by the xllamacpp wheel."""

from tests.servers.environment import Environment
from tests.servers.families import DEEPSEEK_V3_1, GLM_4_7, GPT_OSS, KIMI_K2, MINIMAX_M2, QWEN3, READ_GLUED, READ_NOTHING
from tests.servers.recipe import Launch, Recipe

SERVE = """
import sys, time, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port = sys.argv[1], int(sys.argv[2])
parameters.model_alias = {sys.argv[3]}
parameters.hostnames = ['127.0.0.1']
parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 8192, 1, 2
parameters.use_jinja, parameters.fit_params = True, False
server = xllamacpp.Server(parameters)
while True:
    time.sleep(60)
"""


def install(environment: Environment) -> None:
    environment.pip('install', 'xllamacpp==2026.10.11549')


def command(launch: Launch) -> list[str]:
    return [str(launch.environment.python), '-c', SERVE, launch.model.name, str(launch.port), launch.name]


RECIPE = Recipe(
    name='llama.cpp',
    install=install,
    distribution='xllamacpp',
    families=(GLM_4_7, QWEN3, DEEPSEEK_V3_1, KIMI_K2, MINIMAX_M2, GPT_OSS),
    command=command,
    format='gguf',
    misreads={GLM_4_7.name: READ_NOTHING, KIMI_K2.name: READ_GLUED},
    healed=frozenset({GLM_4_7.name, KIMI_K2.name}),
)
