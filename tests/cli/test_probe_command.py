"""`verbatim probe`: the table, the JSON for machines, and one line for whatever goes wrong."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from starlette.responses import JSONResponse
from typer.testing import CliRunner

from pydantic_ai_verbatim.chat.readings import FormatReport, ProbeReport, Sample
from pydantic_ai_verbatim.cli.app import app
from pydantic_ai_verbatim.cli.demo_server import LoopbackServer
from pydantic_ai_verbatim.cli.probe_view import ReportView

from ..chat.prompting_server import PromptingServer, empties_parts

VERBATIM = str(Path(sys.executable).with_name('verbatim'))
KEY = 'sk-very-secret-0123456789'


@pytest.fixture(scope='module')
def llama_cpp() -> Iterator[str]:
    with LoopbackServer(PromptingServer(empties_parts, shows='llama.cpp', key=KEY)) as server:
        yield server.url


@pytest.fixture
def endpoint(llama_cpp: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv('OPENAI_BASE_URL', f'{llama_cpp}/v1')
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    return llama_cpp


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ['probe', *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_table_shows_each_prompt_and_the_setting(endpoint: str):
    """Every format has its row, with what the server put into the prompt, and the setting stands last."""
    output = run('openai-chat:glm-4.7')
    assert f'glm-4.7 at {endpoint}/v1' in output
    assert 'llama.cpp shows its prompt' in output
    assert output.count('does not read it') == 2
    assert output.count('reads each item') == 4
    assert '"}<tool_response></tool_response' in output
    assert output.rstrip().endswith("Set openai_compatible_tool_return_format='text' in the settings or profile.")
    assert max(map(len, output.splitlines())) <= 80
    assert KEY not in output


def test_the_json_is_the_report(endpoint: str):
    """Machines get every field."""
    report = json.loads(run('openai-chat:glm-4.7', '--json'))
    assert {name: value for name, value in report.items() if name != 'formats'} == {
        'base_url': f'{endpoint}/v1',
        'model_name': 'glm-4.7',
        'shown_by': 'llama.cpp',
        'evidence': 'prompt',
        'default': 'parts',
        'recommended': 'text',
        'recommendation': "Set openai_compatible_tool_return_format='text' in the settings or profile.",
    }
    assert [(entry['format'], entry['items']['reading']) for entry in report['formats']] == [
        ('parts', 'lost'),
        ('text', 'apart'),
        ('json', 'apart'),
    ]


def test_it_says_at_once_whom_it_asks_and_gives_up_in_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """A socket that accepts and never answers ends in one line."""
    with socket.create_server(('127.0.0.1', 0)) as silent:
        url = 'http://{}:{}/v1'.format(*silent.getsockname())
        monkeypatch.setenv('OPENAI_BASE_URL', url)
        with pytest.raises(SystemExit) as stopped:
            app(['probe', 'openai-chat:m', '--json', '--timeout', '0.2'], standalone_mode=False)
    assert stopped.value.code == f'{url} did not answer within 0.2 s. Is the model still loading?'
    assert capsys.readouterr() == ('', f'asking {url} (m)\n')


@pytest.mark.parametrize(
    ('model', 'environment', 'line'),
    [
        ('openai-chat:m', {'OPENAI_BASE_URL': 'http://127.0.0.1:9/v1'}, 'http://127.0.0.1:9/v1 cannot be reached'),
        ('openai-chat:m', {'OPENAI_API_KEY': 'sk-wrong-0123456789'}, 'refuses the key (HTTP 401)'),
        ('openai-chat:m', {'OPENAI_API_KEY': ''}, 'OPENAI_API_KEY'),
        ('openai-chat:', {}, "There is no model name: write it behind the prefix, as in 'openai-chat:glm-5'."),
        (
            'openai-chat:m',
            {'OPENAI_BASE_URL': '127.0.0.1:8000/v1'},
            "The base URL '127.0.0.1:8000/v1' does not begin with http:// or https://. Is it 'http://127.0.0.1:8000/v1'?",
        ),
        ('openai-chat:m', {'OPENAI_BASE_URL': 'me:sk-12345678@h/v1'}, "The base URL 'h/v1' does not begin with"),
        ('openai-chat:m', {'OPENAI_BASE_URL': 'ftp://h/v1'}, "The base URL 'h/v1' does not begin with"),
        ('nobody:m', {}, 'Unknown model: nobody:m'),
        ('test', {}, 'Only models that speak Chat Completions can be probed; TestModel does not.'),
    ],
)
def test_what_goes_wrong_is_one_line(
    endpoint: str, monkeypatch: pytest.MonkeyPatch, model: str, environment: dict[str, str], line: str
):
    """The exit status is 1, and there is neither traceback nor key in the line."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as stopped:
        app(['probe', model], standalone_mode=False)
    message = stopped.value.code
    assert isinstance(message, str)
    assert line in message
    assert '\n' not in message
    assert 'sk-' not in message


def test_the_installed_command_answers_with_its_status(endpoint: str):
    """The real command says the line on stderr and exits with 1."""
    environment = {**os.environ, 'OPENAI_API_KEY': 'sk-wrong-0123456789'}
    command = subprocess.run(
        [VERBATIM, 'probe', 'openai-chat:m'], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (command.returncode, command.stdout) == (1, '')
    assert command.stderr == (
        f'asking {endpoint}/v1 (m)\n{endpoint}/v1 refuses the key (HTTP 401). Check the key, and that it is one for this base URL.\n'
    )


STEERING = '\x1b]0;mine\x07\x1b[2J\u202e'
ESCAPED = r'\x1b]0;mine\x07\x1b[2J\u202e'


def test_a_server_s_words_do_not_steer_the_terminal(monkeypatch: pytest.MonkeyPatch):
    """Control characters in an error, in a rejection and in a prompt are shown as escapes."""
    refuse = JSONResponse({'error': {'message': STEERING}}, 400)
    with LoopbackServer(PromptingServer(refuses=lambda content: refuse)) as server:
        monkeypatch.setenv('OPENAI_BASE_URL', f'{server.url}/v1')
        with pytest.raises(SystemExit) as stopped:
            app(['probe', 'openai-chat:m'], standalone_mode=False)
    assert stopped.value.code == f"{server.url}/v1 does not answer for 'm': HTTP 400: {ESCAPED}"
    samples = Sample('', 'rejected', rejection=STEERING), Sample('', 'lost', prompt=STEERING)
    report = ProbeReport('http://h/v1', STEERING, None, 'replies', [FormatReport('text', *samples)], 'text', 'text', '')
    Console(width=120, file=(output := StringIO()), highlight=False).print(ReportView(report))
    assert output.getvalue().count(ESCAPED) == 3
    assert not {*STEERING} & {*output.getvalue()} - {*ESCAPED}


def test_without_a_prompt_the_table_says_what_there_was_to_see():
    """A rejection stands in the server's words, and a reply that told nothing is called that."""
    rejected = Sample([], 'rejected', rejection='HTTP 400: invalid type: sequence, [expected] a string')
    unknown = Sample('', 'unknown', prompt_tokens=40, repeated=False)
    formats = [FormatReport('parts', rejected, rejected), FormatReport('text', unknown, unknown)]
    view = ReportView(ProbeReport('http://h/v1', 'm', None, 'replies', formats, 'parts', 'text', 'Set it.'))
    Console(width=80, file=(output := StringIO()), highlight=False).print(view)
    text = output.getvalue()
    assert 'The server does not show its prompt' in text
    assert 'HTTP 400: invalid type: sequence' in text
    assert 'not to be seen (40 tokens)' in text
