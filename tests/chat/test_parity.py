"""L1: everything that is not a list goes out as `OpenAIChatModel` sends it."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel

from pydantic_ai_verbatim import OpenAICompatibleModel
from tests.wire import PARAMETERS, Wire

texts = st.text(max_size=12)
ids = st.sampled_from([' ', 'a', 'b', 'call_1'])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
images = st.just(ImageUrl('https://example.com/x.png')) | st.just(BinaryContent(b'x', media_type='image/png'))
not_lists = json_values.filter(lambda value: not isinstance(value, list)) | images
outcomes: Any = st.sampled_from(['success', 'failed', 'denied', 'interrupted', 'retried'])
request_parts: Any = st.one_of(
    st.builds(SystemPromptPart, texts),
    st.builds(UserPromptPart, texts | st.lists(texts | images, max_size=3)),
    st.builds(ToolReturnPart, st.just('search'), not_lists, ids, outcome=outcomes),
)
response_parts: Any = st.one_of(
    st.builds(TextPart, texts),
    st.builds(ThinkingPart, texts, id=st.sampled_from([None, 'reasoning_content'])),
    st.builds(ToolCallPart, st.just('search'), st.dictionaries(texts, json_values, max_size=2), ids),
)
histories = st.lists(
    st.builds(ModelRequest, st.lists(request_parts, max_size=4))
    | st.builds(ModelResponse, st.lists(response_parts, max_size=3)),
    max_size=5,
)
wire = Wire()
ours = OpenAICompatibleModel('gpt-4.1', provider=wire.openai_provider())
stock = OpenAIChatModel('gpt-4.1', provider=wire.openai_provider())


@pytest.mark.anyio
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(histories)
async def test_histories_without_lists_are_sent_as_upstream_sends_them(history: list[ModelMessage]) -> None:
    parameters = ModelRequestParameters()
    assert await ours._map_messages(history, parameters) == await stock._map_messages(history, parameters)


@pytest.mark.anyio
@pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])
async def test_the_rest_of_the_request_is_upstreams(stream: bool) -> None:
    """Tools, settings and headers are the same, not only the messages."""
    message: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart('hi')])]
    settings: Any = {'seed': 5, 'max_tokens': 9, 'stop_sequences': ['x'], 'tool_choice': 'required'}
    for model in (ours, stock):
        if stream:
            async with model.request_stream(message, settings, PARAMETERS) as response:
                assert [event async for event in response]
        else:
            await model.request(message, settings, PARAMETERS)
    assert wire.bodies[-1] == wire.bodies[-2]
    assert dict(wire.requests[-1].headers) == dict(wire.requests[-2].headers)
