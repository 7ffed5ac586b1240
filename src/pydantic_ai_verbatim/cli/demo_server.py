"""An OpenAI-compatible server on a free loopback port: real HTTP, a scripted answer, no model behind it.

`ScriptedChat` asks for the tool it is offered, then answers from the tool message it received, streamed or not.
`LoopbackServer` serves it, or any other ASGI application, in a thread, and stops it with the `with` block.
"""

import json
import re
import socket
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send


class LoopbackServer:
    """Serve an ASGI application on 127.0.0.1 for the length of a `with` block.

    Args:
        app: The application.

    Attributes:
        url: The server's root, without a slash at the end.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._socket = socket.create_server(('127.0.0.1', 0))
        self.url = 'http://{}:{}'.format(*self._socket.getsockname())
        config = uvicorn.Config(
            app, http='h11', ws='none', lifespan='off', log_config=None, access_log=False, timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={'sockets': [self._socket]}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        while self._thread.is_alive() and not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@dataclass
class ScriptedChat:
    """The application: two turns of Chat Completions, and nothing else (`GET /props` is a 404, as on a plain server).

    Attributes:
        tool_messages: Each `role: tool` message as it arrived, oldest first.
    """

    tool_messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __post_init__(self) -> None:
        self._app = Starlette(routes=[Route('/v1/chat/completions', self._complete, methods=['POST'])])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        await self._app(scope, receive, send)

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        received = [message for message in body['messages'] if message['role'] == 'tool']
        self.tool_messages += received
        message = _answer(received[-1]['content']) if received else _tool_call(body['tools'][0]['function']['name'])
        if body.get('stream'):
            return StreamingResponse(_events(body['model'], message), media_type='text/event-stream')
        return JSONResponse(_whole(body['model'], message))


def template_blocks(content: Any) -> list[str]:
    """Give what stands in each result block where a chat template prints one block an item, and one for a string."""
    return [content] if isinstance(content, str) else [part['text'] for part in content]


def _tool_call(tool_name: str) -> dict[str, Any]:
    function = {'name': tool_name, 'arguments': '{"query": "price"}'}
    return {'content': None, 'tool_calls': [{'id': 'call_1', 'type': 'function', 'function': function}]}


def _answer(content: Any) -> dict[str, Any]:
    read = len(template_blocks(content))
    return {'content': f'I read {read} result{"" if read == 1 else "s"}.'}


def _envelope(model: str, kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    choices = [{'index': 0, **choice}]
    return {'id': 'chatcmpl-1', 'object': kind, 'created': int(time.time()), 'model': model, 'choices': choices}


def _finish_reason(message: dict[str, Any]) -> str:
    return 'tool_calls' if 'tool_calls' in message else 'stop'


def _whole(model: str, message: dict[str, Any]) -> dict[str, Any]:
    choice = {'message': {'role': 'assistant', **message}, 'finish_reason': _finish_reason(message)}
    usage = {'prompt_tokens': 1, 'completion_tokens': 1, 'total_tokens': 2}
    return {**_envelope(model, 'chat.completion', choice), 'usage': usage}


async def _events(model: str, message: dict[str, Any]) -> AsyncIterator[str]:
    for delta in [{'role': 'assistant', 'content': ''}, *_deltas(message)]:
        yield _event(_envelope(model, 'chat.completion.chunk', {'delta': delta, 'finish_reason': None}))
    yield _event(_envelope(model, 'chat.completion.chunk', {'delta': {}, 'finish_reason': _finish_reason(message)}))
    yield 'data: [DONE]\n\n'


def _event(data: dict[str, Any]) -> str:
    return f'data: {json.dumps(data)}\n\n'


def _deltas(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Cut a message as servers do: text by words, a call into its head and pieces of its arguments."""
    if 'tool_calls' not in message:
        return [{'content': word} for word in re.findall(r'\s*\S+', message['content'])]
    call = message['tool_calls'][0]
    arguments = call['function']['arguments']
    head = {**call, 'index': 0, 'function': {'name': call['function']['name'], 'arguments': ''}}
    pieces = [{'index': 0, 'function': {'arguments': piece}} for piece in (arguments[:6], arguments[6:])]
    return [{'tool_calls': [piece]} for piece in [head, *pieces]]
