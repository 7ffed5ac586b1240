"""What the tests of stray replies share: models over a scripted transport, and what a response says in short."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import httpx2
from dirty_equals import IsStr
from openai import AsyncOpenAI
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ThinkingPart, ToolCallPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.github_copilot import GitHubCopilotModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.providers import Provider
from pydantic_ai.providers.github_copilot import GitHubCopilotProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.providers.openrouter import OpenRouterProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.chat.model import OpenAICompatibleModel
from pydantic_ai_verbatim.chat.variants import CopilotCompatibleModel, OpenRouterCompatibleModel
from pydantic_ai_verbatim.providers.perplexity import PerplexityProvider
from pydantic_ai_verbatim.providers.zen import ZenProvider

Respond = Callable[[httpx2.Request], httpx2.Response]

HI = [ModelRequest(parts=[UserPromptPart('hi')])]
TOOLS = ModelRequestParameters(
    function_tools=[
        ToolDefinition(name=name, parameters_json_schema={'type': 'object', 'properties': {}})
        for name in ('get_weather', 'now')
    ]
)
NO_TOOLS = ModelRequestParameters()

_MODELS: dict[
    str, tuple[type[OpenAICompatibleModel], type[OpenAIChatModel], Callable[[AsyncOpenAI], Provider[Any]]]
] = {
    'compat': (
        OpenAICompatibleModel,
        OpenAIChatModel,
        lambda client: OpenAICompatibleProvider('test', openai_client=client),
    ),
    'openrouter': (
        OpenRouterCompatibleModel,
        OpenRouterModel,
        lambda client: OpenRouterProvider(openai_client=client),
    ),
    'copilot': (
        CopilotCompatibleModel,
        GitHubCopilotModel,
        lambda client: GitHubCopilotProvider(openai_client=client),
    ),
    'perplexity': (
        OpenAICompatibleModel,
        OpenAIChatModel,
        lambda client: PerplexityProvider(openai_client=client),
    ),
    'zen': (OpenAICompatibleModel, OpenAIChatModel, lambda client: ZenProvider(openai_client=client)),
}


def model_of(kind: str, name: str, respond: Respond, *, stock: bool = False) -> OpenAIChatModel:
    """Give a model of a kind whose server is a function, upstream's own class for `stock`."""
    ours, upstreams, provider = _MODELS[kind]
    client = AsyncOpenAI(
        base_url='https://llm.example.com/v1',
        api_key='test-key',
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(respond)),
    )
    return (upstreams if stock else ours)(name, provider=provider(client))


def answering(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Respond:
    """Answer with a body: JSON, or text and bytes as they are."""
    if isinstance(body, str | bytes):
        return lambda _: httpx2.Response(status, content=body, headers=headers)
    return lambda _: httpx2.Response(status, json=body, headers=headers)


def event_stream(events: Iterable[Any], *, done: bool = True) -> bytes:
    """Give events as a body: a string is a raw block (no UTF-8 if it isn't any), else the JSON of a `data:` event."""
    blocks = [event if isinstance(event, str) else f'data: {json.dumps(event)}\n\n' for event in events]
    return (''.join(blocks) + ('data: [DONE]\n\n' if done else '')).encode('utf-8', 'surrogatepass')


def streaming(events: Iterable[Any], *, done: bool = True) -> Respond:
    return answering(event_stream(events, done=done), headers={'content-type': 'text/event-stream'})


def parameters_for(kind: str) -> ModelRequestParameters:
    return NO_TOOLS if kind == 'perplexity' else TOOLS


async def whole(model: OpenAIChatModel, kind: str = 'compat', settings: ModelSettings | None = None) -> ModelResponse:
    return await model.request(list(HI), settings, parameters_for(kind))


async def streamed(
    model: OpenAIChatModel, kind: str = 'compat', settings: ModelSettings | None = None
) -> ModelResponse:
    async with model.request_stream(list(HI), settings, parameters_for(kind)) as stream:
        async for _ in stream:
            pass
        return stream.get()


# What a response says ------------------------------------------------------------------------------------------------

GENERATED = IsStr(regex='pyd_ai_.+')
"""An id that upstream has generated."""

Said = tuple[Any, ...]


def text(content: str) -> Said:
    return ('text', content)


def thinking(content: str) -> Said:
    return ('thinking', content)


def call(name: str = 'get_weather', arguments: str = '{"city":"Paris"}', id: Any = 'c1') -> Said:
    return ('call', name, arguments, id)


def said(response: ModelResponse) -> list[Said]:
    """Give a response's parts in short."""
    return [_said(part) for part in response.parts]


def _said(part: Any) -> Said:
    if isinstance(part, ToolCallPart):
        return call(part.tool_name, part.args if isinstance(part.args, str) else '', part.tool_call_id)
    assert isinstance(part, TextPart | ThinkingPart)
    return (part.part_kind, part.content)


@dataclass
class Says:
    """What a case's response has to be."""

    parts: list[Said]
    finish: str | None = 'stop'
    usage: tuple[int, int] = (3, 2)
    details: dict[str, Any] = field(default_factory=dict[str, Any])

    def check(self, outcome: ModelResponse | AgentRunError) -> None:
        assert isinstance(outcome, ModelResponse), outcome
        assert said(outcome) == self.parts
        assert outcome.finish_reason == self.finish
        assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == self.usage
        assert self.details.items() <= (outcome.provider_details or {}).items()


@dataclass
class Fails:
    """What a case has to raise, with these of the server's own words."""

    kind: type[AgentRunError]
    words: str = ''
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])

    def check(self, outcome: ModelResponse | AgentRunError) -> None:
        assert isinstance(outcome, self.kind), outcome
        assert self.words in str(outcome)
        assert {name: getattr(outcome, name) for name in self.attributes} == self.attributes


Expected = Says | Fails


async def outcome_of(run: Any) -> ModelResponse | AgentRunError:
    """Give the response, or one of upstream's typed exceptions; any other exception fails the test."""
    try:
        return await run
    except AgentRunError as error:
        return error
