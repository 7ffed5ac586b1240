"""L1: which format goes out and why, what a rejection teaches, and what an endpoint is asked."""

import asyncio
import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.exceptions import AgentRunError, ModelAPIError, ModelHTTPError, UserError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.instrumented import InstrumentationSettings

from pydantic_ai_verbatim import OpenAICompatibleModel, forget, learned_formats
from pydantic_ai_verbatim.chat import negotiation
from pydantic_ai_verbatim.chat.llama_cpp import MARKERS, shows_apart
from pydantic_ai_verbatim.chat.negotiation import Endpoint, is_private
from pydantic_ai_verbatim.errors import ToolReturnFormatWarning
from tests.conftest import load_cases
from tests.wire import PARAMETERS, Wire, answer, body, calls_a_tool_then_answers, chunk, sse

pytestmark = pytest.mark.anyio

KEY = 'openai_compatible_tool_return_format'
NATIVE = [{'type': 'text', 'text': 'a'}, {'type': 'text', 'text': 'b'}]
ENDPOINT = Endpoint('https://llm.example.com/v1', 'm')
REJECTION = {'error': {'message': 'invalid type: sequence, expected a string', 'type': 'invalid_request_error'}}


@pytest.fixture(autouse=True)
def nothing_learned() -> Iterator[None]:
    forget()
    yield
    forget()


def history(content: Any = ('a', 'b')) -> list[ModelMessage]:
    return [
        ModelRequest(parts=[UserPromptPart('hi')]),
        ModelResponse(parts=[ToolCallPart('search', '{}', 'c1')]),
        ModelRequest(parts=[ToolReturnPart('search', content, 'c1')]),
    ]


def compatible_model(wire: Wire, **options: Any) -> OpenAICompatibleModel:
    arguments: dict[str, Any] = {'model_name': 'm', 'provider': wire.provider(), **options}
    return OpenAICompatibleModel(**arguments)


async def request(
    model: OpenAICompatibleModel, *, stream: bool = False, settings: Any = None, content: Any = ('a', 'b')
) -> ModelResponse:
    if not stream:
        return await model.request(history(content), settings, PARAMETERS)
    async with model.request_stream(history(content), settings, PARAMETERS) as response:
        async for _ in response:
            pass
    return response.get()


def has_parts(request: httpx2.Request) -> bool:
    messages = body(request)['messages']
    return any(message['role'] == 'tool' and isinstance(message['content'], list) for message in messages)


def rejecting(
    status: int = 400, error: Any = REJECTION, *, text_too: bool = False
) -> Callable[[httpx2.Request], httpx2.Response]:
    def respond(request: httpx2.Request) -> httpx2.Response:
        if has_parts(request) or text_too:
            return httpx2.Response(status, json=error)
        return calls_a_tool_then_answers(request)

    return respond


def with_json(profile: Any) -> Any:
    return {**profile, KEY: 'json'}


# The order of the decision -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('options', 'settings', 'learned', 'expected'),
    [
        ({}, {}, None, ('parts', 'default')),
        ({'model_name': 'openai/gpt-oss-120b'}, {}, None, ('text', 'family')),
        ({'model_name': 'openai/gpt-oss-120b'}, {}, 'json', ('json', 'rejected')),
        ({}, {}, 'text', ('text', 'rejected')),
        ({'profile': {KEY: 'parts'}}, {}, 'text', ('parts', 'profile')),
        ({'profile': with_json}, {}, 'text', ('json', 'profile')),
        ({'profile': dict}, {}, 'text', ('text', 'rejected')),
        ({'profile': {KEY: 'auto'}}, {}, 'text', ('text', 'rejected')),
        ({'profile': {KEY: 'parts'}, 'tool_return_format': 'json'}, {}, 'text', ('json', 'constructor')),
        ({'tool_return_format': 'json'}, {KEY: 'text'}, None, ('text', 'setting')),
        ({'tool_return_format': 'json'}, {KEY: 'auto'}, None, ('json', 'constructor')),
        ({'settings': {KEY: 'text'}}, {}, None, ('text', 'setting')),
    ],
)
async def test_the_order(options: Any, settings: Any, learned: Any, expected: tuple[str, str]) -> None:
    """Call setting, constructor, the user's profile, what was learned, the family, parts."""
    wire = Wire()
    model = compatible_model(wire, **options)
    if learned:
        negotiation.learn(Endpoint(ENDPOINT.base_url, model.model_name), negotiation.Decision(learned, 'rejected'))
    await request(model, settings=settings)
    sent = {'parts': NATIVE, 'text': 'a\nb', 'json': '["a","b"]'}[expected[0]]
    assert wire.messages[-1]['content'] == sent
    merged: Any = dict(options.get('settings') or {}) | settings
    assert model._decide(merged) == expected


