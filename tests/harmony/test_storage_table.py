"""The table in the documentation is what its script measures."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_is_measured() -> None:
    lines = runpy.run_path(str(ROOT / 'benchmarks' / 'harmony_storage.py'))['table']()
    assert '\n'.join(lines) in (ROOT / 'docs' / 'harmony.md').read_text()
