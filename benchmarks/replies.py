"""What the repairs cost on well-formed replies: both classes in one run, interleaved, over a transport in memory.

Run with `python benchmarks/replies.py`; it prints the times and their ratio, and fails over 1.10.
"""

import argparse
import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
from pydantic_ai.messages import ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from pydantic_ai_verbatim.chat.model import OpenAICompatibleModel

BAR = 1.10
CHUNKS = 2_000

Run = Callable[[OpenAIChatModel], Awaitable[ModelResponse]]


def envelope(kind: str) -> dict[str, Any]:
    return {'id': 'chatcmpl-1', 'object': kind, 'created': 1_700_000_000, 'model': 'glm-5'}


def whole_body() -> bytes:
    """Give a reply as they mostly are: some reasoning, some text and two calls."""
    calls = [
        {
            'id': f'call_{n}',
            'type': 'function',
            'function': {'name': 'search', 'arguments': json.dumps({'q': 'a' * 80})},
        }
        for n in range(2)
    ]
    message = {'role': 'assistant', 'content': 'word ' * 100, 'reasoning_content': 'why ' * 200, 'tool_calls': calls}
    return json.dumps(
        {
            **envelope('chat.completion'),
            'choices': [{'index': 0, 'message': message, 'finish_reason': 'tool_calls', 'logprobs': None}],
            'usage': {'prompt_tokens': 1000, 'completion_tokens': 400, 'total_tokens': 1400},
        }
    ).encode()


def stream_body(field: str) -> bytes:
    """Give a stream of one field: text, or the arguments of one call."""
    deltas: list[Any] = [{'role': 'assistant', 'content': ''}]
    if field == 'arguments':
        function = {'name': 'search', 'arguments': '{"q":"'}
        deltas.append({'tool_calls': [{'index': 0, 'id': 'call_1', 'type': 'function', 'function': function}]})
        pieces = [*['word '] * (CHUNKS - 4), '"}']
        deltas += [{'tool_calls': [{'index': 0, 'function': {'arguments': piece}}]} for piece in pieces]
    else:
        deltas += [{field: 'word '} for _ in range(CHUNKS - 2)]
    choices = [{'index': 0, 'delta': delta, 'logprobs': None, 'finish_reason': None} for delta in deltas]
    choices.append({'index': 0, 'delta': {}, 'logprobs': None, 'finish_reason': 'stop'})
    events = [json.dumps({**envelope('chat.completion.chunk'), 'choices': [choice]}) for choice in choices]
    return ''.join(f'data: {event}\n\n' for event in [*events, '[DONE]']).encode()


class Pieces(httpx2.AsyncByteStream):
    """A body that arrives in pieces of an event each, as a live stream does."""

    def __init__(self, body: bytes) -> None:
        self._events = [event + b'\n\n' for event in body.split(b'\n\n') if event]

    async def __aiter__(self) -> Any:
        for event in self._events:
            yield event


def model(cls: type[OpenAIChatModel], body: bytes, content_type: str) -> OpenAIChatModel:
    def respond(_: httpx2.Request) -> httpx2.Response:
        stream = Pieces(body) if content_type == 'text/event-stream' else httpx2.ByteStream(body)
        return httpx2.Response(200, stream=stream, headers={'content-type': content_type})

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(respond))
    provider = OpenAICompatibleProvider('bench', base_url='https://llm.example.com/v1', api_key='k', http_client=client)
    return cls('glm-5', provider=provider)


MESSAGES = [ModelRequest(parts=[UserPromptPart('hi')])]


async def ask(model: OpenAIChatModel) -> ModelResponse:
    return await model.request(list(MESSAGES), None, ModelRequestParameters())


async def stream(model: OpenAIChatModel) -> ModelResponse:
    async with model.request_stream(list(MESSAGES), None, ModelRequestParameters()) as streamed:
        async for _ in streamed:
            pass
        return streamed.get()


async def ratio(run: Run, body: bytes, content_type: str, rounds: int, repeats: int) -> tuple[float, float]:
    """Give the median time of a run of upstream's class, and how many times as long ours takes."""
    models = [model(cls, body, content_type) for cls in (OpenAIChatModel, OpenAICompatibleModel)]
    for warm in models:
        await run(warm)
    times: list[list[float]] = [[], []]
    for round_number in range(rounds):
        for which in (0, 1) if round_number % 2 else (1, 0):
            gc.collect()
            start = time.process_time()
            for _ in range(repeats):
                await run(models[which])
            times[which].append((time.process_time() - start) / repeats)
    theirs = statistics.median(times[0])
    return theirs, statistics.median(ours / their for their, ours in zip(*times, strict=True))


async def main(rounds: int) -> bool:
    cases = {
        'whole reply': (ask, whole_body(), 'application/json', 40),
        f'stream of text, {CHUNKS} chunks': (stream, stream_body('content'), 'text/event-stream', 1),
        f'stream of reasoning, {CHUNKS} chunks': (stream, stream_body('reasoning_content'), 'text/event-stream', 1),
        f'stream of arguments, {CHUNKS} chunks': (stream, stream_body('arguments'), 'text/event-stream', 1),
    }
    passed = True
    for name, (run, body, content_type, repeats) in cases.items():
        theirs, times = await ratio(run, body, content_type, rounds, repeats)
        passed &= times <= BAR
        print(f'{name:36} stock {theirs * 1000:8.2f} ms   ours {times:5.3f} times   bar {BAR:.2f}')
    return passed


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--rounds', type=int, default=15)
    sys.exit(0 if asyncio.run(main(parser.parse_args().rounds)) else 1)
