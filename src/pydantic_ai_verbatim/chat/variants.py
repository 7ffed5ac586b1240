"""`OpenAICompatibleModel` in front of upstream's own subclasses, so that a prefix loses nothing of what they do.

A variant states its default provider, and what the service wants in each request.
"""

from dataclasses import dataclass
from typing import Any

from openai import AsyncOpenAI
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.github_copilot import GitHubCopilotModel
from pydantic_ai.models.openai import OpenAIChatModelSettings
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.profiles import ModelProfileSpec
from pydantic_ai.providers import Provider
from pydantic_ai.settings import ModelSettings

from ..providers.copilot import request_headers
from .model import OpenAICompatibleModel
from .profile import ToolReturnFormat


@dataclass(init=False)
class OpenRouterCompatibleModel(OpenAICompatibleModel, OpenRouterModel):
    """`OpenRouterModel` (reasoning details, routing, caching, errors) with native list-typed tool returns."""

    def __init__(
        self,
        model_name: str,
        *,
        provider: Provider[AsyncOpenAI] | str = 'openrouter',
        profile: ModelProfileSpec | None = None,
        settings: ModelSettings | None = None,
        tool_return_format: ToolReturnFormat = 'auto',
    ) -> None:
        super().__init__(
            model_name, provider=provider, profile=profile, settings=settings, tool_return_format=tool_return_format
        )


@dataclass(init=False)
class CopilotCompatibleModel(OpenAICompatibleModel, GitHubCopilotModel):
    """`GitHubCopilotModel` with native list-typed tool returns and Copilot's headers of each request."""

    def __init__(
        self,
        model_name: str,
        *,
        provider: Provider[AsyncOpenAI] | str = 'github-copilot',
        profile: ModelProfileSpec | None = None,
        settings: ModelSettings | None = None,
        tool_return_format: ToolReturnFormat = 'auto',
    ) -> None:
        super().__init__(
            model_name, provider=provider, profile=profile, settings=settings, tool_return_format=tool_return_format
        )

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
