"""Server-sent events that stray -> the events that the SDK reads: a decoder, with its I/O at the rim.

`id:`, `event:` and `retry:` lines without data, comments sent as data, glued events and a body that is no event stream
at all fail in the SDK before any hook of upstream's; this decoder stands in the place of the SDK's own.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from openai import AsyncStream

from .dialect import Dialect
from .faults import raise_unreadable
from .json_value import JsonObject
from .streaming import KEEP_ALIVES, StreamRepair

DONE = '[DONE]'
BYTE_ORDER_MARK = '\ufeff'


class Event:
    """One event as the SDK reads it; its data are parsed already."""

    __slots__ = ('_body',)

    event: ClassVar[None] = None
    data: ClassVar[str] = ''

    def __init__(self, body: JsonObject) -> None:
        self._body = body

    def json(self) -> JsonObject:
        """Give the event's data."""
        return self._body


class Done(Event):
    """The end of the stream, as the server said it."""

    __slots__ = ()

    data: ClassVar[str] = DONE


@dataclass
class LineDecoder:
    """Cuts bytes into lines, whatever ends them (LF, CRLF, CR) and however they are cut in transit."""

    _pieces: list[bytes] = field(default_factory=list[bytes])
    _skips_line_feed: bool = False

    def feed(self, data: bytes) -> list[str]:
        """Give the lines that are complete by now."""
        if self._skips_line_feed and data:
            self._skips_line_feed = False
            data = data.removeprefix(b'\n') if data[:1] == b'\n' else data
        if b'\n' not in data and b'\r' not in data:
            self._pieces.append(data)
            return []
        block = b''.join((*self._pieces, data))
        lines = block.splitlines()
        self._skips_line_feed = block[-1:] == b'\r'
        self._pieces = [] if block[-1:] in (b'\n', b'\r') else [lines.pop()]
        return [line.decode('utf-8', 'replace') for line in lines]

    def flush(self) -> list[str]:
        """Give the last line, which nothing ended."""
        line, self._pieces = b''.join(self._pieces), []
        return [line.decode('utf-8', 'replace')] if line else []


@dataclass
class EventDecoder:
    """Decodes one stream: bytes in, chunks out (or `None` once the server says that it is done).

    Args:
        dialect: What is known of the endpoint.
    """

    dialect: Dialect
    repair: StreamRepair = field(init=False)
    is_done: bool = False
    _lines: LineDecoder = field(default_factory=LineDecoder)
    _name: str | None = None
    _data: list[str] = field(default_factory=list[str])
    _is_over_lines: bool | None = None
    """Whether the event's JSON goes on in lines without `data:`; not known before there is such a line."""
    _stray: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.repair = StreamRepair(self.dialect)

    def feed(self, data: bytes) -> Iterator[JsonObject]:
        """Take some bytes and give the chunks that they complete."""
        for line in self._lines.feed(data):
            yield from self._line(line)

    def flush(self) -> Iterator[JsonObject]:
        """Take the end of the bytes, and give what is left: an event that nothing ended, and a body that is none."""
        for line in (*self._lines.flush(), ''):
            yield from self._line(line)
        if not self.is_done:
            yield from self._end()

    def _line(self, line: str) -> Iterator[JsonObject]:
        if self.is_done:
            return
        if line.startswith('data:'):
            self._data.append(line[6:] if line[5:6] == ' ' else line[5:])
        elif not line:
            data, name, self._data, self._name, self._is_over_lines = self._data, self._name, [], None, None
            if data:
                yield from self._event('\n'.join(data) if len(data) > 1 else data[0], name)
        elif line.startswith('error:'):  # llama.cpp's own field
            self._name = 'error'
            self._data.append(line[6:].strip())
        elif line.startswith('event:'):
            self._name = line[6:].strip() or None
        elif line.startswith(BYTE_ORDER_MARK):
            yield from self._line(line.removeprefix(BYTE_ORDER_MARK))
        elif line[0].isspace() and line.lstrip().startswith('data:'):
            yield from self._line(line.lstrip())
        elif not line.startswith((':', 'id:', 'retry:')):
            if self._is_over_lines is None:
                self._is_over_lines = self._is_cut()
            lines = self._data if self._is_over_lines else self._stray
            lines.append(line)

    def _is_cut(self) -> bool:
        """Whether the event so far is the beginning of JSON, which some servers print over several lines."""
        text = '\n'.join(self._data)
        return text[:1] == '{' and isinstance(_next_value(text)[0], Unparsed)

    def _event(self, data: str, name: str | None) -> Iterator[JsonObject]:
        if (value := _only_object_in(data)) is not None and name not in KEEP_ALIVES:
            yield from self._repaired(value, data, name)
            return
        text = data.strip().removeprefix('data:').lstrip()  # some proxies put the prefix twice
        if not text or text[0] == ':' or text.lower().strip('[]') in KEEP_ALIVES or name in KEEP_ALIVES:
            return
        for value in values_in(text):
            if value is None:
                yield from self._end(is_done=True)
                return
            if isinstance(value, Unparsed) and name != 'error':
                self.repair.note(value.text)
            else:
                yield from self._repaired(value.text if isinstance(value, Unparsed) else value.value, text, name)

    def _repaired(self, value: Any, text: str, name: str | None = None) -> Iterator[JsonObject]:
        """Give the chunks for an event; one so deep that it can be read but not written again is quoted as it came."""
        try:
            yield from self.repair.feed(value, name)
        except RecursionError:
            raise_unreadable(f'{self.dialect.system} streamed an event that is too deep', text, self.dialect)

    def _end(self, *, is_done: bool = False) -> Iterator[JsonObject]:
        """End the stream; what is no event stream (plain JSON, one JSON text a line, some page) is read by now."""
        text = '\n'.join(self._stray).strip()
        for value in values_in(text):
            if isinstance(value, Parsed):
                yield from self._repaired(value.value, text)
            elif value is not None:
                self.repair.note(value.text)
        yield from self.repair.close(is_done=is_done)
        self.is_done = is_done


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Unparsed:
    """Text that is no JSON."""

    text: str


