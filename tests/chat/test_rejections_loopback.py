"""L2: servers on loopback that reject native parts, always or only when streaming, and one that dies in between."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pydantic_ai_verbatim import OpenAICompatibleModel, forget, learned_formats
from pydantic_ai_verbatim.errors import ToolReturnFormatWarning
from tests.loopback import application, forwarded, serving
from tests.wire import body, calls_a_tool_then_answers

pytestmark = pytest.mark.anyio

REJECTION = {'error': {'message': "'content' must be a string", 'type': 'invalid_request_error'}}


@pytest.fixture
async def client() -> AsyncGenerator[httpx2.AsyncClient]:
    """Loopback needs no certificates, and loading them takes long."""
    forget()
    async with httpx2.AsyncClient(verify=False) as client:
        yield client
    forget()


def agent_at(root: str, client: httpx2.AsyncClient) -> Agent:
    provider = OpenAICompatibleProvider('local', base_url=f'{root}/v1', http_client=client)
    provider.client.max_retries = 0
    agent = Agent(OpenAICompatibleModel('m', provider=provider))

    @agent.tool_plain
    def search() -> list[str]:
        return ['a', 'b']

    return agent


async def answer_of(agent: Agent, *, stream: bool) -> str:
    if not stream:
        return (await agent.run('hi')).output
    async with agent.run_stream('hi') as result:
        return await result.get_output()


class Rejecting:
    """Answers 400 to native parts; of a server that streams only, to streamed requests alone."""

    def __init__(self, *, only_streams: bool) -> None:
        self.only_streams = only_streams
        self.tool_contents: list[Any] = []

    async def chat(self, request: Request) -> Response:
        sent = httpx2.Request('POST', str(request.url), content=await request.body())
        contents = [message['content'] for message in body(sent)['messages'] if message['role'] == 'tool']
        self.tool_contents += contents
        has_parts = any(isinstance(content, list) for content in contents)
        if has_parts and (body(sent)['stream'] or not self.only_streams):
            return JSONResponse(REJECTION, 400)
        return forwarded(calls_a_tool_then_answers(sent))


NATIVE = [{'type': 'text', 'text': 'a'}, {'type': 'text', 'text': 'b'}]


@pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])
async def test_a_server_that_rejects(stream: bool, client: httpx2.AsyncClient) -> None:
    server = Rejecting(only_streams=False)
    async with serving(application(chat=server.chat)) as root:
        agent = agent_at(root, client)
        with pytest.warns(ToolReturnFormatWarning):
            assert await answer_of(agent, stream=stream) == 'ok'
        assert await answer_of(agent, stream=stream) == 'ok'
    assert server.tool_contents == [NATIVE, 'a\nb', 'a\nb']


async def test_a_server_that_rejects_only_when_streaming(client: httpx2.AsyncClient) -> None:
    server = Rejecting(only_streams=True)
    async with serving(application(chat=server.chat)) as root:
        agent = agent_at(root, client)
        assert await answer_of(agent, stream=False) == 'ok'
        with pytest.warns(ToolReturnFormatWarning):
            assert await answer_of(agent, stream=True) == 'ok'
    assert server.tool_contents == [NATIVE, NATIVE, 'a\nb']


async def test_a_server_that_dies_between_the_two_tries(client: httpx2.AsyncClient) -> None:
    """The rejection is raised, and nothing is learned from half a try."""
    parts_came = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal parts_came
        head = (await reader.readuntil(b'\r\n\r\n')).decode()
        length = next((line for line in head.lower().split('\r\n') if line.startswith('content-length')), ':0')
        sent = httpx2.Request('POST', 'http://x', content=await reader.readexactly(int(length.partition(':')[2])))
        if head.startswith('POST') and any(m['role'] == 'tool' for m in body(sent)['messages']):
            parts_came += 1
            reply = httpx2.Response(400, json=REJECTION) if parts_came == 1 else None
        else:
            reply = calls_a_tool_then_answers(sent) if head.startswith('POST') else httpx2.Response(404)
        if reply is not None:
            kind = reply.headers.get('content-type', 'text/plain')
            status = f'HTTP/1.1 {reply.status_code} X\r\nContent-Type: {kind}\r\nConnection: close\r\n'
            writer.write(f'{status}Content-Length: {len(reply.content)}\r\n\r\n'.encode() + reply.content)
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, '127.0.0.1', 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ModelHTTPError, match='must be a string') as raised:
            await answer_of(agent_at(f'http://127.0.0.1:{port}', client), stream=False)
    assert raised.value.status_code == 400
    assert parts_came == 2
    assert learned_formats() == {}
