"""The pieces of the repairs by themselves: lines, events, thinking tags, names and single fields."""

from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletionChunk
from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior
from pydantic_ai.models.openai import OpenAIStreamedResponse

from pydantic_ai_verbatim.chat import fields
from pydantic_ai_verbatim.chat.completions import assembled
from pydantic_ai_verbatim.chat.dialect import Dialect
from pydantic_ai_verbatim.chat.model import OpenAICompatibleModel
from pydantic_ai_verbatim.chat.replies import repair_reply
from pydantic_ai_verbatim.chat.sse import EventDecoder, LineDecoder, Parsed, RepairingDecoder, repair_stream, values_in
from pydantic_ai_verbatim.chat.streaming import StreamRepair
from pydantic_ai_verbatim.chat.thinking_tags import ThinkingTags

from ..wire import chunk
from .stray import TOOLS, answering, event_stream, model_of, streamed, streaming
from .stream_events import A

DIALECT = Dialect('m')

few = settings(max_examples=300, deadline=None)


def cut_at(data: Any, places: list[int]) -> list[Any]:
    borders = [0, *sorted({place for place in places if place < len(data)}), len(data)]
    return [data[start:end] for start, end in pairwise(borders)]


places = st.lists(st.integers(0, 60), max_size=8)


# Lines ---------------------------------------------------------------------------------------------------------------


@few
@given(
    st.lists(st.text(st.characters(codec='utf-8', exclude_characters='\r\n'), max_size=6)),
    st.sampled_from(['\n', '\r\n', '\r']),
    places,
)
def test_lines_are_the_same_however_they_come(lines: list[str], ending: str, cuts: list[int]):
    """Bytes cut anywhere, inside characters and line ends too, make the same lines."""
    data = ''.join(line + ending for line in lines).encode()
    decoder = LineDecoder()
    assert [line for piece in cut_at(data, cuts) for line in decoder.feed(piece)] + decoder.flush() == lines


def test_a_line_that_nothing_ends_is_a_line():
    """What comes after the last line end is the last line; half a character in it is replaced, as the standard says."""
    decoder = LineDecoder()
    assert decoder.feed(b'a\nb\xc3') == ['a']
    assert decoder.flush() == ['b\ufffd']
    assert decoder.feed(b'') == []


# Thinking tags -------------------------------------------------------------------------------------------------------

TAGS = ('<think>', '</think>')


def pieces_of(deltas: list[str]) -> list[str]:
    tags = ThinkingTags(TAGS)
    return [piece for delta in deltas for piece in tags.feed(delta)] + [held for held in [tags.flush()] if held]


@few
@given(
    st.lists(st.sampled_from(['<think>', '</think>', '<', '</th', 'ink>', 'a', ' ', '\n', 'bc'])).map(''.join), places
)
def test_no_character_is_added_or_lost(text: str, cuts: list[int]):
    """Whatever the content is and wherever it is cut, the pieces make the content."""
    assert ''.join(pieces_of(cut_at(text, cuts))) == text


@few
@given(places)
def test_a_tag_is_found_wherever_it_is_cut(cuts: list[int]):
    """A tag is one piece, wherever the deltas were cut."""
    pieces = pieces_of(cut_at('\n <think>why</think> <think>so</think>hi <b>', cuts))
    for tag in TAGS:
        assert pieces.count(tag) == 2
    thought, said = pieces.index('</think>'), len(pieces) - pieces[::-1].index('</think>')
    assert ''.join(pieces[pieces.index('<think>') + 1 : thought]) == 'why'
    assert ''.join(pieces[said:]) == 'hi <b>'


def test_a_tag_by_itself_opens_thinking_in_text():
    """A delta that is just a tag opens thinking, as upstream takes it, and its closing tag may be cut."""
    assert pieces_of(['a', '<think>', 'why</th', 'ink>', 'b']) == ['a', '<think>', 'why', '</think>', 'b']


# The decoder's place -------------------------------------------------------------------------------------------------


