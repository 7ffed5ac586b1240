"""The prompt that a server made of a request, where the server shows it; elsewhere, and on any failure, `None`.

llama.cpp renders it at `/apply-template` (`tools/server/README.md`). vLLM returns it beside the reply
(`return_prompt_text`, or the token ids with `return_token_ids`), or as tokens at `/tokenize`, with `/detokenize` to read
them. Both stand at the server's root, where the endpoint's key belongs too; the base URL is that root and `/v1`.
"""

from contextlib import suppress
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import anyio
from openai import AsyncOpenAI

Server = Literal['llama.cpp', 'vLLM']
"""A server that shows its prompt."""

_PATIENCE = 10.0
"""Seconds that one question may take, and finding the server out."""

_OPTIONS: Any = {'max_retries': 0, 'follow_redirects': False}

EXTRA_BODY: dict[Server | None, dict[str, Any]] = {
    None: {},
    'llama.cpp': {},
    'vLLM': {'return_prompt_text': True, 'return_token_ids': True},
}
"""What a chat request asks for beside the reply; sent to nobody else, since strict hosts reject unknown fields."""


async def find_server(client: AsyncOpenAI, model_name: str) -> Server | None:
    """Find out whether the server behind a client is one that shows its prompt."""
    with anyio.move_on_after(_PATIENCE):
        if 'default_generation_settings' in await _ask(client, 'GET', _at_root(client, '/props')):
            return 'llama.cpp'
        models = (await _ask(client, 'GET', '/models')).get('data')
        if isinstance(models, list) and _owner(cast('list[Any]', models), model_name) == 'vllm':
            return 'vLLM'
    return None


async def shown_prompt(
    client: AsyncOpenAI, server: Server | None, request: dict[str, Any], reply: dict[str, Any]
) -> str | None:
    """Give the prompt that the server made of a request.

    Args:
        client: The model's client.
        server: What `find_server` found.
        request: `model`, `messages`, `tools`, and what else the template reads.
        reply: The raw reply to it, or `{}` where it was rejected.
    """
    if server is None:
        return None
    prompt = await (_from_llama_cpp(client, request) if server == 'llama.cpp' else _from_vllm(client, request, reply))
    return prompt if isinstance(prompt, str) else None


async def _from_llama_cpp(client: AsyncOpenAI, request: dict[str, Any]) -> object:
    return (await _ask(client, 'POST', _at_root(client, '/apply-template'), request)).get('prompt')


async def _from_vllm(client: AsyncOpenAI, request: dict[str, Any], reply: dict[str, Any]) -> object:
    if prompt := reply.get('prompt_text'):
        return prompt
    tokens = reply.get('prompt_token_ids')
    if not tokens:
        tokens = (await _ask(client, 'POST', _at_root(client, '/tokenize'), request)).get('tokens')
    body = {'model': request['model'], 'tokens': tokens}
    return (await _ask(client, 'POST', _at_root(client, '/detokenize'), body)).get('prompt')


def _owner(models: list[Any], model_name: str) -> object:
    """Give who owns the model in an OpenAI list of models; servers write their own name there."""
    known = [cast('dict[str, Any]', model) for model in models if isinstance(model, dict)]
    named = [model for model in known if model.get('id') == model_name]
    return next((model.get('owned_by') for model in [*named, *known]), None)


def _at_root(client: AsyncOpenAI, path: str) -> str:
    base = urlsplit(str(client.base_url))
    return base._replace(path=base.path.rstrip('/').removesuffix('/v1') + path, query='', fragment='').geturl()


async def _ask(client: AsyncOpenAI, method: str, url: str, body: object = None) -> dict[str, Any]:
    """Put one question through the model's own client; whatever goes wrong with it, the answer is empty."""
    answer: object = None
    # the question's failure, of whatever kind, is not the probe's
    with anyio.move_on_after(_PATIENCE), suppress(Exception):
        request = client.get if method == 'GET' else client.post
        arguments: dict[str, Any] = {} if method == 'GET' else {'body': body}
        answer = await cast('Any', request)(url, cast_to=object, options=_OPTIONS, **arguments)
    return cast('dict[str, Any]', answer) if isinstance(answer, dict) else {}
