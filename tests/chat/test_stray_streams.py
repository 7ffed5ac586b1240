"""Streams that stray: every reported case, and more of each kind, through the model class over a transport."""

import json
from typing import Any

import httpx2
import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.settings import ModelSettings

from ..conftest import load_cases
from ..wire import body, chunk
from .reply_bodies import ROME
from .stray import Expected, Says, model_of, outcome_of, streamed, streaming, text
from .stream_cases import ALTERNATIVES, BROKEN_OFF, CASES, REPORTED
from .stream_events import CALLS, JUST_A, STOP, A, W, of, piece


@pytest.mark.parametrize('case', load_cases('streams'))
async def test_a_reported_stream_is_read_right(case: dict[str, Any]):
    """Each stream of a public bug report gives what it says, or the typed error that it is."""
    model = model_of(case['kind'], case['model'], streaming(case['events'], done=case['done']))
    REPORTED[case['id']].check(await outcome_of(streamed(model, case['kind'])))


@pytest.mark.parametrize(('events', 'expected'), [pytest.param(*case[1:], id=case[0]) for case in CASES])
async def test_a_stray_stream_is_read_right(events: list[Any], expected: Expected):
    """A stream of each kind gives what it says, or the typed error that it is, with the server's words.

    The class in front of `OpenRouterModel`, which validates each chunk, reads it as the plain class does.
    """
    expected.check(await outcome_of(streamed(model_of('compat', 'glm-5', streaming(events)))))
    if isinstance(expected, Says):
        expected = Says(expected.parts, expected.finish, expected.usage)
    model = model_of('openrouter', 'z-ai/glm-5', streaming(events))
    expected.check(await outcome_of(streamed(model, 'openrouter')))


async def test_half_a_character_in_a_name_ends_no_stream():
    """A field's name may hold half a character, in capitals, too."""
    events = [json.dumps(event).replace('{', '{"\\uD83D": 1, ', 1) for event in (A, STOP)]
    model = model_of('openrouter', 'z-ai/glm-5', streaming(f'data: {event}\n\n' for event in events))
    JUST_A.check(await outcome_of(streamed(model, 'openrouter')))


async def test_openrouters_stricter_chunks_are_read():
    """What upstream's OpenRouter class would fail a chunk for is left out, in the middle of a stream, too."""
    odd = {**chunk({'content': '!'})['choices'][0], 'native_finish_reason': 5}
    events = [chunk({'content': 'h'}), chunk({'content': 'i'}), {**chunk({}), 'choices': [odd]}, STOP]
    events[-1] = {**STOP, 'usage': {'prompt_tokens': 3, 'completion_tokens': 2, 'cost': 'much', 'is_byok': 'no'}}
    response = await streamed(model_of('openrouter', 'z-ai/glm-5', streaming(events)), 'openrouter')
    Says([text('hi!')]).check(response)


@pytest.mark.parametrize(('events', 'expected'), [pytest.param(*case[1:], id=case[0]) for case in BROKEN_OFF])
async def test_a_stream_that_just_ends_is_read_right(events: list[Any], expected: Expected):
    """A stream without `[DONE]` is whole where it can be; where it broke off inside a call or an event, it is an error."""
    expected.check(await outcome_of(streamed(model_of('compat', 'glm-5', streaming(events, done=False)))))


@pytest.mark.parametrize(('events', 'expected'), [pytest.param(*case[1:], id=case[0]) for case in ALTERNATIVES])
async def test_an_alternative_that_was_asked_for_is_left_out(events: list[Any], expected: Expected):
    """Where a request asks for several answers (`n`), the first one is read, as pydantic-ai reads it."""
    asking = ModelSettings(extra_body={'n': 2})
    expected.check(await outcome_of(streamed(model_of('compat', 'glm-5', streaming(events)), settings=asking)))


# Through the agent ---------------------------------------------------------------------------------------------------


def agent_with(streams: list[Any]) -> tuple[Agent[None, str], list[str], list[Any]]:
    """Give an agent whose server streams these events in turn, the log of its tool, and the requests."""
    log: list[str] = []
    requests: list[Any] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        requests.append(body(request))
        return streaming(streams[len(requests) - 1], done=len(requests) > 1)(request)

    agent = Agent(model_of('compat', 'glm-5', respond))

    @agent.tool_plain
    def get_weather(city: str) -> str:
        log.append(city)
        return f'sunny in {city}'

    return agent, log, requests


async def run(agent: Agent[None, str]) -> str:
    async with agent.run_stream('hi') as result:
        return await result.get_output()


DONE = [chunk({'content': 'done'}), STOP]


async def test_a_call_that_broke_off_is_not_run():
    """A stream that ends inside arguments (S23) is a typed error that can be retried, and the tool is not run."""
    agent, log, _ = agent_with([[of(piece(0, 'a', W, '{"ci'))]])
    with pytest.raises(ModelAPIError):
        await run(agent)
    assert log == []


async def test_a_call_with_broken_arguments_is_asked_for_again():
    """Arguments that are cut though the stream is finished (S24) are not run; upstream asks the model again."""
    agent, log, requests = agent_with(
        [[of(piece(0, 'a', W, '{"ci')), CALLS], [of(piece(0, 'b', W, ROME)), CALLS], DONE]
    )
    assert await run(agent) == 'done'
    assert (log, len(requests)) == (['Rome'], 3)


async def test_a_streamed_generated_id_answers_its_call():
    """A call that never gets an id (S06) has one generated id, on the call and on its result."""
    agent, log, requests = agent_with(
        [[of(piece(0, ..., W, '{"city":')), of(piece(0, arguments='"Rome"}')), CALLS], DONE]
    )
    assert await run(agent) == 'done'
    _, assistant, returned = requests[1]['messages']
    assert (log, returned['tool_call_id']) == (['Rome'], assistant['tool_calls'][0]['id'])
