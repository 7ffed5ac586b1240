"""Cassettes: `cassettes/SERVER/FAMILY/TITLE.yaml`, each with its `origin` on top. Bodies stay as they were on the wire.

A recorded one names the server and its version, a written one the sources of its shapes. Neither holds a header but the
content type, so that no key can be in one, and a loopback port is always written as 8080.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / 'cassettes'
ROOT = 'http://127.0.0.1:8080'
TEMPLATE = re.compile(rb'("chat_template":)"(?:[^"\\]|\\.)*"')

VCR_CONFIG: Mapping[str, Any] = {'match_on': ['method', 'path', 'query', 'body'], 'decode_compressed_response': True}


@dataclass(frozen=True)
class Cassette:
    """One cassette file."""

    path: Path

    @property
    def server(self) -> str:
        """The server that answered."""
        return self.path.parts[-3]

    @property
    def family(self) -> str:
        """The family of the model."""
        return self.path.parts[-2]

    @property
    def title(self) -> str:
        """The title of the story."""
        return self.path.stem

    def load(self) -> dict[str, Any]:
        """Read it."""
        return yaml.load(self.path.read_text(), Loader=yaml.CSafeLoader)


def all_cassettes() -> list[Cassette]:
    """Find every cassette, in order."""
    return [Cassette(path) for path in sorted(FOLDER.rglob('*.yaml'))]


class _Dumper(yaml.CSafeDumper):
    """Writes texts of several lines as blocks, so that events can be read."""


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    style = '|' if '\n' in text else None
    return dumper.represent_scalar('tag:yaml.org,2002:str', text, style)  # pyright: ignore[reportUnknownMemberType]


_Dumper.add_representer(str, _text)


@dataclass(frozen=True)
class Serializer:
    """vcrpy's serializer, with what is known of the origin before the exchanges."""

    origin: Mapping[str, Any]

    def serialize(self, cassette: dict[str, Any]) -> str:
        """Write a cassette."""
        content = {**self.origin, 'interactions': cassette['interactions']}
        return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**16)

    def deserialize(self, text: str) -> dict[str, Any]:
        """Read a cassette."""
        return yaml.load(text, Loader=yaml.CSafeLoader)


def without_traces(request: Any) -> Any:
    """Drop a request's headers but the content type, and its port."""
    request.uri = re.sub(r'^http://127\.0\.0\.1:\d+', ROOT, request.uri)
    kept = request.headers.get('content-type')
    request.headers = {'content-type': kept} if kept else {}
    return request


def only_content(response: dict[str, Any]) -> dict[str, Any]:
    """Drop a response's headers but the content type, and the text of a chat template, which is somebody's work."""
    headers = {name.lower(): values for name, values in response['headers'].items()}
    kept = {name: headers[name] for name in ('content-type',) if name in headers}
    body = TEMPLATE.sub(rb'\1"(see the template named above)"', response['body']['string'])
    return {**response, 'headers': kept, 'body': {'string': body}}
