"""L2: endpoints on loopback that lose native parts without a word, and what they are asked before."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import anyio
import httpx2
import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

from pydantic_ai_verbatim import OpenAICompatibleModel, forget, learned_formats
from pydantic_ai_verbatim.chat import llama_cpp
from pydantic_ai_verbatim.chat.negotiation import Endpoint
from tests.loopback import application, forwarded, serving
from tests.wire import PARAMETERS, Wire, answer, body, chunk, completion, sse

pytestmark = pytest.mark.anyio

NATIVE = [{'type': 'text', 'text': 'a'}, {'type': 'text', 'text': 'b'}]
PROPS = {'default_generation_settings': {'n_ctx': 8192}, 'total_slots': 1, 'chat_template': '{{ messages }}'}


clients: list[httpx2.AsyncClient] = []


@pytest.fixture(autouse=True)
async def nothing_learned_and_nothing_open() -> AsyncGenerator[None]:
    forget()
    yield
    forget()
    for client in clients:
        await client.aclose()
    clients.clear()


def history(content: Any = ('a', 'b')) -> list[ModelMessage]:
    return [
        ModelRequest(parts=[UserPromptPart('hi')]),
        ModelResponse(parts=[ToolCallPart('search', '{}', 'c1')]),
        ModelRequest(parts=[ToolReturnPart('search', content, 'c1')]),
    ]


ROUTER: dict[str, Any] = {
    'role': 'router',
    'default_generation_settings': {'params': {}, 'n_ctx': 0},
    'model_path': 'none',
}


class LlamaCpp:
    """A server that answers as llama-server does; its template is a function of the tool message's content."""

    def __init__(self, template: Any, props: Any = PROPS) -> None:
        self.template = template
        self.properties = props
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.tool_contents: list[Any] = []

    async def props(self, request: Request) -> Response:
        self.requests.append(('/props', dict(request.headers)))
        return JSONResponse(self.properties)

    async def apply_template(self, request: Request) -> Response:
        self.requests.append(('/apply-template', dict(request.headers)))
        [message] = [m for m in (await request.json())['messages'] if m['role'] == 'tool']
        return JSONResponse({'prompt': f'<|user|>Search.{self.template(message["content"])}<|assistant|>'})

    async def chat(self, request: Request) -> Response:
        content = await request.body()
        sent = httpx2.Request('POST', str(request.url), content=content)
        self.tool_contents += [m['content'] for m in body(sent)['messages'] if m['role'] == 'tool']
        return forwarded(answer(sent))

    @property
    def app(self) -> Any:
        return application(props=self.props, apply_template=self.apply_template, chat=self.chat)


def loses(content: Any) -> str:
    """GLM-4.7's template on llama.cpp: a string is printed, parts are not."""
    return (
        f'<tool_response>{content}</tool_response>' if isinstance(content, str) else '<tool_response></tool_response>'
    )


def joins(content: Any) -> str:
    return '\n'.join(part['text'] for part in content)


def glues(content: Any) -> str:
    return ''.join(part['text'] for part in content)


def model_at(root: str, **options: Any) -> OpenAICompatibleModel:
    client = httpx2.AsyncClient(verify=False)  # loopback needs no certificates, and loading them takes long
    clients.append(client)
    provider = OpenAICompatibleProvider('local', base_url=f'{root}/v1', api_key='secret-key', http_client=client)
    return OpenAICompatibleModel('m', provider=provider, **options)


async def request(model: OpenAICompatibleModel, content: Any = ('a', 'b'), *, stream: bool = False) -> None:
    if stream:
        async with model.request_stream(history(content), None, PARAMETERS) as response:
            assert [event async for event in response]
    else:
        assert (await model.request(history(content), None, PARAMETERS)).text == 'ok'


