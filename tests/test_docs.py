"""Every example of the README and the docs runs, and prints what it says."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from pydantic_ai_verbatim import forget, uninstall
from tests.wire import Wire, body, call, reply_to

ROOT = Path(__file__).parents[1]


def scripted(request: httpx2.Request) -> httpx2.Response:
    """Call the tool there is, then count the results in its message; without a tool, greet."""
    if not request.url.path.endswith('/chat/completions'):
        return httpx2.Response(404)
    asked: Any = body(request)
    last = asked['messages'][-1]
    if last['role'] == 'tool':
        count = len(last['content']) if isinstance(last['content'], list) else 1
        return reply_to(request, {'content': f'I read {count} result{"s" * (count > 1)}.'})
    if tools := asked.get('tools'):
        arguments = '{"query":"lists"}' if tools[0]['function']['parameters'].get('required') else '{}'
        return reply_to(request, {'tool_calls': [call('search', arguments)]})
    return reply_to(request, {'content': 'Hello.'})


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every client goes to the scripted server; `run_sync` gets an event loop that is closed again."""
    wire = Wire(scripted)
    monkeypatch.setattr('pydantic_ai.providers._openai_compatible.create_async_httpx2_client', wire.new_client)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)
    uninstall()
    forget()


EXAMPLE = re.compile(r'^```python(?: env="(?P<env>[^"]*)")?\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(example, id=f'{page.name}:{page.read_text().count(chr(10), 0, example.start()) + 1}')
    for page in sorted([*ROOT.glob('docs/**/*.md'), ROOT / 'README.md'])
    for example in EXAMPLE.finditer(page.read_text())
]


@pytest.mark.parametrize('example', EXAMPLES)
def test_example(example: re.Match[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An example may set environment variables beside its language; what it prints stands in `# >` comments."""
    for variable in (example['env'] or '').split():
        monkeypatch.setenv(*variable.split('=', 1))
    exec(compile(example['code'], 'example', 'exec'), {'__name__': 'example'})  # noqa: S102  # it is our own
    assert capsys.readouterr().out.splitlines() == re.findall(r'^# > (.*)$', example['code'], re.MULTILINE)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 8
