"""L2: a real HTTP server on a free loopback port, in the test's own event loop."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

Handler = Callable[[Request], Awaitable[Response]]


@asynccontextmanager
async def serving(app: Any) -> AsyncGenerator[str]:
    """Serve an ASGI application; give the server's root URL."""
    listener = socket.create_server(('127.0.0.1', 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level='critical', lifespan='off', timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve([listener]))
    while not server.started:  # noqa: ASYNC110  # uvicorn has no event for it
        await asyncio.sleep(0.005)
    try:
        yield f'http://127.0.0.1:{listener.getsockname()[1]}'
    finally:
        server.should_exit = server.force_exit = True
        await task
        listener.close()


def application(**routes: Handler) -> Starlette:
    """Make an application from handlers named like `props` or `v1_chat_completions`, for any method."""
    return Starlette(
        routes=[Route('/' + path, handler, methods=['GET', 'POST']) for path, handler in paths(routes).items()]
    )


def paths(routes: dict[str, Handler]) -> dict[str, Handler]:
    names = {'chat': 'v1/chat/completions', 'apply_template': 'apply-template'}
    return {names.get(name, name): handler for name, handler in routes.items()}


def forwarded(reply: httpx2.Response) -> Response:
    """Give an httpx response as a server's."""
    return Response(reply.content, reply.status_code, {'content-type': reply.headers['content-type']})
