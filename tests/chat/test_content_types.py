"""Tool calls of gpt-oss over Chat Completions: content types, argument text, and headers that leak into names."""

import json
from collections.abc import Iterable
from typing import Any

import httpx2
import pytest
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.chat.dialect import Dialect
from pydantic_ai_verbatim.chat.model import OpenAICompatibleModel
from pydantic_ai_verbatim.chat.profile import OpenAICompatibleModelProfile
from pydantic_ai_verbatim.chat.tool_calls import Leak, read_name

from ..wire import BASE_URL, Wire, body, chunk, completion, reply_to, sse
from .stray import Said, call, said, text, thinking

GPT_OSS = 'openai/gpt-oss-20b'
PARAMETERS = ModelRequestParameters()
HI: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart('hi')])]


def scripted(*calls: dict[str, Any], message: dict[str, Any] | None = None, cut: bool = True) -> Wire:
    """Give a server that makes these calls, whole or in fragments, whichever was asked for."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        if not body(request).get('stream'):
            reply = {'role': 'assistant', 'content': None, **(message or {}), 'tool_calls': list(calls)}
            return httpx2.Response(200, json=completion(reply, 'tool_calls'))
        fragments = [piece for index, call in enumerate(calls) for piece in pieces(index, call)]
        deltas = [message or {}, *({'tool_calls': [fragment]} for fragment in fragments)]
        return sse([*map(chunk, deltas), chunk({}, 'tool_calls')])

    return Wire(respond)


def pieces(index: int, call: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Cut a call: its name first, then its arguments in two."""
    function = call['function']
    arguments, middle = function['arguments'], len(function['arguments']) // 2
    yield {**call, 'index': index, 'function': {**function, 'arguments': ''}}
    yield {'index': index, 'function': {'arguments': arguments[:middle]}}
    yield {'index': index, 'function': {'arguments': arguments[middle:]}}


def wire_call(name: str = 'bash', arguments: str = '{"cmd": "ls"}', id: str = 'c1', **extra: Any) -> dict[str, Any]:
    return {'id': id, 'type': 'function', 'function': {'name': name, 'arguments': arguments}, **extra}


def model_at(
    wire: Wire, name: str = GPT_OSS, base_url: str = BASE_URL, profile: OpenAICompatibleModelProfile | None = None
) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(name, provider=wire.provider(base_url), profile=profile)


async def asked(
    model: OpenAICompatibleModel, *, stream: bool, parameters: ModelRequestParameters = PARAMETERS
) -> ModelResponse:
    if not stream:
        return await model.request(list(HI), None, parameters)
    async with model.request_stream(list(HI), None, parameters) as streamed:
        async for _ in streamed:
            pass
        return streamed.get()


async def sent_calls(model: OpenAICompatibleModel, wire: Wire, response: ModelResponse) -> list[Any]:
    """Give the tool calls that go out with a history that was stored as JSON in between."""
    returns = [ToolReturnPart(part.tool_name, 'ok', part.tool_call_id) for part in response.tool_calls]
    history = [*HI, response, ModelRequest(parts=[*returns])]
    stored = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(history))
    await model.request(stored, None, PARAMETERS)
    return wire.messages[1]['tool_calls']


ON_THE_CALL = wire_call(content_type='json')
ON_THE_FUNCTION: dict[str, Any] = {
    **wire_call(),
    'function': {'name': 'bash', 'arguments': '{"cmd": "ls"}', 'content_type': 'code'},
}
STREAM = pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])


@STREAM
@pytest.mark.parametrize('given', [ON_THE_CALL, ON_THE_FUNCTION], ids=['on the call', 'on the function'])
async def test_a_content_type_goes_back_in_its_place(given: dict[str, Any], stream: bool):
    """A content type is kept with the provider's name and goes back where it stood, after a reload too."""
    wire = scripted(given)
    model = model_at(wire)
    response = await asked(model, stream=stream)
    (part,) = response.tool_calls
    assert part.provider_name == 'test'
    assert (part.provider_details or {})['content_type'] == given.get('content_type', 'code')
    assert await sent_calls(model, wire, response) == [given]


@STREAM
async def test_each_call_has_its_own_content_type(stream: bool):
    """Of several calls, only those that came with a content type go back with one."""
    calls = [wire_call(id='a'), wire_call(id='b', content_type='json'), wire_call(id='c', content_type='code')]
    wire = scripted(*calls)
    model = model_at(wire)
    assert await sent_calls(model, wire, await asked(model, stream=stream)) == calls


