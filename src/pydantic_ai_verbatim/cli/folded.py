"""Text broken where the line is full, as a terminal does it: no space is lost, which rich's own wrapping drops."""

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text


@dataclass(frozen=True)
class Folded:
    """A rich renderable that keeps every character of its text."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.split(allow_blank=True):
            yield from line.divide(range(options.max_width, len(line), options.max_width))
