"""The stories that are told to every server and family: an agent whose tool gives back a list, and what came of it.

One telling serves the recording, the replay and the live run; what a telling is checked for is in `expectations`.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import httpx2
import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import AgentStreamEvent, ModelMessage
from pydantic_ai.models import Model
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from pydantic_ai_verbatim import OpenAICompatibleModel, Verbatim, install, uninstall
from tests.servers.families import FAILURE, ITEMS, TOOL
from tests.servers.recipe import Recipe

Through = Literal['class', 'openai-chat', 'openai-chat installed', 'lm-studio']
"""How the agent comes to its model: a model object, or a model string with a capability or the patch."""

Format = Literal['auto', 'parts', 'text', 'json']

MIXED: list[Any] = [ITEMS[0], {'pages': 3}, 12, ITEMS[1]]


@dataclass(frozen=True)
class Story:
    """What the tool gives back, and how the run goes."""

    title: str
    returns: list[Any] | Literal['failure'] = field(default_factory=lambda: [*ITEMS])
    format: Format = 'auto'
    streamed: bool = False
    through: Through = 'class'


def _both_ways(title: str, **details: Any) -> Iterator[Story]:
    yield Story(title, **details)
    yield Story(f'{title}-streamed', streamed=True, **details)


STORIES: tuple[Story, ...] = (
    Story('list-return', through='openai-chat'),
    Story('list-return-streamed', streamed=True, through='openai-chat installed'),
    Story('list-return-through-lm-studio', through='lm-studio'),
    *_both_ways('list-return-as-parts', format='parts'),
    *_both_ways('list-return-as-text', format='text'),
    *_both_ways('list-return-as-json', format='json'),
    *_both_ways('mixed-list-return', returns=MIXED),
    *_both_ways('empty-list-return', returns=[]),
    *_both_ways('failing-tool', returns='failure'),
)


@dataclass
class Wire:
    """Every request that left and its response, seen above any recorder."""

    exchanges: list[tuple[httpx2.Request, httpx2.Response]] = field(
        default_factory=list[tuple[httpx2.Request, httpx2.Response]]
    )

    def bodies(self, path: str) -> list[Any]:
        """The JSON bodies of the requests to a path that ends so."""
        return [json.loads(request.content) for request, _ in self.exchanges if request.url.path.endswith(path)]

    def replies(self, path: str) -> list[Any]:
        """The JSON bodies of the whole replies from a path that ends so."""
        return [
            response.json()
            for request, response in self.exchanges
            if request.url.path.endswith(path) and response.is_closed and _is_json(response)
        ]

    @property
    def tool_message(self) -> Any:
        """The one tool message of the last chat request."""
        messages = self.bodies('/chat/completions')[-1]['messages']
        [tool_message] = [message for message in messages if message['role'] == 'tool']
        return tool_message


def _is_json(response: httpx2.Response) -> bool:
    return response.headers.get('content-type', '').startswith('application/json')


@dataclass
class Told:
    """What came of a story."""

    story: Story
    answer: str
    messages: list[ModelMessage]
    usage: RunUsage
    wire: Wire
    events: list[AgentStreamEvent]
    prompt: str | None = None


@asynccontextmanager
async def watched_wire(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Wire]:
    """Watch every client of this process for as long as the context lasts, then close those that were used."""
    wire = Wire()
    clients: list[httpx2.AsyncClient] = []
    send = httpx2.AsyncClient.send

    async def watching(client: httpx2.AsyncClient, request: httpx2.Request, **options: Any) -> httpx2.Response:
        clients.append(client)
        response = await send(client, request, **options)
        wire.exchanges.append((request, response))
        return response

    with monkeypatch.context() as patch:
        patch.setattr(httpx2.AsyncClient, 'send', watching)
        try:
            yield wire
        finally:
            for client in clients:
                await client.aclose()


async def tell(story: Story, recipe: Recipe, family: str, root: str, monkeypatch: pytest.MonkeyPatch) -> Told:
    """Run the story's agent against a server, and ask the server for the prompt where it tells."""
    events: list[AgentStreamEvent] = []

    async def listen(ctx: RunContext[None], stream: AsyncIterable[AgentStreamEvent]) -> None:
        events.extend([event async for event in stream])

    async with watched_wire(monkeypatch) as wire:
        client = httpx2.AsyncClient(timeout=60, verify=False)  # plain HTTP on loopback
        with _agent(story, _model(story, recipe, family, root, client), recipe, root, monkeypatch) as agent:
            run = await agent.run(
                'What do my notes say?',
                model_settings=_settings(story, recipe),
                event_stream_handler=listen if story.streamed else None,
            )
        told = Told(story, run.output, run.all_messages(), run.usage, wire, events)
        told.prompt = await _prompt(told, recipe, root)
        await client.aclose()
    return told


@contextmanager
def _agent(
    story: Story, model: Model | str, recipe: Recipe, root: str, monkeypatch: pytest.MonkeyPatch
) -> Generator[Agent[None, str]]:
    """Make the story's agent; what a model string reads from the environment is set for as long as it is used."""
    with monkeypatch.context() as environment:
        environment.setenv('OPENAI_BASE_URL', f'{root}/v1')
        environment.setenv('OPENAI_API_KEY', recipe.key)
        environment.setenv('LM_STUDIO_BASE_URL', root)
        environment.setenv('LM_API_TOKEN', recipe.key)
        if story.through == 'openai-chat installed':
            install()
        try:
            yield _with_tool(Agent(model, capabilities=_capabilities(story)), story)
        finally:
            uninstall()


def _model(story: Story, recipe: Recipe, family: str, root: str, client: httpx2.AsyncClient) -> Model | str:
    if story.through != 'class':
        return f'{story.through.split()[0]}:{family}'
    provider = OpenAICompatibleProvider(recipe.name, base_url=f'{root}/v1', api_key=recipe.key, http_client=client)
    return OpenAICompatibleModel(family, provider=provider)


def _capabilities(story: Story) -> list[Any]:
    return [Verbatim()] if story.through in ('openai-chat', 'lm-studio') else []


def _with_tool(agent: Agent[None, str], story: Story) -> Agent[None, str]:
    @agent.tool_plain(name=TOOL)
    def list_notes(topic: str) -> list[Any]:  # pyright: ignore[reportUnusedFunction]  # the agent calls it
        """List the notes on a topic."""
        if story.returns == 'failure':
            raise ToolFailed(FAILURE)
        return story.returns

    return agent


def _settings(story: Story, recipe: Recipe) -> ModelSettings:
    settings: dict[str, Any] = {'extra_body': dict(recipe.body)} if recipe.body else {}
    if story.format != 'auto':
        settings['openai_compatible_tool_return_format'] = story.format
    return cast('ModelSettings', settings)


async def _prompt(told: Told, recipe: Recipe, root: str) -> str | None:
    """Give the last prompt as the server rendered it: llama.cpp is asked, vLLM puts it into the reply.

    A new connection, since llama.cpp closes one that has streamed and does not say so.
    """
    if recipe.name == 'llama.cpp':
        body = told.wire.bodies('/chat/completions')[-1]
        question = {key: body[key] for key in ('messages', 'tools')}
        async with httpx2.AsyncClient(timeout=60, verify=False) as client:
            return (await client.post(f'{root}/apply-template', json=question)).json()['prompt']
    replies = told.wire.replies('/chat/completions')
    return replies[-1].get('prompt_text') if replies else None
