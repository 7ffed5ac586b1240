"""The arguments of one streamed tool call, as they come: what can be sent on, and what they say once all are there."""

import re
from dataclasses import dataclass, field

from ..json_text import is_json_object
from ..surrogates import is_storable, joined_halves, storable
from .tool_calls import decoded_once

_QUOTE = re.compile(r'\s*"')


@dataclass(slots=True)
class Arguments:
    """The argument text of a call so far.

    Attributes:
        size: How many characters there are.
    """

    size: int = 0
    _held: int = 0
    """How many characters were not sent yet."""
    _half: str = ''
    """A half of a character at the end, the other half of which is still to come."""
    _folded: str | None = None
    """The arguments, should each piece say all that came before it once more."""
    _pieces: list[str] = field(default_factory=list[str])

    def took_more(self, text: str) -> bool:
        """Add what nearly all pieces are, more of the same that can be sent as it is; say whether it is that."""
        if self._held or self._half or not self.size or len(text) == self.size:
            return False
        if text[:1] == '{' or not is_storable(text):
            return False
        self._pieces.append(text)
        self.size += len(text)
        return True

    def add(self, text: str) -> str:
        """Add a piece, and give it without the half of a character at its end, with the one before."""
        text, self._half = joined_halves(self._half, text)
        if text:
            self._notice(text)
            self._pieces.append(text)
            self.size += len(text)
            self._held += len(text)
        return text

    def _notice(self, text: str) -> None:
        """Notice a piece that says once more what was there before it."""
        if self._is_stub and text.lstrip()[:1] == '{':
            self._pieces, self.size, self._held = [], 0, 0
        elif self._folded is not None:
            self._folded = text if text.startswith(self._folded) else self._folded + text
        elif self.size and text[:1] == '{' and len(text) > self.size and text.startswith(self.text):
            self._folded = text  # or this is an object that begins with an equal one: the end will tell

    @property
    def _is_stub(self) -> bool:
        """Whether they are `{}`, not sent yet, which some servers send before the real ones."""
        return 0 < self._held == self.size < 10 and self.text.strip() == '{}'

    @property
    def _is_encoded(self) -> bool:
        """Whether they begin, not sent yet, as a text that was encoded twice."""
        return self._held == self.size and _QUOTE.match(self._pieces[0]) is not None

    @property
    def is_held(self) -> bool:
        """Whether something was not sent yet."""
        return bool(self._held or self._half)

    def take(self) -> str:
        """Give what was not sent yet, unless it may turn out otherwise."""
        if not self._held or self._is_stub or self._is_encoded or self._folded is not None:
            return ''
        held, self._held = self._held, 0
        return self._pieces[-1] if held == len(self._pieces[-1]) else self.text[self.size - held :]

    def rest(self) -> str:
        """Give what was not sent yet, now that all are there."""
        sent, whole = self.text[: self.size - self._held], self.whole
        said = whole if whole is not None and whole.startswith(sent) else self.text
        rest = said[len(sent) :] + storable(self._half)
        self._held, self._half = 0, ''
        return rest

    @property
    def text(self) -> str:
        """All of them, as they came; they are joined only when they are looked at."""
        if len(self._pieces) > 1:
            self._pieces = [''.join(self._pieces)]
        return self._pieces[0] if self._pieces else ''

    @property
    def whole(self) -> str | None:
        """All of them if nothing is missing: as they came, or freed of what was encoded or said twice."""
        if not self.size:
            return None
        closing = '"' if _QUOTE.match(self._pieces[0]) else '}'
        if self._pieces[-1].rstrip()[-1:] not in (closing, ''):  # spares most of the parsing
            return None
        if is_json_object(self.text):
            return self.text
        if self._folded is not None and is_json_object(self._folded):
            return self._folded
        return decoded_once(self.text)

    @property
    def are_settled(self) -> bool:
        """Whether they are a JSON object as they came, and no stub."""
        return self._folded is None and not self._is_stub and is_json_object(self.text)

    @property
    def are_whole(self) -> bool:
        """Whether nothing is missing."""
        return self.whole is not None
