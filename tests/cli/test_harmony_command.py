"""`verbatim harmony`: the blocks, the first drift of another renderer, and the exit status."""

import json
import os
from importlib.metadata import PackageNotFoundError
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from pydantic_ai_verbatim.cli import drift
from pydantic_ai_verbatim.cli.app import app
from pydantic_ai_verbatim.cli.drift import Drift, drift_of_openai_harmony, first_difference, ids_of
from pydantic_ai_verbatim.cli.harmony_view import BlocksView, DriftView
from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from tests.conftest import load_cases

CALL = '<|channel|>commentary to=functions.bash code<|message|>{"command":"ls"}<|call|>'
CASES: list[Any] = [case.values[0] for case in load_cases('harmony')]


def run(tmp_path: Path, sampled: str | list[int], *arguments: str) -> tuple[str, int]:
    file = tmp_path / 'sampled'
    file.write_text(sampled if isinstance(sampled, str) else json.dumps(sampled))
    result = CliRunner().invoke(app, ['harmony', str(file), *arguments])
    return result.output, result.exit_code


def row(output: str, name: str) -> list[str]:
    """Give what the table says in the rows of one name."""
    cells = [line.split('│') for line in output.splitlines() if line.startswith('│')]
    return [value.strip() for _, label, value, *_ in cells if label.strip() == name]


def test_a_sample_block_by_block(tmp_path: Path) -> None:
    """Each block has its header, what the header says, its body and its stop token; the exit status is 0."""
    sample = f'<|channel|>analysis<|message|>List first.<|end|><|start|>assistant{CALL} <|return|>'
    output, code = run(tmp_path, sample)
    assert code == 0
    assert '1. thinking' in output
    assert '2. call of bash' in output
    assert row(output, 'header') == ['<|channel|>analysis', '<|channel|>commentary to=functions.bash code']
    assert row(output, 'channel') == ['analysis', 'commentary']
    assert row(output, 'recipient') == ['none', 'functions.bash']
    assert row(output, 'content type') == ['none', 'code']
    assert row(output, 'body') == ['List first.', '{"command":"ls"}']
    assert row(output, 'stop token') == ['<|end|>', '<|call|>']
    assert row(output, 'tail') == ['<|return|>']
    assert output.rstrip().endswith(f'{len(sample)} characters, 2 blocks: renders back exactly')
    assert max(map(len, output.splitlines())) <= 80


def test_token_ids_that_text_cannot_give_back(tmp_path: Path) -> None:
    """A JSON list is read as ids, and what had to be kept besides is named."""
    output, code = run(tmp_path, [200005, 17196, 200008, 160, 200002])
    assert code == 0
    assert row(output, 'kept') == ['the exact ids, which the rest cannot give back']
    assert '5 tokens, 1 block: renders back exactly' in output


def test_a_look_alike_is_shown_as_the_text_it_is(tmp_path: Path) -> None:
    """Ordinary tokens that spell a marker name no channel."""
    spelled = o200k_harmony().encode('<|channel|>analysis to=python')
    output, _ = run(tmp_path, [*spelled, 200008, 87, 200012])
    assert (row(output, 'channel'), row(output, 'recipient')) == (['none'], ['python'])


def test_unusual_samples(tmp_path: Path) -> None:
    """A header without a body, a long body, what lies before a block, no block at all, and text that JSON cannot hold."""
    assert 'a header without a body' in run(tmp_path, '<|channel|>analysis need it')[0]
    long, _ = run(tmp_path, f'<|channel|>final<|message|>{"q" * 1000}')
    assert (long.count('q'), long.count('…')) == (300, 1)
    assert row(run(tmp_path, '\n<|start|>assistant<|channel|>final<|message|>x')[0], 'lead')
    assert row(run(tmp_path, '<|channel|>final<|message|>x\n<|end|>\n\n')[0], 'tail') == [repr('\n\n')]
    assert 'no block, only <|end|>\n7 characters, 0 blocks' in run(tmp_path, '<|end|>')[0]
    assert "no block, only ' '" in run(tmp_path, ' ')[0]
    console = Console(width=100, file=StringIO(), record=True)
    console.print(BlocksView('<|message|>\udcff'))
    output = console.export_text()
    assert row(output, 'kept') == ['the exact text, which the rest cannot give back']


