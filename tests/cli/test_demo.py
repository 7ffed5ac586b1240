"""`verbatim demo`: what it shows, in every terminal, and what its exit status says."""

import html
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.models.openai import OpenAIChatModel
from rich.console import Console
from typer.testing import CliRunner

from pydantic_ai_verbatim import cli
from pydantic_ai_verbatim.chat.model import OpenAICompatibleModel
from pydantic_ai_verbatim.cli import demo_runs
from pydantic_ai_verbatim.cli.app import app
from pydantic_ai_verbatim.cli.demo_runs import SEARCH_RESULTS, Comparison, Run
from pydantic_ai_verbatim.cli.demo_server import LoopbackServer, ScriptedChat, template_blocks
from pydantic_ai_verbatim.cli.demo_view import ComparisonView

VERBATIM = str(Path(sys.executable).with_name('verbatim'))
PICTURE = Path(__file__).parents[2] / 'docs/images/demo.svg'

NATIVE = [{'type': 'text', 'text': item} for item in SEARCH_RESULTS]
STRING = '["cart.py:12\\n  total += item.price * n","tag.py:7\\n  print(f\\"Price: {price:.2f}\\")",' + (
    '"test.py:3\\n  assert price(\\"a\\") == 2.5"]'
)


@pytest.fixture(scope='module')
def comparison() -> Comparison:
    return demo_runs.compare()


def printed(comparison: Comparison, width: int = 80, **options: Any) -> list[str]:
    console = Console(width=width, file=StringIO(), highlight=False, **options)
    console.print(ComparisonView(comparison))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_four_runs_arrive_over_http(comparison: Comparison):
    """Stock sends one JSON string and ours the native list, streamed and not, and the answers follow from them."""
    stock, ours = Run(STRING, 'I read 1 result.'), Run(NATIVE, 'I read 3 results.')
    assert comparison == Comparison(stock, stock, ours, ours)


def test_each_item_has_its_block(comparison: Comparison):
    """At 80 columns ours stands beside stock, each of the tool's lines in its own place in a block."""
    lines = printed(comparison)
    right = [line.split('│')[2].strip() for line in lines if line.count('│') == 3]
    blocks = [line for item in SEARCH_RESULTS for line in ['<tool_response>', *item.split('\n'), '</tool_response>']]
    first = right.index('<tool_response>')
    assert right[first : first + len(blocks)] == [line.strip() for line in blocks]
    assert max(map(len, lines)) <= 80


def test_what_json_does_to_the_string_is_seen(comparison: Comparison):
    """The left column holds the string with its escapes in the prompt, and with escaped escapes on the wire."""
    left = ''.join(line.split('│')[1][1:-1].ljust(37) for line in printed(comparison) if line.count('│') == 3)
    assert STRING in left
    assert r'"[\"cart.py:12\\n  total' in left


@pytest.mark.parametrize('width', [44, 71])
def test_on_a_narrow_terminal_one_stands_below_the_other(comparison: Comparison, width: int):
    """Nothing is cut or squeezed where two columns do not fit."""
    lines = printed(comparison, width)
    assert max(map(len, lines)) <= width
    text = '\n'.join(lines)
    assert text.index('I read 1 result.') < text.index('OpenAICompatibleModel') < text.index('I read 3 results.')


def test_a_wide_terminal_does_not_pull_the_columns_apart(comparison: Comparison):
    """Beyond a width that holds everything the table grows no more."""
    assert max(map(len, printed(comparison, 200))) == 110


def test_no_meaning_is_in_colour_alone(comparison: Comparison):
    """A terminal without colour prints the same characters and no escape sequence."""
    plain = printed(comparison)
    coloured = printed(comparison, force_terminal=True, color_system='truecolor')
    assert '\x1b' not in '\n'.join(plain)
    assert re.sub(r'\x1b\[[\d;]*m', '', '\n'.join(coloured)) == '\n'.join(plain)


def test_a_streamed_run_that_differs_is_said(comparison: Comparison):
    """The reader learns where a streamed run was not like the whole one."""
    text = '\n'.join(printed(replace(comparison, ours_streamed=Run(STRING, 'I read 1 result.'))))
    assert 'It answers (streamed: the same)' in text
    assert 'It answers (streamed: not the same)' in text


def test_parts_that_are_not_the_items_are_said_to_be_altered(comparison: Comparison):
    """As many blocks as items are not yet the items."""
    text = '\n'.join(printed(replace(comparison, ours=Run(NATIVE[::-1], 'I read 3 results.'))))
    assert 'The model reads 3 blocks, altered' in text


