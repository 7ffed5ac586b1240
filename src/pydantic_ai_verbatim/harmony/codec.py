"""One interface to what a prompt is made of: text, or token ids.

A codec writes ordinary text (in which, as ids, nothing can become a special token) and marked text (in which the
markers of the grammar are the markers), and reads both back. Cutting and storing rely on nothing else.
"""

import codecs
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Generic, cast

from ..surrogates import storable
from .encoding import Encoding
from .grammar import END, MESSAGE, OPENING, RETURN, SPECIAL_TOKENS, pieces_of
from .parser import Block, Parser, S, TextParser, TokenParser, cut

_RETURN_ID, _END_ID = SPECIAL_TOKENS[RETURN], SPECIAL_TOKENS[END]
_MARKERS_BY_ID = {token: marker for marker, token in SPECIAL_TOKENS.items()}
_ESCAPED = re.compile(
    r'(?:[\x20-\x5b\x5d-\x7e]|\\(?:[\\tnr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4}))*'
)
_LONG = 512


class Codec(ABC, Generic[S]):
    """What a prompt is made of; `TextCodec` or `TokenCodec`."""

    exact_key: str
    """The name that the exact sample is stored under, where its pieces cannot give it back."""

    opening: S
    """`<|start|>assistant`."""

    empty: S

    @abstractmethod
    def parser(self) -> Parser[S]:
        """Give a new parser."""

    @abstractmethod
    def plain(self, text: str) -> S:
        """Write a text that is data: a body."""

    @abstractmethod
    def marked(self, text: str) -> S:
        """Write a text whose markers are meant: a header, a stop token, what lies between two blocks."""

    @abstractmethod
    def pieces(self, sampled: S) -> list[str]:
        """Read ordinary text and markers by turns, each as JSON can hold it."""

    @abstractmethod
    def read(self, sampled: S) -> str:
        """Read what was sampled as text that JSON can hold."""

    @abstractmethod
    def reader(self) -> Callable[[S, bool], str]:
        """Give a reader for a body that comes in pieces; its second argument says whether the body ends."""

    @abstractmethod
    def join(self, pieces: Iterable[S]) -> S:
        """Put pieces together."""

    @abstractmethod
    def as_history(self, sampled: S) -> S:
        """Give the sample with `<|end|>` for each `<|return|>`; the same object if there is none."""

    @abstractmethod
    def exact(self, sampled: S) -> str | list[int]:
        """Give the sample as JSON can hold it without loss."""

    @abstractmethod
    def exact_in(self, original: dict[str, Any]) -> str | tuple[int, ...] | None:
        """Find what `exact` gave in an original; `None` if it is not there, or is anything else, from elsewhere."""

    @abstractmethod
    def from_exact(self, stored: str | tuple[int, ...]) -> S:
        """Take back what `exact_in` gave."""

    def sampled(self, block: Block[S]) -> S:
        """Give a block as it was sampled."""
        body = self.empty if block.body is None else self.marked(MESSAGE) + block.body
        return block.lead + block.header + body + self.marked(block.stop_token or '')


class TextCodec(Codec[str]):
    """Text: the characters of a marker are the marker, in a body too."""

    exact_key = 'escaped'
    opening = OPENING
    empty = ''

    def parser(self) -> TextParser:
        """Give a new parser."""
        return TextParser()

    def plain(self, text: str) -> str:
        """Write a body; text has no way to protect it."""
        return text

    def marked(self, text: str) -> str:
        """Write a header."""
        return text

    def pieces(self, sampled: str) -> list[str]:
        """Read ordinary text and markers by turns."""
        return pieces_of(storable(sampled))

    def read(self, sampled: str) -> str:
        """Read a text."""
        return storable(sampled)

    def reader(self) -> Callable[[str, bool], str]:
        """Give a reader for a body that comes in pieces."""
        return lambda sampled, _: storable(sampled)

    def join(self, pieces: Iterable[str]) -> str:
        """Put pieces together."""
        return ''.join(pieces)

    def as_history(self, sampled: str) -> str:
        """End what was ended by `<|return|>` with `<|end|>`."""
        return sampled.replace(RETURN, END)

    def exact(self, sampled: str) -> str:
        """Escape a text; unlike JSON's own escapes, these keep two lone surrogates in a row apart."""
        return sampled.encode('unicode_escape').decode('ascii')

    def exact_in(self, original: dict[str, Any]) -> str | None:
        """Find the escaped text."""
        return _escaped_in(original)

    def from_exact(self, stored: str | tuple[int, ...]) -> str:
        """Take back an escaped text."""
        return _unescaped(cast('str', stored))


