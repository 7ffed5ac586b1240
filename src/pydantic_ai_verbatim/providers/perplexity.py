"""Perplexity's Sonar models, which answer with what they found on the web.

The reference: docs.perplexity.ai/api-reference/chat-completions-post.
"""

from pydantic_ai.profiles import ModelProfile, merge_profile

from ..chat.profile import COMPATIBLE_PROFILE, OpenAICompatibleModelProfile
from .service import Service, ServiceProvider

_SONAR = OpenAICompatibleModelProfile(
    # Structured output is asked for with a schema, since there are no tools, and no plain JSON mode.
    supports_tools=False,
    openai_compatible_supports_tools=False,
    default_structured_output_mode='native',
    supports_json_object_output=False,
    # "user or tool message(s) should alternate with assistant message(s)" (perplexityai/api-discussion#265)
    openai_compatible_merges_neighbours=True,
    openai_compatible_response_fields=('citations', 'search_results'),
    # Served by Perplexity alone, which renders no public chat template.
    may_tokenize_special_tokens_in_content=False,
)
_REASONING = OpenAICompatibleModelProfile(
    supports_thinking=True,
    thinking_always_enabled=True,
    thinking_enabled_by_default=True,
    thinking_tags=('<think>', '</think>'),
    openai_reasoning_efforts=frozenset(('low', 'medium', 'high')),
)


class PerplexityProvider(ServiceProvider):
    """Provider of Perplexity's Sonar API.

    The key is taken from `PERPLEXITY_API_KEY`, `PPLX_API_KEY` or `PERPLEXITYAI_API_KEY`.
    """

    service = Service(
        name='perplexity',
        base_url='https://api.perplexity.ai',
        base_url_variables=(),
        api_key_variables=('PERPLEXITY_API_KEY', 'PPLX_API_KEY', 'PERPLEXITYAI_API_KEY'),
    )

    @staticmethod
    def model_profile(model_name: str) -> ModelProfile | None:
        """Give the profile of a Sonar model; those that reason put it in `<think>` tags before the answer."""
        reasons = model_name.startswith(('sonar-reasoning', 'sonar-deep-research'))
        return merge_profile(COMPATIBLE_PROFILE, _SONAR, _REASONING if reasons else None)
