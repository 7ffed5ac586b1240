"""A model string `'prefix:name'` to a model, through the entry points in the group `pydantic_ai_verbatim.models`.

A look-up and nothing else: only the factory that was asked for is imported, so a broken package harms no other.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, cast

import pydantic_ai.models
from pydantic_ai.models import Model
from pydantic_ai.providers import Provider

from .errors import BrokenEntryPointError, PrefixConflictError

GROUP = 'pydantic_ai_verbatim.models'
"""The entry-point group; a name in it is a model prefix."""


class ModelFactory(Protocol):
    """What an entry point of the group names: it makes the model of a prefix."""

    def __call__(self, model_name: str, /, *, provider: Provider[Any] | None = None) -> Model:
        """Make the model.

        Args:
            model_name: What stands behind the prefix and its colon.
            provider: The provider to use instead of the prefix's own.
        """
        ...


def infer_model(model: Model | str) -> Model:
    """Make a model from a string such as `'openai-chat:glm-5'`; a model is returned as it is.

    Args:
        model: A model string. One whose prefix nobody declared is left to pydantic-ai.

    Returns:
        The model; for our own prefixes an `OpenAICompatibleModel`.

    Raises:
        UserError: For an unknown prefix, a missing key (the message names its variables), a prefix that two packages
            claim, or one whose package cannot be imported.
    """
    if isinstance(model, Model):
        return model
    return resolve(model) or pydantic_ai.models.infer_model(model)


def resolve(model_id: str) -> Model | None:
    """Make the model of a model string, or give `None` where no package declares its prefix."""
    found = find(model_id)
    return found[0](found[1]) if found else None


def find(model_id: str) -> tuple[ModelFactory, str] | None:
    """Give the factory and the model name of a model string, or `None` where no package declares its prefix."""
    prefix, colon, model_name = model_id.partition(':')
    if not colon or prefix not in _claims():
        return None
    return _factory(prefix), model_name


def prefixes() -> list[str]:
    """Give every declared prefix, our own and those of other packages, sorted."""
    return sorted(_claims())


def _factory(prefix: str) -> ModelFactory:
    claims = _claims()[prefix]
    if len(claims) > 1:
        raise PrefixConflictError(prefix, [_shown(claim) for claim in claims])
    try:
        factory = claims[0].load()
    except (Exception, SystemExit) as error:
        raise BrokenEntryPointError(prefix, _shown(claims[0]), f'{type(error).__name__}: {error}') from error
    if not callable(factory):
        raise BrokenEntryPointError(prefix, _shown(claims[0]), f'it is no function but a {type(factory).__name__}')
    return cast('ModelFactory', factory)


@cache
def _claims() -> dict[str, list[EntryPoint]]:
    """Read the installed packages' metadata once a process; a package seen twice on the path claims once."""
    claims: dict[str, dict[str, EntryPoint]] = {}
    for entry_point in entry_points(group=GROUP):
        claims.setdefault(entry_point.name, {}).setdefault(_shown(entry_point), entry_point)
    return {prefix: list(claim.values()) for prefix, claim in claims.items()}


def _shown(entry_point: EntryPoint) -> str:
    distribution = entry_point.dist.name if entry_point.dist else 'an unnamed distribution'
    return f'{distribution} ({entry_point.value})'
