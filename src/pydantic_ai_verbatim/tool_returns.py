"""What a tool returned as a list, as the texts of its items: pure, and used by both halves.

An item's text is what upstream's `content_items(mode='str')` gives for it, so that a model reads an item of a list
exactly as it would read that item returned alone.
"""

import json
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from pydantic import RootModel
from pydantic_ai.messages import ERROR_OUTCOMES, ModelRequest, ModelRequestPart, ToolReturnPart

EMPTY_LIST = '[]'
"""What an empty list is sent as in every format: the model must tell "no results" from "no answer"."""

EMPTY_ITEM = '""'
"""What an item with an empty text is sent as: no content part is empty, and no position shifts.

Where no item holds more than white space, which some hosts reject, each is sent as its JSON text.
"""

_BLANK_ITEM = re.compile(r'"(?:\s|\\[nrtf]|\\u00[01].)*"')

_JSON_ARRAYS = (tuple, set, frozenset, deque)
"""What JSON has one form for, and a history that was reloaded from it a list."""


def collections_as_lists(request: ModelRequest) -> ModelRequest:
    """Give each tool return that is a tuple, a set, a deque or a model of one a list instead, as it is after a reload."""
    if not any(_is_collection(part) for part in request.parts):
        return request
    return replace(request, parts=[_as_list(part) for part in request.parts])


def _is_collection(part: ModelRequestPart) -> bool:
    if not isinstance(part, ToolReturnPart) or isinstance(part.content, list):
        return False
    return isinstance(_items(part), (list, *_JSON_ARRAYS))


def _items(part: ToolReturnPart) -> object:
    """Give the JSON that a model of one value becomes, and any other content as it is."""
    content: Any = part.content
    return content.model_dump(mode='json') if isinstance(content, RootModel) else content


def _as_list(part: ModelRequestPart) -> ModelRequestPart:
    if not _is_collection(part):
        return part
    tool_return = cast('ToolReturnPart', part)
    return replace(tool_return, content=list(cast('Iterable[Any]', _items(tool_return))))


def item_texts(part: ToolReturnPart) -> list[str] | None:
    """Give the text of each item of a list-typed return, or `None` where the return is not sent item by item.

    That is where the content is no list, where a file is in it (upstream sends files in a user message and names them
    in the text), and where the outcome is one of upstream's `ERROR_OUTCOMES`, whose `{"error": ...}` wrapping is kept.
    """
    if not isinstance(part.content, list) or part.outcome in ERROR_OUTCOMES or part.files:
        return None
    items = cast('list[str]', part.content_items(mode='str', wrap_if_error=False))
    texts = [str.__str__(item) for item in items]  # an enum's own `str()` would name its member
    is_blank = not any(text.strip() for text in texts)
    return [json.dumps(text, ensure_ascii=False) if is_blank else text or EMPTY_ITEM for text in texts]


def joined(part: ToolReturnPart, texts: list[str]) -> str:
    """Join the items by newlines; where that would hide their borders, give the list's JSON instead."""
    if any('\n' in text or _BLANK_ITEM.fullmatch(text) for text in texts):
        return as_json(part)
    return '\n'.join(texts) or EMPTY_LIST


def as_json(part: ToolReturnPart) -> str:
    """Give the list's JSON in one string."""
    return part.model_response_str() or EMPTY_LIST
