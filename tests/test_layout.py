"""Imports go one way, the public names are what they are, and the package stays light to import."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pydantic_ai_verbatim

PACKAGE = Path(pydantic_ai_verbatim.__file__).parent
ROOT = PACKAGE.parents[1]

MAY_IMPORT = {
    '__init__': {'activation', 'registry', 'chat'},
    'errors': set[str](),
    'tool_returns': set[str](),
    'surrogates': set[str](),
    'json_text': set[str](),
    'registry': {'errors'},
    'activation': {'errors', 'registry'},
    'prefixes': {'chat', 'providers'},
    'providers': {'chat.profile', 'errors', 'tool_returns'},
    'chat': {
        'errors',
        'json_text',
        'surrogates',
        'tool_returns',
        'providers',
        'harmony.grammar',
        'harmony.header',
        'registry',
    },
    'harmony': {'errors', 'json_text', 'surrogates', 'tool_returns'},
    'cli': {'chat', 'errors', 'harmony', 'providers', 'registry', 'tool_returns', 'activation'},
}
"""What a module or folder may import of ours besides its own folder; a name allows what is below it."""

MODULES = sorted(PACKAGE.rglob('*.py'))


def name_of(path: Path) -> str:
    return '.'.join(path.relative_to(PACKAGE).with_suffix('').parts)


def imported(path: Path) -> Iterator[str]:
    """Give our own modules that a module imports, lazily or not, by their names inside the package."""
    folder = ['pydantic_ai_verbatim', *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            full = [*base, *(node.module.split('.') if node.module else [])]
            if full[:1] == ['pydantic_ai_verbatim']:
                yield from ('.'.join([*full[1:], alias.name]) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition('.')[2] for alias in node.names if alias.name.startswith(folder[0]))


@pytest.mark.parametrize('path', MODULES, ids=name_of)
def test_imports_go_one_way(path: Path) -> None:
    own = name_of(path).partition('.')[0]
    allowed = {*MAY_IMPORT[own], own}
    strays = [name for name in imported(path) if not any(f'{name}.'.startswith(f'{known}.') for known in allowed)]
    assert strays == []


def test_importing_the_package_loads_no_sdk_and_no_tokenizer() -> None:
    code = 'import pydantic_ai_verbatim, sys; print([m for m in ("openai", "tiktoken", "typer") if m in sys.modules])'
    assert subprocess.run([sys.executable, '-c', code], check=True, capture_output=True, text=True).stdout == '[]\n'


def test_every_public_name_is_there() -> None:
    for name in pydantic_ai_verbatim.__all__:
        assert getattr(pydantic_ai_verbatim, name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = pydantic_ai_verbatim.nothing  # pyright: ignore[reportAttributeAccessIssue]


def test_every_changelog_fragment_has_a_kind() -> None:
    """A badly named fragment would be dropped without a word."""
    names = [path.name for path in (ROOT / 'changelog' / 'unreleased').iterdir() if path.name != '.gitkeep']
    assert names
    assert all(
        name.startswith('+') and name.endswith(('.added.md', '.changed.md', '.fixed.md', '.removed.md'))
        for name in names
    )


def test_the_agents_file_stays_short() -> None:
    assert len((ROOT / 'AGENTS.md').read_text().splitlines()) <= 60


def test_the_documentation_index_names_every_page() -> None:
    index = (ROOT / 'docs' / 'README.md').read_text()
    assert [
        page.name for page in (ROOT / 'docs').glob('*.md') if page.name not in index and page.name != 'README.md'
    ] == []
