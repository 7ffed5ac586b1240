"""GitHub Copilot: what its prefix adds to upstream's `GitHubCopilotProvider`.

Two headers depend on the request, and GitHub's tokens expire. No editor's files are read, and nothing but a Copilot
key variable of upstream's: a raw GitHub OAuth token works as the bearer.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import httpx2
from openai.types.chat import ChatCompletionMessageParam
from pydantic_ai.providers.github_copilot import GitHubCopilotProvider

from .service import first_variable, missing_key_error

if TYPE_CHECKING:
    import httpx  # legacy; pydantic-ai takes its client where it is installed

API_KEY_VARIABLES = ('GITHUB_COPILOT_API_KEY', 'GITHUB_COPILOT_API_TOKEN', 'COPILOT_GITHUB_TOKEN')
"""Where upstream's provider looks for a token, in order."""

Token: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""A token, or a function that is asked for the current one before each request."""


def copilot_provider(
    *,
    api_key: Token | None = None,
    base_url: str | None = None,
    integration_id: str | None = None,
    http_client: 'httpx2.AsyncClient | httpx.AsyncClient | None' = None,
) -> GitHubCopilotProvider:
    """Create upstream's provider, with a token that may be a function.

    Args:
        api_key: The token; by default that of the first of upstream's variables that is set.
        base_url: As upstream's.
        integration_id: As upstream's.
        http_client: As upstream's.

    Raises:
        UserError: There is no token.
    """
    token = api_key or first_variable(API_KEY_VARIABLES)
    if not token:
        raise missing_key_error(API_KEY_VARIABLES, 'copilot_provider', 'copilot')
    return GitHubCopilotProvider(
        # Upstream hands it to the SDK, which takes an async function as well as a string.
        api_key=cast('str', token if isinstance(token, str) else _asking(token)),
        base_url=base_url,
        integration_id=integration_id,
        http_client=http_client,
    )


def _asking(token: Callable[[], str | Awaitable[str]]) -> Callable[[], Awaitable[str]]:
    async def current() -> str:
        answer = token()
        return await answer if inspect.isawaitable(answer) else answer

    return current


def request_headers(messages: Sequence[ChatCompletionMessageParam]) -> dict[str, str]:
    """Give the headers that Copilot wants with these messages.

    `X-Initiator` says whether a user asked or an agent goes on, which decides whether the request is billed as a
    premium one (BerriAI/litellm#12859). Without `Copilot-Vision-Request` an image is a 400 (microsoft/vscode#260150).

    Args:
        messages: The whole request as it is sent.
    """
    last = messages[-1]['role'] if messages else 'user'
    headers = {'X-Initiator': 'user' if last == 'user' else 'agent'}
    if any(_has_image(cast('Mapping[str, Any]', message)) for message in messages):
        headers['Copilot-Vision-Request'] = 'true'
    return headers


def _has_image(message: Mapping[str, Any]) -> bool:
    content = message.get('content')
    parts = cast('list[Mapping[str, Any]]', content) if isinstance(content, list) else []
    return any(part['type'] == 'image_url' for part in parts)
