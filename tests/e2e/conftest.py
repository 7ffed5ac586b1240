"""Live servers: `make e2e` runs these tests, `make test` does not even collect them."""

import os
from collections.abc import Iterator

import pytest

from pydantic_ai_verbatim import forget
from tests.servers.process import running
from tests.servers.recipe import named

if not os.environ.get('SERVER'):
    collect_ignore_glob = ['test_*.py']


@pytest.fixture(autouse=True)
def nothing_learned() -> Iterator[None]:
    """Each run finds its endpoint unknown."""
    forget()
    yield
    forget()


@pytest.fixture(scope='session')
def root(request: pytest.FixtureRequest) -> Iterator[str]:
    """Give the root of a server, which runs with a family's model for as long as their tests."""
    with running(*named(request.param)) as live:
        yield live.root
