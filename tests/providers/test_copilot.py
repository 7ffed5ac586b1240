"""GitHub Copilot: what the prefix adds to upstream's provider."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.github_copilot import GitHubCopilotModel

from pydantic_ai_verbatim.providers.copilot import Token, copilot_provider, request_headers

from .conftest import Wire

IMAGE = BinaryContent(b'\x89PNG', media_type='image/png')
AUDIO = BinaryContent(b'RIFF', media_type='audio/wav')
LINK = ImageUrl('https://example.com/x.png')
HI = ModelRequest(parts=[SystemPromptPart('s'), UserPromptPart('hi')])
CALL = ModelResponse(parts=[ToolCallPart('search', '{}', 'c1')])
USER, AGENT = {'X-Initiator': 'user'}, {'X-Initiator': 'agent'}
VISION = {'Copilot-Vision-Request': 'true'}


def returned(content: Any, *after: Any) -> ModelRequest:
    return ModelRequest(parts=[ToolReturnPart('search', content, 'c1'), *after])


@pytest.mark.parametrize(
    ('messages', 'headers'),
    [
        ([], USER),
        ([HI], USER),
        ([HI, CALL], AGENT),
        ([HI, CALL, returned('a')], AGENT),
        ([HI, CALL, returned(['a', 'b'])], AGENT),
        ([HI, CALL, returned('a', UserPromptPart('and?'))], USER),
        ([ModelRequest(parts=[])], AGENT),
        ([ModelRequest(parts=[UserPromptPart(['a', IMAGE])])], USER | VISION),
        ([ModelRequest(parts=[UserPromptPart(['a', AUDIO])])], USER),
        ([ModelRequest(parts=[UserPromptPart([LINK])]), CALL, returned('a')], AGENT | VISION),
        ([HI, CALL, returned(['a', IMAGE])], AGENT | VISION),
        ([HI, CALL, returned(('a', IMAGE))], AGENT | VISION),
    ],
)
def test_headers_say_who_asks_and_whether_there_is_an_image(messages: Any, headers: dict[str, str]):
    """An agent's own step is not billed as a user's, and an image anywhere is announced (R10, R11)."""
    assert request_headers(messages) == headers


async def sent(provider_key: Token | None, wire: Wire, messages: list[ModelMessage]) -> list[str]:
    """Ask twice and give the bearers."""
    server = wire()
    provider = copilot_provider(api_key=provider_key, http_client=server.client)
    model = GitHubCopilotModel('claude-haiku-4.5', provider=provider)
    for _ in range(2):
        await model.request(messages, None, ModelRequestParameters())
    assert all(request.headers['copilot-integration-id'] == 'vscode-chat' for request in server.requests)
    return [request.headers['authorization'] for request in server.requests]


async def test_a_raw_oauth_token_is_the_bearer(wire: Wire, hi: list[ModelMessage]):
    """A string goes out as it is."""
    assert await sent('gho_raw', wire, hi) == ['Bearer gho_raw'] * 2


def sync_tokens() -> Callable[[], str]:
    tokens = iter(['t1', 't2'])
    return lambda: next(tokens)


def async_tokens() -> Token:
    tokens = iter(['t1', 't2'])

    async def current() -> str:
        return next(tokens)

    return current


@pytest.mark.parametrize('token', [sync_tokens(), async_tokens()])
async def test_a_function_is_asked_before_each_request(token: Token, wire: Wire, hi: list[ModelMessage]):
    """A token that expires is renewed without a new provider, beside upstream's own headers."""
    assert await sent(token, wire, hi) == ['Bearer t1', 'Bearer t2']


@pytest.mark.parametrize('variable', ['GITHUB_COPILOT_API_KEY', 'GITHUB_COPILOT_API_TOKEN', 'COPILOT_GITHUB_TOKEN'])
async def test_upstream_s_variables_hold_the_token(
    variable: str, wire: Wire, hi: list[ModelMessage], monkeypatch: pytest.MonkeyPatch
):
    """The token is found where upstream looks for it; OpenAI's key and GitHub's own are left alone."""
    monkeypatch.setenv('OPENAI_API_KEY', 'openai-secret')
    monkeypatch.setenv('GITHUB_TOKEN', 'github-secret')
    monkeypatch.setenv(variable, 'found')
    assert await sent(None, wire, hi) == ['Bearer found'] * 2


def test_a_missing_token_names_every_way_out(monkeypatch: pytest.MonkeyPatch):
    """The error names all three variables and the provider."""
    monkeypatch.setenv('OPENAI_API_KEY', 'openai-secret')
    with pytest.raises(UserError) as caught:
        copilot_provider()
    assert str(caught.value).startswith(
        'Set the `GITHUB_COPILOT_API_KEY`, `GITHUB_COPILOT_API_TOKEN` or `COPILOT_GITHUB_TOKEN` environment variable, '
        "or pass `provider=copilot_provider(api_key=...)`, to use 'copilot:'."
    )