@pytest.mark.parametrize('value', ['list', '', 1])
def test_an_unknown_format_is_refused(value: Any) -> None:
    with pytest.raises(UserError, match=r"no tool return format\. Use one of 'auto', 'parts', 'text', 'json'"):
        OpenAICompatibleModel('m', provider=Wire().provider(), tool_return_format=value)


async def test_an_unknown_format_in_the_settings_is_refused() -> None:
    with pytest.raises(UserError, match='no tool return format'):
        await request(OpenAICompatibleModel('m', provider=Wire().provider()), settings={KEY: 'list'})


# A rejection teaches -------------------------------------------------------------------------------------------------

REJECTIONS = [
    case
    for case in load_cases('requests')
    if case.id in ('R01', 'R14')  # hosts that take strings only
]


@pytest.mark.parametrize('case', REJECTIONS)
@pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])
async def test_a_recorded_rejection_heals_and_is_remembered(case: Any, stream: bool) -> None:
    wire = Wire(rejecting(case['status'], case['response']))
    model = OpenAICompatibleModel('m', provider=wire.provider())
    with pytest.warns(ToolReturnFormatWarning, match=f"HTTP 400 to a tool result of 'm'.*{KEY}") as caught:
        response = await request(model, stream=stream)
    assert response.text == 'ok'
    assert [message[-1]['content'] for message in (b['messages'] for b in wire.bodies)] == [NATIVE, 'a\nb']
    assert learned_formats() == {ENDPOINT: 'text'}
    await request(model, stream=stream)
    assert len(wire.bodies) == 3
    assert wire.messages[-1]['content'] == 'a\nb'
    assert len(caught) == 1


async def test_earlier_turns_heal_too_and_the_agent_run_goes_on() -> None:
    wire = Wire(rejecting())
    agent = Agent(OpenAICompatibleModel('m', provider=wire.provider()))

    @agent.tool_plain
    def search() -> list[str]:
        return ['a', 'b']

    with pytest.warns(ToolReturnFormatWarning):
        first = await agent.run('hi')
    await agent.run('again', message_history=first.all_messages())
    assert [m['content'] for m in wire.messages if m['role'] == 'tool'] == ['a\nb']
    assert len(wire.bodies) == 4


@pytest.mark.parametrize(
    ('status', 'error', 'teaches'),
    [
        (400, REJECTION, True),
        (422, {'detail': [{'loc': ['body', 'messages'], 'msg': 'str type expected'}]}, True),
        (500, {'error': {'message': 'Error rendering chat template: can only concatenate str'}}, True),
        (500, {'error': {'message': 'Jinja exception in Template'}}, True),
        (500, {'error': {'message': '[json.exception.type_error.302] type must be string, but is array'}}, True),
        (500, {'error': {'message': "'list' object has no attribute 'strip'"}}, True),
        (500, {'error': {'message': 'json: cannot unmarshal array into Go struct field of type string'}}, True),
        (502, {'error': {'message': 'Provider error', 'raw': 'invalid type: sequence, expected a string'}}, True),
        (500, {'error': {'message': "text input must be of type 'str'"}}, True),
        (500, {'error': {'message': 'out of memory'}}, False),
        (500, {'error': {'message': "IndexError: list index out of range; KeyError: 'str'"}}, False),
        (502, {'error': '<style>li{list-style:none}</style> bad connection string'}, False),
        (503, {'error': {'message': 'overloaded'}}, False),
        (400, {'error': {'message': 'too long', 'code': 'context_length_exceeded'}}, False),
        (400, {'error': {'message': "This model's maximum context length is 8192 tokens"}}, False),
        (401, {'error': {'message': 'invalid key in template'}}, False),
        (403, {'error': {'message': 'forbidden'}}, False),
        (404, {'error': {'message': 'no such model'}}, False),
        (408, {'error': {'message': 'timeout'}}, False),
        (409, {'error': {'message': 'conflict'}}, False),
        (429, {'error': {'message': 'slow down'}}, False),
    ],
)
@pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])
async def test_which_errors_teach(status: int, error: Any, teaches: bool, stream: bool) -> None:
    """Statuses that are about something else cost no second request."""
    wire = Wire(rejecting(status, error))
    model = OpenAICompatibleModel('m', provider=no_retries(wire))
    if teaches:
        with pytest.warns(ToolReturnFormatWarning):
            await request(model, stream=stream)
    else:
        with pytest.raises(ModelHTTPError) as raised:
            await request(model, stream=stream)
        assert raised.value.status_code == status
    assert len(wire.bodies) == 1 + teaches


