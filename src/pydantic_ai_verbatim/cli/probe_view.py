"""How a probe's report looks: a row for each format, with the prompt where the server showed it."""

from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from ..chat.llama_cpp import MARKERS
from ..chat.readings import ProbeReport, Reading, Sample
from .folded import Folded
from .printable import printable

_READINGS: dict[Reading, tuple[str, str]] = {
    'apart': ('reads each item', 'green'),
    'repeated': ('repeats each item', 'green'),
    'unknown': ('not to be seen', 'yellow'),
    'spoiled': ('reads it spoiled', 'red'),
    'lost': ('does not read it', 'red'),
    'rejected': ('rejected', 'red'),
}


@dataclass(frozen=True)
class ReportView:
    """A report as rich prints it."""

    report: ProbeReport

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        report = self.report
        yield Text.assemble('\n', (printable(report.model_name), 'bold'), ' at ', (printable(report.base_url), 'bold'))
        yield Text(_evidence(report), 'dim')
        yield _table(report)
        yield Text(report.recommendation + '\n', 'bold')


def _evidence(report: ProbeReport) -> str:
    if report.shown_by is None:
        return 'The server does not show its prompt; what the replies show is all there is to see.'
    return f'{report.shown_by} shows its prompt: below is what follows the tool call in it.'


def _table(report: ProbeReport) -> Table:
    table = Table(box=box.ROUNDED, show_lines=True, border_style='dim', expand=True)
    table.add_column('format')
    first, second = MARKERS
    table.add_column(f'["{first}", "{second}"]', ratio=1, overflow='fold')
    table.add_column(f'["{first}", "", "{second}"]', ratio=1, overflow='fold')
    for row in report.formats:
        table.add_row(Text(row.format, 'bold'), _cell(row.items), _cell(row.with_empty_item))
    return table


def _cell(sample: Sample) -> Group:
    words, style = _READINGS[sample.reading]
    lines = [Text(words, f'bold {style}')]
    if sample.prompt_tokens is not None:
        lines[0].append(f' ({sample.prompt_tokens} tokens)', 'dim')
    shown = sample.rejection or sample.prompt
    return Group(*lines, *([] if shown is None else [Text(), Folded(Text(printable(shown.strip())))]))
