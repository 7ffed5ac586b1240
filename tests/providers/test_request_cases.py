"""Publicly reported rejections that belong to a provider or a family: the request that would not be rejected, whole."""

from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.providers import Provider
from pydantic_ai.providers.deepseek import DeepSeekProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.chat.model import OpenAICompatibleModel
from pydantic_ai_verbatim.providers.grok import GrokProvider
from pydantic_ai_verbatim.providers.lm_studio import LMStudioProvider
from pydantic_ai_verbatim.providers.perplexity import PerplexityProvider

from ..reported_requests import history
from .conftest import Server, Wire

NESTED = {
    'type': 'object',
    'properties': {'n': {'$ref': '#/$defs/N'}},
    'required': ['n'],
    'additionalProperties': False,
}
N: dict[str, Any] = {
    'type': 'object',
    'properties': {'x': {'type': 'integer'}},
    'required': ['x'],
    'additionalProperties': False,
}


def provider_of(name: str, server: Server) -> Provider[AsyncOpenAI]:
    return {
        'deepseek': lambda: DeepSeekProvider(api_key='k', http_client=server.client),
        'grok': lambda: GrokProvider(api_key='k', http_client=server.client),
        'lm-studio': lambda: LMStudioProvider(http_client=server.client),
        'perplexity': lambda: PerplexityProvider(api_key='k', http_client=server.client),
        'any': lambda: OpenAICompatibleProvider(
            'any', base_url='https://llm.example.com/v1', api_key='k', http_client=server.client
        ),
    }[name]()


def user(content: str) -> dict[str, Any]:
    return {'role': 'user', 'content': content}


def calling(content: str | None = None, **more: Any) -> dict[str, Any]:
    function = {'name': 'get_weather', 'arguments': '{"city":"Paris"}'}
    call = {'id': 'c1', 'type': 'function', 'function': function}
    return {'role': 'assistant', 'content': content, 'tool_calls': [call], **more}


RESULT = {'role': 'tool', 'tool_call_id': 'c1', 'content': 'a'}


@pytest.mark.parametrize(
    ('case', 'provider', 'model_name', 'sent'),
    [
        ('R16', 'deepseek', 'deepseek-chat', [user('hi'), calling(reasoning_content=''), RESULT]),
        ('R16', 'any', 'deepseek-ai/DeepSeek-V4-Pro', [user('hi'), calling(reasoning_content=''), RESULT]),
        ('R17', 'deepseek', 'deepseek-v4-pro', [user('hi'), calling(reasoning_content=''), RESULT]),
        ('R18', 'deepseek', 'deepseek-reasoner', [user('hi\n\nhi')]),
        ('R18', 'deepseek', 'deepseek-chat', [user('hi'), user('hi')]),
        ('R23', 'any', 'glm-5', [user('hi'), calling(), RESULT, RESULT]),
        ('R31', 'lm-studio', 'qwen3.5', [user('hi'), calling(''), RESULT]),
        ('R31', 'any', 'qwen3.5', [user('hi'), calling(), RESULT]),
        ('R34', 'any', 'zai-org/GLM-5', [{'role': 'system', 'content': 'a\n\nb'}, user('hi')]),
        ('R34', 'any', 'gpt-5', [{'role': 'system', 'content': 'a'}, {'role': 'system', 'content': 'b'}, user('hi')]),
        ('R36', 'perplexity', 'sonar-pro', [user('hi\n\nhi')]),
    ],
)
async def test_messages_are_sent_as_the_endpoint_takes_them(
    case: str, provider: str, model_name: str, sent: list[Any], wire: Wire
):
    """Each reported history goes out in the form that its endpoint takes, and unchanged elsewhere."""
    server = wire()
    model = OpenAICompatibleModel(model_name, provider=provider_of(provider, server))
    await model.request(history(case), None, ModelRequestParameters())
    assert server.body == {'model': model_name, 'messages': sent, 'stream': False}


def tool(name: str, **parameters: Any) -> ToolDefinition:
    return ToolDefinition(name=name, parameters_json_schema=parameters or N, strict=True)


def sent_tool(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {'type': 'function', 'function': {'name': name, 'description': '', 'parameters': parameters}}


@pytest.mark.parametrize(
    ('provider', 'model_name', 'tools', 'settings', 'sent'),
    [
        pytest.param('grok', 'grok-4', [tool('f')], {}, {'tools': [sent_tool('f', N)]}, id='R25'),
        pytest.param(
            'grok',
            'grok-4',
            [],
            {'presence_penalty': 1.0, 'frequency_penalty': 1.0, 'max_tokens': 9},
            {'max_tokens': 9},
            id='R26',
        ),
        pytest.param(
            'lm-studio',
            'qwen3.5',
            [tool('f'), tool('g')],
            {'tool_choice': ['g']},
            {'tools': [sent_tool('g', N)], 'tool_choice': 'required'},
            id='R30',
        ),
        pytest.param(
            'any',
            'glm-5.3',
            [tool('f', **NESTED, **{'$defs': {'N': N}})],
            {},
            {'tools': [sent_tool('f', {**NESTED, 'properties': {'n': N}})]},
            id='R35',
        ),
    ],
)
async def test_tools_and_settings_are_sent_as_the_endpoint_takes_them(
    provider: str,
    model_name: str,
    tools: list[ToolDefinition],
    settings: ModelSettings,
    sent: dict[str, Any],
    wire: Wire,
    hi: list[ModelMessage],
):
    """No `strict`, no setting that is rejected, no object as `tool_choice`, no `$defs`: each where it is a 400."""
    server = wire()
    model = OpenAICompatibleModel(model_name, provider=provider_of(provider, server))
    await model.request(hi, settings, ModelRequestParameters(function_tools=tools))
    choice = {'tool_choice': 'auto'} if tools else {}
    assert server.body == {'model': model_name, 'messages': [user('hi')], 'stream': False, **choice, **sent}


async def test_perplexity_is_asked_for_no_tool(wire: Wire, hi: list[ModelMessage]):
    """Tools are an error before any request."""
    server = wire()
    model = OpenAICompatibleModel('sonar', provider=provider_of('perplexity', server))
    with pytest.raises(UserError, match="'sonar' takes no tools"):
        await model.request(hi, None, ModelRequestParameters(function_tools=[tool('f')]))
    assert server.requests == []
