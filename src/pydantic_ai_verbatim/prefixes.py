"""The factories of our own prefixes, declared as entry points in `pyproject.toml` as any other package declares its own.

Each gives an `OpenAICompatibleModel` and imports what it needs when it is called.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pydantic_ai.exceptions import UserError

if TYPE_CHECKING:
    from pydantic_ai.providers import Provider

    from .chat.model import OpenAICompatibleModel


def openai_chat(model_name: str, *, provider: Provider[Any] | None = None) -> OpenAICompatibleModel:
    """OpenAI, or the server that `OPENAI_BASE_URL` names."""
    from .chat.model import OpenAICompatibleModel

    if provider is None and not (os.environ.get('OPENAI_BASE_URL') or os.environ.get('OPENAI_API_KEY')):
        raise UserError(
            "Set the 'OPENAI_BASE_URL' environment variable to your server, such as http://127.0.0.1:8000/v1 (no key is "
            "needed then), or 'OPENAI_API_KEY' for OpenAI itself, to use 'openai-chat:'."
        )
    return OpenAICompatibleModel(model_name, provider=provider)


def deepseek(model_name: str, *, provider: Provider[Any] | None = None) -> OpenAICompatibleModel:
    """DeepSeek, with upstream's provider."""
    from pydantic_ai.providers.deepseek import DeepSeekProvider

    from .chat.model import OpenAICompatibleModel

    return OpenAICompatibleModel(model_name, provider=provider or _own(DeepSeekProvider()))


def openrouter(model_name: str, *, provider: Provider[Any] | None = None) -> OpenAICompatibleModel:
    """OpenRouter, with upstream's provider and everything of upstream's model."""
    from .chat.variants import OpenRouterCompatibleModel

    return OpenRouterCompatibleModel(model_name, provider=provider or _openrouter_provider())


def copilot(model_name: str, *, provider: Provider[Any] | None = None) -> OpenAICompatibleModel:
    """GitHub Copilot, with upstream's provider and everything of upstream's model."""
    from .chat.variants import CopilotCompatibleModel
    from .providers.copilot import copilot_provider

    return CopilotCompatibleModel(model_name, provider=provider or _own(copilot_provider()))


def grok(model_name: str, *, provider: Provider[Any] | None = None) -> OpenAICompatibleModel:
    """Grok, at xAI's API."""
    from .chat.model import OpenAICompatibleModel

    return OpenAICompatibleModel(model_name, provider=provider or 'grok')


def perplexity(model_name: str, *, provider: Provider[Any] | None = None) -> OpenAICompatibleModel:
    """Perplexity's Sonar models."""
    from .chat.model import OpenAICompatibleModel

    return OpenAICompatibleModel(model_name, provider=provider or 'perplexity')


def lm_studio(model_name: str, *, provider: Provider[Any] | None = None) -> OpenAICompatibleModel:
    """LM Studio, on this machine or where `LM_STUDIO_BASE_URL` says."""
    from .chat.model import OpenAICompatibleModel

    return OpenAICompatibleModel(model_name, provider=provider or 'lm-studio')


def zen(model_name: str, *, provider: Provider[Any] | None = None) -> OpenAICompatibleModel:
    """OpenCode Zen."""
    from .chat.model import OpenAICompatibleModel

    return OpenAICompatibleModel(model_name, provider=provider or 'zen')


def _openrouter_provider() -> Provider[Any]:
    """Give upstream's provider with the key that it reads itself, or with the one in `OR_API_KEY`."""
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    from .providers.service import first_variable, missing_key_error

    variables = ('OPENROUTER_API_KEY', 'OR_API_KEY')
    key = first_variable(variables)
    if not key:
        raise missing_key_error(variables, 'OpenRouterProvider', 'openrouter')
    return _own(OpenRouterProvider(api_key=key))


def _own(provider: Provider[Any]) -> Provider[Any]:
    """Give upstream's provider of a service without what the SDK found in OpenAI's variables."""
    from .providers.service import without_openais_own

    without_openais_own(provider.client)
    return provider
