"""L1: the events of a stream: when a part begins, what its deltas hold, and what the response is at the end."""

import inspect
from typing import Any

import pytest
from pydantic_ai._parts_manager import ModelResponsePartsManager
from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, ToolCallPart
from pydantic_ai.models import ModelRequestParameters

from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from tests.harmony.sampling import SAMPLES, TEXT, TOKENS, ids_of, without_ids

CALL = (
    '<|channel|>commentary<|message|>Now.<|end|>'
    '<|start|>assistant to=functions.bash<|channel|>commentary code<|message|>{"x":1}<|call|>'
)


def test_a_part_begins_when_its_header_has_ended() -> None:
    """Phase, tool name and content type are known from the start; the last delta brings the stop token."""
    events = list(TEXT.stream(CALL))
    starts = [event.part for event in events if isinstance(event, PartStartEvent)]
    text, call = starts
    assert isinstance(text, TextPart)
    assert text.provider_details == {
        'channel': 'commentary',
        'content_type': None,
        'phase': 'commentary',
        'harmony': {'header': '<|channel|>commentary'},
    }
    assert isinstance(call, ToolCallPart)
    assert (call.tool_name, call.args) == ('bash', '')
    assert call.provider_details is not None
    assert call.provider_details['content_type'] == 'code'
    last: Any = events[-1].delta if isinstance(events[-1], PartDeltaEvent) else None
    assert last.provider_details['harmony']['stop_token'] == '<|call|>'
    deltas = [event.delta for event in events if isinstance(event, PartDeltaEvent) and event.index == 1]
    assert ''.join(getattr(delta, 'args_delta', '') for delta in deltas) == '{"x":1}'


def test_a_character_that_ids_cut_comes_whole() -> None:
    """Bytes are held until they make a character, and what never does is replaced at the end of the body."""
    ids = ids_of('<|channel|>final<|message|>') + o200k_harmony().encode('🪿') + [160, 200002]
    events = TOKENS.stream([token] for token in ids)
    deltas = [event.delta for event in events if isinstance(event, PartDeltaEvent)]
    assert [getattr(delta, 'content_delta', None) for delta in deltas] == ['🪿', '\ufffd', '']


@pytest.mark.parametrize('sample', [*SAMPLES, ' <|end|>', CALL])
def test_the_response_at_the_end(sample: str) -> None:
    """The stream's own response is the one that a whole load gives, its own details included."""
    stream = TOKENS.begin_stream(ModelRequestParameters())
    for token in ids_of(sample):
        stream.feed([token])
    stream.flush()
    response = stream.response()
    whole = TOKENS.load_response(ids_of(sample))
    assert without_ids(response.parts) == without_ids(whole.parts)
    assert response.provider_details == whole.provider_details == stream.provider_details
    assert TOKENS.dump_response(response) == ids_of(sample)


def test_nothing_streamed() -> None:
    """Without a chunk there is no event."""
    assert list(TEXT.stream([])) == []


def test_parts_need_not_be_complete() -> None:
    """A response can be taken while it is being sampled."""
    stream = TEXT.begin_stream()
    stream.feed('<|channel|>final<|message|>He')
    stream.feed('llo')
    (part,) = stream.response().parts
    assert isinstance(part, TextPart)
    assert part.content == 'Hello'


@pytest.mark.parametrize(
    ('name', 'keywords'),
    [
        ('handle_part', {'vendor_part_id', 'part'}),
        ('handle_text_delta', {'vendor_part_id', 'content', 'provider_name', 'provider_details'}),
        ('handle_thinking_delta', {'vendor_part_id', 'content', 'provider_name', 'provider_details'}),
        ('handle_tool_call_part', {'vendor_part_id', 'tool_name', 'args', 'provider_name', 'provider_details'}),
        ('handle_tool_call_delta', {'vendor_part_id', 'args', 'provider_name', 'provider_details'}),
        ('get_parts', {'self'}),
    ],
)
def test_upstreams_parts_manager_takes_what_it_is_given(name: str, keywords: set[str]) -> None:
    """The parts manager is private to upstream, and what every stream of its own goes through."""
    assert keywords <= set(inspect.signature(getattr(ModelResponsePartsManager, name)).parameters)
