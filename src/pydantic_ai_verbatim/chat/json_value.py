"""JSON values as type checkers should see them."""

import json
from contextlib import suppress
from typing import Any, TypeAlias, TypeGuard

JsonObject: TypeAlias = dict[str, Any]


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def objects(value: object) -> list[JsonObject]:
    """Give the objects in a JSON value that should be a list of objects, or one of them by itself."""
    items = value if is_list(value) else [value]
    return [item for item in items if is_object(item)]


def list_of(value: object) -> list[Any]:
    """Give an array as it is, and an empty one for anything else."""
    return value if is_list(value) else []


def object_of(value: object) -> JsonObject:
    """Give an object as it is, and an empty one for anything else."""
    return value if is_object(value) else {}


def json_in(value: object) -> object:
    """Give the JSON object or array that a text holds, anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ('{', '['):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value
