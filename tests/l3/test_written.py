"""Stories of services that cannot be reached from a test machine, written from public documentation and reports."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.agent import AgentRunResult
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, ModelNotFoundError, ModelQuotaExceededError
from pydantic_ai.messages import ModelResponse, ThinkingPart, ToolCallPart

from pydantic_ai_verbatim import Verbatim, learned_formats
from pydantic_ai_verbatim.errors import ToolReturnFormatWarning
from tests.servers.cassettes import FOLDER, Cassette
from tests.servers.families import ITEMS, READ_BOTH, TOOL
from tests.servers.stories import Wire, watched_wire
from tests.servers.written import answered_by

pytestmark = [pytest.mark.anyio, pytest.mark.vcr, pytest.mark.block_network]

KEYS = (
    'DEEPSEEK_API_KEY',
    'XAI_API_KEY',
    'OPENROUTER_API_KEY',
    'PERPLEXITY_API_KEY',
    'OPENCODE_API_KEY',
    'GITHUB_COPILOT_API_KEY',
)
PARTS = [{'type': 'text', 'text': item} for item in ITEMS]
TEXT = '\n'.join(ITEMS)


@dataclass
class Telling:
    """Runs the agent of one written story and keeps what went over the wire."""

    cassette: Cassette
    monkeypatch: pytest.MonkeyPatch

    def __post_init__(self) -> None:
        self.wire = Wire()

    async def run(self, *, tool: bool = True, streamed: bool = False) -> AgentRunResult[str]:
        """Run the story's agent, by the model string of its service and model."""
        service, model = self.cassette.server, MODELS.get(self.cassette.family, self.cassette.family)
        agent = Agent(f'{service}:{model}', capabilities=[Verbatim()])
        if tool:
            agent.tool_plain(name=TOOL)(list_notes)

        async def listen(_: Any, events: Any) -> None:
            async for _event in events:
                pass

        async with watched_wire(self.monkeypatch) as self.wire:
            return await agent.run('What do my notes say?', event_stream_handler=listen if streamed else None)

    @property
    def sent(self) -> list[Any]:
        """What the tool messages of each request held."""
        bodies = [json.loads(request.content) for request, _ in self.wire.exchanges]
        return [[message['content'] for message in body['messages'] if message['role'] == 'tool'] for body in bodies]

    @property
    def initiators(self) -> list[str]:
        """Who started each request, as Copilot is told."""
        return [request.headers['x-initiator'] for request, _ in self.wire.exchanges]


MODELS = {'claude-sonnet-4.5': 'anthropic/claude-sonnet-4.5'}


def list_notes(topic: str) -> list[str]:
    """List the notes on a topic."""
    return [*ITEMS]


@pytest.fixture
def telling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Telling]:
    """Give the telling of the cassette that the test is marked with; `SERVER=written` fills in its requests."""
    mark = request.node.get_closest_marker('default_cassette')
    assert mark is not None
    cassette = Cassette(FOLDER / mark.args[0])
    for key in KEYS:
        monkeypatch.setenv(key, 'written')
    if os.environ.get('SERVER') == 'written':
        with answered_by(cassette, monkeypatch):
            yield Telling(cassette, monkeypatch)
    else:
        yield Telling(cassette, monkeypatch)


def story(path: str) -> pytest.MarkDecorator:
    return pytest.mark.default_cassette(f'{path}.yaml')


def calls(run: AgentRunResult[str]) -> list[ToolCallPart]:
    return [part for message in run.all_messages() for part in message.parts if isinstance(part, ToolCallPart)]


def thoughts(run: AgentRunResult[str]) -> list[str]:
    return [part.content for message in run.all_messages() for part in message.parts if isinstance(part, ThinkingPart)]


def last(run: AgentRunResult[str]) -> ModelResponse:
    response = run.all_messages()[-1]
    assert isinstance(response, ModelResponse)
    return response


@story('deepseek/deepseek-chat/list-return-refused')
async def test_deepseek_refuses_a_list(telling: Telling) -> None:
    """DeepSeek's 400 to native parts teaches: the run goes on with one text, and says so once."""
    with pytest.warns(ToolReturnFormatWarning, match='deepseek'):
        run = await telling.run()
    assert telling.sent == [[], [PARTS], [TEXT]]
    assert run.output == READ_BOTH
    assert list(learned_formats().values()) == ['text']
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cache_read_tokens) == (410, 29, 128)


