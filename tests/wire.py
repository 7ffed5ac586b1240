"""A scripted Chat Completions endpoint behind `httpx2.MockTransport`: it records every request above any recorder."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import httpx2
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.tools import ToolDefinition

BASE_URL = 'https://llm.example.com/v1'

Responder = Callable[[httpx2.Request], httpx2.Response]


class Wire:
    """Records requests and answers them with `respond`, or with the text `ok` in the way that was asked for."""

    def __init__(self, respond: Responder | None = None) -> None:
        self.requests: list[httpx2.Request] = []
        self.respond = respond or answer
        self.client = self.new_client()

    def new_client(self, **_: object) -> httpx2.AsyncClient:
        """Make a client that reaches this endpoint, whatever the address."""
        return httpx2.AsyncClient(transport=httpx2.MockTransport(self._handle))

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return self.respond(request)

    @property
    def bodies(self) -> list[Any]:
        """The JSON bodies of the chat completions requests."""
        return [body(request) for request in self.requests if request.url.path.endswith('/chat/completions')]

    @property
    def messages(self) -> list[Any]:
        """The messages of the last request."""
        return self.bodies[-1]['messages']

    def provider(self, base_url: str = BASE_URL) -> OpenAICompatibleProvider:
        return OpenAICompatibleProvider('test', base_url=base_url, api_key='test-key', http_client=self.client)

    def openai_provider(self, base_url: str | None = None) -> OpenAIProvider:
        return OpenAIProvider(base_url=base_url, api_key='test-key', http_client=self.client)


def body(request: httpx2.Request) -> Any:
    return json.loads(request.content)


def answer(request: httpx2.Request) -> httpx2.Response:
    """Answer `ok`, streamed if asked."""
    return reply_to(request, {'content': 'ok'})


def reply_to(request: httpx2.Request, message: dict[str, Any]) -> httpx2.Response:
    """Answer with one assistant message, streamed if asked."""
    finish = 'tool_calls' if message.get('tool_calls') else 'stop'
    if body(request).get('stream'):
        calls = [{'index': i, **call} for i, call in enumerate(message.get('tool_calls', []))]
        delta = {'role': 'assistant', **message, **({'tool_calls': calls} if calls else {})}
        return sse([chunk(delta), chunk({}, finish)])
    return httpx2.Response(200, json=completion({'role': 'assistant', 'content': None, **message}, finish))


def completion(message: dict[str, Any], finish_reason: str = 'stop', **extra: Any) -> dict[str, Any]:
    return {
        'id': 'r1',
        'object': 'chat.completion',
        'created': 1,
        'model': 'm',
        'choices': [{'index': 0, 'message': message, 'finish_reason': finish_reason}],
        'provider': 'Test',  # OpenRouter's replies name who served them
        'usage': {'prompt_tokens': 3, 'completion_tokens': 2, 'total_tokens': 5},
        **extra,
    }


def chunk(delta: dict[str, Any], finish_reason: str | None = None, **extra: Any) -> dict[str, Any]:
    return {
        'id': 'r1',
        'object': 'chat.completion.chunk',
        'created': 1,
        'model': 'm',
        'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish_reason}],
        **extra,
    }


def sse(events: Iterable[Any]) -> httpx2.Response:
    text = ''.join(f'data: {json.dumps(event)}\n\n' for event in events) + 'data: [DONE]\n\n'
    return httpx2.Response(200, text=text, headers={'content-type': 'text/event-stream'})


def call(name: str = 'search', arguments: str = '{}', id: str = 'c1') -> dict[str, Any]:
    return {'id': id, 'type': 'function', 'function': {'name': name, 'arguments': arguments}}


def calls_a_tool_then_answers(request: httpx2.Request) -> httpx2.Response:
    """Call `search` until a tool message is there, then answer."""
    answered = any(message['role'] == 'tool' for message in body(request)['messages'])
    return reply_to(request, {'content': 'ok'} if answered else {'tool_calls': [call()]})


SEARCH = ToolDefinition(name='search', description='Search.', parameters_json_schema={'type': 'object'})
PARAMETERS = ModelRequestParameters(function_tools=[SEARCH])
