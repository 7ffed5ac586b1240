"""Thinking tags in streamed content: text is cut so that each tag is a piece of its own, as upstream expects it.

Upstream knows a tag only where it is one delta; servers split it anywhere. No character is added or lost.
"""

from dataclasses import dataclass, field
from typing import Literal


@dataclass
class ThinkingTags:
    """Cuts the content of one stream, fed one delta at a time.

    A tag opens thinking where nothing but white space comes before it in the content, or where it is a delta by itself;
    inside other text it is text.

    Args:
        tags: The opening and the closing tag.
    """

    tags: tuple[str, str]
    where: Literal['start', 'thinking', 'text'] = 'start'
    _held: str = field(default='', repr=False)

    def feed(self, text: str) -> list[str]:
        """Give the pieces that are certain by now; a tag that may have begun is held back."""
        if self.where == 'text':
            if text == self.tags[0]:
                self.where = 'thinking'
            return [text]
        text, self._held = self._held + text, ''
        pieces: list[str] = []
        while text:
            piece, text = self._next(text)
            if piece is None:
                self._held = text
                break
            pieces.append(piece)
        return pieces

    def flush(self) -> str:
        """Give what is held back: the tag that seemed to begin was none."""
        text, self._held = self._held, ''
        return text

    def _next(self, text: str) -> tuple[str | None, str]:
        """Give the next piece and the rest; `None` where it takes more text to tell."""
        return self._before(text) if self.where == 'start' else self._inside(text)

    def _before(self, text: str) -> tuple[str | None, str]:
        opening, said = self.tags[0], text.lstrip()
        space = text[: len(text) - len(said)]
        if space and not said:
            return space, ''
        if said.startswith(opening):
            if space:
                return space, said
            self.where = 'thinking'
            return opening, said[len(opening) :]
        if opening.startswith(said):
            return (space, said) if space else (None, said)
        self.where = 'text'
        return text, ''

    def _inside(self, text: str) -> tuple[str | None, str]:
        closing = self.tags[1]
        before, found, _ = text.partition(closing)
        if found and not before:
            self.where = 'start'
            return closing, text[len(closing) :]
        if found:
            return before, text[len(before) :]
        held = _overlap(text, closing)
        if held == len(text):
            return None, text
        return text[: len(text) - held], text[len(text) - held :]


def _overlap(text: str, tag: str) -> int:
    """Count the characters at the end of a text that may begin a tag."""
    longest = min(len(text), len(tag) - 1)
    return next((size for size in range(longest, 0, -1) if tag.startswith(text[-size:])), 0)
