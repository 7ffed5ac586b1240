"""Lone surrogates, halves of characters: JSON's escapes can name them, but UTF-8 has no form for them.

A text that holds one can be neither stored nor sent. Pure, and used by both halves.
"""

import re
from collections.abc import Iterable
from typing import Any, cast

from pydantic_core import to_jsonable_python

_SURROGATE = re.compile('[\ud800-\udfff]')


def is_storable(value: Any) -> bool:
    """Whether a JSON value, however deep, holds no lone surrogate."""
    waiting = [value]
    while waiting:
        match item := waiting.pop():
            case str():
                if not item.isascii() and _SURROGATE.search(item):
                    return False
            case dict():
                waiting += cast('dict[Any, Any]', item)
                waiting += cast('dict[Any, Any]', item).values()
            case list():
                waiting += cast('list[Any]', item)
            case _:
                pass
    return True


def storable(text: str) -> str:
    """Give the text as JSON can hold it: each lone surrogate becomes U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub('\ufffd', text)


def storable_value(value: Any) -> Any:
    """Give a value as JSON can hold it, its texts as `storable` gives them."""
    match value:
        case str():
            return storable(value)
        case dict():
            return {storable_value(key): storable_value(item) for key, item in cast('dict[Any, Any]', value).items()}
        case list() | tuple():
            items = map(storable_value, cast('Iterable[Any]', value))
            return list(items) if isinstance(value, list) else tuple(items)
        case _:
            plain: Any = to_jsonable_python(value)
            return storable_value(plain) if isinstance(plain, str | dict | list) else value


def ends_with_half(text: str) -> bool:
    """Whether a text ends with the first half of a character, as a server cuts it that counts in UTF-16."""
    return not text.isascii() and '\ud800' <= text[-1] <= '\udbff'


def joined_halves(half: str, text: str) -> tuple[str, str]:
    """Put the half of a character before a text, and take the half at its end from it.

    Returns:
        The text, in which any other half is U+FFFD, and the half that waits for the other one.
    """
    if half:
        text = (half + text).encode('utf-16', 'surrogatepass').decode('utf-16', 'surrogatepass')
    return (storable(text[:-1]), text[-1]) if ends_with_half(text) else (storable(text), '')
