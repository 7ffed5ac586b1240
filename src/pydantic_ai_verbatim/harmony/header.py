"""Reading a Harmony header: its text in, a `Header` out.

The text is kept as it was sampled, and everything else is a view of it. Reading never raises: a malformed header is
data, and what it does not say is `None`.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .grammar import CHANNEL, CHANNEL_NAMES, CONSTRAIN, ChannelName, Word, pieces_of, words

NAMESPACE = 'functions.'
"""The namespace of the developer's own tools."""

_NAMESPACES = re.compile(rf'\A(?:{re.escape(NAMESPACE)})+')

NO_TOOLS = frozenset({'assistant', 'user', 'all'})
"""Recipients that are no tools."""

_GLUED = re.compile(r'json|code|analysis|commentary|final|[^\w.-].*', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Header:
    """What a header says.

    Args:
        text: The header as it was sampled.
        role: The first word after `<|start|>`, if the header follows one and has one.
        channel: `analysis`, `commentary`, `final`, or `None`.
        recipient: Whom the message is for, as it was sampled (`functions.bash`, `python`, `assistant`), or `None`.
        content_type: `json`, `code` or whatever word stands in its place, or `None`.
    """

    text: str
    role: str | None = None
    channel: ChannelName | None = None
    recipient: str | None = None
    content_type: str | None = None

    @property
    def tool_name(self) -> str | None:
        """The recipient as the name of a tool, without its `functions.`; `None` if it is no tool."""
        if self.recipient is None or self.recipient in NO_TOOLS:
            return None
        return _NAMESPACES.sub('', self.recipient) or None


_LONG = 512


def read_header(text: str, *, after_start: bool = False) -> Header:
    """Read a header's text, in which the characters of a marker are the marker.

    A server that cut a recipient out of a header and left some of the header on it (a tool called
    `bash<|channel|>commentary`) is read with `to=` put in front.

    Args:
        text: The header: what was sampled up to `<|message|>`.
        after_start: Whether the text follows `<|start|>`, and so begins with a role.
    """
    return _read_short(text, after_start) if len(text) <= _LONG else _read_text(text, after_start)


def _read_text(text: str, after_start: bool) -> Header:
    return read_pieces(pieces_of(text), after_start=after_start)


_read_short = lru_cache(maxsize=4096)(_read_text)
"""Headers recur; long ones, which are prose, do not, and are not worth the memory."""


def read_pieces(pieces: Sequence[str], *, after_start: bool = False) -> Header:
    """Read a header of which it is known what is a marker and what only looks like one.

    Args:
        pieces: Ordinary text and markers by turns, beginning and ending with text.
        after_start: Whether the header follows `<|start|>`, and so begins with a role.
    """
    found = words(pieces)
    has_role = after_start and bool(words(pieces[:1]))
    channel_at, channel = _channel(found)
    recipient_at = _recipient(found, 1 if has_role else 0)
    return Header(
        text=''.join(pieces),
        role=found[0].text if has_role else None,
        channel=channel,
        recipient=None if recipient_at is None else found[recipient_at].text,
        content_type=_constrained(found) or _bare(found, channel_at, recipient_at),
    )


def _channel(found: list[Word]) -> tuple[int | None, ChannelName | None]:
    """Rule 1: the last `<|channel|>` whose word begins with a channel's name."""
    for at in range(len(found) - 1, -1, -1):
        word = found[at]
        if word.marker == CHANNEL and not word.is_address:
            for name in CHANNEL_NAMES:
                if word.text.startswith(name):
                    return at, name
    return None, None


def _recipient(found: list[Word], after_role: int) -> int | None:
    """Rule 2: the word after the last `to=` that has one, else the first word that begins with `functions.`."""
    addressed = [at for at, word in enumerate(found) if word.is_address and word.text]
    if addressed:
        return addressed[-1]
    return next((at for at in range(after_role, len(found)) if found[at].text.startswith(NAMESPACE)), None)


def _constrained(found: list[Word]) -> str | None:
    """Rule 3: the first word after a `<|constrain|>`."""
    return _content_type(word for word in found if word.marker == CONSTRAIN and _is_type(word))


def _bare(found: list[Word], channel_at: int | None, recipient_at: int | None) -> str | None:
    """Rule 3: without a constrained word, the first bare one after the recipient and the channel."""
    known = [at for at in (channel_at, recipient_at) if at is not None]
    if not known:
        return None
    return _content_type(word for word in found[max(known) + 1 :] if _is_type(word) and word.text not in CHANNEL_NAMES)


def _is_type(word: Word) -> bool:
    return not word.is_address and not word.text.startswith(NAMESPACE)


def _content_type(candidates: Iterable[Word]) -> str | None:
    word = next(iter(candidates), None)
    return (word.text.partition('{')[0] or None) if word else None


def repair_tool_name(name: str, declared: Collection[str]) -> str:
    """Take from a tool's name what was glued to it, where that makes it a declared one (`shelljson` of `shell`).

    Args:
        name: The name as the model wrote it.
        declared: The names of the tools that the model was given.

    Returns:
        The declared name; the name as it is if it is declared itself, or if no declared one begins it.
    """
    if name in declared:
        return name
    stems = [stem for stem in declared if name.startswith(stem) and _GLUED.fullmatch(name, len(stem))]
    return max(stems, key=len, default=name)
