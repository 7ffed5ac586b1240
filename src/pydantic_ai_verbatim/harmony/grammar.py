"""The words of the Harmony format: its special tokens, its channels, and how a header is cut into words.

From openai/harmony's `docs/format.md`; the ids are those of the `o200k_harmony` vocabulary. Pure, no tokenizer.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

START = '<|start|>'
MESSAGE = '<|message|>'
CHANNEL = '<|channel|>'
CONSTRAIN = '<|constrain|>'
END = '<|end|>'
CALL = '<|call|>'
RETURN = '<|return|>'
END_OF_TEXT = '<|endoftext|>'

SPECIAL_TOKENS = {
    END_OF_TEXT: 199999,
    RETURN: 200002,
    CONSTRAIN: 200003,
    CHANNEL: 200005,
    START: 200006,
    END: 200007,
    MESSAGE: 200008,
    CALL: 200012,
}
"""The markers that have a meaning in the format, and their ids."""

STOP_TOKENS = (END, CALL, RETURN, END_OF_TEXT)
"""The markers that end a block, inside its header or its body."""

FIRST_SPECIAL_ID = 199998
"""Every id from here on is a special token of `o200k_harmony`; every id below is ordinary text."""

ChannelName = Literal['analysis', 'commentary', 'final']
CHANNEL_NAMES: tuple[ChannelName, ...] = ('analysis', 'commentary', 'final')

ROLE = 'assistant'
"""The role of the model."""

OPENING = START + ROLE
"""What a sampled completion follows."""

MARKER = re.compile('(' + '|'.join(map(re.escape, SPECIAL_TOKENS)) + ')')

_WORD = re.compile(r'to\s*=\s*(?P<address>(?:(?!to\s*=)[^\s<])*)|(?:(?!to\s*=)[^\s<])+')


class Word(NamedTuple):
    """A word of a header.

    Attributes:
        text: The word; of a `to=` word, what follows the `=`.
        marker: The marker whose word this is: the first one after it, with nothing but white space between.
        is_address: Whether `to=` stands before it.
    """

    text: str
    marker: str | None
    is_address: bool


def pieces_of(text: str) -> list[str]:
    """Cut a text into ordinary text and markers by turns: the markers stand at the odd places."""
    return MARKER.split(text)


def words(pieces: Sequence[str]) -> list[Word]:
    """Give the words of a header: runs of characters without white space and without `<`; `to=` begins a new one.

    Args:
        pieces: Ordinary text and markers by turns, as `pieces_of` gives them.
    """
    markers = [None, *pieces[1::2]]
    return [word for marker, text in zip(markers, pieces[::2], strict=True) for word in _marked(marker, text)]


def _marked(marker: str | None, text: str) -> Iterable[Word]:
    for match in _WORD.finditer(text):
        address = match['address']
        yield Word(match[0] if address is None else address, marker, address is not None)
        marker = None