_NAMES_HALF = re.compile(r'\\u[dD]')


def _only_object_in(data: str) -> JsonObject | None:
    """Read the object that nearly all events hold."""
    if data[:1] == '{' and not _NAMES_HALF.search(data):
        with suppress(ValueError, RecursionError):
            return json.loads(data)
    return None


def values_in(text: str) -> Iterator[Parsed | Unparsed | None]:
    """Read the JSON values in an event's data, which may be several, glued together; `None` is `[DONE]`."""
    if text[:6].upper() == DONE or text == f'"{DONE}"':
        yield None
    else:
        yield from _json_values(text)


def _json_values(text: str) -> Iterator[Parsed | Unparsed | None]:
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        yield from _glued_values(text)
    else:
        is_encoded_twice = isinstance(value, str) and value.lstrip().startswith('{')
        yield from values_in(value) if is_encoded_twice else [Parsed(value)]


def _nameable(fields: list[tuple[str, Any]]) -> JsonObject:
    """Give an object without half characters in the names of its fields, which pydantic cannot write."""
    return {name.encode('utf-8', 'replace').decode(): value for name, value in fields}


_DECODER = json.JSONDecoder(object_pairs_hook=_nameable, strict=False)


_BETWEEN_VALUES = re.compile(r'[ \t\r\n,]*(?:data:)?\s*')


def _glued_values(text: str) -> Iterator[Parsed | Unparsed | None]:
    at = 0
    while at < len(text):
        if text.startswith(DONE, at):
            yield None
            return
        value, at = _next_value(text, at)
        yield value
        between = _BETWEEN_VALUES.match(text, at)
        at = between.end() if between else at


def _next_value(text: str, at: int = 0) -> tuple[Parsed | Unparsed, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return Unparsed(text[at:]), len(text)
    return Parsed(value), end


class RepairingDecoder:
    """The decoder that stands in the place of the SDK's own.

    Args:
        dialect: What is known of the endpoint.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    async def aiter_bytes(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[Event]:
        """Give the events of a stream of bytes."""
        decoder = EventDecoder(self._dialect)
        async for data in chunks:
            for body in decoder.feed(data):
                yield Event(body)
            if decoder.is_done:
                yield Done({})
                return
        for body in decoder.flush():
            yield Event(body)


def repair_stream(stream: AsyncStream[Any], dialect: Dialect) -> AsyncStream[Any]:
    """Let a stream be read through the repairs. The SDK takes up its decoder only when reading begins.

    Args:
        stream: What `chat.completions.create(stream=True)` gave.
        dialect: What is known of the endpoint.
    """
    stream._decoder = cast('Any', RepairingDecoder(dialect))
    return stream


def chunks_in(text: str, dialect: Dialect) -> list[JsonObject]:
    """Read the chunks of an event stream that came where a whole reply was asked for.

    Raises:
        ModelAPIError: For a text that is no event stream.
    """
    decoder = EventDecoder(dialect)
    return [*decoder.feed(text.encode('utf-8', 'surrogatepass')), *decoder.flush()]
