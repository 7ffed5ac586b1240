"""Endpoints that `probe()` gets nowhere with: what it says, in one line, without a key."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from pydantic_ai.exceptions import UserError
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from pydantic_ai_verbatim import OpenAICompatibleModel, probe
from pydantic_ai_verbatim.cli.demo_server import LoopbackServer
from pydantic_ai_verbatim.errors import ProbeError

from .prompting_server import (
    KEY,
    PromptingServer,
    model_at,
)


async def complaint(server: PromptingServer, name: str = 'm') -> str:
    with LoopbackServer(server) as loopback, pytest.raises(ProbeError) as raised:
        await probe(model_at(loopback.url, name))
    text = str(raised.value)
    assert KEY not in text
    assert '\n' not in text
    return text.replace(loopback.url, 'URL')


async def test_an_endpoint_out_of_reach():
    """The line names the base URL."""
    with LoopbackServer(PromptingServer()) as loopback:
        url = loopback.url
    with pytest.raises(ProbeError) as raised:
        await probe(model_at(url))
    assert str(raised.value) == (
        f'{url}/v1 cannot be reached: connection refused. Check that the server is running and the base URL.'
    )


async def test_a_host_without_an_address():
    """A name that is not known is told from a server that is not running."""
    with pytest.raises(ProbeError) as raised:
        await probe(model_at('http://no-such-host.invalid'))
    assert str(raised.value).startswith(
        'http://no-such-host.invalid/v1 cannot be reached: the host name is not known ('
    )


async def test_several_addresses_that_refuse(monkeypatch: pytest.MonkeyPatch):
    """Where a name has two addresses, the first one's refusal is the cause."""

    async def both(host: str, *args: Any, **options: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, '', (address, port)) for address in ('127.0.0.1', '127.0.0.2')]

    with socket.create_server(('127.0.0.1', 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setattr('anyio._core._sockets.getaddrinfo', both)
    with pytest.raises(ProbeError, match='cannot be reached: connection refused'):
        await probe(model_at(f'http://two.invalid:{port}'))


async def test_a_server_that_hangs_up():
    """Other causes stand in the transport's own words."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(hang_up, '127.0.0.1', 0) as server:
        url = 'http://{}:{}'.format(*server.sockets[0].getsockname())
        with pytest.raises(ProbeError) as raised:
            await probe(model_at(url))
    assert 'cannot be reached: Connection error' not in str(raised.value)


@pytest.mark.parametrize(
    ('model', 'environment', 'remedy'),
    [
        ('openai-chat:m', 'OPENAI_BASE_URL', 'set OPENAI_API_KEY'),
        ('lm-studio:m', 'LM_STUDIO_BASE_URL', 'set LM_API_TOKEN or LMSTUDIO_API_KEY or LM_STUDIO_API_KEY'),
        ('vllm:m', 'VLLM_BASE_URL', 'set VLLM_API_KEY'),
        (None, '', 'give one to the provider'),
    ],
)
async def test_a_key_that_is_not_set(monkeypatch: pytest.MonkeyPatch, model: str | None, environment: str, remedy: str):
    """A placeholder that is refused is no wrong key, and the line names the variable."""
    for name in ('OPENAI_API_KEY', 'LM_STUDIO_API_KEY', 'LMSTUDIO_API_KEY', 'LM_API_TOKEN', 'VLLM_API_KEY'):
        monkeypatch.delenv(name, raising=False)
    with LoopbackServer(PromptingServer(key=KEY)) as loopback:
        if environment:
            monkeypatch.setenv(environment, f'{loopback.url}/v1')
        provider = OpenAICompatibleProvider('test', base_url=f'{loopback.url}/v1')
        with pytest.raises(ProbeError) as raised:
            await probe(model or OpenAICompatibleModel('m', provider=provider))
    assert str(raised.value).startswith(f'{loopback.url}/v1 wants a key and none is set: {remedy}')


async def test_a_wrong_key():
    """The line holds no key, though the server repeats it."""
    assert await complaint(PromptingServer(key='another')) == (
        'URL/v1 refuses the key (HTTP 401). Check the key, and that it is one for this base URL.'
    )


def answers(status: int, body: Any) -> Callable[[Any], Response]:
    def refuse(content: Any) -> Response:
        return HTMLResponse(body, status) if isinstance(body, str) else JSONResponse(body, status)

    return refuse


@pytest.mark.parametrize(
    ('refusal', 'expected'),
    [
        (
            answers(404, {'error': {'message': 'The model `m` does not exist.', 'code': 404}}),
            "does not know 'm': HTTP 404: The model `m` does not exist. Check the model name and the base URL.",
        ),
        (
            answers(404, {'detail': 'Not Found'}),
            "does not know 'm': HTTP 404: Not Found. Check the model name and the base URL.",
        ),
        (
            answers(400, {'error': {'message': f'{KEY} ' + 'no tools here, ' * 30}}),
            f"does not answer for 'm': HTTP 400: *** {('no tools here, ' * 30)[:156]}...",
        ),
        (
            answers(422, {'detail': [{'loc': ['body', 'tools'], 'msg': 'Extra inputs'}]}),
            'does not answer for \'m\': HTTP 422: [{"loc": ["body", "tools"], "msg": "Extra inputs"}]',
        ),
        (answers(400, {'code': 1214}), 'does not answer for \'m\': HTTP 400: {"code": 1214}'),
        (
            answers(400, '<html>\n<h1>Bad Request</h1>'),
            "does not answer for 'm': HTTP 400: <html> <h1>Bad Request</h1>",
        ),
    ],
)
async def test_an_endpoint_that_takes_nothing(refusal: Callable[[Any], Response], expected: str):
    """Where even a plain string is rejected, the server's words are the line."""
    assert await complaint(PromptingServer(refuses=refusal)) == f'URL/v1 {expected}'


async def test_something_that_is_no_chat_completions_server():
    """A web page with status 200 is shown as the wrong answer that it is."""
    text = await complaint(PromptingServer(refuses=answers(200, '<html>Hello')))
    assert text == "URL/v1 does not answer for 'm': <html>Hello"


async def test_a_limit_on_the_way_is_not_about_a_format():
    """A 429 after the first request ends the probe: nothing is known of the format that met it."""

    def busy(content: Any) -> Response | None:
        if isinstance(content, str):
            return None
        return JSONResponse({'error': {'message': 'Slow down'}}, 429)

    assert await complaint(PromptingServer(refuses=busy)) == "URL/v1 does not answer for 'm': HTTP 429: Slow down"


class Mute(PromptingServer):
    """A server that accepts every request, and answers none, or only what is not a chat."""

    chats_only = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if not self.chats_only or scope['path'].endswith('/chat/completions'):
            self.requests.append((scope['path'], None))
            await anyio.sleep(5)
        await super().__call__(scope, receive, send)


@pytest.mark.parametrize('chats_only', [True, False])
async def test_a_server_that_does_not_answer(chats_only: bool):
    """Every request has its time and is sent once, and the line says what that may mean."""
    server = Mute()
    server.chats_only = chats_only
    with LoopbackServer(server) as loopback, pytest.raises(ProbeError) as raised:
        await probe(model_at(loopback.url), timeout=0.2)
    assert str(raised.value) == f'{loopback.url}/v1 did not answer within 0.2 s. Is the model still loading?'
    assert len(server.chats) == 1


async def test_a_server_that_trickles_does_not_go_on_for_ever():
    """The time is that of the whole answer, not of its next byte."""

    async def spaces() -> AsyncIterator[str]:
        for _ in range(100):
            yield ' '
            await anyio.sleep(0.05)

    server = PromptingServer(refuses=lambda content: StreamingResponse(spaces(), media_type='application/json'))
    with LoopbackServer(server) as loopback, pytest.raises(ProbeError, match=r'did not answer within 0\.3 s'):
        await probe(model_at(loopback.url), timeout=0.3)


async def test_a_server_that_is_overloaded_is_asked_once():
    """The SDK would send the request twice more."""
    server = PromptingServer(refuses=answers(503, {'error': {'message': 'Loading model'}}))
    assert await complaint(server) == "URL/v1 does not answer for 'm': HTTP 503: Loading model"
    assert len(server.chats) == 1


@pytest.mark.parametrize('seconds', [0, -1, float('nan')])
async def test_no_time_is_a_caller_s_mistake(seconds: float):
    """Nothing can answer in it."""
    with pytest.raises(UserError, match=f'^A probe needs a timeout above 0 seconds, not {seconds}'):
        await probe(model_at('http://127.0.0.1:9'), timeout=seconds)
