"""Replies and streams that stray in ways nobody has reported: typed exceptions only, and nothing said is lost."""

import asyncio
import copy
import json
import os
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart

from pydantic_ai_verbatim.chat.json_value import is_list, is_object
from pydantic_ai_verbatim.chat.model import OpenAICompatibleModel
from pydantic_ai_verbatim.chat.sse import EventDecoder

from .reply_cases import CASES as REPLIES
from .stray import TOOLS, answering, event_stream, model_of
from .stream_cases import CASES as STREAMS
from .test_reply_parity import COPILOT, OPENAI, OPENROUTER, chunks_of

# Upstream's OpenRouter class dumps each chunk, and pydantic remarks on a field of another type; nothing is lost by it.
pytestmark = pytest.mark.filterwarnings('ignore:Pydantic serializer warnings')

IS_FUZZING = os.environ.get('HYPOTHESIS_PROFILE') == 'fuzz'

few = settings(
    max_examples=25_000 if IS_FUZZING else 700,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""A hundred thousand examples over the four properties in `make fuzz`, a few thousand otherwise."""

MODELS = [
    cast('OpenAICompatibleModel', model_of(kind, name, answering({})))
    for kind, name in (
        ('compat', 'glm-5'),
        ('compat', 'openai/gpt-oss-20b'),
        ('openrouter', 'z-ai/glm-5'),
        ('copilot', 'gpt-5'),
    )
]
WELL_FORMED = [*OPENAI.values(), *OPENROUTER.values(), *COPILOT.values()]
BODIES = [*WELL_FORMED, *(body for _, body, _ in REPLIES)]
EVENTS = [*(chunks_of(reply, by_character=False) for reply in WELL_FORMED), *(events for _, events, _ in STREAMS)]

words = st.sampled_from(
    ['', 'stop', 'error', 'tool_calls', 'assistant', 'function', 'get_weather', '{}', '{"a":1}', '"{}"', '<think>', '</think>',
     'a<|channel|>final', '[DONE]', 'data: x', '7', '\ud800', '\x00']
)  # fmt: skip
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | words, inner, max_size=3),
    max_leaves=6,
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the path of each value inside a JSON value."""
    items = value.items() if is_object(value) else enumerate(value) if is_list(value) else ()
    for key, item in items:
        yield (*path, key)
        yield from paths(item, (*path, key))


@st.composite
def mutated(draw: st.DrawFn, originals: list[Any], spared: frozenset[str] = frozenset()) -> Any:
    """Draw a JSON value of which some places were replaced, left out, said twice or turned into text."""
    value = copy.deepcopy(draw(st.sampled_from(originals)))
    for _ in range(draw(st.integers(0, 4))):
        places = [
            path
            for path in paths(value)
            if not spared.intersection(map(str, path)) and path[-1] not in ('choices', 'delta', 'message', 0)
        ]
        places = places if spared else list(paths(value))
        if not places:
            break
        *way, last = draw(st.sampled_from(places))
        holder = value
        for key in way:
            holder = holder[key]
        change(draw, holder, last)
    return value


def change(draw: st.DrawFn, holder: Any, key: Any) -> None:
    match draw(st.sampled_from(['replace', 'leave out', 'twice', 'text', 'list'])):
        case 'replace':
            holder[key] = draw(junk)
        case 'leave out':
            del holder[key]
        case 'twice' if is_list(holder):
            holder.insert(key, copy.deepcopy(holder[key]))
        case 'text':
            holder[key] = json.dumps(holder[key])
        case _:
            holder[key] = [holder[key]]


def read_whole(model: OpenAICompatibleModel, body: Any) -> ModelResponse | AgentRunError:
    """Read a body as the SDK would hand it on."""
    response = ChatCompletion.model_construct(**body) if is_object(body) and all(map(str.isidentifier, body)) else body
    try:
        return model._process_response(cast('Any', response))
    except AgentRunError as error:
        return error


def read_stream(model: OpenAICompatibleModel, body: bytes) -> ModelResponse | AgentRunError:
    """Read the bytes of a stream as the SDK would hand their chunks on."""

    async def chunks() -> AsyncIterator[ChatCompletionChunk]:
        decoder = EventDecoder(model._dialect)
        for source in (decoder.feed(body), decoder.flush()):
            for chunk in source:
                yield ChatCompletionChunk.model_construct(**{key: chunk[key] for key in chunk if key.isidentifier()})

    async def read() -> ModelResponse:
        response = await model._process_streamed_response(cast('Any', chunks()), TOOLS)
        async for _ in response:
            pass
        return response.get()

    try:
        return asyncio.run(read())
    except AgentRunError as error:
        return error


def texts_of(response: ModelResponse) -> str:
    return ''.join(part.content for part in response.parts if isinstance(part, TextPart | ThinkingPart))


def arguments_of(response: ModelResponse) -> list[Any]:
    return [part.args for part in response.parts if isinstance(part, ToolCallPart)]


@few
@given(st.sampled_from(MODELS), mutated(BODIES) | junk)
def test_a_mutated_reply_is_read_or_a_typed_error(model: OpenAICompatibleModel, body: Any):
    """Whatever a whole reply is, the outcome is a response or one of upstream's typed exceptions, and nobody else's."""
    outcome = read_whole(model, body)
    assert isinstance(outcome, ModelResponse | AgentRunError)
    assert str(outcome)


@few
@given(st.sampled_from(MODELS), mutated(EVENTS), st.booleans(), st.data())
def test_a_mutated_stream_is_read_or_a_typed_error(
    model: OpenAICompatibleModel, events: Any, done: bool, data: st.DataObject
):
    """The same for a stream, whose bytes may be damaged too."""
    body = event_stream(events if is_list(events) else [events], done=done)
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(body)))
        body = body[:at] + data.draw(st.binary(max_size=3)) + body[at + data.draw(st.integers(0, 3)) :]
    outcome = read_stream(model, body)
    assert isinstance(outcome, ModelResponse | AgentRunError)