def no_retries(wire: Wire) -> Any:
    """A provider whose SDK does not retry a 5xx by itself."""
    provider = wire.provider()
    provider.client.max_retries = 0
    return provider


@pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])
@pytest.mark.parametrize(
    ('options', 'content'),
    [
        ({'tool_return_format': 'parts'}, ('a', 'b')),
        ({'profile': {KEY: 'parts'}}, ('a', 'b')),
        ({'settings': {KEY: 'parts'}}, ('a', 'b')),
        ({}, 'a plain string'),
        ({}, []),
        ({'model_name': 'gpt-oss'}, ('a', 'b')),
    ],
    ids=['constructor', 'profile', 'setting', 'no list', 'empty list', 'text by family'],
)
async def test_without_parts_or_on_an_explicit_format_nothing_is_resent(
    options: Any, content: Any, stream: bool
) -> None:
    wire = Wire(rejecting(text_too=True))
    model = compatible_model(wire, **options)
    with pytest.raises(ModelHTTPError):
        await request(model, stream=stream, settings=options.get('settings'), content=content)
    assert len(wire.bodies) == 1
    assert learned_formats() == {}


async def test_if_text_fails_too_the_first_error_is_raised_and_nothing_is_learned() -> None:
    errors = iter([{'error': {'message': 'first'}}, {'error': {'message': 'second'}}])
    wire = Wire(lambda _: httpx2.Response(400, json=next(errors)))
    with pytest.raises(ModelHTTPError, match='first') as raised:
        await request(OpenAICompatibleModel('m', provider=wire.provider()))
    assert 'second' in str(raised.value.__context__)
    assert learned_formats() == {}


ERRORS_INSIDE: list[tuple[Any, bool]] = [
    ({'message': 'content: value must be a string', 'code': 400}, True),
    ({'message': 'bad', 'type': 'invalid_request_error'}, True),
    ({'message': 'content must be a string'}, True),
    ('content must be a string', True),
    ({'message': 'template failed', 'code': 500}, True),
    ({'message': 'slow down', 'code': 429}, False),
    ({'message': 'no', 'code': 401}, False),
    ({'message': 'too long', 'code': 'context_length_exceeded'}, False),
    ({'message': 'broken', 'code': 500}, False),
]


@pytest.mark.parametrize(
    ('error', 'teaches'),
    [
        *ERRORS_INSIDE,
        ('upstream connect error: timeout', False),
        ({'message': 'The model is currently overloaded, try again'}, False),
        ({'message': 'messages[2].content: expected string'}, True),
    ],
)
async def test_an_error_inside_a_whole_200_counts(error: Any, teaches: bool) -> None:
    """It says so itself; one in the first event of a stream counts in any words."""
    wire = Wire(lambda request: httpx2.Response(200, json={'error': error}) if has_parts(request) else answer(request))
    model = OpenAICompatibleModel('m', provider=wire.provider())
    if teaches:
        with pytest.warns(ToolReturnFormatWarning):
            await request(model)
    else:
        with pytest.raises(ModelAPIError):
            await request(model)
    assert len(wire.bodies) == 1 + teaches


