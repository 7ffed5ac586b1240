"""Whole replies that stray: every reported case, and more of each kind, through the model class over a transport."""

import json
from typing import Any, cast

import httpx2
import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import IncompleteToolCall, ModelAPIError
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolReturnPart

from ..conftest import load_cases
from ..wire import body, completion
from .reply_bodies import OK, PARIS, calling, paris, paris_with, saying
from .reply_cases import CASES, KINDS, OPENROUTER_CASES, REPORTED
from .stray import (
    Expected,
    Fails,
    Respond,
    Says,
    answering,
    event_stream,
    model_of,
    outcome_of,
    said,
    streamed,
    streaming,
    text,
    whole,
)


@pytest.mark.parametrize('case', load_cases('replies'))
async def test_a_reported_reply_is_read_right(case: dict[str, Any]):
    """Each reply of a public bug report gives what it says, or the typed error that it is."""
    kind = KINDS.get(case['id']) or str(case['kind'])
    model = model_of(kind, case['model'], answering(case['body'], case['status'], case['headers']))
    REPORTED[case['id']].check(await outcome_of(whole(model, kind)))


@pytest.mark.parametrize(('reply', 'expected'), [pytest.param(*case[1:], id=case[0]) for case in CASES])
async def test_a_stray_reply_is_read_right(reply: Any, expected: Expected):
    """A reply of each kind gives what it says, or the typed error that it is, with the server's words."""
    model = model_of('compat', 'glm-5', answering(json.dumps(reply), headers={'content-type': 'application/json'}))
    expected.check(await outcome_of(whole(model)))


@pytest.mark.parametrize(('reply', 'expected'), [pytest.param(*case[1:], id=case[0]) for case in OPENROUTER_CASES])
async def test_openrouters_stricter_classes_get_what_they_admit(reply: Any, expected: Expected):
    """Where upstream's OpenRouter classes admit less, the reply is brought to it without losing the vendor's word."""
    expected.check(await outcome_of(whole(model_of('openrouter', 'z-ai/glm-5', answering(reply)), 'openrouter')))


OWN_READING = {'finish-unknown', 'reasoning-details-alone', 'reasoning-details-beside', 'reasoning-details-encrypted'}
"""Cases that upstream's OpenRouter class reads in a way of its own: each detail is a part, a finish reason one of five."""


@pytest.mark.parametrize(
    ('reply', 'expected'), [pytest.param(*case[1:], id=case[0]) for case in CASES if case[0] not in OWN_READING]
)
async def test_the_variants_read_it_as_well(reply: Any, expected: Expected):
    """The classes in front of upstream's own subclasses read each kind of reply as the plain class does."""
    if isinstance(expected, Says):
        expected = Says(expected.parts, expected.finish, expected.usage)
    respond = answering(json.dumps(reply), headers={'content-type': 'application/json'})
    for kind, name in (('openrouter', 'z-ai/glm-5'), ('copilot', 'gemini-3-pro')):
        expected.check(await outcome_of(whole(model_of(kind, name, respond), kind)))


HOLDERS = {
    'the body': '{}',
    'an error': '{"error": {}}',
    'a field': json.dumps({**OK, 'extra': '{}'}),
    'a field beside half a character': json.dumps({**OK, 'extra': '{}', 'half': '\ud83d'}),
    'the content': json.dumps(saying('{}')),
    'the reasoning': json.dumps(saying('hi', reasoning='{}')),
    'the arguments': json.dumps(calling(paris_with('{}'))),
}


@pytest.mark.parametrize('depth', [100, 450, *range(930, 980, 5), 100_000])
@pytest.mark.parametrize('holder', HOLDERS.values(), ids=HOLDERS)
async def test_no_nesting_is_too_deep(holder: str, depth: int):
    """JSON of any depth, anywhere in a reply, is read or a typed error, whole and streamed."""
    for deep in ('[' * depth + ']' * depth, '{"a":' * depth + '1' + '}' * depth):
        body = holder.replace('"{}"', '{}').replace('{}', deep)
        reply = answering(body, headers={'content-type': 'application/json'})
        stream = answering(f'data: {body}\n\ndata: [DONE]\n\n', headers={'content-type': 'text/event-stream'})
        for kind, name in (('compat', 'glm-5'), ('openrouter', 'z-ai/glm-5')):
            await outcome_of(whole(model_of(kind, name, reply)))
            await outcome_of(streamed(model_of(kind, name, stream)))


# Bodies that are no JSON ---------------------------------------------------------------------------------------------

CHUNKS: list[Any] = [
    {'id': 'r1', 'model': 'm', 'created': 1, 'choices': [{'index': 0, 'delta': {'reasoning_content': 't'}}]},
    {'choices': [{'index': 0, 'delta': {'content': 'h'}}]},
    {'choices': [{'index': 0, 'delta': {'content': 'i', 'tool_calls': [paris()]}}]},
    {'choices': [{'index': 0, 'delta': {}, 'finish_reason': 'tool_calls'}], 'usage': {'prompt_tokens': 3}},
    {'choices': [], 'usage': {'prompt_tokens': 3, 'completion_tokens': 2}},
]
STREAMED = Says([('thinking', 't'), text('hi'), ('call', 'get_weather', PARIS, 'c1')], 'tool_call')
HTML = '<html><head><title>502 Bad Gateway</title></head></html>'