def _escaped_in(original: dict[str, Any]) -> str | None:
    stored = original.get(TextCodec.exact_key)
    return stored if isinstance(stored, str) and _ESCAPED.fullmatch(stored) else None


def _unescaped(stored: str) -> str:
    return codecs.decode(stored, 'unicode_escape')


class TokenCodec(Codec[list[int]]):
    """Token ids of one encoding; what was encoded before is remembered, up to a bound.

    Args:
        encoding: The vocabulary.
    """

    exact_key = 'ids'
    empty: list[int] = []  # noqa: RUF012 - shared, and never changed

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._known_text = lru_cache(maxsize=4096)(self._encode_marked)
        self._known_header = lru_cache(maxsize=4096)(self._decode_pieces)
        self.opening = self.marked(OPENING)

    def parser(self) -> TokenParser:
        """Give a new parser."""
        return TokenParser(lambda ids: self.read(ids).isspace())

    def plain(self, text: str) -> list[int]:
        """Encode a body as ordinary text."""
        return self.encoding.encode(text)

    def marked(self, text: str) -> list[int]:
        """Encode a header; what is given back is shared, and not to be changed."""
        return self._known_text(text) if len(text) <= _LONG else self._encode_marked(text)

    def _encode_marked(self, text: str) -> list[int]:
        ids: list[int] = []
        for piece in pieces_of(text):
            ids += [SPECIAL_TOKENS[piece]] if piece in SPECIAL_TOKENS else self.encoding.encode(piece)
        return ids

    def pieces(self, sampled: list[int]) -> list[str]:
        """Read ordinary text and markers by turns."""
        header = tuple(sampled)
        return self._known_header(header) if len(header) <= _LONG else self._decode_pieces(header)

    def _decode_pieces(self, sampled: tuple[int, ...]) -> list[str]:
        found: list[str] = []
        at = 0
        for position, token in enumerate(sampled):
            if token in _MARKERS_BY_ID:
                found += [self.read(sampled[at:position]), _MARKERS_BY_ID[token]]
                at = position + 1
        return [*found, self.read(sampled[at:])]

    def read(self, sampled: Sequence[int]) -> str:
        """Decode ids; what is no UTF-8 becomes U+FFFD."""
        return self.encoding.decode(sampled).decode('utf-8', 'replace')

    def reader(self) -> Callable[[list[int], bool], str]:
        """Give a reader for a body that comes in pieces, which may cut a character."""
        decoder = codecs.getincrementaldecoder('utf-8')('replace')
        return lambda sampled, ends: decoder.decode(self.encoding.decode(sampled), ends)

    def join(self, pieces: Iterable[list[int]]) -> list[int]:
        """Put pieces together."""
        joined: list[int] = []
        for piece in pieces:
            joined += piece
        return joined

    def as_history(self, sampled: list[int]) -> list[int]:
        """End what was ended by `<|return|>` with `<|end|>`."""
        if _RETURN_ID not in sampled:
            return sampled
        return [_END_ID if token == _RETURN_ID else token for token in sampled]

    def exact(self, sampled: list[int]) -> list[int]:
        """Give the ids, as Python's own integers."""
        return [int(token) for token in sampled]

    def exact_in(self, original: dict[str, Any]) -> str | tuple[int, ...] | None:
        """Find the ids, if they are of this vocabulary, or else the text of a sample that was loaded as text."""
        stored = original.get(self.exact_key)
        if not isinstance(stored, list):
            return _escaped_in(original)
        ids = tuple(cast('list[Any]', stored))
        known = all(type(token) is int and 0 <= token < self.encoding.vocabulary_size for token in ids)
        return ids if known else None

    def from_exact(self, stored: str | tuple[int, ...]) -> list[int]:
        """Take back ids, or encode a text, its bodies as ordinary text."""
        return self._of_text(storable(_unescaped(stored))) if isinstance(stored, str) else list(stored)

    def _of_text(self, sample: str) -> list[int]:
        blocks, tail = cut(TextParser(), sample.removeprefix(OPENING))
        ids = list(self.opening) if sample.startswith(OPENING) else []
        for block in blocks:
            ids += self.marked(block.lead + block.header)
            ids += [] if block.body is None else self.marked(MESSAGE) + self.plain(block.body)
            ids += self.marked(block.stop_token or '')
        return ids + self.marked(tail or '')
