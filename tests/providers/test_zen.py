"""OpenCode Zen: open models over Chat Completions, other models elsewhere, and what its 401 means."""

from typing import Any

import pytest
from pydantic_ai.exceptions import (
    ModelAuthenticationError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    UserError,
)
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel

from pydantic_ai_verbatim.chat.error_types import reread
from pydantic_ai_verbatim.chat.profile import OpenAICompatibleModelProfile, family_profile
from pydantic_ai_verbatim.chat.requests import refuse_model
from pydantic_ai_verbatim.providers.zen import ZenProvider

from .conftest import Wire


def profile_of(model_name: str) -> OpenAICompatibleModelProfile:
    return {**(ZenProvider.model_profile(model_name) or {})}


@pytest.mark.parametrize(
    ('model_name', 'instead'),
    [
        ('gpt-5.1-codex', r'`OpenAIResponsesModel` with `provider=ZenProvider\(\)`'),
        ('claude-sonnet-4-5', '`AnthropicModel`'),
        ('gemini-3-pro', '`GoogleModel`'),
    ],
)
def test_a_model_on_another_endpoint_is_refused(model_name: str, instead: str):
    """GPT, Claude and Gemini are an error before any request, which names what to use instead."""
    with pytest.raises(UserError, match=f"'{model_name}' is not served over Chat Completions here. Use {instead}"):
        refuse_model(model_name, profile_of(model_name))


@pytest.mark.parametrize(
    'model_name', ['glm-5', 'kimi-k2.6', 'minimax-m2.5', 'deepseek-v4-flash', 'mimo-v2', 'grok-build-0.1', 'big-pickle']
)
def test_an_open_model_is_served_here(model_name: str):
    """What Zen serves over Chat Completions has its family's profile."""
    profile = profile_of(model_name)
    refuse_model(model_name, profile)
    assert family_profile(model_name).items() <= profile.items()


async def failure(wire: Wire, status: int, error: dict[str, Any], messages: list[ModelMessage]) -> ModelHTTPError:
    server = wire(status, {'type': 'error', 'error': error})
    model = OpenAIChatModel('glm-5', provider=ZenProvider(api_key='k', http_client=server.client))
    with pytest.raises(ModelHTTPError) as caught:
        await model.request(messages, None, ModelRequestParameters())
    return caught.value


@pytest.mark.parametrize(
    ('status', 'error_type', 'category', 'hint'),
    [
        (401, 'ModelError', ModelNotFoundError, 'a model that it does not serve'),
        (401, 'CreditsError', ModelQuotaExceededError, 'has no credit left'),
        (401, 'MonthlyLimitError', ModelQuotaExceededError, 'has reached its monthly limit'),
        (401, 'UserLimitError', ModelQuotaExceededError, 'has reached their monthly limit'),
        (403, 'FreeTierError', ModelAuthenticationError, "to OpenCode's own client only"),
    ],
)
async def test_an_error_is_what_its_type_says(
    status: int, error_type: str, category: type[Exception], hint: str, wire: Wire, hi: list[ModelMessage]
):
    """A 401 that is not about the key becomes the kind that it is, with the server's evidence and a hint (R42)."""
    error = await failure(wire, status, {'type': error_type, 'message': 'the words'}, hi)
    read = reread(error, profile_of('glm-5'))
    assert isinstance(read, category)
    assert (read.status_code, read.model_name, read.body) == (status, 'glm-5', error.body)
    assert read.headers == error.headers
    assert hint in str(read)
    assert 'the words' in str(read)


@pytest.mark.parametrize(
    ('status', 'error'),
    [
        (401, {'type': 'AuthError', 'message': 'Invalid API key.'}),
        (400, {'type': 'error', 'message': 'Error from provider (X): missing field `id`'}),
        (400, {'message': 'no type'}),
    ],
)
async def test_other_errors_stay_as_upstream_reads_them(
    status: int, error: dict[str, Any], wire: Wire, hi: list[ModelMessage]
):
    """A type without a meaning of its own changes nothing, and the server's words are in the error (R40)."""
    caught = await failure(wire, status, error, hi)
    assert reread(caught, profile_of('glm-5')) is caught
    assert error['message'] in str(caught)


async def test_no_header_of_another_client_is_sent(wire: Wire, hi: list[ModelMessage]):
    """Zen is told who asks: this library, not OpenCode."""
    server = wire()
    model = OpenAIChatModel('glm-5', provider=ZenProvider(api_key='k', http_client=server.client))
    await model.request(hi, None, ModelRequestParameters())
    headers = str(server.request.headers.raw).lower()
    assert 'opencode/' not in headers
    assert 'x-opencode' not in headers
    assert server.request.headers['user-agent'].startswith('pydantic-ai/')