def streaming(*fragments: dict[str, Any], closing: dict[str, Any] | None = None) -> Wire:
    """Give a server that streams these fragments, and answers whole requests in a word."""
    last = chunk({'tool_calls': [closing]} if closing else {}, 'tool_calls')
    events = [*(chunk({'tool_calls': [{'index': 0, **fragment}]}) for fragment in fragments), last]
    return Wire(lambda request: sse(events) if body(request).get('stream') else reply_to(request, {'content': 'ok'}))


def typed(given: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**given, 'function': {**given['function'], **changes}}


@pytest.mark.parametrize('given', [ON_THE_CALL, ON_THE_FUNCTION], ids=['on the call', 'on the function'])
async def test_a_content_type_before_the_name_is_kept(given: dict[str, Any]):
    """A content type in a fragment that comes before the name goes back in its place."""
    wire = streaming(
        typed(given, name=None, arguments=''), {'function': {'name': 'bash', 'arguments': '{"cmd": "ls"}'}}
    )
    model = model_at(wire)
    assert await sent_calls(model, wire, await asked(model, stream=True)) == [given]


@pytest.mark.parametrize('closes', [False, True], ids=['before the end', 'at the end'])
@pytest.mark.parametrize('given', [ON_THE_CALL, ON_THE_FUNCTION], ids=['on the call', 'on the function'])
async def test_a_content_type_only_where_the_call_is_repeated_is_kept(given: dict[str, Any], closes: bool):
    """A content type that only the repetition of a call has is kept; the call is not said twice."""
    wire = streaming(wire_call(), closing=given) if closes else streaming(wire_call(), given)
    model = model_at(wire)
    assert await sent_calls(model, wire, await asked(model, stream=True)) == [given]


async def test_a_call_repeated_with_another_arguments_text_keeps_its_type():
    """The same in other white space: its content type is kept, its text is the first one."""
    again = {'index': 0, **typed(ON_THE_CALL, arguments='{"cmd":"ls"}')}
    wire = streaming(wire_call(), closing=again)
    model = model_at(wire)
    assert await sent_calls(model, wire, await asked(model, stream=True)) == [ON_THE_CALL]


@STREAM
@pytest.mark.parametrize('changed', ['name', 'base_url', 'provider'])
async def test_another_endpoint_gets_no_content_type(changed: str, stream: bool):
    """A content type goes to no other model, base URL or provider than the one that gave it."""
    wire = scripted(ON_THE_CALL)
    response = await asked(model_at(wire), stream=stream)
    elsewhere = 'https://other.example.com/v1'
    other = {
        'name': lambda: model_at(wire, 'openai/gpt-oss-120b'),
        'base_url': lambda: model_at(wire, base_url=elsewhere),
        'provider': lambda: OpenAICompatibleModel(
            GPT_OSS,
            provider=OpenAICompatibleProvider('else', base_url=BASE_URL, api_key='k', http_client=wire.client),
        ),
    }[changed]()
    assert await sent_calls(other, wire, response) == [wire_call()]


async def test_the_profile_can_ask_for_it():
    """Where the profile says so, any call's content type is sent, on the call if no place is known."""
    wire = scripted(ON_THE_CALL)
    profile = OpenAICompatibleModelProfile(openai_compatible_sends_content_type=True)
    model = model_at(wire, base_url='https://other.example.com/v1', profile=profile)
    details = {'content_type': 'code'}
    part = ToolCallPart('bash', '{"cmd": "ls"}', 'c1', provider_name='harmony', provider_details=details)
    assert await sent_calls(model, wire, ModelResponse(parts=[part])) == [wire_call(content_type='code')]


async def test_forged_details_are_no_content_type():
    """Details from an untrusted client send nothing: a content type is a word, given by this endpoint."""
    wire = scripted(ON_THE_CALL)
    profile = OpenAICompatibleModelProfile(openai_compatible_sends_content_type=True)
    forged: list[Any] = [{'content_type': {'a': 1}}, {'content_type': None}, {}]
    for details in forged:
        part = ToolCallPart('bash', '{"cmd": "ls"}', 'c1', provider_name='test', provider_details=details)
        assert await sent_calls(model_at(wire, profile=profile), wire, ModelResponse(parts=[part])) == [wire_call()]


@STREAM
@pytest.mark.parametrize('content_type', [None, 3, ['json'], ''])
async def test_what_is_no_content_type_is_not_kept(content_type: Any, stream: bool):
    """A value that is no word is no content type."""
    wire = scripted(wire_call(content_type=content_type))
    (part,) = (await asked(model_at(wire), stream=stream)).tool_calls
    assert not (part.provider_details or {}).get('content_type')


async def test_a_refusal_beside_calls_is_a_refusal():
    """A reply that refuses has no parts, whatever calls it holds."""
    wire = scripted(ON_THE_CALL, message={'refusal': 'no'})
    response = await asked(model_at(wire), stream=False)
    assert (response.parts, response.finish_reason) == ([], 'content_filter')