async def test_the_sdk_takes_up_the_decoder_when_reading_begins():
    """The one private attribute of the SDK that is touched: a stream's decoder, read lazily by its name."""
    client = AsyncOpenAI(
        base_url='https://llm.example.com/v1',
        api_key='k',
        http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(streaming(['data: : comment\n\n', A]))),
    )
    stream = await client.chat.completions.create(model='m', messages=[], stream=True)
    assert type(stream) is AsyncStream
    assert hasattr(stream._decoder, 'aiter_bytes')
    chunks = [item async for item in repair_stream(stream, DIALECT)]
    assert [type(item) for item in chunks] == [ChatCompletionChunk]


async def test_the_decoder_ends_with_the_servers_done():
    """The decoder says `[DONE]` once, as the SDK looks for it, and reads no more."""

    async def source() -> AsyncIterator[bytes]:
        yield event_stream([chunk({'content': 'a'})])
        yield event_stream([chunk({'content': 'b'})])

    events = [event async for event in RepairingDecoder(DIALECT).aiter_bytes(source())]
    assert [event.data.startswith('[DONE]') for event in events] == [False, True]
    assert events[0].event is None


async def test_a_subclass_may_have_a_streamed_response_of_its_own():
    """A user's subclass that goes back to upstream's class of streamed responses still streams."""

    class Plain(OpenAICompatibleModel):
        @property
        def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
            return OpenAIStreamedResponse

    ours = model_of('compat', 'glm-5', streaming([chunk({'content': 'a'}), chunk({}, 'stop')]))
    assert (await streamed(Plain('glm-5', provider=ours._provider))).text == 'a'


async def test_a_body_after_done_is_not_read():
    """Nothing that comes after `[DONE]` is read, though it came in the same bytes."""
    decoder = EventDecoder(DIALECT)
    body = event_stream([chunk({'content': 'a'}), 'data: [DONE]\n\n', chunk({'content': 'b'})])
    assert len([*decoder.feed(body), *decoder.feed(body), *decoder.flush()]) == 1


def test_deep_json_is_text():
    """JSON that is nested too deeply to be read is broken, and quoted."""
    decoder = EventDecoder(DIALECT)
    for start in ('[', '{"a":'):
        with pytest.raises(ModelAPIError, match='an event that is broken'):
            list(decoder.feed(f'data: {start * 100_000}\n\n'.encode()))


def test_json_that_can_only_just_be_read_is_quoted(monkeypatch: pytest.MonkeyPatch):
    """An event at the edge of what Python can nest is read, but cannot be looked into."""

    def too_deep(*_: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr(StreamRepair, 'feed', too_deep)
    with pytest.raises(ModelAPIError, match=r'an event that is too deep: \{"a":1\}'):
        list(EventDecoder(DIALECT).feed(b'data: {"a":1}\n\n'))


def test_half_a_character_in_what_is_too_deep():
    """What can be read at any depth may be too deep to be written anew, which is a typed error."""
    deep: dict[str, Any] = {'half': '\ud83d'}
    for _ in range(5000):
        deep = {'a': deep}
    with pytest.raises(ModelAPIError, match='too deep'):
        repair_reply(deep, DIALECT)


def test_half_a_character_names_nothing():
    """A field's name that pydantic could not write is made one that it can; values stay."""
    (value,) = values_in('{"a\\ud800": ["\\ud800", {"\\ud800": 1}]}')
    assert value == Parsed({'a?': ['\ud800', {'?': 1}]})


async def test_half_a_character_in_a_name_does_not_break_a_stream():
    """The same through the model."""
    events = [{**chunk({'content': 'a'}), 'usage': {'\ud800': 1}}, chunk({}, 'stop')]
    assert (await streamed(model_of('compat', 'glm-5', streaming(events)))).text == 'a'


async def test_half_a_character_in_the_name_of_a_whole_reply_is_an_error():
    """A whole reply with such a name cannot be written by pydantic: a typed error."""
    model = model_of(
        'compat',
        'glm-5',
        answering(
            '{"choices": [{"message": {"content": "a"}}], "\\ud800": 1}', headers={'content-type': 'application/json'}
        ),
    )
    with pytest.raises(ModelAPIError, match='what is no text'):
        await model.request([], None, TOOLS)


async def test_a_chunk_that_still_fails_is_a_typed_error():
    """A chunk that upstream's strict class refuses all the same is the server's fault, and typed."""
    events = [{**chunk({'content': 'a'}), 'usage': {'cost_details': {'upstream_inference_cost': 'much'}}}]
    with pytest.raises(UnexpectedModelBehavior, match='OpenRouter streamed a chunk'):
        await streamed(model_of('openrouter', 'z-ai/glm-5', streaming(events)), 'openrouter')


# Fields --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('read', 'value', 'expected'),
    [
        (fields.position, True, None),
        (fields.position, '12', 12),
        (fields.position, '9' * 400, None),
        (fields.identifier, True, ''),
        (fields.identifier, 12, '12'),
        (fields.created_at, True, 0),
        (fields.created_at, -1, 0),
        (fields.created_at, '9' * 400, 0),
        (fields.as_text, None, ''),
        (fields.string_or_none, 1, None),
        (fields.meaning_of, 'TOOL_CALLS', 'tool_call'),
        (fields.meaning_of, 'moonphase', None),
        (fields.reasoning_of, None, None),
        (fields.reasoning_of, 'why', 'why'),
        (fields.content_of, None, None),
    ],
)
def test_a_field_is_read(read: Any, value: Any, expected: Any):
    """A field of another type gives what it can give, and else nothing."""
    assert read(value) == expected