@pytest.mark.parametrize(
    ('template', 'sent'),
    [(loses, 'a\nb'), (glues, 'a\nb'), (str, 'a\nb'), (joins, NATIVE)],
    ids=['lost', 'glued', 'printed as a data structure', 'joined by newlines'],
)
@pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])
@pytest.mark.parametrize('props', [PROPS, ROUTER], ids=['of one model', 'of a router'])
async def test_a_template_that_spoils_parts_gets_text_from_the_first_request_on(
    template: Any, sent: Any, stream: bool, props: Any
) -> None:
    server = LlamaCpp(template, props)
    async with serving(server.app) as root:
        model = model_at(root)
        await request(model, stream=stream)
        await request(model, stream=stream)
    assert server.tool_contents == [sent, sent]
    assert [path for path, _ in server.requests] == ['/props', '/apply-template']
    assert learned_formats() == ({} if sent == NATIVE else {Endpoint(f'{root}/v1', 'm'): 'text'})


async def test_the_question_carries_no_key_and_is_put_once_for_concurrent_runs() -> None:
    server = LlamaCpp(loses)
    async with serving(server.app) as root:
        models = [model_at(root) for _ in range(10)]
        await asyncio.gather(*(request(model) for model in models))
    assert server.tool_contents == ['a\nb'] * 10
    assert len(server.requests) == 2
    assert all('authorization' not in headers and 'secret-key' not in str(headers) for _, headers in server.requests)


@pytest.mark.parametrize(
    ('options', 'content'),
    [
        ({'tool_return_format': 'parts'}, ('a', 'b')),
        ({'tool_return_format': 'text'}, ('a', 'b')),
        ({}, 'a string'),
        ({}, []),
    ],
)
async def test_an_explicit_format_and_a_request_without_parts_ask_nothing(options: Any, content: Any) -> None:
    server = LlamaCpp(loses)
    async with serving(server.app) as root:
        await request(model_at(root, **options), content)
    assert server.requests == []


async def test_mapping_messages_without_sending_them_asks_nothing() -> None:
    server = LlamaCpp(loses)
    async with serving(server.app) as root:
        model = model_at(root)
        mapped = await model._map_messages(history(), PARAMETERS)
    assert mapped[-1]['content'] == NATIVE  # pyright: ignore[reportTypedDictNotRequiredAccess]  # a tool message has one
    assert server.requests == []


async def huge(_: Request) -> Response:
    async def spaces() -> AsyncGenerator[bytes]:
        for _ in range(10_000):
            yield b' ' * 65536

    return StreamingResponse(spaces(), media_type='application/json')


async def never(_: Request) -> Response:
    return Response(await asyncio.Event().wait())


async def dripping(_: Request) -> Response:
    async def drops() -> AsyncGenerator[bytes]:
        while True:
            yield b' '
            await asyncio.sleep(0.05)

    return StreamingResponse(drops(), media_type='application/json')


async def elsewhere(_: Request) -> Response:
    return RedirectResponse('http://127.0.0.1:1/props')


def always(value: Any, status: int = 200) -> Any:
    async def respond(_: Request) -> Response:
        return Response(value, status) if isinstance(value, bytes) else JSONResponse(value, status)

    return respond


@pytest.mark.parametrize(
    'answers',
    [
        pytest.param({}, id='absent'),
        pytest.param({'props': always(b'<html>')}, id='not JSON'),
        pytest.param({'props': always([PROPS])}, id='no object'),
        pytest.param({'props': always({'hello': 1})}, id='another server'),
        pytest.param({'props': always(b'[' * 100_000)}, id='nested too deep'),
        pytest.param({'props': always({'error': 'no'}, 500)}, id='failing'),
        pytest.param({'props': elsewhere}, id='redirecting'),
        pytest.param({'props': huge}, id='huge'),
        pytest.param({'props': always(PROPS)}, id='old llama.cpp without the route'),
        pytest.param({'props': always(PROPS), 'apply_template': always({'prompt': 1})}, id='odd prompt'),
        pytest.param({'props': always(PROPS), 'apply_template': always({'error': 'x'}, 400)}, id='template error'),
    ],
)
async def test_an_odd_answer_is_no_error_and_changes_nothing(answers: Any) -> None:
    server = LlamaCpp(loses)
    async with serving(application(chat=server.chat, **answers)) as root:
        await request(model_at(root))
    assert server.tool_contents == [NATIVE]
    assert learned_formats() == {}