@pytest.mark.parametrize(
    ('changes', 'complaint'),
    [
        ({}, None),
        ({'ours': Run(STRING, '')}, 'The list did not arrive natively when the reply was in one piece.'),
        ({'ours_streamed': Run(NATIVE[:2], '')}, 'The list did not arrive natively when the reply was streamed.'),
        (
            {'ours': Run(STRING, ''), 'ours_streamed': Run(STRING, '')},
            'The list did not arrive natively when the reply was in one piece and when it was streamed.',
        ),
    ],
)
def test_the_complaint_names_the_run(comparison: Comparison, changes: dict[str, Run], complaint: str | None):
    """Only native lists in both of our runs pass."""
    assert replace(comparison, **changes).complaint == complaint


def test_the_exit_status_is_1_where_the_list_did_not_arrive(monkeypatch: pytest.MonkeyPatch):
    """With a model that sends a string in our place, the comparison is shown and one line says what failed."""
    monkeypatch.setattr(demo_runs, 'OpenAICompatibleModel', OpenAIChatModel)
    result = CliRunner().invoke(app, ['demo'])
    assert result.exit_code == 1
    assert 'What does the model read?' in result.output


class BrokenModel(OpenAICompatibleModel):
    """A model that fails on its way out."""

    async def _completions_create(self, *args: Any, **kwargs: Any) -> Any:
        raise ModelAPIError(self.model_name, 'no way out')


def test_a_run_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch):
    """A failed run is no traceback."""
    monkeypatch.setattr(demo_runs, 'OpenAICompatibleModel', BrokenModel)
    with pytest.raises(SystemExit, match=r'^The demo could not run: no way out$'):
        app(['demo'], standalone_mode=False)


def without_space(text: str) -> str:
    return ''.join(text.split())


def test_the_picture_is_the_output(tmp_path: Path, comparison: Comparison):
    """The picture holds the text of the output, loads nothing from elsewhere, and the one in docs is up to date."""
    result = CliRunner().invoke(app, ['demo', '--svg', str(tmp_path / 'demo.svg')])
    assert result.exit_code == 0
    for picture in (tmp_path / 'demo.svg', PICTURE):
        svg = picture.read_text(encoding='utf-8')
        assert 'url(http' not in svg
        shown = [html.unescape(text) for text in re.findall(r'<text[^>]*>([^<]*)</text>', svg)]
        assert without_space(''.join(shown)) == without_space('verbatim demo' + ''.join(printed(comparison)))


def test_the_installed_command_runs_anywhere():
    """The real command runs behind a dead proxy, with somebody's key, and where only ASCII can be printed."""
    environment = {
        **os.environ,
        'HTTP_PROXY': 'http://127.0.0.1:9',
        'ALL_PROXY': 'http://127.0.0.1:9',
        'OPENAI_API_KEY': 'sk-mine',
        'PYTHONIOENCODING': 'ascii',
    }
    command = subprocess.run(
        [VERBATIM, 'demo'], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (command.returncode, command.stderr) == (0, '')
    assert 'I read 3 results.' in command.stdout


def test_the_server_is_a_plain_one():
    """It answers 404 to a question that only llama.cpp knows, and its port is free again afterwards."""
    with LoopbackServer(ScriptedChat()) as server:
        assert httpx2.get(f'{server.url}/props').status_code == 404
        url = server.url
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(url)


def test_blocks_of_a_list_are_its_texts():
    """A string fills one block, a list of parts one each."""
    assert template_blocks('["a"]') == ['["a"]']
    assert template_blocks([{'type': 'text', 'text': 'a'}, {'type': 'text', 'text': 'b'}]) == ['a', 'b']


def test_without_the_extra_the_command_names_it(monkeypatch: pytest.MonkeyPatch):
    """An installation without typer says what to install."""
    missing: Callable[[str], None] = lambda name: None
    monkeypatch.setattr(cli.importlib.util, 'find_spec', missing)
    with pytest.raises(SystemExit, match=r'pip install "pydantic-ai-verbatim\[cli\]"'):
        cli.main()


def test_a_picture_that_cannot_be_saved_is_said_before_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder that does not exist is one line, and nothing ran for it."""
    runs: list[Comparison] = []
    monkeypatch.setattr(demo_runs, 'compare', runs.append)
    with pytest.raises(SystemExit) as stopped:
        app(['demo', '--svg', str(tmp_path / 'none/x.svg')], standalone_mode=False)
    assert stopped.value.code == f'The picture cannot be saved: No such file or directory: {tmp_path}/none/x.svg'
    assert runs == []


def test_a_picture_of_before_is_kept_where_the_run_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Looking whether it can be saved neither empties nor leaves a file."""
    (tmp_path / 'old.svg').write_text('before')
    monkeypatch.setattr(demo_runs, 'OpenAICompatibleModel', BrokenModel)
    for name in ('old.svg', 'new.svg'):
        with pytest.raises(SystemExit, match=r'^The demo could not run'):
            app(['demo', '--svg', str(tmp_path / name)], standalone_mode=False)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [('old.svg', 'before')]


def test_the_version():
    """It is the installed distribution's."""
    result = CliRunner().invoke(app, ['--version'])
    assert (result.exit_code, result.output) == (0, f'verbatim {version("pydantic-ai-verbatim")}\n')
