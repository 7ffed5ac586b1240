"""How the demo looks: two columns, or on a narrow terminal one below the other; no meaning stands in colour alone."""

import json
import re
from dataclasses import dataclass
from io import StringIO
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from .demo_runs import SEARCH_RESULTS, Comparison, Run
from .demo_server import template_blocks
from .folded import Folded

_PICTURE_WIDTH = 80
_NARROWEST_PAIR = 72
"""Columns below which the two models stand one below the other."""

_WIDEST = 110
"""Columns beyond which two tables only drift apart."""

_FOOTNOTE = """\
Blocks as printed by a chat template that gives each item its own (GLM's tags).
A scripted server on 127.0.0.1 played the model: real HTTP, no key, no network.
What your own server makes of a list: verbatim probe openai-chat:MODEL
"""
_NOISE = r'\\+[n"]|\\*","|\[\\*"|\\*"\]'
"""What JSON put into a list that was made one string, once more escaped where that string stands in JSON itself."""

_TAGS = r'</?tool_response>'
_WEB_FONTS = re.compile(r'@font-face \{.*?\}\s*', re.DOTALL)


@dataclass(frozen=True)
class ComparisonView:
    """A comparison as rich prints it, in the width there is."""

    comparison: Comparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        seen = self.comparison
        columns = [
            _column('stock OpenAIChatModel', 'bold red', seen.stock, seen.stock_streamed),
            _column('verbatim OpenAICompatibleModel', 'bold green', seen.ours, seen.ours_streamed),
        ]
        yield Text(f'\nYour tool returned {len(SEARCH_RESULTS)} search results. What does the model read?\n', 'bold')
        for group in [columns] if options.max_width >= _NARROWEST_PAIR else [[column] for column in columns]:
            yield _table(group, min(options.max_width, _WIDEST))
        yield Text(_FOOTNOTE, 'dim')


def picture(comparison: Comparison) -> str:
    """Give the view as an SVG that loads nothing from elsewhere."""
    console = Console(
        record=True,
        width=_PICTURE_WIDTH,
        file=StringIO(),
        force_terminal=True,
        color_system='truecolor',
        highlight=False,
    )
    console.print(ComparisonView(comparison))
    return _WEB_FONTS.sub('', console.export_svg(title='verbatim demo'))


def _table(columns: list[list[RenderableType]], width: int) -> Table:
    table = Table(box=box.ROUNDED, show_lines=True, border_style='dim', width=width)
    for heading, *_ in columns:
        table.add_column(heading, ratio=1)
    for row in zip(*(cells for _, *cells in columns), strict=True):
        table.add_row(*row)
    return table


def _column(name: str, style: str, whole: Run, streamed: Run) -> list[RenderableType]:
    """Give a model's heading and its cells."""
    blocks = template_blocks(whole.content)
    if isinstance(whole.content, str):
        reads, sent = '1 block, escaped', '1 string'
    else:
        reads, sent = f'{len(blocks)} blocks, {"intact" if whole.is_native else "altered"}', f'{len(blocks)} text parts'
    streamed_too = 'the same' if streamed == whole else 'not the same'
    return [
        Text(name, style),
        _cell('The model reads ', reads, _blocks(blocks)),
        _cell('On the wire: ', sent, _wire(whole.content)),
        _cell('It answers', f' (streamed: {streamed_too})', Text(whole.answer)),
    ]


def _cell(label: str, remark: str, body: Text) -> Group:
    return Group(Text.assemble((label, 'dim'), (remark, 'bold')), Text(), Folded(body))


def _blocks(blocks: list[str]) -> Text:
    text = Text('\n'.join(f'<tool_response>\n{block}\n</tool_response>' for block in blocks))
    text.highlight_regex(_TAGS, 'cyan')
    return _noise_marked(text) if len(blocks) == 1 else text


def _wire(content: Any) -> Text:
    """Give the content's JSON, an item of a list a line."""
    if isinstance(content, str):
        return _noise_marked(Text(_json(content)))
    return Text('[' + ',\n '.join(_json(part) for part in content) + ']')


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(',', ':'))


def _noise_marked(text: Text) -> Text:
    text.highlight_regex(_NOISE, 'red')
    return text
