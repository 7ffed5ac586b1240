"""Providers of services that upstream has none for."""

from importlib import import_module
from typing import Any

_PROVIDERS = {
    'grok': ('grok', 'GrokProvider'),
    'lm-studio': ('lm_studio', 'LMStudioProvider'),
    'perplexity': ('perplexity', 'PerplexityProvider'),
    'zen': ('zen', 'ZenProvider'),
}


def named(provider: Any) -> Any:
    """Give the provider that has this name here; anything else is given back, a name for upstream to resolve included."""
    if not isinstance(provider, str) or provider not in _PROVIDERS:
        return provider
    module, name = _PROVIDERS[provider]
    return getattr(import_module(f'.{module}', __name__), name)()
