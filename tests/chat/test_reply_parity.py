"""What upstream already does right stays as it is: well-formed replies through both classes, whole and streamed."""

from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models.openai import OpenAIChatModelSettings

from pydantic_ai_verbatim.chat.dialect import Dialect
from pydantic_ai_verbatim.chat.replies import repair_reply
from pydantic_ai_verbatim.chat.streaming import StreamRepair

from ..wire import call, chunk, completion
from .stray import TOOLS, answering, model_of, streamed, streaming, whole

SETTINGS = OpenAIChatModelSettings(openai_include_raw_annotations=True, openai_include_unmapped_response_data=True)
CONTINUOUS = OpenAIChatModelSettings(openai_continuous_usage_stats=True)

TOKEN: dict[str, Any] = {'token': 'hi', 'logprob': -0.5, 'bytes': [104, 105], 'top_logprobs': []}
LOGPROBS: dict[str, Any] = {'content': [{**TOKEN, 'top_logprobs': [{**TOKEN, 'token': 'ho'}]}], 'refusal': None}
CITATION: dict[str, Any] = {
    'type': 'url_citation',
    'url_citation': {'url': 'https://a', 'title': 'A', 'start_index': 0, 'end_index': 2},
}
RESULT: dict[str, Any] = {
    'categories': {'hate': False},
    'category_applied_input_types': {'hate': ['text']},
    'category_scores': {'hate': 0.1},
    'flagged': False,
    'model': 'omni-moderation',
    'type': 'moderation_result',
}
RESULTS: dict[str, Any] = {'type': 'moderation_results', 'model': 'omni-moderation', 'results': [RESULT]}
MODERATION = {'input': RESULTS, 'output': RESULTS}
AUDIO = {'id': 'a1', 'data': 'UklGRg==', 'expires_at': 1700000000, 'transcript': 'hi'}
USAGE: dict[str, Any] = {
    'prompt_tokens': 30,
    'completion_tokens': 20,
    'total_tokens': 50,
    'prompt_tokens_details': {'cached_tokens': 10, 'audio_tokens': 0},
    'completion_tokens_details': {'reasoning_tokens': 7, 'accepted_prediction_tokens': None},
    'queue_time': 0.25,
}
CALLS = [call('get_weather', '{"city": "Paris"}', 'c1'), call('now', '{}', 'c2')]
SIGNED = [{**CALLS[0], 'extra_content': {'google': {'thought_signature': 'abc'}}}]


def says(message: dict[str, Any], finish: str = 'stop', **body: Any) -> dict[str, Any]:
    return completion({'role': 'assistant', 'content': None, **message}, finish, **body)


def with_logprobs(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, 'choices': [{**body['choices'][0], 'logprobs': LOGPROBS}]}


