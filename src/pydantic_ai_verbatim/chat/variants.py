"""`OpenAICompatibleModel` in front of upstream's own subclasses, so that a prefix loses nothing of what they do.

A variant states its default provider, and what the service wants in each request.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.github_copilot import GitHubCopilotModel
from pydantic_ai.models.openai import OpenAIChatModelSettings
from pydantic_ai.models.openrouter import OpenRouterModel

from ..providers.copilot import request_headers
from .model import OpenAICompatibleModel


@dataclass(init=False)
class OpenRouterCompatibleModel(OpenAICompatibleModel, OpenRouterModel):
    """`OpenRouterModel` (reasoning details, routing, caching, errors) with native list-typed tool returns."""

    _default_provider: ClassVar[str] = 'openrouter'


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