@story('deepseek/deepseek-chat/list-return-refused-streamed')
async def test_deepseek_refuses_a_list_in_a_streamed_run(telling: Telling) -> None:
    """The same when the run is streamed; nothing of the refused attempt reaches the run."""
    with pytest.warns(ToolReturnFormatWarning, match='deepseek'):
        run = await telling.run(streamed=True)
    assert telling.sent == [[], [PARTS], [TEXT]]
    assert run.output == READ_BOTH
    assert [call.args_as_dict() for call in calls(run)] == [{'topic': 'sport'}]
    assert (run.usage.input_tokens, run.usage.output_tokens) == (410, 29)


@story('deepseek/deepseek-reasoner/reasoning-between-calls')
async def test_deepseek_gets_its_reasoning_back(telling: Telling) -> None:
    """The reasoning of a tool-call turn goes back in the field that it came in."""
    run = await telling.run()
    assert thoughts(run) == ['I need the notes.', 'The notes are here.']
    [assistant] = [
        each for each in telling.wire.bodies('/chat/completions')[-1]['messages'] if each['role'] == 'assistant'
    ]
    assert assistant['reasoning_content'] == 'I need the notes.'


@story('grok/grok-4-fast/list-return')
async def test_grok_takes_a_list(telling: Telling) -> None:
    """xAI's API today takes native parts."""
    run = await telling.run()
    assert telling.sent == [[], [PARTS]]
    assert run.output == READ_BOTH


@story('grok/grok-4-fast/list-return-refused')
async def test_grok_refuses_a_list(telling: Telling) -> None:
    """xAI's flat 400 of 2025 teaches as well."""
    with pytest.warns(ToolReturnFormatWarning, match='x.ai'):
        run = await telling.run()
    assert telling.sent == [[], [PARTS], [TEXT]]
    assert run.output == READ_BOTH


@story('grok/grok-4-fast/call-finished-as-stop')
async def test_grok_calls_a_tool_and_says_stop(telling: Telling) -> None:
    """A tool call is one whatever the finish reason says, and its finish reason says so."""
    run = await telling.run()
    [call] = calls(run)
    assert (call.tool_name, call.tool_call_id) == (TOOL, 'call_12345678')
    assert run.output == READ_BOTH
    first = run.all_messages()[1]
    assert isinstance(first, ModelResponse)
    assert first.finish_reason == 'tool_call'


@story('grok/grok-4-fast/refused-argument')
async def test_grok_errors_are_flat(telling: Telling) -> None:
    """A flat error is a typed error that holds the service's words."""
    with pytest.raises(ModelHTTPError, match='presencePenalty') as raised:
        await telling.run(tool=False)
    assert raised.value.status_code == 400


@story('openrouter/claude-sonnet-4.5/reasoning-details-go-back')
async def test_openrouter_gets_its_reasoning_details_back(telling: Telling) -> None:
    """Signed reasoning goes back unchanged, beside a native list."""
    run = await telling.run()
    assert telling.sent == [[], [PARTS]]
    [assistant] = [
        each for each in telling.wire.bodies('/chat/completions')[-1]['messages'] if each['role'] == 'assistant'
    ]
    [detail] = assistant['reasoning_details']
    assert (detail['text'], detail['signature']) == ('I need the notes.', 'c2lnbmVk')
    assert run.output == READ_BOTH


@story('openrouter/claude-sonnet-4.5/list-return-streamed')
async def test_openrouter_streams_comments(telling: Telling) -> None:
    """Comments that keep a stream alive are no events."""
    run = await telling.run(streamed=True)
    assert telling.sent == [[], [PARTS]]
    assert run.output == READ_BOTH
    assert (run.usage.input_tokens, run.usage.output_tokens) == (930, 49)


@story('openrouter/claude-sonnet-4.5/error-in-a-200')
async def test_openrouter_hides_an_error_in_a_200(telling: Telling) -> None:
    """An error under status 200 becomes the typed error that it is."""
    with pytest.raises(ModelAPIError, match='Provider returned error'):
        await telling.run(tool=False)


