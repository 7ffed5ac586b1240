"""L1 and L2: a model string to a model, and other packages' prefixes from real distributions."""

import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import UserError

from pydantic_ai_verbatim import OpenAICompatibleModel, infer_model, registry
from pydantic_ai_verbatim.errors import BrokenEntryPointError, PrefixConflictError
from tests.wire import Wire

PREFIXES = ['copilot', 'deepseek', 'grok', 'lm-studio', 'openai-chat', 'openrouter', 'perplexity', 'zen']


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """The entry points of the group, as if just these were installed."""
    entry_points: list[EntryPoint] = []

    def listed(group: str) -> list[EntryPoint]:
        assert group == 'pydantic_ai_verbatim.models'
        return entry_points

    monkeypatch.setattr(registry, 'entry_points', listed)
    registry._claims.cache_clear()
    yield entry_points
    registry._claims.cache_clear()


def entry_point(prefix: str, value: str) -> EntryPoint:
    return EntryPoint(prefix, value, registry.GROUP)


def test_our_own_prefixes_are_entry_points_too() -> None:
    assert registry.prefixes() == PREFIXES


@pytest.mark.parametrize('model_id', ['nobody:x', 'nobody', ':', '', 'gateway/openai:x'])
def test_what_nobody_declares_is_left_to_upstream(model_id: str) -> None:
    assert registry.find(model_id) is None


@pytest.mark.parametrize('model_id', ['nobody:x', 'gpt-nobody'])
def test_an_unknown_string_is_answered_as_upstream_answers_it(model_id: str) -> None:
    with pytest.raises(UserError, match=f'Unknown model: {model_id}'):
        infer_model(model_id)


def test_a_model_name_may_hold_colons_and_slashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_BASE_URL', 'http://127.0.0.1:8000/v1')
    assert infer_model('openai-chat:zai-org/GLM-5:free').model_name == 'zai-org/GLM-5:free'


def test_two_packages_claiming_one_prefix_are_both_named(installed: list[EntryPoint]) -> None:
    installed += [entry_point('mine', 'one:make'), entry_point('mine', 'two:make')]
    with pytest.raises(PrefixConflictError, match=r"'mine:' is claimed by .*one:make.* and by .*two:make") as raised:
        infer_model('mine:x')
    assert raised.value.prefix == 'mine'
    assert len(raised.value.claims) == 2


def test_a_package_seen_twice_on_the_path_claims_once(installed: list[EntryPoint]) -> None:
    installed += [entry_point('mine', 'tests.test_registry:make_model')] * 2
    assert infer_model('mine:x').model_name == 'mine/x'


@pytest.mark.parametrize(
    'value', ['no_such_module:make', 'tests.test_registry:no_such_name', 'tests.broken:make', 'json']
)
def test_a_broken_entry_point_is_reported_when_its_prefix_is_asked_for(installed: list[EntryPoint], value: str) -> None:
    installed += [entry_point('broken', value), entry_point('mine', 'tests.test_registry:make_model')]
    assert infer_model('mine:x').model_name == 'mine/x'
    with pytest.raises(BrokenEntryPointError, match=f"'broken:' comes from .*{value}") as raised:
        infer_model('broken:x')
    assert (raised.value.__cause__ is None) is (value == 'json')  # a module that loads, and is no factory


def make_model(model_name: str, *, provider: Any = None) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(f'mine/{model_name}', provider=provider or Wire().provider())


# Real distributions --------------------------------------------------------------------------------------------------

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "1"

[project.entry-points."pydantic_ai_verbatim.models"]
{entry_points}
"""

MODULE = """
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai_verbatim import OpenAICompatibleModel

def my_gateway_model(model_name, *, provider=None):
    provider = provider or OpenAICompatibleProvider('my-gateway', base_url='https://gateway.example.com/v1')
    return OpenAICompatibleModel(model_name, provider=provider)
"""

QUESTIONS = """
import json, sys
from pydantic_ai import Agent
from pydantic_ai_verbatim import infer_model, install

def ask(model_id):
    try:
        model = infer_model(model_id)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return [type(model).__name__, model.system, model.base_url]

answers = {model_id: ask(model_id) for model_id in ("my-gateway:x", "broken:x", "grok:x", "lm-studio:x")}
install()
answers["agent"] = Agent("my-gateway:x").model.system
print(json.dumps(answers))
"""


def distribution(folder: Path, name: str, entry_points: str) -> Path:
    module = name.replace('-', '_')
    (folder / name / module).mkdir(parents=True)
    (folder / name / 'pyproject.toml').write_text(PYPROJECT.format(name=name, entry_points=entry_points))
    (folder / name / module / '__init__.py').write_text(MODULE)
    return folder / name


def test_other_packages_add_prefixes(tmp_path: Path) -> None:
    """Two distributions are built and installed beside ours: one adds a prefix, one is broken and claims one of ours."""
    gateway = distribution(tmp_path, 'my-package', 'my-gateway = "my_package:my_gateway_model"')
    rival = distribution(tmp_path, 'rival', 'broken = "rival.missing:make"\ngrok = "rival:my_gateway_model"')
    environment = tmp_path / 'env'
    python = environment / 'bin' / 'python'
    run(sys.executable, '-m', 'venv', '--without-pip', environment)
    [packages] = environment.glob('lib/python*/site-packages')
    (packages / 'beside.pth').write_text(f'import site; site.addsitedir({sysconfig.get_path("purelib")!r})\n')
    uv = Path(sys.executable).with_name('uv')
    run(uv, 'pip', 'install', '-q', '--python', python, '--no-deps', '--no-build-isolation', gateway, rival)
    answers = json.loads(run(python, '-c', QUESTIONS))
    assert answers['my-gateway:x'] == ['OpenAICompatibleModel', 'my-gateway', 'https://gateway.example.com/v1/']
    assert answers['agent'] == 'my-gateway'
    assert answers['lm-studio:x'][:2] == ['OpenAICompatibleModel', 'lm-studio']
    assert answers['broken:x'][0] == 'BrokenEntryPointError'
    assert 'rival (rival.missing:make)' in answers['broken:x'][1]
    assert answers['grok:x'][0] == 'PrefixConflictError'
    assert 'pydantic-ai-verbatim (pydantic_ai_verbatim.prefixes:grok)' in answers['grok:x'][1]
    assert 'rival (rival:my_gateway_model)' in answers['grok:x'][1]


def run(*command: object) -> str:
    """Run a command and give what it printed."""
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout
