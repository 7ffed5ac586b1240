"""Start a recipe's server on a free loopback port, wait until it answers, and stop it by its own process id."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.servers.environment import HOME, Environment
from tests.servers.families import Family
from tests.servers.models import FOLDER, model
from tests.servers.recipe import Launch, Recipe, all_recipes

PATIENCE = 300  # seconds until a server must answer


@dataclass(frozen=True)
class Running:
    """A server that answers."""

    root: str
    version: str


@contextmanager
def running(recipe: Recipe, family: Family) -> Generator[Running]:
    """Install a server if need be, and run it with a family's model; what it forwards to runs beside it."""
    signal.signal(signal.SIGTERM, _terminate)  # so that what runs is stopped then, too
    environment = _installed(recipe)
    version = f'{recipe.distribution} {environment.version(recipe.distribution)}'
    if recipe.behind is None:
        with _started(recipe, environment, family, behind='') as root:
            yield Running(root, version)
        return
    with (
        running(all_recipes()[recipe.behind], family) as upstream,
        _started(recipe, environment, family, behind=upstream.root) as root,
    ):
        yield Running(root, f'{version} in front of {recipe.behind}, {upstream.version}')


def _terminate(signum: int, frame: object) -> None:
    sys.exit('terminated')


def _installed(recipe: Recipe) -> Environment:
    environment = Environment(recipe.name)
    mark = environment.folder / 'complete'
    if not mark.exists():
        environment.create()
        recipe.install(environment)
        mark.touch()
    return environment


@contextmanager
def _started(recipe: Recipe, environment: Environment, family: Family, behind: str) -> Generator[str]:
    port = _free_port()
    launch = Launch(environment, family, model(family, recipe.format), port, behind)
    logs = HOME / 'logs'
    logs.mkdir(exist_ok=True)
    with (logs / f'{recipe.name}-{family.name}.log').open('w') as log:
        process = subprocess.Popen(
            recipe.command(launch),
            cwd=FOLDER,
            env=_variables(recipe),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            root = f'http://127.0.0.1:{port}'
            _wait(process, root + recipe.ready, log.name)
            yield root
        finally:
            _stop(process)


def _variables(recipe: Recipe) -> dict[str, str]:
    """Give the server a plain environment: no proxy, no key of the developer's."""
    kept = {name: os.environ[name] for name in ('PATH', 'HOME', 'LANG', 'TMPDIR') if name in os.environ}
    return {**kept, 'HF_HUB_OFFLINE': '1', **recipe.variables}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def _wait(process: subprocess.Popen[bytes], url: str, log: str) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with direct.open(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f'the server did not come up: see {log}')


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server with the workers it started: they are in its own session, so its id names them all."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sent)
            process.wait(timeout=20)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
