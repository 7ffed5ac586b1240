"""What all tests share: the case files, and a guard against real requests."""

import json
from pathlib import Path
from typing import Any

import pydantic_ai.models
import pytest

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
    import os

    for name in list(os.environ):
        if name.endswith(('_API_KEY', '_BASE_URL', '_API_BASE', '_TOKEN')) or name.lower().endswith('_proxy'):
            monkeypatch.delenv(name)


pydantic_ai.models.ALLOW_MODEL_REQUESTS = True
