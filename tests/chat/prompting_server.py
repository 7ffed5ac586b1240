"""A Chat Completions server with a chat template of its own, which shows its prompt as llama.cpp, as vLLM, or not at all."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from pydantic_ai_verbatim import OpenAICompatibleModel, ProbeReport, probe
from pydantic_ai_verbatim.cli.demo_server import LoopbackServer

KEY = 'sk-very-secret-0123456789'

Template = Callable[[Any], str]
"""Makes of a tool message's content what stands in the prompt."""


def texts(content: Any) -> list[str]:
    return [content] if isinstance(content, str) else [part['text'] for part in content]


def a_block_an_item(content: Any) -> str:
    return ''.join(f'<tool_response>{text}</tool_response>' for text in texts(content))


def empties_parts(content: Any) -> str:
    """As GLM-4.7 on llama.cpp: a block a part, with nothing in it."""
    return a_block_an_item(content) if isinstance(content, str) else '<tool_response></tool_response>' * len(content)


def joins_parts(content: Any) -> str:
    return '<tool_response>' + '\n'.join(texts(content)) + '</tool_response>'


def glues_parts(content: Any) -> str:
    return '<tool_response>' + ''.join(texts(content)) + '</tool_response>'


def prints_parts(content: Any) -> str:
    return f'<tool_response>{content}</tool_response>'


def drops_empty_items(content: Any) -> str:
    return joins_parts(content).replace('""\n', '').replace('"",', '')


def repeats(prompt: str) -> str:
    """Answer as an obedient model: with every marker that is in the prompt."""
    return ' '.join(re.findall('VERBATIM-(?:ALPHA|BRAVO)', prompt)) or 'It is empty.'


@dataclass
class PromptingServer:
    """The application.

    Attributes:
        template: What it makes of a tool message's content.
        shows: How it shows its prompt: `llama.cpp`, one of vLLM's `prompt_text`, `token_ids` and `tokenize`, or not.
        model: The model, a function of the prompt.
        refuses: The response to a content that it rejects.
        key: The key that each request needs, where it needs one.
        extra: Fields of each reply beside the usual ones.
        props: What `GET /props` answers.
        models: What `GET /v1/models` answers.
        requests: The path and body of each request, oldest first.
    """

    template: Template = a_block_an_item
    shows: str | None = None
    model: Callable[[str], str] = repeats
    refuses: Callable[[Any], Response | None] = lambda content: None
    key: str | None = None
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    props: Any = None
    models: Any = None
    requests: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])

    def __post_init__(self) -> None:
        if self.shows == 'llama.cpp':
            self.props = {'default_generation_settings': {}, 'chat_template': '...'}
        elif self.shows:
            self.models = {
                'object': 'list',
                'data': [{'id': 'other', 'owned_by': 'x'}, {'id': 'm', 'owned_by': 'vllm'}],
            }
        self._app = Starlette(
            routes=[
                Route(f'{root}{path}', answer, methods=['GET', 'POST'])
                for root in ('', '/team')
                for path, answer in {
                    '/props': self._props,
                    '/v1/models': self._models,
                    '/v1/chat/completions': self._complete,
                    '/apply-template': self._apply_template,
                    '/tokenize': self._tokenize,
                    '/detokenize': self._detokenize,
                }.items()
            ]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    @property
    def chats(self) -> list[Any]:
        """The bodies of the chat requests."""
        return [body for path, body in self.requests if path.endswith('/chat/completions')]

    async def _body(self, request: Request) -> Any:
        body = await request.json() if request.method == 'POST' else None
        self.requests.append((request.url.path, body))
        return body

    def _is_refused(self, request: Request) -> bool:
        return self.key is not None and request.headers.get('authorization') != f'Bearer {self.key}'

    async def _props(self, request: Request) -> Response:
        await self._body(request)
        return _not_found() if self.props is None or self._is_refused(request) else JSONResponse(self.props)

    async def _models(self, request: Request) -> Response:
        await self._body(request)
        return _not_found() if self.models is None else JSONResponse(self.models)

    async def _apply_template(self, request: Request) -> Response:
        body = await self._body(request)
        return JSONResponse({'prompt': self._prompt(body)}) if self.shows == 'llama.cpp' else _not_found()

    async def _tokenize(self, request: Request) -> Response:
        body = await self._body(request)
        return JSONResponse({'tokens': _tokens(self._prompt(body))}) if self.shows == 'tokenize' else _not_found()

    async def _detokenize(self, request: Request) -> Response:
        body = await self._body(request)
        if not body['tokens']:
            return _not_found()
        return JSONResponse({'prompt': ''.join(map(chr, body['tokens']))})

    async def _complete(self, request: Request) -> Response:
        body = await self._body(request)
        if self._is_refused(request):
            said = f'Incorrect API key provided: {request.headers.get("authorization")}'
            return JSONResponse({'error': {'message': said}}, 401)
        if refusal := self.refuses(body['messages'][-1]['content']):
            return refusal
        prompt = self._prompt(body)
        return JSONResponse(
            {
                'id': 'r1',
                'object': 'chat.completion',
                'created': 1,
                'model': body['model'],
                'choices': [
                    {
                        'index': 0,
                        'message': {'role': 'assistant', 'content': self.model(prompt)},
                        'finish_reason': 'stop',
                    }
                ],
                'usage': {'prompt_tokens': len(prompt), 'completion_tokens': 1, 'total_tokens': 1},
                **(self.extra or self._shown(body, prompt)),
            }
        )

    def _shown(self, body: dict[str, Any], prompt: str) -> dict[str, Any]:
        if self.shows == 'prompt_text' and body.get('return_prompt_text'):
            return {'prompt_text': prompt}
        if self.shows == 'token_ids' and body.get('return_token_ids'):
            return {'prompt_text': None, 'prompt_token_ids': _tokens(prompt)}
        return {}

    def _prompt(self, body: dict[str, Any]) -> str:
        user, call, result = body['messages']
        arguments = call['tool_calls'][0]['function']['arguments']
        return f'{body["tools"]}<user>{user["content"]}<call>{arguments}{self.template(result["content"])}<assistant>'


def _tokens(prompt: str) -> list[int]:
    return [ord(character) for character in prompt]


def _not_found() -> Response:
    return JSONResponse({'error': {'message': 'File Not Found', 'code': 404}}, 404)


def model_at(url: str, name: str = 'm', **options: Any) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(
        name, provider=OpenAICompatibleProvider('test', base_url=f'{url}/v1', api_key=KEY), **options
    )


async def probed(server: PromptingServer, name: str = 'm', path: str = '', **options: Any) -> ProbeReport:
    with LoopbackServer(server) as loopback:
        return await probe(model_at(loopback.url + path, name, **options))