async def closes_after_a_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Play a llama.cpp on one connection: it is kept, but for one that streamed, which ends under the next request."""
    answers = {'/props': PROPS, '/apply-template': {'prompt': 'nothing'}}
    has_streamed = False
    with suppress(asyncio.IncompleteReadError):
        while True:
            head = (await reader.readuntil(b'\r\n\r\n')).decode().lower()
            length = next((line for line in head.splitlines() if line.startswith('content-length:')), ':0')
            content = await reader.readexactly(int(length.partition(':')[2]))
            if has_streamed:
                break
            path = head.split()[1]
            sent = httpx2.Request('POST', f'http://local{path}', content=content)
            reply = httpx2.Response(200, json=answers[path]) if path in answers else answer(sent)
            has_streamed = reply.headers['content-type'] == 'text/event-stream'
            lines = ['HTTP/1.1 200 OK', *(f'{name}: {value}' for name, value in reply.headers.items())]
            writer.write('\r\n'.join([*lines, '', reply.text]).encode())
    writer.close()


async def test_a_connection_that_ends_after_a_stream_does_not_cost_the_answer() -> None:
    """llama.cpp says `Keep-Alive` with a stream and closes the connection behind it (xllamacpp 2026.10.11549)."""
    async with await asyncio.start_server(closes_after_a_stream, '127.0.0.1', 0) as server:
        host, port = server.sockets[0].getsockname()
        model = model_at(f'http://{host}:{port}')
        await request(model, 'a string', stream=True)
        await request(model, stream=True)
        await clients[0].aclose()
    assert learned_formats() == {Endpoint(f'http://{host}:{port}/v1', 'm'): 'text'}


@pytest.mark.parametrize('slow', [never, dripping])
async def test_a_slow_answer_costs_its_patience_once(slow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert llama_cpp.PATIENCE == 2
    monkeypatch.setattr(llama_cpp, 'PATIENCE', 0.3)
    server = LlamaCpp(loses)
    asked: list[Request] = []

    async def props(request: Request) -> Response:
        asked.append(request)
        return await slow(request)

    async with serving(application(chat=server.chat, props=props)) as root:
        with anyio.fail_after(30):
            await request(model_at(root))
            await request(model_at(root))
    assert server.tool_contents == [NATIVE, NATIVE]
    assert len(asked) == 1


@pytest.mark.parametrize('stream', [False, True], ids=['whole', 'streamed'])
@pytest.mark.parametrize(
    'mark',
    [{'system_fingerprint': 'b4567-0c1e570'}, {'system_fingerprint': 'b0-unknown'}, {'timings': {'prompt_n': 3}}],
)
async def test_a_public_llama_cpp_is_known_by_its_replies(mark: Any, stream: bool, httpx2_mock: Any) -> None:
    """The first request cannot know; the next one asks, and heals."""
    whole = completion({'role': 'assistant', 'content': 'ok'}, **mark)
    streamed = sse([chunk({'content': 'ok'}, **mark), chunk({}, 'stop', **mark)]).text
    chat = httpx2_mock.post('https://llm.example.com/v1/chat/completions').respond(
        **({'text': streamed, 'content_type': 'text/event-stream'} if stream else {'json': whole})
    )
    props = httpx2_mock.get('https://llm.example.com/props').respond(json=PROPS)
    template = httpx2_mock.post('https://llm.example.com/apply-template').respond(json={'prompt': 'nothing'})
    model = model_at('https://llm.example.com')
    for _ in range(3):
        await request(model, stream=stream)
    sent = [json.loads(call.request.content)['messages'][-1]['content'] for call in chat.calls]
    assert sent == [NATIVE, 'a\nb', 'a\nb']
    assert (props.call_count, template.call_count) == (1, 1)
    assert 'authorization' not in props.calls.last.request.headers


async def test_a_public_host_without_the_marks_is_not_asked() -> None:
    wire = Wire()
    model = OpenAICompatibleModel('m', provider=wire.provider())
    await request(model)
    await request(model)
    assert {request.url.path for request in wire.requests} == {'/v1/chat/completions'}
