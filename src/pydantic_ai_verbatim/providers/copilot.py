"""GitHub Copilot: what its prefix adds to upstream's `GitHubCopilotProvider`.

Two headers depend on the request, and GitHub's tokens expire. No editor's files are read, and nothing but a Copilot
key variable of upstream's: a raw GitHub OAuth token works as the bearer.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import httpx2
from pydantic_ai.messages import BinaryContent, ImageUrl, ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.providers.github_copilot import GitHubCopilotProvider

from ..tool_returns import collections_as_lists
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


def request_headers(messages: Sequence[ModelMessage]) -> dict[str, str]:
    """Give the headers that Copilot wants with a history.

    `X-Initiator` says whether a user asked or an agent goes on, which decides whether the request is billed as a
    premium one (BerriAI/litellm#12859). It is read off the history and not off the wire, where an image that a tool
    returned stands in a user message. Without `Copilot-Vision-Request` an image is a 400 (microsoft/vscode#260150).

    Args:
        messages: The whole history that is sent.
    """
    headers = {'X-Initiator': 'user' if _user_spoke_last(messages) else 'agent'}
    if any(_is_image(item) for message in messages for item in _contents(message)):
        headers['Copilot-Vision-Request'] = 'true'
    return headers


def _user_spoke_last(messages: Sequence[ModelMessage]) -> bool:
    return not messages or (bool(messages[-1].parts) and isinstance(messages[-1].parts[-1], UserPromptPart))


def _contents(message: ModelMessage) -> Iterator[object]:
    if isinstance(message, ModelRequest):
        message = collections_as_lists(message)
    for part in message.parts:
        if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
            yield from part.content
        elif isinstance(part, ToolReturnPart):
            yield from part.files


def _is_image(item: object) -> bool:
    return isinstance(item, ImageUrl) or (isinstance(item, BinaryContent) and item.is_image)
