"""OpenCode Zen: open models over Chat Completions, behind one key.

The reference: opencode.ai/docs/zen. GPT, Claude and Gemini are served on other endpoints of the same service.
"""

from collections.abc import Mapping
from types import MappingProxyType

from pydantic_ai.exceptions import ModelAuthenticationError, ModelNotFoundError, ModelQuotaExceededError
from pydantic_ai.profiles import ModelProfile, merge_profile

from ..chat.profile import ErrorReading, OpenAICompatibleModelProfile, family_profile, openai_model_name
from .service import Service, ServiceProvider

_ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        'claude': "`AnthropicModel` with `AnthropicProvider(base_url='https://opencode.ai/zen', api_key=...)`",
        'gemini': "`GoogleModel`: Zen takes Gemini's own format at https://opencode.ai/zen/v1/models",
    }
)
_RESPONSES = '`OpenAIResponsesModel` with `provider=ZenProvider()`'

_ERROR_TYPES: Mapping[str, ErrorReading] = MappingProxyType(
    {
        'ModelError': ErrorReading(
            ModelNotFoundError,
            'OpenCode Zen answers 401 for a model that it does not serve: see https://opencode.ai/zen/v1/models',
        ),
        'CreditsError': ErrorReading(
            ModelQuotaExceededError, 'The OpenCode Zen account has no credit left: add some at https://opencode.ai/zen'
        ),
        'MonthlyLimitError': ErrorReading(
            ModelQuotaExceededError,
            'The OpenCode Zen workspace has reached its monthly limit: raise it at https://opencode.ai/zen',
        ),
        'UserLimitError': ErrorReading(
            ModelQuotaExceededError, 'This member of the OpenCode Zen workspace has reached their monthly limit'
        ),
        'FreeTierError': ErrorReading(
            ModelAuthenticationError, "OpenCode Zen serves its free models to OpenCode's own client only"
        ),
    }
)
"""Zen's own error types under a 401 or 403, where the key itself is in order."""


class ZenProvider(ServiceProvider):
    """Provider of OpenCode Zen.

    The key is taken from `OPENCODE_API_KEY`, `OPENCODE_ZEN_API_KEY` or `ZEN_API_KEY`, another address from
    `OPENCODE_ZEN_BASE_URL`.
    """

    service = Service(
        name='zen',
        base_url='https://opencode.ai/zen/v1',
        base_url_variables=('OPENCODE_ZEN_BASE_URL',),
        api_key_variables=('OPENCODE_API_KEY', 'OPENCODE_ZEN_API_KEY', 'ZEN_API_KEY'),
    )

    @staticmethod
    def model_profile(model_name: str) -> ModelProfile | None:
        """Give the profile of a model: its family's, and where it is served if not over Chat Completions."""
        profile = OpenAICompatibleModelProfile(openai_compatible_error_types=_ERROR_TYPES)
        if elsewhere := _served_elsewhere(model_name):
            profile['openai_compatible_served_elsewhere'] = elsewhere
        return merge_profile(family_profile(model_name), profile)


def _served_elsewhere(model_name: str) -> str | None:
    if openai_model_name(model_name):
        return _RESPONSES
    name = model_name.lower().rpartition('/')[2]
    return next((model for prefix, model in _ELSEWHERE.items() if name.startswith(prefix)), None)