def test_a_long_body_is_quoted_in_short():
    """An error quotes the beginning of what was said."""
    assert fields.excerpt('a' * 1000) == 'a' * 500 + '…'
    assert fields.excerpt({'a': 1, 'b': None}) == '{"a":1}'


def test_two_reports_of_usage_are_one():
    """A later report counts, a higher count stays, and what only one says is kept."""
    earlier = {'prompt_tokens': 3, 'cost': None, 'prompt_tokens_details': {'cached_tokens': 1}, 'tier': 'a'}
    later = {'prompt_tokens': 0, 'cost': 0.5, 'prompt_tokens_details': None, 'tier': 'b'}
    assert fields.later_usage(earlier, later) == {
        'prompt_tokens': 3,
        'cost': 0.5,
        'prompt_tokens_details': {'cached_tokens': 1},
        'tier': 'b',
    }


@pytest.mark.parametrize(
    ('token', 'kept'),
    [
        ({'token': 'a', 'logprob': -1.0, 'bytes': [97], 'top_logprobs': []}, True),
        ({'token': 'a', 'logprob': -1.0}, True),
        ({'token': 'a', 'logprob': -1.0, 'bytes': 'a', 'top_logprobs': [{'token': 'b', 'logprob': -2.0}, 1]}, True),
        ({'token': 1, 'logprob': -1.0}, False),
        ('a', False),
    ],
)
def test_log_probabilities_are_read(token: Any, kept: bool):
    """Log-probabilities that lack a field get it; those that are none are left out."""
    logprobs = fields.logprobs_of({'content': [token]})
    assert bool(logprobs and logprobs['content']) is kept


def test_annotations_are_those_that_are_read():
    """An annotation of another type, or with a field of another type, is left out."""
    sound = {'type': 'url_citation', 'url_citation': {'url': 'u', 'title': 't', 'start_index': 0, 'end_index': 1}}
    given: list[Any] = [
        sound,
        {'type': 'url_citation', 'url_citation': {'url': 1}},
        {'type': 'url_citation'},
        {'type': 'file'},
        'x',
    ]
    assert fields.annotations_of(given, frozenset({'url_citation'})) == [sound]
    assert fields.annotations_of(given, frozenset({'file'})) == [{'type': 'file'}]
    assert fields.annotations_of([sound], frozenset({'url_citation'})) == [sound]


def test_a_stream_is_put_together():
    """Chunks make the reply that they are: lists are joined, other values are the last ones."""
    deltas: list[Any] = [
        {'content': 'a', 'annotations': [1]},
        {'content': None, 'annotations': [2]},
        {'score': 1},
        {'score': 2, 'tool_calls': None},
    ]
    reply = assembled(chunk(delta) for delta in deltas)
    message = {'role': 'assistant', 'content': 'a', 'annotations': [1, 2], 'score': 2}
    assert reply['choices'] == [{'index': 0, 'finish_reason': None, 'message': message}]