@pytest.mark.parametrize('content_type', ['application/json', 'text/event-stream', 'text/plain'])
@pytest.mark.parametrize(
    ('content', 'expected'),
    [
        pytest.param(event_stream(CHUNKS), STREAMED, id='a-stream'),
        pytest.param(b': waiting\n\n' + event_stream(CHUNKS, done=False), STREAMED, id='a-stream-without-done'),
        pytest.param(
            event_stream([CHUNKS[0], {'error': {'message': 'oh', 'code': 429}}]),
            Fails(ModelAPIError, 'oh'),
            id='an-error-in-a-stream',
        ),
        pytest.param(json.dumps(saying('hi')).encode(), Says([text('hi')]), id='json'),
        pytest.param('\ufeff'.encode() + json.dumps(saying('hi')).encode(), Says([text('hi')]), id='a-byte-order-mark'),
        pytest.param(HTML.encode(), Fails(ModelAPIError, '502 Bad Gateway'), id='html'),
        pytest.param(b'   \n', Fails(ModelAPIError, 'no answer'), id='white-space'),
        pytest.param(b'{"choices": [{"message": {"content": "par', Fails(ModelAPIError, 'par'), id='cut-json'),
        pytest.param(b'"\xff"', Fails(ModelAPIError, '\ufffd'), id='no-utf-8'),
        pytest.param(b'upstream connect error', Fails(ModelAPIError, 'upstream connect error'), id='text'),
    ],
)
async def test_a_body_that_is_no_json_object_is_read(content: bytes, content_type: str, expected: Expected):
    """A stream where JSON was asked for is read as the reply that it is; any other text is quoted in a typed error."""
    model = model_of('compat', 'glm-5', answering(content, headers={'content-type': content_type}))
    expected.check(await outcome_of(whole(model)))


# Through the agent ---------------------------------------------------------------------------------------------------


def agent_with(replies: list[Any], kind: str = 'compat') -> tuple[Agent[None, str], list[str], list[Any]]:
    """Give an agent with two tools whose server sends these replies in turn, the tools' log, and the requests."""
    log: list[str] = []
    requests: list[Any] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        requests.append(body(request))
        reply = replies[len(requests) - 1]
        return cast('Respond', reply)(request) if callable(reply) else httpx2.Response(200, json=reply)

    agent = Agent(model_of(kind, 'glm-5', respond))

    @agent.tool_plain
    def get_weather(city: str) -> str:
        log.append(city)
        return f'sunny in {city}'

    return agent, log, requests


DONE = saying('done')


@pytest.mark.parametrize(
    'calls',
    [
        pytest.param(
            [paris(None), paris(None, function={'name': 'get_weather', 'arguments': '{"city":"Rome"}'})], id='no-ids'
        ),
        pytest.param(
            [paris('a'), paris('a', function={'name': 'get_weather', 'arguments': '{"city":"Rome"}'})], id='one-id'
        ),
    ],
)
async def test_a_result_answers_its_own_call(calls: list[Any]):
    """A generated or corrected id is used for the call and for its result, so both calls run and are told apart."""
    agent, log, requests = agent_with([calling(*calls), DONE])
    result = await agent.run('hi')
    assert sorted(log) == ['Paris', 'Rome']
    _, assistant, *results = requests[1]['messages']
    ids = [call['id'] for call in assistant['tool_calls']]
    assert len(set(ids)) == 2
    assert {message['tool_call_id']: message['content'] for message in results} == {
        ids[0]: 'sunny in Paris',
        ids[1]: 'sunny in Rome',
    }
    assert result.output == 'done'


async def test_the_agent_asks_again_after_reasoning_alone():
    """A reply that holds only reasoning (J22) is no answer: the agent asks again, and nothing crashes."""
    thinks = completion({'role': 'assistant', 'content': '', 'reasoning': 'need tool', 'tool_calls': []}, 'tool_calls')
    agent, log, requests = agent_with([thinks, DONE])
    assert (await agent.run('hi')).output == 'done'
    assert (len(requests), log) == (2, [])


async def test_a_call_cut_by_the_token_limit_is_not_run():
    """Arguments cut with finish reason `length` (J24) are an incomplete call, which upstream reports."""
    agent, log, _ = agent_with([calling(paris_with('{"city": "Par'), finish='length')] * 2)
    with pytest.raises(IncompleteToolCall):
        await agent.run('hi')
    assert log == []


async def test_a_broken_call_is_asked_for_again():
    """Arguments that are no JSON go through as they came: the tool is not run, and the model is told."""
    agent, log, requests = agent_with([calling(paris_with('{"city": "Par')), calling(paris()), DONE])
    assert (await agent.run('hi')).output == 'done'
    assert log == ['Paris']
    assert 'Invalid JSON' in requests[1]['messages'][-1]['content']


async def test_a_call_with_stop_is_run():
    """`stop` beside a tool call (J17) does not end the run."""
    agent, log, _ = agent_with([calling(paris(), finish='stop'), DONE])
    result = await agent.run('hi')
    assert (log, result.output) == (['Paris'], 'done')
    returned = [part for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]
    assert [part.content for part in returned] == ['sunny in Paris']


async def test_an_agent_streams_what_strays():
    """The same through `run_stream`: a stream whose calls share an index, then the answer."""
    calls = [
        {'choices': [{'index': 0, 'delta': {'tool_calls': [{'index': 0, **paris('a')}]}}]},
        {'choices': [{'index': 0, 'delta': {'tool_calls': [{'index': 0, **paris('b')}]}, 'finish_reason': 'stop'}]},
    ]
    agent, log, requests = agent_with([streaming(calls), streaming([{'choices': [{'delta': {'content': 'done'}}]}])])
    async with agent.run_stream('hi') as result:
        output = await result.get_output()
    assert (output, log, len(requests)) == ('done', ['Paris', 'Paris'], 2)
    responses = [message for message in result.all_messages() if isinstance(message, ModelResponse)]
    assert [part[3] for part in said(responses[0])] == ['a', 'b']
    assert isinstance(result.all_messages()[0], ModelRequest)
