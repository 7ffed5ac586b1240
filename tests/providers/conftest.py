"""A server in memory for the providers' tests: it keeps each request and answers with the reply it was given."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

Wire = Callable[..., 'Server']


def completion(content: str = 'hello', **fields: Any) -> dict[str, Any]:
    """Give the smallest whole reply."""
    choice = {'index': 0, 'message': {'role': 'assistant', 'content': content}, 'finish_reason': 'stop'}
    return {'id': 'r1', 'object': 'chat.completion', 'created': 1, 'model': 'm', 'choices': [choice], **fields}


class Server:
    """What was sent to it, and an HTTP client that reaches it whatever the address."""

    def __init__(self, status: int = 200, reply: Any = None) -> None:
        self.requests: list[httpx2.Request] = []
        self._answer = (status, completion() if reply is None else reply)
        self.client = httpx2.AsyncClient(transport=httpx2.MockTransport(self._handle))

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        status, reply = self._answer
        return httpx2.Response(status, json=reply)

    @property
    def request(self) -> httpx2.Request:
        (request,) = self.requests
        return request

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.request.content)


@pytest.fixture
def wire() -> Wire:
    return Server


@pytest.fixture
def hi() -> list[ModelMessage]:
    return [ModelRequest(parts=[UserPromptPart('hi')])]