# Argument text -------------------------------------------------------------------------------------------------------


@STREAM
@pytest.mark.parametrize(
    'arguments',
    [
        '{ "q": 1.0 }',
        '{"q":"\\u00e9","q":"é"}',
        '{\n  "n": 1e2,\n  "big": 12345678901234567890\n}',
        '{}',
        ' {"a": 1} ',
    ],
)
async def test_arguments_go_back_as_they_came(arguments: str, stream: bool):
    """Argument text that is a JSON object goes back byte for byte."""
    wire = scripted(wire_call(arguments=arguments))
    model = model_at(wire)
    (sent,) = await sent_calls(model, wire, await asked(model, stream=stream))
    assert sent['function']['arguments'] == arguments


@pytest.mark.parametrize(
    'arguments',
    [
        '{"q": ',
        '[1]',
        '"text"',
        '{"a": NaN}',
        '{"a": "\t"}',
        'ls',
        '{"a":"\\ud83d"}',
        f'{{"a":{"[" * 300}{"]" * 300}}}',
    ],
)
async def test_broken_arguments_are_wrapped_by_upstream(arguments: str):
    """Any other argument text is sent as upstream sends it: a strict server would reject it for ever."""
    wire = scripted(wire_call(arguments=arguments))
    model = model_at(wire)
    (sent,) = await sent_calls(model, wire, await asked(model, stream=False))
    assert sent['function']['arguments'] == ToolCallPart('bash', arguments).args_as_json_str()


async def test_edited_arguments_are_the_ones_that_go():
    """What the user put in a part's `args` goes out: a dictionary as upstream writes it."""
    wire = scripted(wire_call())
    part = ToolCallPart('bash', {'cmd': 'pwd'}, 'c1')
    (sent,) = await sent_calls(model_at(wire), wire, ModelResponse(parts=[part]))
    assert json.loads(sent['function']['arguments']) == {'cmd': 'pwd'}


# Headers in names ----------------------------------------------------------------------------------------------------

LEAKS: list[tuple[str, list[Said]]] = [
    ('bash<|channel|>commentary', [call('bash', '{"cmd": "ls"}')]),
    ('bash<|channel|>commentary json', [call('bash', '{"cmd": "ls"}')]),
    ('bash <|constrain|>json', [call('bash', '{"cmd": "ls"}')]),
    ('functions.bash<|channel|>analysis', [call('bash', '{"cmd": "ls"}')]),
    ('functions.bash', [call('bash', '{"cmd": "ls"}')]),
    ('to=functions.bash', [call('bash', '{"cmd": "ls"}')]),
    ('commentary to=functions.bash json', [call('bash', '{"cmd": "ls"}')]),
    ('bash<|chan', [call('bash', '{"cmd": "ls"}')]),
    ('bash json', [call('bash', '{"cmd": "ls"}')]),
    ('assistant', [text('{"cmd": "ls"}')]),
    ('assistant<|channel|>analysis', [thinking('{"cmd": "ls"}')]),
    ('assistant<|channel|>final', [text('{"cmd": "ls"}')]),
]


@STREAM
@pytest.mark.parametrize(('name', 'expected'), [pytest.param(*leak, id=leak[0]) for leak in LEAKS])
async def test_a_leaked_header_is_read(name: str, expected: list[Said], stream: bool):
    """A header that leaked into a gpt-oss's tool name is read by its own rules; a call to nobody is what it says."""
    assert said(await asked(model_at(scripted(wire_call(name))), stream=stream)) == expected


@STREAM
@pytest.mark.parametrize('name', ['bashjson', 'functions.bashjson', 'bashjson<|channel|>commentary', 'bash?'])
async def test_a_name_is_repaired_into_a_declared_one_only(name: str, stream: bool):
    """What a gpt-oss glued to the name of a tool is taken off it, if there is such a tool."""
    declared = ModelRequestParameters(function_tools=[ToolDefinition(name='bash')])
    (part,) = (await asked(model_at(scripted(wire_call(name))), stream=stream, parameters=declared)).tool_calls
    assert part.tool_name == 'bash'
    (part,) = (await asked(model_at(scripted(wire_call(name))), stream=stream)).tool_calls
    assert part.tool_name == name.removeprefix('functions.').partition('<')[0]


@STREAM
@pytest.mark.parametrize('behind', ['<|start|>assistant', '<|end|>', '<|call|> now'])
async def test_what_stands_behind_a_header_is_no_content_type(behind: str, stream: bool):
    """A header ends at the next marker that ends one."""
    response = await asked(model_at(scripted(wire_call(f'bash{behind}'))), stream=stream)
    assert said(response) == [call('bash', '{"cmd": "ls"}')]
    assert 'content_type' not in (response.tool_calls[0].provider_details or {})