def test_a_sample_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Control characters of a header, a tool's name, a body and what follows it are shown as escapes."""
    file = tmp_path / 'sampled'
    sample = '<|channel|>commentary to=functions.a\x1b[1m \x9bcode\ufeff<|message|>\r\x1b[2J<|call|> \x1c<|end|>'
    file.write_bytes(sample.encode())
    output = CliRunner().invoke(app, ['harmony', str(file)]).output
    assert not {char for char in output if char < ' ' or '\x7f' <= char <= '\xa0'} - {'\n'}
    assert r'call of a\x1b[1m' in output
    assert row(output, 'body') == [r'\r\x1b[2J']
    assert row(output, 'tail') == [r'\x1c<|end|>']


def test_the_first_drift(tmp_path: Path) -> None:
    """Where openai-harmony renders another token, both sides are shown with what stands around them."""
    output, code = run(tmp_path, CALL, '--against', 'openai-harmony')
    assert code == 1
    assert f'openai-harmony drifts at token 0 of {len(ids_of(CALL))}:' in output
    (marked,) = [line for line in output.splitlines() if '→' in line]
    assert marked.split() == ['│', '→', '│', '0', '│', '200005', '│', "'<|channel|>'", '│', '316', '│', "'", "to'", '│']


def test_no_drift(tmp_path: Path) -> None:
    """Where it renders the same, that is said, and the exit status is 0."""
    sample = ids_of(' to=functions.bash<|channel|>commentary <|constrain|>json<|message|>{}<|call|>')
    output, code = run(tmp_path, sample, '--against', 'openai-harmony')
    assert code == 0
    assert 'openai-harmony renders the same tokens' in output


def test_what_it_cannot_read(tmp_path: Path) -> None:
    """Where openai-harmony raises, its own words are shown."""
    output, code = run(tmp_path, '<|channel|>analysis need', '--against', 'openai-harmony')
    assert code == 1
    assert 'openai-harmony does not read it: Unexpected EOS' in output


def test_drift_on_the_cases() -> None:
    """openai-harmony gives back fewer than a third of the cases."""
    drifts = [drift_of_openai_harmony(case['sampled']) for case in CASES]
    assert sum(found is None for found in drifts) < len(CASES) / 3
    assert all(found is None or found.sampled[: found.at] == found.rendered[: found.at] for found in drifts)


def test_first_difference() -> None:
    """One list that goes on where the other ends differs there."""
    assert first_difference([1, 2], [1, 2]) is None
    assert first_difference([1, 2], [1]) == Drift(1, [1, 2], [1])
    assert first_difference([1], [1, 2]) == Drift(1, [1], [1, 2])


def test_a_drift_at_the_end_is_shown() -> None:
    """Beyond the shorter side there is nothing to show."""
    console = Console(width=100, file=StringIO(), record=True)
    console.print(DriftView(Drift(1, [200005], [200005, 35644]), 'x'))
    assert '→' in console.export_text()