@pytest.mark.parametrize(('error', 'teaches'), ERRORS_INSIDE)
async def test_an_error_in_the_first_event_of_a_stream_counts(error: Any, teaches: bool) -> None:
    wire = Wire(lambda request: sse([{'error': error}]) if has_parts(request) else answer(request))
    model = OpenAICompatibleModel('m', provider=wire.provider())
    if teaches:
        with pytest.warns(ToolReturnFormatWarning):
            assert (await request(model, stream=True)).text == 'ok'
    else:
        with pytest.raises(ModelAPIError):
            await request(model, stream=True)
    assert len(wire.bodies) == 1 + teaches


async def test_an_error_in_a_later_event_is_upstreams_to_raise() -> None:
    wire = Wire(lambda _: sse([chunk({'content': 'x'}), {'error': {'message': 'bad', 'code': 400}}]))
    with pytest.raises(ModelHTTPError):
        await request(OpenAICompatibleModel('m', provider=wire.provider()), stream=True)
    assert len(wire.bodies) == 1


async def test_a_hundred_concurrent_runs_give_one_warning_and_one_extra_request_each() -> None:
    """All are rejected before the first one has learned anything."""
    everybody = asyncio.Barrier(100)

    async def handle(request: httpx2.Request) -> httpx2.Response:
        wire.requests.append(request)
        if has_parts(request):
            await everybody.wait()
            return httpx2.Response(400, json=REJECTION)
        return calls_a_tool_then_answers(request)

    wire = Wire()
    wire.client = httpx2.AsyncClient(transport=httpx2.MockTransport(handle))
    agent = Agent(OpenAICompatibleModel('m', provider=wire.provider()))

    @agent.tool_plain
    def search() -> list[str]:
        return ['a', 'b']

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        results = await asyncio.gather(*(agent.run('hi') for _ in range(100)))
    assert {result.output for result in results} == {'ok'}
    assert [warning.category for warning in caught] == [ToolReturnFormatWarning]
    assert len(wire.bodies) == 300


async def test_a_stream_without_any_event_is_a_typed_error() -> None:
    wire = Wire(lambda _: sse([]))
    with pytest.raises(AgentRunError):
        await request(OpenAICompatibleModel('m', provider=wire.provider()), stream=True)


async def test_cancelled_between_the_two_tries() -> None:
    started = asyncio.Event()

    async def handle(request: httpx2.Request) -> httpx2.Response:
        if has_parts(request):
            return httpx2.Response(400, json=REJECTION)
        started.set()
        await asyncio.sleep(60)
        raise AssertionError('not reached')

    wire = Wire()
    wire.client = httpx2.AsyncClient(transport=httpx2.MockTransport(handle))
    task = asyncio.create_task(request(OpenAICompatibleModel('m', provider=wire.provider())))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert learned_formats() == {}


def test_forget_by_base_url_and_by_model() -> None:
    for base_url in ('https://a/v1', 'https://b/v1'):
        for model in ('x', 'y'):
            negotiation.learn(Endpoint(base_url, model), negotiation.Decision('text', 'rejected'))
    forget('https://A/v1/', 'x')
    assert Endpoint('https://a/v1', 'x') not in learned_formats()
    forget(model_name='y')
    assert list(learned_formats()) == [Endpoint('https://b/v1', 'x')]
    forget(base_url='https://b/v1')
    assert learned_formats() == {}


