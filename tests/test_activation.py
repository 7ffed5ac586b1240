"""L1 and L2: the ways to make model strings ours, and that no client is left open."""

import asyncio
import gc
import importlib.util
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import pydantic_ai.models
import pydantic_ai.models.fallback
import pydantic_ai.models.wrapper
import pytest
import yaml
from pydantic_ai import Agent, direct
from pydantic_ai.capabilities import SelectModel
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel

from pydantic_ai_verbatim import OpenAICompatibleModel, Verbatim, infer_model, install, uninstall
from pydantic_ai_verbatim.errors import PatchConflictError
from tests.wire import Wire, answer, calls_a_tool_then_answers

pytestmark = pytest.mark.anyio

UPSTREAM = pydantic_ai.models.infer_model


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    uninstall()
    assert pydantic_ai.models.infer_model is UPSTREAM


class ClientsWire(Wire):
    """A wire that every HTTP client goes to that pydantic-ai makes, and that sees whether they are closed."""

    def __init__(self) -> None:
        super().__init__(calls_a_tool_then_answers)
        self.clients: list[httpx2.AsyncClient] = []

    def make_client(self, **_: Any) -> httpx2.AsyncClient:
        self.clients.append(httpx2.AsyncClient(transport=self.client._transport))
        return self.clients[-1]

    @property
    def open_clients(self) -> list[httpx2.AsyncClient]:
        """Clients that sent something and were not closed."""
        return [client for client in self.clients if client._state.name == 'OPENED']


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> ClientsWire:
    wire = ClientsWire()
    monkeypatch.setattr('pydantic_ai.providers._openai_compatible.create_async_httpx2_client', wire.make_client)
    monkeypatch.setenv('OPENAI_BASE_URL', 'https://llm.example.com/v1')
    return wire


def agent_with_a_list_tool(model: Any, **options: Any) -> Agent:
    agent = Agent(model, **options)

    @agent.tool_plain
    def search() -> list[str]:
        return ['a', 'b']

    return agent


NATIVE = [{'type': 'text', 'text': 'a'}, {'type': 'text', 'text': 'b'}]


# The capability ------------------------------------------------------------------------------------------------------


async def test_the_capability_resolves_a_model_string(wire: ClientsWire) -> None:
    agent = agent_with_a_list_tool('openai-chat:glm-5', capabilities=[Verbatim()])
    assert (await agent.run('hi')).output == 'ok'
    assert wire.messages[-1]['content'] == NATIVE
    assert wire.open_clients == []


async def test_the_capability_resolves_the_model_of_a_run(wire: ClientsWire) -> None:
    agent = agent_with_a_list_tool(TestModel(), capabilities=[Verbatim()])
    await agent.run('hi', model='openai-chat:glm-5')
    with agent.override(model='openai-chat:glm-5'):
        async with agent.run_stream('hi') as result:
            assert await result.get_output() == 'ok'
    assert [body['messages'][-1]['content'] for body in wire.bodies] == ['hi', NATIVE, 'hi', NATIVE]
    assert wire.open_clients == []


async def test_a_model_selected_in_the_middle_of_a_run_is_closed_with_it(wire: ClientsWire) -> None:
    names = iter(['openai-chat:first', 'openai-chat:second'])
    agent = agent_with_a_list_tool(None, capabilities=[SelectModel(lambda _: next(names)), Verbatim()])
    assert (await agent.run('hi')).output == 'ok'
    assert [body['model'] for body in wire.bodies] == ['first', 'second']
    assert wire.open_clients == []


async def test_the_capability_leaves_what_it_does_not_know_to_upstream() -> None:
    assert (await Agent('test', capabilities=[Verbatim()]).run('hi')).output == 'success (no tool calls)'
    with pytest.raises(UserError, match='Unknown model: nobody:x'):
        await Agent('nobody:x', capabilities=[Verbatim()]).run('hi')


async def test_the_capability_in_a_yaml_spec(wire: ClientsWire) -> None:
    wire.respond = answer
    spec = yaml.safe_load('model: openai-chat:glm-5\ncapabilities: [Verbatim]')
    agent = Agent.from_spec(spec, custom_capability_types=[Verbatim])
    assert (await agent.run('hi')).output == 'ok'
    assert wire.bodies[-1]['model'] == 'glm-5'
    assert wire.open_clients == []


