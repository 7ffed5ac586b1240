"""L1: the whole messages that go out, for every shape of a tool's return."""

import warnings
from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any

import httpx
import httpx2
import pytest
from dirty_equals import IsStr
from openai import AsyncOpenAI
from pydantic import BaseModel, PlainSerializer, RootModel
from pydantic_ai import Agent, CachePoint
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,  # pyright: ignore[reportDeprecated]  # histories still hold it
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from pydantic_ai_verbatim import OpenAICompatibleModel
from tests.wire import PARAMETERS, Wire, calls_a_tool_then_answers

pytestmark = pytest.mark.anyio


class Color(Enum):
    NONE = ''
    RED = 'red'


class Shade(str, Enum):  # noqa: UP042  # unlike a `StrEnum`, it prints its member's name
    NONE = ''
    DARK = 'dark'


class Names(RootModel[list[str]]): ...


class Name(RootModel[str]): ...


class Rounded(RootModel[list[Annotated[float, PlainSerializer(lambda value: f'{value:.1f}')]]]): ...


class City(BaseModel):
    name: str
    founded: date | None = None


def text(value: str) -> dict[str, str]:
    return {'type': 'text', 'text': value}


def history(*returns: ToolReturnPart, before: tuple[Any, ...] = (), after: tuple[Any, ...] = ()) -> list[ModelMessage]:
    calls = [ToolCallPart(part.tool_name, '{}', part.tool_call_id) for part in returns]
    return [
        ModelRequest(parts=[*before, UserPromptPart('hi')]),
        ModelResponse(parts=calls),
        ModelRequest(parts=[*returns, *after]),
    ]


def tool_return(content: Any, id: str = 'c1', outcome: Any = 'success') -> ToolReturnPart:
    return ToolReturnPart('search', content, tool_call_id=id, outcome=outcome)


async def sent(messages: list[ModelMessage], *, stream: bool = False, **options: Any) -> list[Any]:
    """Give the messages that go out for a history."""
    wire = Wire()
    model = OpenAICompatibleModel('m', provider=wire.provider(), **options)
    if stream:
        async with model.request_stream(messages, None, PARAMETERS) as response:
            async for _ in response:
                pass
    else:
        await model.request(messages, None, PARAMETERS)
    return wire.messages


PNG = BinaryContent(b'\x89PNG', media_type='image/png', identifier='img')

SHAPES = [
    pytest.param(['a', 'b'], [text('a'), text('b')], id='strings'),
    pytest.param(
        [1, 1.5, True, None, {'x': [1]}, 'é'],
        [text('1'), text('1.5'), text('true'), text('null'), text('{"x":[1]}'), text('é')],
        id='mixed JSON',
    ),
    pytest.param(
        [City(name='Rome', founded=date(1, 4, 21)), datetime(2026, 1, 2, 3, tzinfo=UTC), date(2026, 1, 2), Color.RED],
        [
            text('{"name":"Rome","founded":"0001-04-21"}'),
            text('2026-01-02T03:00:00Z'),
            text('2026-01-02'),
            text('red'),
        ],
        id='models, datetimes and enums',
    ),
    pytest.param([Shade.DARK, Shade.NONE], [text('dark'), text('""')], id='enums that are strings'),
    pytest.param({'a'}, [text('a')], id='set'),
    pytest.param(['only'], [text('only')], id='one element'),
    pytest.param([], '[]', id='empty'),
    pytest.param(['', 'a', '', Color.NONE], [text('""'), text('a'), text('""'), text('""')], id='empty strings'),
    pytest.param([['a', 'b'], [], [['c']]], [text('["a","b"]'), text('[]'), text('[["c"]]')], id='nested'),
    pytest.param(('a', 1), [text('a'), text('1')], id='tuple'),
    pytest.param((), '[]', id='empty tuple'),
    pytest.param(['a\nb', ' '], [text('a\nb'), text(' ')], id='white space is kept'),
    pytest.param([' ', '\n'], [text('" "'), text('"\\n"')], id='nothing but white space'),
    pytest.param(Names(['a', 'b']), [text('a'), text('b')], id='a model of a list'),
    pytest.param(Rounded([1.25]), [text('1.2')], id='a model of a list that writes itself'),
    pytest.param(Name('a'), 'a', id='a model of a string is no list'),
    pytest.param(['{"x":1}', '<|end|>'], [text('{"x":1}'), text('<|end|>')], id='text that looks like something else'),
    pytest.param('a', 'a', id='a string is no list'),
    pytest.param({'x': ['a']}, '{"x":["a"]}', id='an object is no list'),
    pytest.param(None, '', id='nothing is no list'),
]


