"""How a sampled completion looks: a row for each block, and, where another renderer drifts, the tokens on both sides."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ..harmony.adapter import HarmonyAdapter
from ..harmony.encoding import o200k_harmony
from ..harmony.grammar import MARKER, OPENING
from ..harmony.header import read_header
from ..harmony.originals import original_of
from .drift import Drift
from .folded import Folded
from .printable import printable

_BODY = 300
_AROUND = 6


@dataclass(frozen=True)
class BlocksView:
    """A sample, block by block, and whether it renders back exactly.

    Args:
        sampled: Text, or token ids.
    """

    sampled: str | list[int]

    @cached_property
    def _adapter(self) -> HarmonyAdapter[Any]:
        return HarmonyAdapter() if isinstance(self.sampled, str) else HarmonyAdapter(encoding=o200k_harmony())

    @cached_property
    def response(self) -> ModelResponse:
        """The sample as pydantic-ai holds it."""
        return self._adapter.load_response(self.sampled)

    @cached_property
    def is_exact(self) -> bool:
        """Whether what is rendered is what was sampled."""
        return self._adapter.dump_response(self.response) == self.sampled

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for at, part in enumerate(self.response.parts, 1):
            assert isinstance(part, TextPart | ThinkingPart | ToolCallPart), 'a sample has no other parts'
            yield _block(at, part)
        if tail := original_of(self.response.provider_details).get('tail'):
            yield Text.assemble('no block, only ', _marked(tail))
        unit = 'characters' if isinstance(self.sampled, str) else 'tokens'
        outcome = ('renders back exactly', 'green') if self.is_exact else ('does not render back exactly', 'red')
        blocks = len(self.response.parts)
        yield Text.assemble(f'{len(self.sampled)} {unit}, {blocks} block{"s" * (blocks != 1)}: ', outcome)


def _block(at: int, part: TextPart | ThinkingPart | ToolCallPart) -> Table:
    original = original_of(part.provider_details)
    table = Table(box=box.ROUNDED, border_style='dim', expand=True, show_header=False, title_justify='left')
    table.title = Text(f'{at}. {_kind(part, original)}', 'bold')
    table.add_column(style='dim', no_wrap=True)
    table.add_column(ratio=1)
    table.add_row('header', Folded(_marked(original['header'])))
    details = part.provider_details or {}
    table.add_row('channel', _value(details['channel']))
    table.add_row('recipient', _value(read_header(original['header']).recipient))
    table.add_row('content type', _value(details['content_type']))
    if not original.get('ended_in_header'):
        body = part.args if isinstance(part, ToolCallPart) else part.content
        table.add_row('body', Folded(Text(printable(_shortened(str(body))))))
    table.add_row('stop token', _value(original['stop_token']))
    for name in ('lead', 'tail'):
        if name in original:
            table.add_row(name, Folded(_marked(original[name].removeprefix(OPENING))))
    for name in ('ids', 'escaped'):
        if name in original:
            table.add_row(
                'kept', Text(f'the exact {"ids" if name == "ids" else "text"}, which the rest cannot give back')
            )
    return table


def _kind(part: TextPart | ThinkingPart | ToolCallPart, original: dict[str, Any]) -> str:
    if original.get('ended_in_header'):
        return 'a header without a body'
    if isinstance(part, ToolCallPart):
        return f'call of {printable(part.tool_name)}'
    return 'thinking' if isinstance(part, ThinkingPart) else 'text'


def _value(value: str | None) -> Text:
    return Text('none', 'dim') if value is None else Text(printable(value))


def _shortened(body: str) -> str:
    return body if len(body) <= _BODY else f'{body[:_BODY]}… ({len(body)} characters)'


def _marked(text: str) -> Text:
    """Colour the markers; a text of nothing but white space is shown as Python writes it."""
    shown = Text(printable(text) if text.strip() else repr(text))
    shown.highlight_regex(MARKER, 'cyan')
    return shown


@dataclass(frozen=True)
class DriftView:
    """The first drift, tokens and text side by side.

    Args:
        drift: The drift, if there is one.
        oracle: What rendered.
    """

    drift: Drift | None
    oracle: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        drift = self.drift
        if drift is None:
            yield Text.assemble(f'{self.oracle} ', ('renders the same tokens', 'green'))
        elif drift.error is not None:
            yield Text.assemble(f'{self.oracle} ', ('does not read it', 'red'), f': {printable(drift.error)}')
        else:
            yield Text.assemble(f'{self.oracle} ', ('drifts', 'red'), f' at token {drift.at} of {len(drift.sampled)}:')
            yield _side_by_side(drift, self.oracle)


def _side_by_side(drift: Drift, oracle: str) -> Table:
    table = Table(box=box.ROUNDED, border_style='dim')
    for name in ('', 'token', 'sampled', '', oracle, ''):
        table.add_column(name, justify='right' if name in ('token', 'sampled', oracle) else 'left')
    last = max(len(drift.sampled), len(drift.rendered))
    for at in range(max(0, drift.at - _AROUND), min(last, drift.at + _AROUND + 1)):
        is_drift = at == drift.at
        cells = [*_token(drift.sampled, at), *_token(drift.rendered, at)]
        table.add_row('→' if is_drift else '', str(at), *cells, style='bold red' if is_drift else '')
    return table


def _token(ids: list[int], at: int) -> tuple[str, str]:
    if at >= len(ids):
        return '', ''
    return str(ids[at]), printable(repr(o200k_harmony().decode([ids[at]]).decode('utf-8', 'replace')))
