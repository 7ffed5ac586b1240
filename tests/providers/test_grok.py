"""Grok over Chat Completions: what upstream's own model class sends with `GrokProvider`."""

import warnings
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelRequestRejectedError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.grok import grok_model_profile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.providers.grok import GrokProvider

from .conftest import Wire

SETTINGS = ModelSettings(
    max_tokens=9, temperature=0.5, presence_penalty=1.0, frequency_penalty=1.0, stop_sequences=['x']
)


@pytest.mark.parametrize(
    ('model_name', 'kept'),
    [
        ('grok-4', {}),
        ('grok-4-fast-non-reasoning', {'presence_penalty': 1.0, 'frequency_penalty': 1.0, 'stop': ['x']}),
    ],
)
async def test_a_reasoning_model_is_spared_what_it_rejects(
    model_name: str, kept: dict[str, Any], wire: Wire, hi: list[ModelMessage]
):
    """`presence_penalty`, `frequency_penalty` and `stop` are left out for reasoning models alone (R26)."""
    server = wire()
    model = OpenAIChatModel(model_name, provider=GrokProvider(api_key='k', http_client=server.client))
    with warnings.catch_warnings(action='ignore'):
        await model.request(hi, SETTINGS, ModelRequestParameters())
    assert server.body == {
        'model': model_name,
        'messages': [{'role': 'user', 'content': 'hi'}],
        'stream': False,
        'max_tokens': 9,
        'temperature': 0.5,
        **kept,
    }


async def test_tools_are_not_strict(wire: Wire, hi: list[ModelMessage]):
    """No tool says `strict`, which is a 400 (R25)."""
    server = wire()
    model = OpenAIChatModel('grok-4', provider=GrokProvider(api_key='k', http_client=server.client))
    schema = {
        'type': 'object',
        'properties': {'q': {'type': 'string'}},
        'required': ['q'],
        'additionalProperties': False,
    }
    tool = ToolDefinition(name='f', parameters_json_schema=schema, strict=True)
    await model.request(hi, None, ModelRequestParameters(function_tools=[tool]))
    function = {'name': 'f', 'description': '', 'parameters': schema}
    assert server.body['tools'] == [{'type': 'function', 'function': function}]


@pytest.mark.parametrize('args', ['', None, {}])
async def test_arguments_are_never_an_empty_text(args: Any, wire: Wire, hi: list[ModelMessage]):
    """A call without arguments goes back as `{}`, since an empty text is a 400."""
    server = wire()
    model = OpenAIChatModel('grok-4', provider=GrokProvider(api_key='k', http_client=server.client))
    history = [
        *hi,
        ModelResponse(parts=[ToolCallPart('f', args, 'c1')]),
        ModelRequest(parts=[ToolReturnPart('f', 'r', 'c1')]),
    ]
    await model.request(history, None, ModelRequestParameters())
    assert server.body['messages'][1]['tool_calls'][0]['function'] == {'name': 'f', 'arguments': '{}'}


async def test_a_flat_error_stays_readable(wire: Wire, hi: list[ModelMessage]):
    """xAI's `{code, error}` is a typed error with the server's own words in it."""
    server = wire(400, {'code': 'Client specified an invalid argument', 'error': 'strict is not supported'})
    model = OpenAIChatModel('grok-4', provider=GrokProvider(api_key='k', http_client=server.client))
    with pytest.raises(ModelRequestRejectedError, match='strict is not supported'):
        await model.request(hi, None, ModelRequestParameters())


@pytest.mark.parametrize('model_name', ['grok-4.3', 'grok-3-mini', 'grok-code-fast-1'])
def test_upstream_s_grok_profile_is_kept(model_name: str):
    """All that upstream knows of a Grok model is in the profile."""
    upstream = grok_model_profile(model_name)
    profile = GrokProvider.model_profile(model_name)
    assert upstream
    assert profile
    assert upstream.items() <= profile.items()
