"""Replays: exchanges from `cassettes/`, with the network blocked; `make record SERVER=...` records them anew."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from vcr import VCR  # pyright: ignore[reportMissingTypeStubs]

from pydantic_ai_verbatim import forget
from tests.servers.cassettes import FOLDER, ROOT, VCR_CONFIG, Serializer, only_content, without_traces
from tests.servers.process import running
from tests.servers.recipe import named
from tests.servers.templates import SOURCE

ORIGIN = pytest.StashKey[Mapping[str, str]]()


def pytest_recording_configure(config: pytest.Config, vcr: VCR) -> None:
    origin = config.stash.get(ORIGIN, None) or {}
    vcr.register_serializer('yaml', Serializer(origin))  # pyright: ignore[reportUnknownMemberType]


@pytest.fixture(autouse=True)
def nothing_learned() -> Iterator[None]:
    """Each replay finds its endpoint unknown."""
    forget()
    yield
    forget()


@pytest.fixture(scope='session')
def root(request: pytest.FixtureRequest, record_mode: str) -> Iterator[str]:
    """Give the root of a server with a family's model, named `SERVER/FAMILY`; only a recording starts it."""
    recipe, family = named(request.param)
    if record_mode == 'none':
        yield ROOT
        return
    with running(recipe, family) as live:
        request.config.stash[ORIGIN] = {
            'origin': 'recorded',
            'server': recipe.name,
            'version': live.version,
            'family': family.name,
            'template': f'{family.template} of {SOURCE}',
        }
        yield live.root


@pytest.fixture
def vcr_config(request: pytest.FixtureRequest) -> dict[str, Any]:
    if 'root' in request.fixturenames:
        request.getfixturevalue('root')  # a server must be up before its cassette is opened
    return {**VCR_CONFIG, 'before_record_request': without_traces, 'before_record_response': only_content}


@pytest.fixture(scope='session')
def vcr_cassette_dir() -> str:
    return str(FOLDER)
