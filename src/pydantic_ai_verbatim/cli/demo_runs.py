"""The demo's runs: one agent against the scripted server, with stock `OpenAIChatModel` and with ours, streamed and not.

What comes out is what the server received; nothing here looks into a model.
"""

from dataclasses import dataclass
from typing import Any

from anyio.from_thread import start_blocking_portal
from openai import DefaultAsyncHttpxClient
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from ..chat.model import OpenAICompatibleModel
from .demo_server import LoopbackServer, ScriptedChat

SEARCH_RESULTS = [
    'cart.py:12\n  total += item.price * n',
    'tag.py:7\n  print(f"Price: {price:.2f}")',
    'test.py:3\n  assert price("a") == 2.5',
]
"""What the tool returns: code, as a coding agent searches it, with the newlines and quotes that JSON has to escape."""


@dataclass(frozen=True)
class Run:
    """One run: the content of the tool message as it arrived, and the answer that came of it."""

    content: Any
    answer: str

    @property
    def is_native(self) -> bool:
        """Whether the list arrived as one text part an item, each as the tool returned it."""
        return self.content == [{'type': 'text', 'text': item} for item in SEARCH_RESULTS]


@dataclass(frozen=True)
class Comparison:
    """What arrived from the stock model and from ours."""

    stock: Run
    stock_streamed: Run
    ours: Run
    ours_streamed: Run

    @property
    def complaint(self) -> str | None:
        """Say in which of our runs the list did not arrive natively, if in any."""
        runs = {'in one piece': self.ours, 'streamed': self.ours_streamed}
        if failed := [way for way, run in runs.items() if not run.is_native]:
            return f'The list did not arrive natively when the reply was {" and when it was ".join(failed)}.'
        return None


def compare() -> Comparison:
    """Make the four runs."""
    with LoopbackServer(app := ScriptedChat()) as server, start_blocking_portal() as portal:
        runs = [
            portal.call(_run, model_class, app, server.url, streamed)
            for model_class in (OpenAIChatModel, OpenAICompatibleModel)
            for streamed in (False, True)
        ]
    return Comparison(*runs)


async def _run(model_class: type[OpenAIChatModel], app: ScriptedChat, url: str, streamed: bool) -> Run:
    async with DefaultAsyncHttpxClient(trust_env=False) as http_client:  # a proxy has no business on loopback
        provider = OpenAICompatibleProvider('demo', base_url=f'{url}/v1', api_key='none', http_client=http_client)
        agent = Agent(model_class('scripted', provider=provider), tools=[search])
        answer = await _streamed_answer(agent) if streamed else (await agent.run('Where is the price?')).output
    return Run(app.tool_messages[-1]['content'], answer)


async def _streamed_answer(agent: Agent) -> str:
    async with agent.run_stream('Where is the price?') as result:
        return await result.get_output()


def search(query: str) -> list[str]:
    """Search the code."""
    return SEARCH_RESULTS
