"""`OpenAICompatibleModel` in front of upstream's own subclasses, so that a prefix loses nothing of what they do.

A variant states its default provider and its class of streamed responses, what upstream's class admits in a reply, and
what the service wants in each request.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from pydantic import ValidationError
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.github_copilot import GitHubCopilotModel
from pydantic_ai.models.openai import OpenAIChatModelSettings
from pydantic_ai.models.openrouter import OpenRouterModel, OpenRouterStreamedResponse

from ..providers.copilot import request_headers
from .dialect import Dialect
from .model import OpenAICompatibleModel
from .streamed_response import RepairedStreamedResponse

_OPENROUTER_FINISH_REASONS = {
    **{word: word for word in ('stop', 'length', 'tool_calls', 'content_filter', 'error')},
    'function_call': 'tool_calls',
}
"""The finish reasons that upstream's OpenRouter classes admit."""


@dataclass
class OpenRouterRepairedStreamedResponse(RepairedStreamedResponse, OpenRouterStreamedResponse):
    """OpenRouter's streamed responses, whose chunks came through the repairs."""

    async def _validate_response(self) -> AsyncGenerator[Any]:
        """Upstream validates each chunk; one that still fails is what the server did wrong."""
        try:
            async for chunk in super()._validate_response():
                yield chunk
        except ValidationError as error:
            raise UnexpectedModelBehavior(f'OpenRouter streamed a chunk that cannot be read: {error}') from error


@dataclass(init=False)
class OpenRouterCompatibleModel(OpenAICompatibleModel, OpenRouterModel):
    """`OpenRouterModel` (reasoning details, routing, caching, errors) with native list-typed tool returns."""

    _default_provider: ClassVar[str] = 'openrouter'

    @property
    def _streamed_response_cls(self) -> type[OpenRouterStreamedResponse]:
        return OpenRouterRepairedStreamedResponse

    @cached_property
    def _dialect(self) -> Dialect:
        """Upstream's OpenRouter classes are stricter than its others: a provider's name, and known finish reasons."""
        return replace(
            super()._dialect,
            finish_reasons=_OPENROUTER_FINISH_REASONS,
            fields={'provider': 'unknown'},
            joins_content=True,
            annotation_types=frozenset({'url_citation', 'file'}),
        )


@dataclass(init=False)
class CopilotCompatibleModel(OpenAICompatibleModel, GitHubCopilotModel):
    """`GitHubCopilotModel` with native list-typed tool returns and Copilot's headers of each request."""

    _default_provider: ClassVar[str] = 'github-copilot'

    async def _completions_create(
        self,
        messages: list[ModelMessage],
        stream: bool,
        model_settings: OpenAIChatModelSettings,
        model_request_parameters: ModelRequestParameters,
    ) -> Any:
        """Say with each request who started it, and whether there is an image in it; the caller's headers win."""
        headers = {**request_headers(messages), **model_settings.get('extra_headers', {})}
        settings: OpenAIChatModelSettings = {**model_settings, 'extra_headers': headers}
        return await super()._completions_create(messages, stream, settings, model_request_parameters)
