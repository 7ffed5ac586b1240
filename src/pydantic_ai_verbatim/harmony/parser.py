"""Cutting a sampled completion into blocks: fed text or token ids in any pieces, it gives events, and loses nothing.

Sans-IO and incremental: `feed` gives what is complete, `flush` ends the sample, and only the open header is held.
The events' own text (or ids), put together in order with their markers, is the sample. Anything parses.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeAlias, TypeVar

from .grammar import FIRST_SPECIAL_ID, MESSAGE, SPECIAL_TOKENS, START, STOP_TOKENS

S = TypeVar('S', str, list[int])
"""What is parsed: text, or token ids."""


@dataclass(frozen=True, slots=True)
class Block(Generic[S]):
    """One sampled message.

    Args:
        lead: What lies between the block before and this header: `<|start|>`, and sometimes more.
        header: The header as it was sampled.
        body: The body; `None` if the header ended without `<|message|>`.
        stop_token: The stop token that ended it, or `None`.
        cut: Whether the sample ended inside the header.
    """

    lead: S
    header: S
    body: S | None
    stop_token: str | None
    cut: bool = False


@dataclass(slots=True)
class Opened(Generic[S]):
    """A header ended with `<|message|>`, and a body begins.

    Args:
        lead: What lies between the block before and this header: `<|start|>`, and sometimes more.
        header: The header as it was sampled.
    """

    lead: S
    header: S


@dataclass(slots=True)
class Delta(Generic[S]):
    """More of the open body."""

    body: S


@dataclass(slots=True)
class Closed:
    """The open body ended, with a stop token or (`None`) with the next `<|start|>` or the sample."""

    stop_token: str | None


@dataclass(slots=True)
class Headless(Generic[S]):
    """A header ended without `<|message|>`, and there is no body.

    Args:
        lead: What lies between the block before and this header.
        header: The header as it was sampled.
        stop_token: The stop token that ended it, or `None`.
        cut: Whether the sample ended inside the header.
    """

    lead: S
    header: S
    stop_token: str | None
    cut: bool


@dataclass(slots=True)
class Tail(Generic[S]):
    """What lies after the last block: white space, `<|start|>`s and stop tokens."""

    text: S


Event: TypeAlias = Opened[S] | Delta[S] | Closed | Headless[S] | Tail[S]

_ENDS = re.compile('|'.join(map(re.escape, (START, *STOP_TOKENS))))
HEADER_ENDS = re.compile(f'{_ENDS.pattern}|{re.escape(MESSAGE)}')
_PARTIAL = re.compile(r'<(?:\|(?:[a-z]{0,11}\|?)?)?\Z')
_LONGEST = max(map(len, SPECIAL_TOKENS))

_END_IDS = {SPECIAL_TOKENS[marker]: marker for marker in (START, *STOP_TOKENS)}
_HEADER_END_IDS = _END_IDS | {SPECIAL_TOKENS[MESSAGE]: MESSAGE}
_MARKER_IDS = frozenset(_HEADER_END_IDS)


class Parser(ABC, Generic[S]):
    """The grammar of blocks, whatever they are made of; `TextParser` and `TokenParser` find the markers.

    Args:
        ends_nothing: Says of a piece of a sample that no marker ends in it, and therefore no block.
    """

    def __init__(self, ends_nothing: Callable[[S], bool]) -> None:
        self.ends_nothing = ends_nothing
        self._in_body = False
        self._lead: list[S] = []
        self._header: list[S] = []

    @abstractmethod
    def feed(self, chunk: S) -> list[Event[S]]:
        """Take more of the sample, cut wherever it may be, and give what that completes."""

    def flush(self) -> list[Event[S]]:
        """End the sample: give what is left, and be ready for another one."""
        events = self._last()
        self._in_body = False
        self._lead, self._header = [], []
        return events

    @abstractmethod
    def join(self, pieces: Iterable[S]) -> S:
        """Put pieces of a sample together."""

    @abstractmethod
    def _is_blank(self, header: S) -> bool: ...

    def _last(self) -> list[Event[S]]:
        if self._in_body:
            return [Closed(None)]
        header = self.join(self._header)
        if not self._is_blank(header):
            return [Headless(self.join(self._lead), header, None, cut=True)]
        tail = self.join([*self._lead, header])
        return [Tail(tail)] if tail else []

    def _rest(self, segment: S) -> list[Event[S]]:
        """Take what holds no marker; this is the whole of most deliveries of a stream."""
        if self._in_body:
            return [Delta(segment)] if segment else []
        self._header.append(segment)
        return []

    def _more(self, segment: S, events: list[Event[S]]) -> None:
        if segment:
            events += self._rest(segment)

    def _end(self, marker: str, sampled: S, events: list[Event[S]]) -> None:
        if self._in_body:
            self._in_body = False
            events.append(Closed(_stop_token(marker)))
            self._lead = _next_lead(marker, sampled)
        else:
            self._end_header(marker, sampled, events)

    def _end_header(self, marker: str, sampled: S, events: list[Event[S]]) -> None:
        header, self._header = self.join(self._header), []
        if marker == MESSAGE:
            events.append(Opened(self.join(self._lead), header))
            self._in_body = True
        elif self._is_blank(header):
            self._lead += [header, sampled]
        else:
            events.append(Headless(self.join(self._lead), header, _stop_token(marker), cut=False))
            self._lead = _next_lead(marker, sampled)


class Collector(Generic[S]):
    """Puts events together to blocks; `tail` is what came after the last one.

    Args:
        parser: A parser of what the events are made of.
    """

    def __init__(self, parser: Parser[S]) -> None:
        self._join = parser.join
        self._opened: Opened[S] | None = None
        self._body: list[S] = []
        self.tail: S | None = None

    def add(self, event: Event[S]) -> Block[S] | None:
        """Take the next event, and give the block that it completes."""
        if isinstance(event, Delta):
            self._body.append(event.body)
            return None
        if isinstance(event, Headless):
            return Block(event.lead, event.header, None, event.stop_token, event.cut)
        if isinstance(event, Closed):
            assert self._opened is not None, 'a body has a header'
            return Block(self._opened.lead, self._opened.header, self._join(self._body), event.stop_token)
        if isinstance(event, Opened):
            self._opened, self._body = event, []
        else:
            self.tail = event.text
        return None


class BlockReader(Generic[S]):
    """Reads blocks from a sample that comes in pieces; only the open one is held, and cut in bulk once it may end.

    Args:
        parser: A parser of what comes.
    """

    def __init__(self, parser: Parser[S]) -> None:
        self._parser = parser
        self._ends_nothing = parser.ends_nothing
        self._collector = Collector(parser)
        self._waiting: list[S] = []

    def feed(self, chunk: S) -> list[Block[S]]:
        """Take more of the sample, and give the blocks that this completes."""
        self._waiting.append(chunk)
        return [] if self._ends_nothing(chunk) else self._read()

    def flush(self) -> tuple[list[Block[S]], S | None]:
        """End the sample: give the open block, if there is one, and what comes after the last one, if anything."""
        return self._read() + self._collect(self._parser.flush()), self._collector.tail

    def _read(self) -> list[Block[S]]:
        waiting, self._waiting = self._waiting, []
        return self._collect(self._parser.feed(self._parser.join(waiting)))

    def _collect(self, events: list[Event[S]]) -> list[Block[S]]:
        blocks: list[Block[S]] = []
        for event in events:
            block = self._collector.add(event)
            if block is not None:
                blocks.append(block)
        return blocks


def cut(parser: Parser[S], sample: S) -> tuple[list[Block[S]], S | None]:
    """Cut a whole sample into its blocks and what comes after the last one, if anything."""
    reader = BlockReader(parser)
    blocks = reader.feed(sample)
    last, tail = reader.flush()
    return blocks + last, tail


def _stop_token(marker: str) -> str | None:
    return None if marker == START else marker


def _next_lead(marker: str, sampled: S) -> list[S]:
    return [sampled] if marker == START else []


class TextParser(Parser[str]):
    """Parses text, in which the characters of a marker are the marker."""

    def __init__(self) -> None:
        super().__init__(lambda piece: '>' not in piece)
        self._held = ''

    def feed(self, chunk: str) -> list[Event[str]]:
        """Take more text; a beginning of a marker at its end is held until the rest of it shows what it is."""
        if not self._held and '<' not in chunk:
            return self._rest(chunk)
        text = self._held + chunk
        events: list[Event[str]] = []
        at = 0
        while match := (_ENDS if self._in_body else HEADER_ENDS).search(text, at):
            self._more(text[at : match.start()], events)
            self._end(match[0], match[0], events)
            at = match.end()
        end = _held_from(text, at)
        self._held = text[end:]
        self._more(text[at:end], events)
        return events

    def _last(self) -> list[Event[str]]:
        events: list[Event[str]] = []
        self._more(self._held, events)
        self._held = ''
        return events + super()._last()

    def join(self, pieces: Iterable[str]) -> str:
        """Put pieces of text together."""
        return ''.join(pieces)

    def _is_blank(self, header: str) -> bool:
        return not header or header.isspace()


def _held_from(text: str, at: int) -> int:
    begin = text.rfind('<', max(at, len(text) - _LONGEST))
    return begin if begin >= 0 and _PARTIAL.match(text, begin) else len(text)


class TokenParser(Parser[list[int]]):
    """Parses token ids, in which only a marker's own id is the marker.

    Args:
        is_white_space: Says of ids that are not empty whether they are white space alone.
    """

    def __init__(self, is_white_space: Callable[[list[int]], bool]) -> None:
        super().__init__(_MARKER_IDS.isdisjoint)
        self._is_white_space = is_white_space

    def feed(self, chunk: Sequence[int]) -> list[Event[list[int]]]:
        """Take more ids; special ones are looked for in bulk, so that a long delivery costs little a token."""
        ids = chunk if isinstance(chunk, list) else list(chunk)
        if len(ids) == 1 and ids[0] < FIRST_SPECIAL_ID:
            return self._rest(ids)
        events: list[Event[list[int]]] = []
        at = 0
        for position in [position for position, token in enumerate(ids) if token >= FIRST_SPECIAL_ID]:
            marker = (_END_IDS if self._in_body else _HEADER_END_IDS).get(ids[position])
            if marker is not None:
                self._more(ids[at:position], events)
                self._end(marker, [ids[position]], events)
                at = position + 1
        self._more(ids[at:] if at else ids, events)
        return events

    def join(self, pieces: Iterable[list[int]]) -> list[int]:
        """Put pieces of ids together."""
        return list(chain.from_iterable(pieces))

    def _is_blank(self, header: list[int]) -> bool:
        return not header or self._is_white_space(header)
