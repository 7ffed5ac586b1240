"""Faults of a real HTTP server: each ends in the right answer or in a typed error, in time, with nothing left behind."""

import asyncio
import gzip
import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelOverloadedError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from pydantic_ai.messages import ModelResponse
from pydantic_ai.settings import ModelSettings

from ..wire import completion
from .loopback import Script, chunked, head, sending, serving, stalling
from .reply_bodies import PARIS, paris
from .stray import TOOLS, Says, call, event_stream, outcome_of, said, streamed, text, whole

EVENTS: list[Any] = [
    {'choices': [{'index': 0, 'delta': {'content': 'é'}}]},
    {'choices': [{'index': 0, 'delta': {'tool_calls': [{'index': 0, **paris()}]}}]},
    {'choices': [{'index': 0, 'delta': {}, 'finish_reason': 'tool_calls'}]},
]
BODY = event_stream(EVENTS).replace(b'\\u00e9', 'é'.encode())
RIGHT = Says([text('é'), call()], 'tool_call', (0, 0))
STREAM = head(transfer_encoding='chunked')
IN_TIME = ModelSettings(timeout=0.3)


async def outcomes_of_cuts(framed: bytes, cuts: Sequence[int]) -> list[ModelResponse | AgentRunError]:
    """Give what becomes of a stream that is cut after each of these numbers of bytes, all in one server."""
    left = iter(cuts)

    async def script(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(framed[: next(left)])
        await writer.drain()

    async with serving(script) as (_, model):
        return [await outcome_of(streamed(model)) for _ in cuts]


async def test_a_stream_cut_at_any_byte_is_an_error():
    """A connection that is cut anywhere in a stream is a typed error, and the whole stream is the right answer."""
    framed = STREAM + chunked(BODY)
    cuts = [0, len(STREAM) - 1, *range(len(STREAM), len(framed) + 1)]
    outcomes = await outcomes_of_cuts(framed, cuts)
    done = len(STREAM) + len(chunked(BODY.partition(b'data: [DONE]')[0]))
    for cut, outcome in zip(cuts, outcomes, strict=True):
        if isinstance(outcome, ModelResponse):
            assert cut >= done - 16
            RIGHT.check(outcome)
        else:
            assert isinstance(outcome, ModelAPIError)
    RIGHT.check(outcomes[-1])


async def test_a_stream_without_a_length_is_never_half_a_call():
    """Where only the end of the connection ends a stream, a cut is an error or gives no more than was said in full."""
    framed = head() + BODY
    outcomes = await outcomes_of_cuts(framed, range(len(head()), len(framed) + 1))
    for outcome in outcomes:
        if isinstance(outcome, ModelResponse):
            assert said(outcome) in ([text('é')], RIGHT.parts)
    RIGHT.check(outcomes[-1])


@pytest.mark.parametrize(
    'sent',
    [
        pytest.param(b'', id='before the answer'),
        pytest.param(STREAM, id='before the first event'),
        pytest.param(STREAM + chunked(BODY)[:150], id='in the stream'),
    ],
)
async def test_a_stalled_stream_ends_in_time(sent: bytes):
    """A server that says no more is a timeout, and the connection is closed."""
    async with serving(stalling(sent)) as (_, model):
        with anyio.fail_after(30), pytest.raises(ModelTimeoutError):
            await streamed(model, settings=IN_TIME)


async def test_a_stalled_reply_ends_in_time():
    """The same for a whole reply."""
    body = json.dumps(completion({'role': 'assistant', 'content': 'hi'})).encode()
    sent = head(content_type='application/json', content_length=str(len(body))) + body[:40]
    async with serving(stalling(sent)) as (_, model):
        with anyio.fail_after(30), pytest.raises(ModelTimeoutError):
            await whole(model, settings=IN_TIME)


OOPS = b'{"error": {"message": "boom"}}'
BROKEN_ERRORS = {
    'cut': (sending(head('500 Oops', 'application/json', content_length='99') + OOPS), ModelConnectionError),
    'cut in its framing': (
        sending(head('502 Bad', 'application/json', transfer_encoding='chunked') + chunked(OOPS)[:-5]),
        ModelConnectionError,
    ),
    'not compressed as it says': (
        sending(head('502 Bad', 'application/json', content_encoding='gzip', content_length='4') + b'boom'),
        ModelConnectionError,
    ),
    'stalling': (stalling(head('503 No', 'application/json', content_length='99') + OOPS), ModelTimeoutError),
    'never begun': (stalling(head('500 Oops', 'application/json', content_length='99')), ModelTimeoutError),
}


@pytest.mark.parametrize('ask', [whole, streamed])
@pytest.mark.parametrize(('script', 'kind'), BROKEN_ERRORS.values(), ids=BROKEN_ERRORS)
async def test_an_error_whose_body_breaks_is_typed(script: Script, kind: type[ModelAPIError], ask: Any):
    """Where the body of an error status cannot be read, streamed or not, the transport's failure is the typed error."""
    async with serving(script) as (_, model):
        with pytest.raises(ModelConnectionError) as caught:
            await ask(model, settings=IN_TIME)
    assert type(caught.value) is kind


async def test_a_reply_that_is_cut_is_an_error():
    """A whole reply whose connection is cut is a connection error."""
    body = json.dumps(completion({'role': 'assistant', 'content': 'hi'})).encode()
    sent = head(content_type='application/json', content_length=str(len(body))) + body[:-1]
    async with serving(sending(sent)) as (_, model):
        with pytest.raises(ModelConnectionError):
            await whole(model)


@pytest.mark.parametrize(
    'body',
    [
        pytest.param(BODY, id='LF'),
        pytest.param(BODY.replace(b'\n', b'\r\n'), id='CRLF'),
        pytest.param(BODY.replace(b'\n', b'\r'), id='CR'),
        pytest.param('\ufeff'.encode() + BODY, id='byte order mark'),
    ],
)
async def test_a_stream_that_comes_byte_by_byte_is_whole(body: bytes):
    """Bytes that come one at a time, inside characters and between line ends, make the same answer."""
    pieces = [chunked(body[at : at + 1])[:-5] for at in range(len(body))]
    async with serving(sending(STREAM, *pieces, b'0\r\n\r\n')) as (_, model):
        RIGHT.check(await outcome_of(streamed(model)))


async def test_a_compressed_stream_is_whole():
    """A stream may be compressed."""
    body = chunked(gzip.compress(BODY))
    async with serving(sending(head(transfer_encoding='chunked', content_encoding='gzip'), body)) as (_, model):
        RIGHT.check(await outcome_of(streamed(model)))


LONG = json.dumps({'text': 'é' * 500_000}, ensure_ascii=False)


@pytest.mark.parametrize('count', [1, 1_000])
async def test_a_megabyte_of_arguments_is_whole(count: int):
    """A megabyte of arguments, in one event or in a thousand, arrives as it was written."""
    size = -(-len(LONG) // count)
    pieces = [LONG[start : start + size] for start in range(0, len(LONG), size)]
    first = {'index': 0, 'id': 'c1', 'type': 'function', 'function': {'name': 'write', 'arguments': ''}}
    fragments: list[Any] = [first, *({'index': 0, 'function': {'arguments': piece}} for piece in pieces)]
    events = [{'choices': [{'index': 0, 'delta': {'tool_calls': [fragment]}}]} for fragment in fragments]
    body = event_stream([*events, EVENTS[-1]])
    async with serving(sending(STREAM, chunked(body, 65_536))) as (_, model):
        response = await streamed(model)
    assert said(response) == [call('write', LONG)]


async def test_ten_thousand_chunks_are_whole():
    """A long stream is read in time that grows with its length only."""
    word = json.dumps({'choices': [{'index': 0, 'delta': {'content': 'word '}}]})
    body = f'data: {word}\n\n'.encode() * 9_999 + event_stream([{'choices': [{'delta': {}, 'finish_reason': 'stop'}]}])
    async with serving(sending(STREAM, chunked(body, 65_536))) as (_, model):
        response = await streamed(model)
    assert said(response) == [text('word ' * 9_999)]


@pytest.mark.parametrize(
    ('status', 'kind'),
    [('429 Too Many Requests', ModelRateLimitError), ('529 Overloaded', ModelOverloadedError)],
)
@pytest.mark.parametrize('ask', [whole, streamed])
async def test_a_wait_is_told(status: str, kind: type[ModelAPIError], ask: Any):
    """A server that asks to wait says for how long."""
    body = b'{"error": {"message": "slow down"}}'
    sent = head(status, 'application/json', retry_after='7', content_length=str(len(body))) + body
    async with serving(sending(sent)) as (_, model):
        with pytest.raises(kind, match='slow down') as caught:
            await ask(model)
    assert caught.value.retry_after == 7


@pytest.mark.parametrize('ask', [whole, streamed])
@pytest.mark.parametrize('content_type', ['text/html', 'application/json'])
async def test_a_page_is_quoted(content_type: str, ask: Any):
    """A page where a reply should be is an error that quotes it."""
    page = b'<html><title>502 Bad Gateway</title></html>'
    async with serving(sending(head(content_type=content_type, content_length=str(len(page))) + page)) as (_, model):
        with pytest.raises(ModelAPIError, match='502 Bad Gateway'):
            await ask(model)


async def test_a_stream_that_is_left_is_closed():
    """A consumer that stops reading closes the connection."""
    async with serving(stalling(STREAM + chunked(event_stream(EVENTS[:1], done=False))[:-5])) as (_, model):
        async with model.request_stream([], None, TOOLS) as stream:
            async for _ in stream:
                break
        assert PARIS not in str(stream.get())