async def test_fifty_runs_one_after_another_leave_no_client_open(wire: ClientsWire) -> None:
    agent = agent_with_a_list_tool('openai-chat:glm-5', capabilities=[Verbatim()])
    for _ in range(50):
        await agent.run('hi')
    assert len(wire.bodies) == 100
    assert wire.open_clients == []


async def test_fifty_concurrent_runs_share_a_model_and_the_last_one_closes_it(wire: ClientsWire) -> None:
    agent = agent_with_a_list_tool('openai-chat:glm-5', capabilities=[Verbatim()])
    outputs = await asyncio.gather(*(agent.run('hi') for _ in range(50)))
    assert {result.output for result in outputs} == {'ok'}
    assert len(wire.clients) == 1
    assert wire.open_clients == []


def test_two_event_loops(wire: ClientsWire) -> None:
    agent = agent_with_a_list_tool('openai-chat:glm-5', capabilities=[Verbatim()])

    async def several() -> None:
        await asyncio.gather(*(agent.run('hi') for _ in range(5)))

    asyncio.run(several())
    asyncio.run(several())
    gc.collect()
    assert wire.open_clients == []


def test_two_event_loops_at_once(wire: ClientsWire) -> None:
    """Each has models of its own: neither a client nor its lock can be shared."""
    agent = agent_with_a_list_tool('openai-chat:glm-5', capabilities=[Verbatim()])

    async def several() -> list[str]:
        return [result.output for result in await asyncio.gather(*(agent.run('hi') for _ in range(3)))]

    with ThreadPoolExecutor(4) as threads:
        running = [threads.submit(asyncio.run, several()) for _ in range(4)]
    assert [loop.result() for loop in running] == [['ok'] * 3] * 4
    gc.collect()
    assert wire.open_clients == []


async def test_a_run_begun_in_the_background_keeps_no_client_open(wire: ClientsWire) -> None:
    """It inherits the context of a run that has ended."""
    inner = agent_with_a_list_tool('openai-chat:inner', capabilities=[Verbatim()])
    outer = Agent('openai-chat:outer', capabilities=[Verbatim()])
    background: list[asyncio.Task[Any]] = []
    begin = asyncio.Event()

    async def later() -> str:
        await begin.wait()
        return (await inner.run('hi')).output

    @outer.tool_plain
    async def search() -> list[str]:
        background.append(asyncio.create_task(later()))
        return []

    await outer.run('hi')
    begin.set()
    assert await background[0] == 'ok'
    assert wire.open_clients == []


async def test_a_run_that_fails_closes_its_client_too(wire: ClientsWire) -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(401, json={'error': {'message': 'no'}})

    wire.respond = refuse
    with pytest.raises(Exception, match='401'):
        await Agent('openai-chat:glm-5', capabilities=[Verbatim()]).run('hi')
    assert wire.open_clients == []


# The patch -----------------------------------------------------------------------------------------------------------


async def test_after_install_every_string_is_ours(wire: ClientsWire) -> None:
    install()
    agent = agent_with_a_list_tool('openai-chat:glm-5')
    assert isinstance(agent.model, OpenAICompatibleModel)
    async with agent:
        await agent.run('hi')
        await agent.run('hi', model='openai-chat:kimi-k3')
    assert [body['model'] for body in wire.bodies[::2]] == ['glm-5', 'kimi-k3']
    assert all(body['messages'][-1]['content'] == NATIVE for body in wire.bodies[1::2])
    assert wire.open_clients == []


