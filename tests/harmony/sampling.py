"""What the Harmony tests share: the adapters, the cases as text and as ids, deliveries, and samples of every kind."""

import os
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.harmony.adapter import HarmonyAdapter
from pydantic_ai_verbatim.harmony.codec import TokenCodec
from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from pydantic_ai_verbatim.harmony.grammar import SPECIAL_TOKENS
from tests.conftest import load_cases

TEXT = HarmonyAdapter()
TOKENS = HarmonyAdapter(encoding=o200k_harmony())

BASH = ModelRequestParameters(
    function_tools=[
        ToolDefinition(
            name='bash',
            description='Run a command.',
            parameters_json_schema={'type': 'object', 'properties': {'command': {'type': 'string'}}},
        )
    ]
)

SAMPLES: list[str] = [case.values[0]['sampled'] for case in load_cases('harmony')]

IS_FUZZING = os.environ.get('HYPOTHESIS_PROFILE') == 'fuzz'

law = settings(max_examples=50_000 if IS_FUZZING else 500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For the law: 200,000 examples over its four properties in `make fuzz`, a few thousand otherwise."""

fuzzed = settings(law, max_examples=10_000 if IS_FUZZING else 150)
"""For the other properties."""


def ids_of(text: str) -> list[int]:
    """Encode a sample as a model would have sampled it, its markers as special tokens."""
    return TokenCodec(o200k_harmony()).marked(text)


def through_json(response: ModelResponse) -> ModelResponse:
    """Store a response, and load it again."""
    (loaded,) = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json([response]))
    assert isinstance(loaded, ModelResponse)
    return loaded


def user(text: str) -> ModelRequest:
    """Ask."""
    return ModelRequest([UserPromptPart(text)])


def history(messages: Sequence[ModelMessage], **options: Any) -> str:
    """Render a history without its preamble."""
    return TEXT.dump_messages(messages, **options).partition('<|end|>')[2]


def cut_at(sample: Any, places: list[int]) -> list[Any]:
    """Cut a sample at the given places."""
    borders = [0, *sorted(place for place in places if place < len(sample)), len(sample)]
    return [sample[begin:end] for begin, end in pairwise(borders)]


def streamed_parts(events: Iterable[ModelResponseStreamEvent]) -> list[Any]:
    """Build the parts that a consumer of the events would build."""
    parts: list[Any] = []
    for event in events:
        if isinstance(event, PartStartEvent):
            assert event.index == len(parts)
            parts.append(event.part)
        elif isinstance(event, PartDeltaEvent):
            parts[event.index] = event.delta.apply(parts[event.index])
    return parts


def without_ids(parts: Iterable[Any]) -> list[Any]:
    """Leave the generated ids of tool calls aside."""
    return [
        (part.tool_name, part.args, part.provider_details) if isinstance(part, ToolCallPart) else part for part in parts
    ]


words = st.sampled_from(
    [
        *SPECIAL_TOKENS,
        '<|start|>assistant',
        '<|reserved_200013|>',
        '<|',
        '|>',
        '<',
        ' ',
        '\n',
        ' to=functions.bash',
        'to',
        '=',
        'functions.',
        'assistant',
        'analysis',
        'commentary',
        'final',
        ' json',
        'code',
        '{"command":"ls"}',
        'é😀',
        '\ud83d',
        '\ude00',
        '\\ud83d',
        '\x00',
    ]
)
any_text = st.text(st.characters(exclude_categories=()), max_size=6)
texts = st.lists(words | any_text, max_size=24).map(''.join)

ORDINARY = [
    token
    for word in ('assistant', ' to=functions.a', 'analysis', 'final', ' ', '\n', ' json')
    for token in ids_of(word)
]
tokens = st.lists(
    st.sampled_from([*SPECIAL_TOKENS.values(), *ORDINARY, 200000, 200018, 201087])
    | st.integers(min_value=0, max_value=201087)
    | st.integers(min_value=0, max_value=255),
    max_size=30,
)
places = st.lists(st.integers(min_value=0, max_value=80), max_size=8)


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """One of the cases, with pieces left out, doubled, moved, or words put in."""
    sample = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(min_value=1, max_value=3))):
        begin = draw(st.integers(min_value=0, max_value=len(sample)))
        end = draw(st.integers(min_value=begin, max_value=min(len(sample), begin + 12)))
        put = draw(st.sampled_from(['', sample[begin:end] * 2]) | words | any_text)
        sample = sample[:begin] + put + sample[end:]
    return sample