@story('perplexity/sonar/cited-answer')
async def test_perplexity_cites(telling: Telling) -> None:
    """What the answer rests on is kept beside it."""
    run = await telling.run(tool=False)
    assert run.output == 'It is played with foot and ball[1].'
    details = last(run).provider_details
    assert details is not None
    assert details['citations'] == ['https://example.com/football']
    assert details['search_results'][0]['title'] == 'Football'


@story('perplexity/sonar/cited-answer-streamed')
async def test_perplexity_counts_up_while_it_streams(telling: Telling) -> None:
    """Usage on every chunk is the total so far, and a stream without `[DONE]` ends where its finish reason says."""
    run = await telling.run(tool=False, streamed=True)
    assert run.output == 'It is played with foot and ball[1].'
    assert (run.usage.input_tokens, run.usage.output_tokens) == (9, 10)
    details = last(run).provider_details
    assert details is not None
    assert details['citations'] == ['https://example.com/football']


@story('perplexity/sonar-reasoning-pro/thinking-in-tags')
async def test_perplexity_thinks_in_tags(telling: Telling) -> None:
    """What stands in tags before the answer is thinking."""
    run = await telling.run(tool=False)
    assert [thought.strip() for thought in thoughts(run)] == ['What is it played with?']
    assert run.output.strip() == 'With foot and ball[1].'


@story('zen/glm-5/list-return')
async def test_zen_takes_a_list(telling: Telling) -> None:
    """GLM behind Zen gets native parts, and its reasoning back."""
    run = await telling.run()
    assert telling.sent == [[], [PARTS]]
    [assistant] = [
        each for each in telling.wire.bodies('/chat/completions')[-1]['messages'] if each['role'] == 'assistant'
    ]
    assert assistant['reasoning_content'] == 'I need the notes.'
    assert run.output == READ_BOTH


@story('zen/glm-5/list-return-streamed')
async def test_zen_ends_a_stream_with_a_bare_chunk(telling: Telling) -> None:
    """A last chunk without id, model and choices still counts for usage."""
    run = await telling.run(streamed=True)
    assert run.output == READ_BOTH
    assert (run.usage.input_tokens, run.usage.output_tokens) == (390, 45)


@story('zen/glm-5/no-credits')
async def test_zen_has_no_credits(telling: Telling) -> None:
    """A 401 that is about credit is no authentication error."""
    with pytest.raises(ModelQuotaExceededError, match='credit'):
        await telling.run(tool=False)


@story('zen/glm-5/unknown-model')
async def test_zen_does_not_know_the_model(telling: Telling) -> None:
    """A 401 that is about the model is no authentication error."""
    with pytest.raises(ModelNotFoundError, match='does not serve'):
        await telling.run(tool=False)


@story('copilot/claude-sonnet-4.6/text-and-call-in-two-choices')
async def test_copilot_splits_a_reply(telling: Telling) -> None:
    """A text in one choice and a call in the next are one reply."""
    run = await telling.run()
    [call] = calls(run)
    assert (call.tool_name, call.tool_call_id) == (TOOL, 'toolu_vrtx_written')
    first = run.all_messages()[1]
    assert isinstance(first, ModelResponse)
    assert first.text == 'Let me look.'
    assert telling.initiators == ['user', 'agent']
    assert telling.sent == [[], [PARTS]]


@story('copilot/gpt-4.1/list-return')
async def test_copilot_is_told_who_asks(telling: Telling) -> None:
    """The user's request is marked as such, and the agent's own as not billable."""
    run = await telling.run()
    assert telling.initiators == ['user', 'agent']
    assert telling.sent == [[], [PARTS]]
    assert run.output == READ_BOTH


@story('copilot/gpt-4.1/list-return-streamed')
async def test_copilot_streams_filter_results_first(telling: Telling) -> None:
    """A first event without choices is no end, and usage in a last one counts."""
    run = await telling.run(streamed=True)
    assert telling.initiators == ['user', 'agent']
    assert run.output == READ_BOTH
    assert (run.usage.input_tokens, run.usage.output_tokens) == (280, 24)
