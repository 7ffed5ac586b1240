"""What deciding on a format costs a request: `python benchmarks/negotiation.py`.

The same history goes out from stock `OpenAIChatModel`, with a format named, with one remembered, and with one decided
afresh; the runs take turns, and the medians are compared. The bar: what is remembered costs at most 1.02 times.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from pydantic_ai_verbatim import OpenAICompatibleModel
from pydantic_ai_verbatim.chat.negotiation import Decision, learn

REPLY = {
    'id': 'r1',
    'object': 'chat.completion',
    'created': 1,
    'model': 'm',
    'choices': [{'index': 0, 'message': {'role': 'assistant', 'content': 'ok'}, 'finish_reason': 'stop'}],
}
TURNS = 20
ROUNDS = 400


def history() -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    for turn in range(TURNS):
        messages += [
            ModelRequest(parts=[UserPromptPart(f'question {turn}')]),
            ModelResponse(parts=[ToolCallPart('search', {'query': 'x'}, f'c{turn}')]),
            ModelRequest(parts=[ToolReturnPart('search', ['one result', 'another result'], f'c{turn}')]),
        ]
    return messages


def provider() -> OpenAICompatibleProvider:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, json=REPLY)))
    return OpenAICompatibleProvider('bench', base_url='https://llm.example.com/v1', api_key='k', http_client=client)


def contestants() -> dict[str, OpenAIChatModel]:
    remembering = OpenAICompatibleModel('remembering', provider=provider())
    learn(remembering._endpoint, Decision('text', 'rejected'))  # pyright: ignore[reportPrivateUsage]  # no request has to teach it
    return {
        'stock': OpenAIChatModel('stock', provider=provider()),
        'text, named': OpenAICompatibleModel('named', provider=provider(), tool_return_format='text'),
        'text, remembered': remembering,
        'parts, named': OpenAICompatibleModel('parts', provider=provider(), tool_return_format='parts'),
        'parts, decided': OpenAICompatibleModel('auto', provider=provider()),
    }


async def timed(run: Callable[[], Awaitable[Any]]) -> float:
    started = time.perf_counter()
    await run()
    return time.perf_counter() - started


async def main() -> None:
    messages, parameters = history(), ModelRequestParameters()
    models = contestants()
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(ROUNDS):
        for name, model in models.items():
            seconds[name].append(await timed(lambda model=model: model.request(messages, None, parameters)))
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    for name, median in medians.items():
        print(f'{name:18} {median * 1000:7.3f} ms  {median / medians["stock"]:5.2f} times stock')
    print(f'remembered / named: {medians["text, remembered"] / medians["text, named"]:.3f} (bar: 1.02)')
    print(f'decided / named:    {medians["parts, decided"] / medians["parts, named"]:.3f}')


if __name__ == '__main__':
    asyncio.run(main())
