"""The LiteLLM proxy in front of llama.cpp."""

from tests.servers.environment import Environment
from tests.servers.families import GLM_4_7, QWEN3, READ_NOTHING
from tests.servers.recipe import Launch, Recipe

SERVE = """
import json, os, sys
root, port, name = sys.argv[1:]
parameters = {'model': 'openai/' + name, 'api_base': root + '/v1', 'api_key': 'unused'}
with open('litellm.json', 'w') as file:
    json.dump({'model_list': [{'model_name': name, 'litellm_params': parameters}]}, file)
proxy = os.path.join(os.path.dirname(sys.executable), 'litellm')
os.execv(proxy, [proxy, '--config', 'litellm.json', '--host', '127.0.0.1', '--port', port])
"""


def install(environment: Environment) -> None:
    environment.pip('install', 'litellm[proxy]')


def command(launch: Launch) -> list[str]:
    return [str(launch.environment.python), '-c', SERVE, launch.behind, str(launch.port), launch.name]


RECIPE = Recipe(
    name='litellm',
    install=install,
    distribution='litellm',
    families=(GLM_4_7, QWEN3),
    command=command,
    format='gguf',
    variables={'LITELLM_LOCAL_MODEL_COST_MAP': 'True', 'LITELLM_MASTER_KEY': 'sk-loopback'},
    ready='/health/liveliness',
    behind='llama.cpp',
    key='sk-loopback',
    misreads={GLM_4_7.name: READ_NOTHING},
)