@pytest.mark.parametrize(('content', 'expected'), SHAPES)
@pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])
async def test_each_shape(content: Any, expected: Any, stream: bool) -> None:
    """Streaming and not streaming send the same."""
    messages = history(tool_return(content))
    assert await sent(messages, stream=stream) == [
        {'role': 'user', 'content': 'hi'},
        {
            'role': 'assistant',
            'content': None,
            'tool_calls': [{'id': 'c1', 'type': 'function', 'function': {'name': 'search', 'arguments': '{}'}}],
        },
        {'role': 'tool', 'tool_call_id': 'c1', 'content': expected},
    ]


@pytest.mark.parametrize(('content', 'expected'), SHAPES)
async def test_a_history_reloaded_from_json_sends_the_same(content: Any, expected: Any) -> None:
    messages = history(tool_return(content))
    reloaded = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))
    assert await sent(reloaded) == await sent(messages)


@pytest.mark.parametrize(
    ('format', 'content', 'expected'),
    [
        ('parts', ['a', 'b'], [text('a'), text('b')]),
        ('text', ['a', 'b'], 'a\nb'),
        ('text', ['a', ''], '["a",""]'),
        ('text', ['a\n', 'b'], '["a\\n","b"]'),
        ('text', [{'x': 1}, 2], '{"x":1}\n2'),
        ('json', ['a', {'x': 1}], '["a",{"x":1}]'),
        ('parts', [], '[]'),
        ('text', [], '[]'),
        ('json', [], '[]'),
    ],
)
async def test_each_format(format: Any, content: Any, expected: Any) -> None:
    sent_messages = await sent(history(tool_return(content)), tool_return_format=format)
    assert sent_messages[-1] == {'role': 'tool', 'tool_call_id': 'c1', 'content': expected}


@pytest.mark.parametrize(
    ('outcome', 'expected'),
    [
        ('success', [text('a'), text('b')]),
        ('denied', [text('a'), text('b')]),
        ('interrupted', [text('a'), text('b')]),
        ('failed', '{"error":"[\\"a\\",\\"b\\"]"}'),
        ('retried', '{"error":["a","b"]}'),
    ],
)
async def test_each_outcome(outcome: str, expected: Any) -> None:
    """Errors keep upstream's wrapping; a denial and an interruption are ordinary results."""
    messages = await sent(history(tool_return(['a', 'b'], outcome=outcome)))
    assert messages[-1] == {'role': 'tool', 'tool_call_id': 'c1', 'content': expected}


@pytest.mark.parametrize('make', [list, tuple])
async def test_files_in_a_list_go_to_a_user_message_after_it(make: Any) -> None:
    messages = await sent(history(tool_return(make(['a', PNG])), tool_return(['b'], 'c2')))
    assert messages[2:4] == [
        {'role': 'tool', 'tool_call_id': 'c1', 'content': '["a","See file img."]'},
        {'role': 'tool', 'tool_call_id': 'c2', 'content': [text('b')]},
    ]
    [after] = messages[4:]
    assert after['role'] == 'user'
    assert {'type': 'image_url', 'image_url': {'url': PNG.data_uri}} in after['content']


async def test_several_returns_with_prompts_around_them() -> None:
    """Each return keeps its place and its own content, whatever stands before and after."""
    messages = await sent(
        history(
            tool_return(['a'], 'c1'),
            tool_return('plain', 'c2'),
            tool_return([1], 'c3'),
            before=(SystemPromptPart('be kind'),),
            after=(UserPromptPart('and now?'),),
        )
    )
    assert messages[0] == {'role': 'system', 'content': 'be kind'}
    assert messages[3:] == [
        {'role': 'tool', 'tool_call_id': 'c1', 'content': [text('a')]},
        {'role': 'tool', 'tool_call_id': 'c2', 'content': 'plain'},
        {'role': 'tool', 'tool_call_id': 'c3', 'content': [text('1')]},
        {'role': 'user', 'content': 'and now?'},
    ]


@pytest.mark.parametrize('ids', [('x', 'x'), ('', ''), ('x', '')])
async def test_duplicate_and_empty_ids_keep_their_own_content(ids: tuple[str, str]) -> None:
    """Returns and tool messages are matched by order: an id may repeat or be missing."""
    messages = await sent(history(tool_return(['a'], ids[0]), tool_return('b', ids[0]), tool_return(['c'], ids[1])))
    assert [message['content'] for message in messages[2:]] == [[text('a')], 'b', [text('c')]]