def test_a_sample_that_would_not_come_back_is_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """The view compares, and does not take the law for granted."""
    view = BlocksView('<|channel|>final<|message|>x')
    view.response.parts = []
    console = Console(width=100, file=StringIO(), record=True)
    console.print(view)
    assert 'does not render back exactly' in console.export_text()


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file, ids of another vocabulary and a missing oracle are one line each."""
    result = CliRunner().invoke(app, ['harmony', str(tmp_path / 'none')])
    assert (result.exit_code, 'No such file' in result.output) == (1, True)
    assert run(tmp_path, [200005, 201088, 200008, 201088])[1] == 1
    drift.load_openai_harmony.cache_clear()

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    with monkeypatch.context() as patched:
        patched.setattr(drift, 'version', missing)
        output, code = run(tmp_path, CALL, '--against', 'openai-harmony')
    assert code == 1
    assert 'run `pip install openai-harmony`' in output.replace('\n', ' ')


@pytest.mark.parametrize(
    ('content', 'said'),
    [
        (b'', 'is empty: give what was sampled'),
        (b'<|message|>\xff', 'is not UTF-8 text (byte 11): save it as UTF-8'),
        (b'[200005, 1.0]', 'begins like a list of token ids, and is no JSON list of whole numbers'),
        (b'[200005, 17196,', 'begins like a list of token ids, and is no JSON list of whole numbers'),
        (b'[' + b'9' * 5000 + b']', 'begins like a list of token ids, and is no JSON list of whole numbers'),
        (b'{"choices": []}', "is a server's reply: give the text of its choice"),
    ],
)
def test_files_that_hold_no_sample(content: bytes, said: str, tmp_path: Path) -> None:
    """Each is said in one line, with the file's name, and the exit status is 1."""
    file = tmp_path / 'sampled'
    file.write_bytes(content)
    result = CliRunner().invoke(app, ['harmony', str(file)])
    assert (result.exit_code, result.output.count('\n')) == (1, 1)
    assert result.output.startswith(f'{file} {said}')


def test_a_directory(tmp_path: Path) -> None:
    """It is no file, and that is all that is said."""
    result = CliRunner().invoke(app, ['harmony', str(tmp_path)])
    assert (result.exit_code, result.output) == (1, f'{tmp_path}: Is a directory.\n')


def test_standard_input() -> None:
    """`-` reads it; its mistakes name it."""
    result = CliRunner().invoke(app, ['harmony', '-'], input=CALL)
    assert (result.exit_code, 'call of bash' in result.output) == (0, True)
    result = CliRunner().invoke(app, ['harmony', '-'], input='')
    assert (result.exit_code, result.output.startswith('standard input is empty')) == (1, True)


@pytest.mark.parametrize('sampled', [f'<|start|>assistant{CALL}', ids_of(f'<|start|>assistant{CALL}')])
def test_a_sample_with_its_opening(sampled: str | list[int], tmp_path: Path) -> None:
    """What a sample follows is left out, and that is said."""
    output, code = run(tmp_path, sampled)
    assert code == 0
    assert output.startswith('Left out the leading <|start|>assistant')
    assert row(output, 'header') == ['<|channel|>commentary to=functions.bash code']


def test_text_that_begins_like_a_list(tmp_path: Path) -> None:
    """Prose in a header may; where a marker follows it is no list of ids."""
    assert run(tmp_path, '[1] is done<|channel|>final<|message|>x')[1] == 0


@pytest.mark.parametrize('sampled', ['{"answer": 42}', '42', '"x"', 'null', '["x"]', '{"a":' * 100_000])
def test_json_that_is_no_list_of_ids_is_text(sampled: str, tmp_path: Path) -> None:
    """A model may have sampled it."""
    output, code = run(tmp_path, sampled)
    assert (code, f'{len(sampled)} characters, 1 block' in output) == (0, True)


@pytest.mark.parametrize('newline', [b'\n', b'\r\n'])
def test_the_newline_that_ends_a_file(newline: bytes, tmp_path: Path) -> None:
    """Behind a stop token it is the file's; in a body that has no end it may have been sampled."""
    file = tmp_path / 'sampled'
    file.write_bytes(b'<|channel|>final<|message|>x<|return|>' + newline)
    result = CliRunner().invoke(app, ['harmony', str(file), '--against', 'openai-harmony'])
    assert (result.exit_code, '38 characters' in result.output) == (0, True)
    file.write_bytes(b'<|channel|>final<|message|>x' + newline)
    result = CliRunner().invoke(app, ['harmony', str(file)])
    assert f'{28 + len(newline)} characters' in result.output


def test_the_environment_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """openai-harmony takes its vocabulary's folder from the environment, where a user may have named one."""
    monkeypatch.setenv('TIKTOKEN_ENCODINGS_BASE', str(tmp_path))
    drift.load_openai_harmony.cache_clear()
    assert drift_of_openai_harmony('<|channel|>final<|message|>x<|return|>') is None
    assert os.environ['TIKTOKEN_ENCODINGS_BASE'] == str(tmp_path)
