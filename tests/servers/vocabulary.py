"""Vocabularies: a tiny byte-level one that knows a script's pieces whole, and gpt-oss's own o200k_harmony. Pure.

Tokens are spelled as GPT-2's byte-level BPE spells them (a printable character for each byte); special and added tokens
are spelled as they are, and found in any text before BPE.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal['normal', 'added', 'special', 'unused']

UNTOUCHED = (*range(ord('!'), ord('~') + 1), *range(ord('¡'), ord('¬') + 1), *range(ord('®'), ord('ÿ') + 1))
"""The bytes that the byte-level spelling leaves as they are; the others move above 255, in order."""

MOVED = [byte for byte in range(256) if byte not in UNTOUCHED]
SPELLING: Mapping[int, str] = {
    **{byte: chr(byte) for byte in UNTOUCHED},
    **{byte: chr(256 + place) for place, byte in enumerate(MOVED)},
}


def spelled(text: bytes) -> str:
    """Spell bytes as byte-level BPE does."""
    return ''.join(SPELLING[byte] for byte in text)


@dataclass
class Vocabulary:
    """Tokens with their kinds, and the merges that BPE knows.

    Args:
        pre: llama.cpp's name for how text is split before BPE.
        pattern: The same as a regular expression, `None` for GPT-2's own.
    """

    pre: str
    pattern: str | None = None
    tokens: list[str] = field(default_factory=list[str])
    kinds: list[Kind] = field(default_factory=list[Kind])
    merges: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _ids: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, token: str, kind: Kind) -> int:
        """Append a token, or find it."""
        if token not in self._ids:
            self._ids[token] = len(self.tokens)
            self.tokens.append(token)
            self.kinds.append(kind)
        return self._ids[token]

    def find(self, text: str) -> int:
        """Give the id of a token by the text it stands for, a special or added one first."""
        token = text if text in self._ids else spelled(text.encode())
        if token not in self._ids:
            raise LookupError(f'{text!r} is no token of this vocabulary')
        return self._ids[token]


def tiny(specials: Iterable[str], added: Iterable[str], pieces: Iterable[str]) -> Vocabulary:
    """Make a vocabulary of all bytes, special and added tokens, and whole pieces that no text is ever split into.

    No merge leads to a piece, so it stands in a context only where the model wrote it. (llama.cpp wants one merge.)
    """
    vocabulary = Vocabulary(pre='qwen2')
    for byte in range(256):
        vocabulary.add(SPELLING[byte], 'normal')
    vocabulary.add(spelled(b'  '), 'normal')
    vocabulary.merges.append((spelled(b' '), spelled(b' ')))
    for token in specials:
        vocabulary.add(token, 'special')
    for token in added:
        vocabulary.add(token, 'added')
    for piece in pieces:
        if piece not in vocabulary._ids:
            vocabulary.add(spelled(piece.encode()), 'normal')
    while len(vocabulary.tokens) % 32:
        vocabulary.add(f'<|unused_{len(vocabulary.tokens)}|>', 'unused')
    return vocabulary