OPENAI: dict[str, dict[str, Any]] = {
    'text': says({'content': 'hi'}),
    'text in parts': says(
        {'content': [{'type': 'text', 'text': 'h'}, {'type': 'text', 'text': 'i'}, {'type': 'ref', 'n': 1}]}
    ),
    'reasoning_content': says({'content': 'hi', 'reasoning_content': 't'}),
    'reasoning': says({'content': 'hi', 'reasoning': 't'}),
    'both reasonings': says({'content': 'hi', 'reasoning': 't', 'reasoning_content': 't'}),
    'thinking tags': says({'content': '<think>t</think>\n\nhi'}),
    'calls': says({'tool_calls': CALLS}, 'tool_calls'),
    'text and calls': says({'content': 'hi', 'tool_calls': CALLS}, 'tool_calls'),
    'signed call': says({'tool_calls': SIGNED}, 'tool_calls'),
    'broken arguments': says({'tool_calls': [call('now', '{"a', 'c1')]}, 'length'),
    'refusal': says({'refusal': 'no'}),
    'logprobs': with_logprobs(says({'content': 'hi'})),
    'annotations': says({'content': 'hi', 'annotations': [CITATION]}),
    'moderation': says({'content': 'hi'}, moderation=MODERATION),
    'service tier': says({'content': 'hi'}, service_tier='default', system_fingerprint='fp'),
    'usage details': says({'content': 'hi'}, usage=USAGE),
    'length': says({'content': 'hi'}, 'length'),
    'content filter': says({'content': ''}, 'content_filter'),
    'function call': says({'content': 'hi'}, 'function_call'),
    'unknown finish': says({'content': 'hi'}, 'guardrail'),
    'vendor fields': says({'content': 'hi', 'score': 1}, citations=['https://a'], x_groq={'id': 'q'}),
    'alternatives': {
        **says({'content': 'hi'}),
        'choices': [*says({'content': 'hi'})['choices'], {**says({'content': 'ho'})['choices'][0], 'index': 1}],
    },
    'empty': says({'content': ''}),
}
WHOLE_ONLY: dict[str, dict[str, Any]] = {'audio': says({'audio': AUDIO, 'content': 'hi'})}
DETAILS: list[dict[str, Any]] = [
    {'type': 'reasoning.text', 'text': 't', 'signature': 's', 'format': 'anthropic-claude-v1', 'index': 0},
    {'type': 'reasoning.summary', 'summary': 'u', 'format': 'openai-responses-v1', 'index': 1, 'id': 'r'},
    {'type': 'reasoning.encrypted', 'data': 'x', 'format': 'unknown', 'index': 2},
]
OPENROUTER: dict[str, dict[str, Any]] = {
    'text': says({'content': 'hi'}, provider='X'),
    'reasoning details': says({'content': 'hi', 'reasoning': 'tu', 'reasoning_details': DETAILS}, provider='X'),
    'calls': says({'content': '', 'tool_calls': CALLS}, 'tool_calls', provider='X'),
    'cost': says(
        {'content': 'hi'},
        provider='X',
        usage={**USAGE, 'cost': 0.25, 'is_byok': False, 'cost_details': {'upstream_inference_cost': 0.5}},
    ),
    'file annotation': says({'content': 'hi', 'annotations': [{'type': 'file', 'file': {'hash': 'h'}}]}, provider='X'),
    'native finish': {
        **says({'content': 'hi'}, provider='X'),
        'choices': [{**says({'content': 'hi'})['choices'][0], 'native_finish_reason': 'STOP'}],
    },
}
COPILOT: dict[str, dict[str, Any]] = {
    'gpt': {key: value for key, value in says({'content': 'hi'}).items() if key not in ('object', 'created')},
    'claude': {
        **{key: value for key, value in says({}).items() if key != 'object'},
        'choices': [{'message': {'role': 'assistant', 'content': 'hi'}, 'finish_reason': 'stop'}],
    },
    'calls': says({'tool_calls': CALLS}, 'tool_calls'),
}
if 'openai_include_unmapped_response_data' not in OpenAIChatModelSettings.__annotations__:
    del OPENAI['text in parts']  # upstream cannot read it before the release that has this setting

SHAPES = [
    pytest.param(kind, shape, id=f'{kind}-{name}')
    for kind, shapes in (('compat', OPENAI), ('openrouter', OPENROUTER), ('copilot', COPILOT))
    for name, shape in shapes.items()
]


def seen(response: ModelResponse) -> dict[str, Any]:
    """Give everything of a response but when it was made."""
    names = (
        'parts',
        'usage',
        'finish_reason',
        'provider_details',
        'model_name',
        'provider_response_id',
        'provider_name',
    )
    return {name: getattr(response, name) for name in names} | {'url': response.provider_url, 'state': response.state}


def name_of(kind: str) -> str:
    return 'z-ai/glm-5' if kind == 'openrouter' else 'gpt-5'


@pytest.mark.parametrize(
    ('kind', 'reply'), [*SHAPES, *(pytest.param('compat', WHOLE_ONLY[name], id=name) for name in WHOLE_ONLY)]
)
async def test_a_whole_reply_is_read_as_upstream_reads_it(kind: str, reply: dict[str, Any]):
    """A well-formed whole reply gives the same response through both classes."""
    ours, theirs = (model_of(kind, name_of(kind), answering(reply), stock=stock) for stock in (False, True))
    assert seen(await whole(ours, kind, SETTINGS)) == seen(await whole(theirs, kind, SETTINGS))


