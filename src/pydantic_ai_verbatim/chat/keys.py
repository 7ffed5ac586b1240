"""Where OpenAI's own variables may go: to OpenAI, and to the `OPENAI_BASE_URL` of the same environment."""

import os

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.exceptions import UserError
from pydantic_ai.providers import Provider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from .negotiation import public_base_url

_OPENAI_HOSTS = ('openai.com', 'openai.azure.com', 'cognitiveservices.azure.com', 'services.ai.azure.com')
_HOME_OF_ANY_KEY = 'litellm'
"""Upstream's provider of a proxy that is often given the key it shares with OpenAI's clients."""


def refuse_leaked_key(provider: Provider[AsyncOpenAI]) -> None:
    """Raise where `OPENAI_API_KEY` would go to another service, or to a base URL that was passed in code.

    Upstream's `OpenAIProvider` sends it to any base URL, and so does any provider with an `AsyncOpenAI` that found its
    key by itself. Only a key given to an `OpenAICompatibleProvider` is known to be meant for it.

    Raises:
        UserError: With the two ways to say what is meant.
    """
    key = os.environ.get('OPENAI_API_KEY')
    if not key or provider.client.api_key != key or _is_home(httpx2.URL(provider.base_url)):
        return
    if type(provider) is OpenAICompatibleProvider or provider.name == _HOME_OF_ANY_KEY:
        return
    raise UserError(
        f'This provider would send OPENAI_API_KEY to {public_base_url(provider.base_url)}. Set OPENAI_BASE_URL beside '
        "it, or use `OpenAICompatibleProvider('name', base_url=..., api_key=...)`."
    )


def _is_home(url: httpx2.URL) -> bool:
    if url.scheme == 'https' and any(url.host == host or url.host.endswith(f'.{host}') for host in _OPENAI_HOSTS):
        return True
    own = os.environ.get('OPENAI_BASE_URL', '').strip()
    return bool(own) and _place(httpx2.URL(own)) == _place(url)


def _place(url: httpx2.URL) -> tuple[str, str, int | None, str]:
    return url.scheme, url.host, url.port, url.path.rstrip('/')