@pytest.mark.parametrize('second', [{}, {'error': {'message': 'later'}}, []], ids=str)
@pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])
async def test_a_second_try_without_an_answer_is_none(second: Any, stream: bool) -> None:
    """It teaches nothing, and the first error is raised."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        if has_parts(request):
            return httpx2.Response(400, json=REJECTION)
        return sse([second] if second else []) if stream else httpx2.Response(200, json=second)

    wire = Wire(respond)
    with pytest.raises(ModelHTTPError, match='expected a string'):
        await request(OpenAICompatibleModel('m', provider=wire.provider()), stream=stream)
    assert learned_formats() == {}


@pytest.mark.parametrize(
    'error', [{'message': 'content must be a string', 'code': 400}, {'message': 'bad', 'code': 422}]
)
async def test_an_error_inside_a_whole_200_teaches_too(error: Any) -> None:
    def respond(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={'error': error}) if has_parts(request) else answer(request)

    wire = Wire(respond)
    with pytest.warns(ToolReturnFormatWarning):
        await request(OpenAICompatibleModel('m', provider=wire.provider()))
    assert learned_formats() == {ENDPOINT: 'text'}


async def test_a_key_in_the_base_url_is_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger='pydantic_ai_verbatim')
    wire = Wire(rejecting())
    provider = wire.provider('https://user:secret-key@llm.example.com/v1?key=secret-key')
    with pytest.warns(ToolReturnFormatWarning) as caught:
        await request(OpenAICompatibleModel('m', provider=provider))
    assert list(learned_formats()) == [ENDPOINT]
    assert 'secret-key' not in str(caught[0].message) + caplog.text


# Who is asked -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('prompt', 'apart'),
    [
        ('{}\n{}', True),
        ('<r>{}</r><r>{}</r>', True),
        ('{}{}', False),
        ('{}', False),
        ('', False),
        ("[{{'type': 'text', 'text': '{}'}}, {{'type': 'text', 'text': '{}'}}]", False),
        ('[{{"type": "text", "text": "{}"}}, {{"type": "text", "text": "{}"}}]', False),
    ],
)
def test_markers_that_come_back_apart(prompt: str, apart: bool) -> None:
    assert shows_apart(prompt.format(*MARKERS), MARKERS) is apart


@pytest.mark.parametrize(
    ('host', 'private'),
    [
        ('localhost', True),
        ('127.0.0.1', True),
        ('[::1]', True),
        ('10.1.2.3', True),
        ('172.16.0.1', True),
        ('192.168.1.20', True),
        ('[fd00::1]', True),
        ('169.254.1.1', True),
        ('llama', True),
        ('gpu.local', True),
        ('host.docker.internal', True),
        ('llm.example.com', False),
        ('8.8.8.8', False),
        ('localhost.example.com', False),
    ],
)
def test_which_hosts_are_private(host: str, private: bool) -> None:
    assert is_private(f'http://{host}:8080/v1') is private


# What can be seen ----------------------------------------------------------------------------------------------------


async def test_the_format_and_its_reason_are_on_the_span_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger='pydantic_ai_verbatim')
    tracer = TracerProvider().get_tracer('test')
    wire = Wire(rejecting())
    with pytest.warns(ToolReturnFormatWarning), tracer.start_as_current_span('chat') as span:
        await request(OpenAICompatibleModel('m', provider=wire.provider()))
    attributes: Any = getattr(span, 'attributes')  # noqa: B009  # the API's span type has none
    assert dict(attributes) == {
        'pydantic_ai_verbatim.tool_return_format': 'text',
        'pydantic_ai_verbatim.tool_return_format.reason': 'rejected',
    }
    assert [record.getMessage() for record in caplog.records] == [
        'list-typed tool returns are sent as parts (default)',
        'list-typed tool returns are sent as text (rejected)',
    ]


async def test_a_request_without_lists_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger='pydantic_ai_verbatim')
    await request(OpenAICompatibleModel('m', provider=Wire().provider()), content='a')
    assert caplog.records == []
    assert trace.get_current_span() is trace.INVALID_SPAN


async def test_an_instrumented_agents_request_span_tells_the_format() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    wire = Wire(calls_a_tool_then_answers)
    instrumentation = Instrumentation(settings=InstrumentationSettings(tracer_provider=provider))
    agent = Agent(OpenAICompatibleModel('m', provider=wire.provider()), capabilities=[instrumentation])

    @agent.tool_plain
    def search() -> list[str]:
        return ['a', 'b']

    await agent.run('hi')
    chats = [span for span in exporter.get_finished_spans() if span.name == 'chat m']
    formats = [(span.attributes or {}).get('pydantic_ai_verbatim.tool_return_format') for span in chats]
    assert formats == [None, 'parts']
