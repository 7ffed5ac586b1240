"""Fill in what is sent in the written cassettes: `make record SERVER=written`.

A written cassette's replies are its author's, with the sources of their shapes named; its requests are what the agent
of its story really sends, so that a replay can match their bodies.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from tests.servers.cassettes import Cassette, Serializer


@contextmanager
def answered_by(cassette: Cassette, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Answer each request with the cassette's next reply, and write the requests into it at the end."""
    content = cassette.load()
    interactions = content.pop('interactions')
    waiting = iter(interactions)

    async def answer(client: httpx2.AsyncClient, request: httpx2.Request, **options: Any) -> httpx2.Response:
        interaction = next(waiting)
        interaction['request'] |= {
            'method': request.method,
            'uri': str(request.url),
            'body': request.content.decode(),
        }
        return _response(interaction['response'], request)

    with monkeypatch.context() as patch:
        patch.setattr(httpx2.AsyncClient, 'send', answer)
        yield
    assert next(waiting, None) is None, f'{cassette.path} holds more than was asked for'
    cassette.path.write_text(Serializer(content).serialize({'interactions': interactions}))


def _response(reply: dict[str, Any], request: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(
        reply['status']['code'],
        headers=[(name, value) for name, values in reply['headers'].items() for value in values],
        content=reply['body']['string'].encode(),
        request=request,
    )