async def test_after_install_overrides_fallbacks_direct_requests_and_specs(
    wire: ClientsWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENCODE_API_KEY', 'zen-key')
    install()
    agent = agent_with_a_list_tool(TestModel())
    with agent.override(model='openai-chat:qwen3'):
        await agent.run('hi')
    assert wire.messages[-1]['content'] == NATIVE
    fallback = FallbackModel('zen:glm-5', 'openai-chat:glm-5')
    assert [type(model) for model in fallback.models] == [OpenAICompatibleModel, OpenAICompatibleModel]
    response = await direct.model_request('openai-chat:glm-5', [])
    assert isinstance(Agent.from_spec({'model': 'openai-chat:glm-5'}).model, OpenAICompatibleModel)
    assert response.text is not None or response.tool_calls


async def test_fifty_runs_after_install_leave_no_client_open(wire: ClientsWire) -> None:
    install()
    agent = agent_with_a_list_tool(TestModel())
    for _ in range(25):
        await agent.run('hi', model='openai-chat:glm-5')
    await asyncio.gather(*(agent.run('hi', model='openai-chat:glm-5') for _ in range(25)))
    assert wire.open_clients == []


def test_install_is_idempotent_and_uninstall_restores() -> None:
    uninstall()
    install()
    install()
    holders = [pydantic_ai.models, pydantic_ai.models.wrapper, pydantic_ai.models.fallback]
    assert {getattr(module, 'infer_model', None) for module in holders} != {UPSTREAM}
    assert pydantic_ai.models.wrapper.infer_model is pydantic_ai.models.infer_model
    uninstall()
    uninstall()
    assert pydantic_ai.models.infer_model is pydantic_ai.models.wrapper.infer_model is UPSTREAM


def test_a_module_that_took_the_patched_function_gets_upstreams_back(monkeypatch: pytest.MonkeyPatch) -> None:
    install()
    late: Any = ModuleType('late')
    late.infer_model = pydantic_ai.models.infer_model
    monkeypatch.setitem(sys.modules, 'late', late)
    uninstall()
    assert late.infer_model is UPSTREAM


def test_functions_of_that_name_that_are_not_upstreams_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    other: Any = ModuleType('other')
    other.infer_model = own = lambda: None
    monkeypatch.setitem(sys.modules, 'other', other)
    install()
    assert other.infer_model is own


def test_lazy_modules_are_not_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / 'heavy.py').write_text('raise RuntimeError("imported something heavy")')
    spec = importlib.util.spec_from_file_location('heavy', tmp_path / 'heavy.py')
    assert spec
    assert spec.loader
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, 'heavy', module)
    monkeypatch.setitem(sys.modules, 'no_module', object())  # pyright: ignore[reportArgumentType]  # some put one there
    install()
    uninstall()


def test_modules_with_attributes_made_on_demand_are_not_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lazy(ModuleType):
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError('imported something heavy')

    monkeypatch.setitem(sys.modules, 'lazy', Lazy('lazy'))
    install()


def test_another_patch_below_ours_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may take one argument only."""
    theirs = TestModel()
    original = pydantic_ai.models.infer_model

    def patched(model: Any) -> Model:
        return theirs if model == 'theirs:x' else original(model)

    pydantic_ai.models.infer_model = patched
    try:
        install()
        assert pydantic_ai.models.infer_model('theirs:x') is theirs
        assert pydantic_ai.models.wrapper.infer_model('theirs:x') is theirs
        uninstall()
        assert pydantic_ai.models.infer_model is patched
        assert pydantic_ai.models.wrapper.infer_model is original
    finally:
        pydantic_ai.models.infer_model = original


def test_uninstall_refuses_to_undo_over_another_patch() -> None:
    install()
    ours = pydantic_ai.models.infer_model

    def patched(model: Any) -> Model:
        return ours(model)

    pydantic_ai.models.infer_model = patched
    with pytest.raises(PatchConflictError, match=r'pydantic_ai\.models\.infer_model was patched again'):
        uninstall()
    assert pydantic_ai.models.wrapper.infer_model is ours
    pydantic_ai.models.infer_model = ours


def test_a_provider_factory_is_forwarded() -> None:
    wire = Wire()
    asked: list[str] = []

    def factory(name: str) -> Any:
        asked.append(name)
        return wire.openai_provider()

    install()
    ours = pydantic_ai.models.infer_model('openai-chat:glm-5', factory)
    upstreams = pydantic_ai.models.infer_model('vllm:glm-5', factory)
    assert isinstance(ours, OpenAICompatibleModel)
    assert type(upstreams) is OpenAIChatModel
    assert asked == ['openai-chat', 'vllm']


def test_models_and_unknown_strings_pass_the_patch() -> None:
    install()
    model = TestModel()
    assert pydantic_ai.models.infer_model(model) is infer_model(model) is model
    with pytest.raises(UserError, match='Unknown model: nobody:x'):
        infer_model('nobody:x')