SPARED = frozenset(
    {
        'content',
        'arguments',
        'name',
        'reasoning',
        'reasoning_content',
        'reasoning_details',
        'refusal',
        'error',
        'index',
        'function',
    }
)
"""What is left alone where it is checked that it arrives."""

CALL: dict[str, Any] = {
    'id': 'c1',
    'type': 'function',
    'function': {'name': 'get_weather', 'arguments': '{"city": "Paris"}'},
}
SAYING = [
    {
        'id': 'r1',
        'object': 'chat.completion',
        'created': 1,
        'model': 'm',
        'choices': [{'index': 0, 'message': {'role': 'assistant', 'content': 'the text', 'tool_calls': [CALL, {**CALL, 'id': 'c2'}]}, 'finish_reason': 'tool_calls', 'logprobs': None}],
        'usage': {'prompt_tokens': 3, 'completion_tokens': 2, 'total_tokens': 5},
        'provider': 'X',
    }
]  # fmt: skip


@few
@given(st.sampled_from(MODELS), mutated(SAYING, SPARED))
def test_a_reply_keeps_its_text_and_arguments(model: OpenAICompatibleModel, body: Any):
    """Whatever else strays in a reply, its text and the arguments of its calls arrive as they were."""
    outcome = read_whole(model, body)
    if isinstance(outcome, ModelResponse):
        assert texts_of(outcome) == 'the text'
        calls = json.dumps(body['choices'][0]['message'].get('tool_calls'))
        said = calls.count('city')
        own = min(said, sum(id in calls for id in ('c1', 'c2')))
        arguments = [json.loads(arguments) for arguments in arguments_of(outcome) if arguments]
        assert arguments == [{'city': 'Paris'}] * len(arguments)
        assert own <= len(arguments) <= said  # a call that is said again under its own id is one


@few
@given(
    st.sampled_from(MODELS),
    st.text(st.characters(codec='utf-8'), min_size=1).filter(lambda text: '<' not in text and text == text.lstrip()),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5)).map(json.dumps),
    mutated(
        [
            {
                'finish_reason': 'tool_calls',
                'usage': {'prompt_tokens': 3},
                'id': 'r',
                'created': 1,
                'model': 'm',
                'object': 'chunk',
            }
        ],
        frozenset({'-'}),
    ),
    st.data(),
)
def test_a_stream_keeps_its_text_and_arguments(
    model: OpenAICompatibleModel, said: str, arguments: str, around: Any, data: st.DataObject
):
    """Text and arguments arrive as they were written, wherever the stream is cut and whatever is round them."""
    deltas: list[Any] = [{'content': piece} for piece in cut(data, said)]
    deltas.append({'tool_calls': [{'index': 0, 'id': 'c1', 'function': {'name': 'get_weather', 'arguments': ''}}]})
    deltas += [{'tool_calls': [{'index': 0, 'function': {'arguments': piece}}]} for piece in cut(data, arguments)]
    around = around if is_object(around) else {}
    envelope = {key: value for key, value in around.items() if key != 'finish_reason'}
    choices = [{'index': 0, 'delta': delta} for delta in deltas]
    choices.append({'index': 0, 'delta': {}, 'finish_reason': around.get('finish_reason')})
    outcome = read_stream(model, event_stream({**envelope, 'choices': [choice]} for choice in choices))
    assert isinstance(outcome, ModelResponse)
    assert texts_of(outcome) == said
    assert arguments_of(outcome) == [arguments]


def cut(data: st.DataObject, text: str) -> list[str]:
    """Cut a text at drawn places; no piece says all that came before it once more, as a whole call said again does."""
    places = sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=4)))
    borders = [0, *places, len(text)]
    return [text[start:end] for start, end in pairwise(borders)]
