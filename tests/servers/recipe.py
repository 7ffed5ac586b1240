"""What a recipe says about a server; each module of `tests.servers.recipes` holds one, as `RECIPE`."""

import importlib
import os
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers import recipes
from tests.servers.environment import Environment
from tests.servers.families import FAMILIES, Family
from tests.servers.models import Format


@dataclass(frozen=True)
class Launch:
    """What a recipe's command line is made of."""

    environment: Environment
    family: Family
    model: Path
    port: int
    behind: str

    @property
    def name(self) -> str:
        """The family's name, by which requests ask for the model."""
        return self.family.name


@dataclass(frozen=True)
class Recipe:
    """How to install, start and ask one server.

    Args:
        name: As the folder of its cassettes is called.
        install: Fills its environment.
        distribution: The installed distribution whose version the cassettes name.
        families: The families that it can serve.
        command: Gives the command line. It runs in the folder of the models, so that no path need be absolute.
        format: What kind of model it reads.
        variables: Environment variables.
        ready: The path that answers once it is up.
        behind: The server that it forwards to.
        body: What a request carries besides, such as a wish to see the prompt.
        key: The key it wants, which no cassette holds.
        misreads: What the model answers where the server spoils native parts, by family.
        healed: The families for which the default notices that, and sends text.
    """

    name: str
    install: Callable[[Environment], None]
    distribution: str
    families: tuple[Family, ...]
    command: Callable[[Launch], list[str]]
    format: Format = 'hugging_face'
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    ready: str = '/health'
    behind: str | None = None
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    key: str = 'unused'
    misreads: Mapping[str, str] = field(default_factory=dict[str, str])
    healed: frozenset[str] = frozenset()


def named(served: str) -> tuple[Recipe, Family]:
    """Find a server and family by `SERVER/FAMILY` (a name, since pytest keeps a fixture up for equal hashable values)."""
    server, _, family = served.partition('/')
    return all_recipes()[server], FAMILIES[family]


def is_chosen(server: str, family: str) -> bool:
    """Whether tests are told of a server and family: of all, or of those that `SERVER` and `FAMILY` name."""
    chosen = {'SERVER': server, 'FAMILY': family}
    return all(os.environ.get(variable) in (None, '', name) for variable, name in chosen.items())


def all_recipes() -> dict[str, Recipe]:
    """Find every recipe by the name of its server."""
    modules = pkgutil.iter_modules(recipes.__path__)
    found = [importlib.import_module(f'{recipes.__name__}.{module.name}').RECIPE for module in modules]
    return {recipe.name: recipe for recipe in found}
