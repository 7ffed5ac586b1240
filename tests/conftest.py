"""What all tests share: the case files, and a guard against real requests."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# `make test` gives everybody the same examples; `make fuzz` searches for new ones.
settings.register_profile('test', derandomize=True, deadline=None)
settings.register_profile('fuzz', deadline=None)
settings.load_profile(os.environ.get('HYPOTHESIS_PROFILE', 'test'))

CASES = Path(__file__).parent / 'cases'


def load_cases(name: str) -> list[Any]:
    """Read `tests/cases/NAME.jsonl` as pytest parameters, one a line, each with its own id."""
    cases = [json.loads(line) for line in (CASES / f'{name}.jsonl').read_text().splitlines()]
    return [pytest.param(case, id=case['id']) for case in cases]


@pytest.fixture
def anyio_backend() -> str:
    return 'asyncio'


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the developer's own keys, base URLs or proxies."""
    for name in list(os.environ):
        if name.endswith(('_API_KEY', '_BASE_URL', '_API_BASE', '_TOKEN')) or name.lower().endswith('_proxy'):
            monkeypatch.delenv(name)
