"""Where `OPENAI_API_KEY` may go: to OpenAI, and to the `OPENAI_BASE_URL` of the same environment."""

import os
from urllib.parse import urlsplit

from openai import AsyncOpenAI
from pydantic_ai.exceptions import UserError
from pydantic_ai.providers import Provider
from pydantic_ai.providers.openai import OpenAIProvider

from .negotiation import public_base_url


def refuse_leaked_key(provider: Provider[AsyncOpenAI]) -> None:
    """Raise where upstream's `OpenAIProvider` would send `OPENAI_API_KEY` to a base URL that was passed in code.

    Raises:
        UserError: With the two ways to say what is meant.
    """
    key = os.environ.get('OPENAI_API_KEY')
    if not key or not isinstance(provider, OpenAIProvider) or provider.client.api_key != key:
        return
    if _is_home(provider.base_url):
        return
    raise UserError(
        f'This provider would send OPENAI_API_KEY to {public_base_url(provider.base_url)}. Set OPENAI_BASE_URL beside '
        "it, or use `OpenAICompatibleProvider('name', base_url=..., api_key=...)`."
    )


def _is_home(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ''
    if host == 'openai.com' or host.endswith(('.openai.com', '.azure.com')):
        return True
    return base_url.rstrip('/') == os.environ.get('OPENAI_BASE_URL', '').rstrip('/')
