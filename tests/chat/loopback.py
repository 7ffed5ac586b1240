"""A real HTTP server on loopback whose every byte a test decides, and which knows what is still open."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from pydantic_ai_verbatim.chat.model import OpenAICompatibleModel

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Loopback:
    """A server that plays a script on each connection, after it has read the request."""

    script: Script
    open_connections: int = 0
    port: int = field(default=0, init=False)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_connections += 1
        try:
            head = await reader.readuntil(b'\r\n\r\n')
            length = next(line for line in head.lower().split(b'\r\n') if line.startswith(b'content-length'))
            await reader.readexactly(int(length.split(b':')[1]))
            await self.script(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has gone, which is its right
        finally:
            writer.close()
            self.open_connections -= 1

    def model(self) -> OpenAICompatibleModel:
        client = AsyncOpenAI(
            base_url=f'http://127.0.0.1:{self.port}/v1', api_key='k', max_retries=0, http_client=httpx2.AsyncClient()
        )
        return OpenAICompatibleModel('glm-5', provider=OpenAICompatibleProvider('test', openai_client=client))


@asynccontextmanager
async def serving(script: Script) -> AsyncGenerator[tuple[Loopback, OpenAICompatibleModel]]:
    """Serve a script, and check at the end that no task and no connection is left behind."""
    loopback = Loopback(script)
    before = asyncio.all_tasks()
    server = await asyncio.start_server(loopback.handle, '127.0.0.1', 0)
    loopback.port = server.sockets[0].getsockname()[1]
    model = loopback.model()
    try:
        yield loopback, model
        await settled(before)
        assert asyncio.all_tasks() == before
        assert loopback.open_connections == 0
    finally:
        await model.client.close()
        server.close()
        await server.wait_closed()


async def settled(before: set[asyncio.Task[None]]) -> None:
    """Wait until what is ending has ended, two seconds at most."""
    for _ in range(200):
        if asyncio.all_tasks() == before:
            return
        await asyncio.sleep(0.01)


def head(status: str = '200 OK', content_type: str = 'text/event-stream', **headers: str) -> bytes:
    lines = [f'HTTP/1.1 {status}', f'content-type: {content_type}', 'connection: close']
    lines += [f'{name.replace("_", "-")}: {value}' for name, value in headers.items()]
    return '\r\n'.join([*lines, '', '']).encode()


def chunked(body: bytes, size: int = 64) -> bytes:
    """Frame a body in HTTP chunks, the last one included."""
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b''.join(b'%x\r\n%s\r\n' % (len(piece), piece) for piece in [*pieces, b''])


def sending(*pieces: bytes) -> Script:
    """Write pieces, each in its own time, and close."""

    async def script(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)

    return script


def stalling(piece: bytes) -> Script:
    """Write a piece, and then nothing until the client has gone."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(piece)
        await writer.drain()
        await reader.read()

    return script