async def test_legacy_retry_prompts_take_their_place_among_the_tool_messages() -> None:
    """One that answers a tool is a tool message, one that does not is a user message."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        bound = RetryPromptPart('again', tool_name='search', tool_call_id='c1')  # pyright: ignore[reportDeprecated]  # histories still hold it
        free = RetryPromptPart('and a plain one')  # pyright: ignore[reportDeprecated]  # histories still hold it
        messages = await sent(
            [
                ModelRequest(parts=[UserPromptPart('hi')]),
                ModelResponse(parts=[ToolCallPart('search', '{}', id) for id in ('c1', 'c2', 'c3')]),
                ModelRequest(parts=[bound, tool_return(['a'], 'c2'), free, tool_return(['b'], 'c3')]),
            ]
        )
    contents = {message['tool_call_id']: message['content'] for message in messages if message['role'] == 'tool'}
    assert contents == {'c1': IsStr(), 'c2': [text('a')], 'c3': [text('b')]}


async def test_called_directly() -> None:
    """The override works without a request around it, by constructor and profile."""
    wire = Wire()
    request = ModelRequest(parts=[tool_return(['a'])])
    native = OpenAICompatibleModel('m', provider=wire.provider())
    as_json = OpenAICompatibleModel('m', provider=wire.provider(), tool_return_format='json')
    assert [m async for m in native._map_user_message(request)] == [
        {'role': 'tool', 'tool_call_id': 'c1', 'content': [text('a')]}
    ]
    assert [m async for m in as_json._map_user_message(request)] == [
        {'role': 'tool', 'tool_call_id': 'c1', 'content': '["a"]'}
    ]


async def test_openai_cache_points_mark_native_parts_without_touching_the_return() -> None:
    part = tool_return(['a', 'b'])
    messages = history(part, after=(UserPromptPart([CachePoint(), 'go on']),))
    wire = Wire()
    model = OpenAICompatibleModel('gpt-5.6', provider=wire.openai_provider())
    stock_wire = Wire()
    stock = OpenAIChatModel('gpt-5.6', provider=stock_wire.openai_provider())
    await model.request(messages, None, PARAMETERS)
    await stock.request(messages, None, PARAMETERS)
    assert wire.messages[:2] == stock_wire.messages[:2]
    assert wire.messages[3:] == stock_wire.messages[3:]
    assert [item['text'] for item in wire.messages[2]['content']] == ['a', 'b']
    assert part.content == ['a', 'b']


@pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])
async def test_an_agent_run(stream: bool) -> None:
    """What a tool returns as a list reaches the model as a list."""
    wire = Wire(calls_a_tool_then_answers)
    agent = Agent(OpenAICompatibleModel('m', provider=wire.provider()))

    @agent.tool_plain
    def search() -> list[str]:
        return ['a', 'b']

    if stream:
        async with agent.run_stream('hi') as result:
            assert await result.get_output() == 'ok'
    else:
        assert (await agent.run('hi')).output == 'ok'
    assert wire.messages[-1] == {'role': 'tool', 'tool_call_id': 'c1', 'content': [text('a'), text('b')]}


async def test_a_legacy_httpx_client_given_by_the_user() -> None:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        answered = calls_a_tool_then_answers(httpx2.Request('POST', str(request.url), content=request.content))
        return httpx.Response(answered.status_code, content=answered.content, headers=dict(answered.headers))

    client: Any = httpx.AsyncClient(transport=httpx.MockTransport(handle))
    sdk = AsyncOpenAI(api_key='test-key', base_url='https://llm.example.com/v1', http_client=client)
    agent = Agent(OpenAICompatibleModel('m', provider=OpenAIProvider(openai_client=sdk)))

    @agent.tool_plain
    def search() -> list[str]:
        return ['a', 'b']

    assert (await agent.run('hi')).output == 'ok'
    assert b'{"type":"text","text":"b"}' in seen[-1].content


async def test_text_and_images_of_prompts_are_untouched() -> None:
    prompt = UserPromptPart(['a', 'b', ImageUrl('https://example.com/x.png')])
    wire, stock_wire = Wire(), Wire()
    messages: list[ModelMessage] = [ModelRequest(parts=[prompt]), ModelResponse(parts=[TextPart('x')])]
    messages += [ModelRequest(parts=[UserPromptPart('y')])]
    await OpenAICompatibleModel('m', provider=wire.provider()).request(messages, None, PARAMETERS)
    await OpenAIChatModel('m', provider=stock_wire.provider()).request(messages, None, PARAMETERS)
    assert wire.messages == stock_wire.messages
