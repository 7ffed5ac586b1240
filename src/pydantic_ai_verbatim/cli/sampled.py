"""What `verbatim harmony` is given, read: a sample as text, or as token ids; what is neither is said in one line."""

import re
import sys
from json import loads
from pathlib import Path
from typing import Any, cast

from pydantic_ai.exceptions import UserError

from ..harmony.grammar import MARKER, OPENING, STOP_TOKENS

_STDIN = Path('-')
_OPENING_IDS = [200006, 173781]
_BEGINS_LIST = re.compile(r'\s*\[\s*\d')


def read_sampled(file: Path) -> str | list[int]:
    """Read a sample.

    Args:
        file: Where it is; `-` is standard input.

    Raises:
        UserError: The file cannot be read, is empty, is not UTF-8, or is meant as a list of token ids and is
            none.
    """
    name = 'standard input' if file == _STDIN else str(file)
    try:
        data = sys.stdin.buffer.read() if file == _STDIN else file.read_bytes()
        text = data.decode()
    except OSError as error:
        raise UserError(f'{name}: {error.strerror}.') from None
    except UnicodeDecodeError as error:
        remedy = 'save it as UTF-8, or give the token ids as a JSON list'
        raise UserError(f'{name} is not UTF-8 text (byte {error.start}): {remedy}.') from None
    if not text:
        raise UserError(f'{name} is empty: give what was sampled after {OPENING}.')
    return _text_or_ids(text, name)


def without_opening(sampled: str | list[int]) -> str | list[int]:
    """Take away the `<|start|>assistant` that a sample follows, where it was given with it."""
    if isinstance(sampled, str):
        return sampled.removeprefix(OPENING)
    return sampled[2:] if sampled[:2] == _OPENING_IDS else sampled


def _text_or_ids(text: str, name: str) -> str | list[int]:
    """Take a JSON list of whole numbers for token ids, and what is meant as nothing else for text as it is."""
    try:
        loaded: Any = loads(text)
    except (ValueError, RecursionError):
        loaded = None
    if isinstance(loaded, list) and all(type(token) is int for token in cast('list[Any]', loaded)):
        return cast('list[int]', loaded)
    if isinstance(loaded, dict) and 'choices' in loaded:
        raise UserError(f"{name} is a server's reply: give the text of its choice as it is, or its token ids.")
    if _BEGINS_LIST.match(text) and not MARKER.search(text):
        raise UserError(f'{name} begins like a list of token ids, and is no JSON list of whole numbers.')
    return _without_newline(text)


def _without_newline(text: str) -> str:
    """Take away the newline that ends a file of lines; in a body that has no end it may have been sampled."""
    sampled = text.removesuffix('\n').removesuffix('\r')
    return sampled if sampled.endswith(STOP_TOKENS) else text