def chunks_of(reply: dict[str, Any], *, by_character: bool) -> list[Any]:
    """Give a well-formed stream of a reply, as OpenAI would send it."""
    choice = reply['choices'][0]
    envelope = {key: value for key, value in reply.items() if key not in ('choices', 'usage', 'moderation')}
    envelope['object'] = 'chat.completion.chunk'
    message, around = (
        choice['message'],
        {key: value for key, value in choice.items() if key not in ('message', 'finish_reason', 'logprobs')},
    )
    deltas: list[Any] = [{'role': 'assistant', 'content': ''}]
    for key in sorted(message, key=lambda key: (key in ('content', 'annotations'), key == 'tool_calls')):
        value = message[key]
        if key == 'role' or value is None:
            continue
        if key == 'tool_calls':
            deltas += fragments_of(value)
        elif isinstance(value, str) and by_character and '<' not in value:
            deltas += [{key: character} for character in value]
        elif isinstance(value, str) and '<' in value:
            deltas += [{key: piece} for piece in ('<think>', 't', '</think>', '\n\nhi')]
        else:
            deltas.append({key: value})
    events = [{**envelope, 'choices': [{**around, 'delta': delta, 'finish_reason': None}]} for delta in deltas]
    last: dict[str, Any] = {**around, 'delta': {}, 'finish_reason': choice['finish_reason']}
    events.append({**envelope, 'choices': [{**last, 'logprobs': choice['logprobs']} if 'logprobs' in choice else last]})
    events.append({**envelope, 'choices': [], 'usage': reply['usage']})
    if 'moderation' in reply:
        events.append({**envelope, 'choices': [], 'moderation': reply['moderation']})
    return events


def fragments_of(calls: list[Any]) -> list[Any]:
    fragments: list[Any] = []
    for index, item in enumerate(calls):
        function = item['function']
        fragments.append(
            {'tool_calls': [{**item, 'index': index, 'function': {'name': function['name'], 'arguments': ''}}]}
        )
        fragments += [
            {'tool_calls': [{'index': index, 'function': {'arguments': part}}]} for part in function['arguments']
        ]
    return fragments


@pytest.mark.parametrize(('kind', 'reply'), SHAPES)
async def test_a_stream_is_read_as_upstream_reads_it(kind: str, reply: dict[str, Any]):
    """A well-formed stream gives the same response through both classes, a field or a character at a time."""
    for by_character, settings in ((False, SETTINGS), (True, CONTINUOUS)):
        respond = streaming(chunks_of(reply, by_character=by_character))
        ours, theirs = (model_of(kind, name_of(kind), respond, stock=stock) for stock in (False, True))
        assert seen(await streamed(ours, kind, settings)) == seen(await streamed(theirs, kind, settings))


async def test_the_events_are_the_same():
    """Not only the response: each event of a well-formed stream is the one that upstream gives."""
    respond = streaming(chunks_of(OPENAI['text and calls'], by_character=True))
    events: list[list[Any]] = []
    for stock in (False, True):
        model = model_of('compat', 'gpt-5', respond, stock=stock)
        async with model.request_stream([], None, TOOLS) as stream:
            events.append([event async for event in stream])
    assert events[0] == events[1]


@pytest.mark.parametrize('reply', [pytest.param(reply, id=name) for name, reply in OPENAI.items()])
def test_nothing_is_touched(reply: dict[str, Any]):
    """A well-formed reply comes out as the very object that went in, and so does each event of a stream."""
    dialect = Dialect('m')
    assert repair_reply(reply, dialect) is reply
    repair = StreamRepair(dialect)
    for event in chunks_of({**reply, 'choices': reply['choices'][:1]}, by_character=False):
        assert next(iter(repair.feed(event))) is event
    assert repair.close(is_done=True) == []


def test_a_chunk_is_not_changed_in_place():
    """What is given to the repairs is the caller's, and stays as it was."""
    repair = StreamRepair(Dialect('m'))
    event = chunk({'content': '<think>t</think>a', 'tool_calls': [{'function': {'name': 'now', 'arguments': {}}}]}, '')
    before = repr(event)
    assert len(list(repair.feed(event))) == 4
    assert repr(event) == before
