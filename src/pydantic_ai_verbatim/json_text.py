"""What a JSON text holds, by the standard: no `NaN`, no control characters, nothing behind it. Pure, for both halves."""

from json import JSONDecoder
from typing import Any, NoReturn


def parsed(text: str) -> Any:
    """Parse a JSON text, to look at it and to compare it.

    Returns:
        The value, in which a number is a tuple of its digits: none is too long, and `1` is neither `1.0` nor `true`.
        `None` where the text is no JSON, or nested too deeply.
    """
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def is_json_object(text: str) -> bool:
    """Whether a text is a JSON object."""
    return isinstance(parsed(text), dict)


def _digits(number: str) -> tuple[str]:
    return (number,)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


_DECODER = JSONDecoder(parse_int=_digits, parse_float=_digits, parse_constant=_refuse)