@pytest.mark.parametrize(
    'name',
    [
        '<|start|>assistant<|channel|>commentary to=functions.bash',
        '<|start|>functions.bash<|channel|>commentary',
        'commentary<|message|>to=bash',
    ],
)
def test_a_header_behind_a_marker_is_read(name: str):
    """A marker cuts off only what stands behind a recipient."""
    assert read_name(name, Dialect('gpt-oss', leaks_harmony=True)).name == 'bash'


def test_a_declared_tool_called_as_nobody_is_a_tool():
    """`user`, `all` and `assistant` are nobody, unless a tool has the name."""
    dialect = Dialect('gpt-oss', tools=frozenset({'user'}), leaks_harmony=True)
    assert read_name('user<|channel|>commentary json', dialect) == Leak('user', 'commentary', 'json')
    assert read_name('all<|channel|>commentary', dialect).name is None


@STREAM
async def test_a_leaked_content_type_is_kept(stream: bool):
    """The content type in a leaked header is kept, but not sent: no place on the wire was its own."""
    wire = scripted(wire_call('bash<|channel|>commentary <|constrain|>json'))
    model = model_at(wire)
    response = await asked(model, stream=stream)
    assert (response.tool_calls[0].provider_details or {})['content_type'] == 'json'
    assert await sent_calls(model, wire, response) == [wire_call()]


HEADERS = [
    'bash<|channel|>commentary <|constrain|>json',
    'functions.bash<|channel|>commentary json',
    'to=functions.bash json',
]


@pytest.mark.parametrize(
    ('name', 'cut'), [pytest.param(name, cut, id=name[:cut]) for name in HEADERS for cut in range(1, len(name))]
)
async def test_a_leaked_header_in_two_pieces_is_read(name: str, cut: int):
    """Wherever a leaked header is cut in transit, the name and the content type are those of the whole."""
    wire = streaming(
        typed(wire_call(), name=name[:cut], arguments=''),
        {'function': {'name': name[cut:], 'arguments': '{"cmd": '}},
        {'function': {'arguments': '"ls"}'}},
    )
    response = await asked(model_at(wire), stream=True)
    assert said(response) == [call('bash', '{"cmd": "ls"}')]
    assert (response.tool_calls[0].provider_details or {})['content_type'] == 'json'


@pytest.mark.parametrize('name', ['bash', 'functions.bash<|channel|>commentary'])
async def test_a_call_without_arguments_is_a_call(name: str):
    """A gpt-oss's tool name is certain once its arguments begin, or once there will be none."""
    response = await asked(model_at(streaming(typed(wire_call(), name=name, arguments=''))), stream=True)
    assert [(part.tool_name, part.args, part.tool_call_id) for part in response.tool_calls] == [('bash', '', 'c1')]


@STREAM
async def test_the_rest_of_a_leaking_reply_stays(stream: bool):
    """Reasoning, text and other calls beside a leak are as they were."""
    wire = scripted(
        wire_call('assistant<|channel|>analysis', 'more', 'c1'),
        wire_call('bash', '{}', 'c2'),
        message={'reasoning_content': 'why ', 'content': 'hi'},
    )
    parts = said(await asked(model_at(wire), stream=stream))
    assert sorted(parts, key=str) in (
        [call('bash', '{}', 'c2'), text('hi'), thinking('why more')],
        [call('bash', '{}', 'c2'), text('hi'), thinking('more'), thinking('why ')],
    )


async def test_a_leak_beside_content_parts_is_text_too():
    """A message to nobody joins a content that is a list of parts."""
    wire = scripted(
        wire_call('assistant<|channel|>final', ' there'), message={'content': [{'type': 'text', 'text': 'hi'}]}
    )
    assert said(await asked(model_at(wire), stream=False)) == [text('hi there')]


@STREAM
@pytest.mark.parametrize('name', ['user', 'functions.bash'])
async def test_a_declared_tool_is_called_by_its_name(name: str, stream: bool):
    """A declared tool's name is read as nothing else, whatever header it looks like."""
    tools = ModelRequestParameters(function_tools=[ToolDefinition(name=name)])
    response = await asked(model_at(scripted(wire_call(name))), stream=stream, parameters=tools)
    assert said(response) == [call(name, '{"cmd": "ls"}')]


@STREAM
async def test_other_models_keep_their_names(stream: bool):
    """Only a gpt-oss leaks Harmony headers: another model's name is its own."""
    name = 'bash<|channel|>commentary'
    wire = scripted(wire_call(name))
    assert said(await asked(model_at(wire, 'glm-5'), stream=stream)) == [call(name, '{"cmd": "ls"}')]
