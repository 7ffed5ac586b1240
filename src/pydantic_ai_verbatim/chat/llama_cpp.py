"""Asking a llama.cpp server what its chat template makes of content parts.

Some templates (GLM-4.5 to 4.7, early Kimi-K2) print an empty tool response for them, with HTTP 200. The server answers
`GET /props` with its own properties and `POST /apply-template` with the prompt that messages would become, both at its
root (llama.cpp, `tools/server/README.md`). Whatever goes wrong with the question is no error: the answer is unknown.
"""

import json
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
from openai import APIConnectionError, AsyncOpenAI, AsyncStream, Omit

PATIENCE = 2.0
"""Seconds that the whole question may take."""

_LARGEST_ANSWER = 1 << 20
"""Bytes of an answer that are read; a chat template is some ten thousand."""

MARKERS = ('VERBATIM-ALPHA', 'VERBATIM-BRAVO')
"""The texts of the two items that are sent to be found again, in order and apart."""


async def loses_parts(client: AsyncOpenAI, model_name: str) -> bool | None:
    """Whether the server's chat template loses native parts, or `None` where that cannot be known."""
    try:
        with anyio.move_on_after(PATIENCE):
            if not _is_llama_cpp(await _request(client, 'GET', '/props')):
                return None
            answer = await _request(client, 'POST', '/apply-template', marked_conversation(model_name, parts(MARKERS)))
            prompt = answer.get('prompt')
            return None if not isinstance(prompt, str) else not shows_apart(prompt, MARKERS)
    except Exception:  # noqa: BLE001  # a question's failure, of whatever kind, must not become the request's
        return None
    return None


def parts(texts: tuple[str, ...]) -> list[dict[str, str]]:
    """Give texts as native content parts."""
    return [{'type': 'text', 'text': text} for text in texts]


def marked_conversation(model_name: str, content: Any) -> dict[str, Any]:
    """Give a request body with one tool call, answered by `content`."""
    call = {'id': 'call_1', 'type': 'function', 'function': {'name': 'search', 'arguments': '{}'}}
    return {
        'model': model_name,
        'messages': [
            {'role': 'user', 'content': 'Search.'},
            {'role': 'assistant', 'content': '', 'tool_calls': [call]},
            {'role': 'tool', 'tool_call_id': 'call_1', 'content': content},
        ],
        'tools': [
            {
                'type': 'function',
                'function': {
                    'name': 'search',
                    'description': 'Search.',
                    'parameters': {'type': 'object', 'properties': {}},
                },
            }
        ],
    }


def shows_apart(prompt: str, markers: tuple[str, ...]) -> bool:
    """Whether each marker is in the prompt once, in order, set apart, and not as the printed form of a data structure."""
    places = [prompt.find(marker) for marker in markers]
    if -1 in places:
        return False
    ends = [place + len(marker) for place, marker in zip(places, markers, strict=True)]
    gaps = [prompt[end:start] for end, start in zip(ends, places[1:], strict=False)]
    return all(gap and "'type'" not in gap and '"type"' not in gap for gap in gaps)


def _is_llama_cpp(props: dict[str, Any]) -> bool:
    """Whether these are a llama.cpp's properties; one that routes between models has no template of its own."""
    return 'default_generation_settings' in props and ('chat_template' in props or props.get('role') == 'router')


async def _request(client: AsyncOpenAI, method: str, path: str, body: Any = None) -> dict[str, Any]:
    """Ask at the server's root, and again where the connection broke.

    llama.cpp closes a connection right after a stream, without having said so (xllamacpp 2026.10.11549): the question
    that follows may still be written to it.
    """
    try:
        return await _request_once(client, method, path, body)
    except APIConnectionError:
        return await _request_once(client, method, path, body)


async def _request_once(client: AsyncOpenAI, method: str, path: str, body: Any) -> dict[str, Any]:
    """Send one request through the model's own HTTP client: no key, no redirect."""
    base = urlsplit(str(client.base_url))
    url = base._replace(netloc=base.netloc.rpartition('@')[2], path=path, query='', fragment='').geturl()
    options: Any = {'headers': {'Authorization': Omit()}, 'max_retries': 0, 'follow_redirects': False, 'security': {}}
    expected: Any = {'cast_to': object, 'stream': True, 'stream_cls': AsyncStream[object], 'options': options}
    stream = await (client.get(url, **expected) if method == 'GET' else client.post(url, body=body, **expected))
    async with stream:
        return await _json_object(stream)


async def _json_object(stream: AsyncStream[object]) -> dict[str, Any]:
    """Read a JSON object of bounded size from a response whose body has not been read."""
    body = b''
    async for chunk in stream.response.aiter_bytes():
        body += chunk
        if len(body) > _LARGEST_ANSWER:
            raise ValueError('too large an answer')
    answer = json.loads(body)
    if not isinstance(answer, dict):
        raise TypeError('no JSON object')
    return cast('dict[str, Any]', answer)
