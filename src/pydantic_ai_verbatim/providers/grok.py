"""xAI's Grok models over Chat Completions, which upstream serves through xAI's gRPC SDK only.

The reference: docs.x.ai/docs/api-reference (chat completions) and docs.x.ai/docs/guides/reasoning.
"""

from pydantic_ai.profiles import ModelProfile

from ..chat.profile import family_profile
from .service import Service, ServiceProvider


class GrokProvider(ServiceProvider):
    """Provider of xAI's Chat Completions API.

    The key is taken from `XAI_API_KEY`, `GROK_API_KEY` or `X_AI_API_KEY`, another address from `XAI_BASE_URL`.
    """

    service = Service(
        name='grok',
        base_url='https://api.x.ai/v1',
        base_url_variables=('XAI_BASE_URL',),
        api_key_variables=('XAI_API_KEY', 'GROK_API_KEY', 'X_AI_API_KEY'),
    )

    @staticmethod
    def model_profile(model_name: str) -> ModelProfile | None:
        """Give the profile of a Grok model: no `strict`, and no settings that a reasoning model rejects."""
        return family_profile(model_name)
