"""Repairs of single fields, shared by whole replies and streams: pure functions.

Each gives back the very object it got when nothing is wrong with it, so that a caller can tell by identity.
"""

import json
from collections.abc import Mapping
from types import UnionType
from typing import Any

from pydantic_ai.messages import FinishReason

from ..surrogates import storable
from .json_value import JsonObject, is_list, is_object, list_of, objects

VENDOR_FINISH_REASONS: dict[str, FinishReason] = {
    'abort': 'error',  # vLLM, SGLang
    'aborted': 'error',
    'blocklist': 'content_filter',  # Gemini
    'canceled': 'error',
    'cancelled': 'error',
    'complete': 'stop',  # Cohere
    'completed': 'stop',
    'content_filtered': 'content_filter',
    'context_length_exceeded': 'length',
    'done': 'stop',
    'end_turn': 'stop',  # Anthropic's words, through gateways
    'eos': 'stop',  # TGI, Together
    'eos_token': 'stop',
    'error': 'error',
    'failed': 'error',
    'finished': 'stop',
    'function_call_filter': 'error',  # Gemini, through gateways
    'guardrail_intervened': 'content_filter',  # Bedrock
    'insufficient_system_resource': 'error',  # DeepSeek
    'length_limit': 'length',
    'malformed_function_call': 'error',  # Gemini
    'max_length': 'length',
    'max_output_tokens': 'length',
    'max_tokens': 'length',
    'model_context_window_exceeded': 'length',  # Z.ai
    'model_length': 'length',  # Mistral
    'network_error': 'error',  # Z.ai
    'overloaded': 'error',
    'prohibited_content': 'content_filter',  # Gemini
    'recitation': 'content_filter',
    'refusal': 'content_filter',
    'safety': 'content_filter',
    'sensitive': 'content_filter',  # Z.ai
    'spii': 'content_filter',  # Gemini
    'server_error': 'error',
    'stop_sequence': 'stop',
    'timeout': 'error',
    'tool_call': 'tool_call',
    'tool_use': 'tool_call',
    'tooluse': 'tool_call',  # AI SDKs, through gateways
    'unexpected_tool_call': 'error',  # Gemini
}
"""The finish reasons of vendors that are not OpenAI's, in lower case with underscores, without Gemini's `IMAGE_`."""

WORDS_FOR_NOTHING = ('null', 'None', 'none', 'undefined')
"""What some servers write in place of an id or of a name that they do not have."""

OPENAI_FINISH_REASONS: dict[FinishReason, str] = {
    'stop': 'stop',
    'length': 'length',
    'content_filter': 'content_filter',
    'tool_call': 'tool_calls',
    'error': 'error',
}

LATEST = 253_402_300_799_999  # the year 9999 in milliseconds: the last that pydantic reads as a date


def changed(original: JsonObject, **changes: Any) -> JsonObject:
    """Give the object with some fields changed, or the object itself where none differs."""
    for key, new in changes.items():
        old = original.get(key, _ABSENT)
        if old is not new and (type(old) is not type(new) or type(new) not in (str, int) or old != new):
            return {**original, **changes}
    return original


_ABSENT = object()


def same_if_equal(original: list[Any], repaired: list[Any]) -> list[Any]:
    """Give the list as it was where each item of the repaired one is the very item that stood there."""
    is_same = len(original) == len(repaired) and all(new is old for new, old in zip(repaired, original, strict=True))
    return original if is_same else repaired


def as_text(value: object) -> str:
    """Give a JSON value as text: a string as it is, nothing for `null`, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    return '' if value is None else json.dumps(value, ensure_ascii=False, separators=(',', ':'))


def excerpt(value: object, limit: int = 500) -> str:
    """Give the server's own words, shortened for an error message."""
    if is_object(value):  # without the fields that the SDK added
        value = {key: item for key, item in value.items() if item is not None}
    text = as_text(value).strip()
    return text if len(text) <= limit else f'{text[:limit]}…'


def identifier(value: object) -> str:
    """Give an id as a string: a number by its digits, anything that is no id as the empty string."""
    if isinstance(value, str):
        return '' if value in WORDS_FOR_NOTHING else storable(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ''


def position(value: object) -> int | None:
    """Give an index as an integer, from a number or its digits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 10 else None


def created_at(value: object) -> int:
    """Give a creation time as an integer, and 0 (none) for what is no time."""
    if isinstance(value, str) and value.isdecimal() and len(value) <= len(str(LATEST)):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LATEST:
        return 0
    return value if isinstance(value, int) else int(value)


def string_or_none(value: object) -> str | None:
    """Give a string as it is, and `None` for anything else."""
    return value if isinstance(value, str) else None


def finish_reason(value: object, allowed: Mapping[str, str] | None) -> str | None:
    """Give a finish reason as upstream can read it: an empty one or one that is no string is missing.

    The vendor's own word is kept; only where upstream's class admits no others is it replaced by its meaning.
    """
    if is_object(value):
        value = next((value[key] for key in ('type', 'reason') if value.get(key)), None)
    if not isinstance(value, str) or value.strip().lower() in ('', 'null', 'none'):
        return None
    if allowed is None or value in allowed.values():
        return value
    meaning = meaning_of(value)
    return allowed.get(value) or (allowed.get(OPENAI_FINISH_REASONS[meaning]) if meaning else None)


def meaning_of(key: str) -> FinishReason | None:
    """Give the meaning of a vendor's own finish reason, `None` where it is not known."""
    word = key.lower().partition(':')[0].strip().replace('-', '_').removeprefix('finish_reason_')
    for meaning, openais in OPENAI_FINISH_REASONS.items():
        if word == openais:
            return meaning
    return VENDOR_FINISH_REASONS.get(word.removeprefix('image_'))


# Usage ---------------------------------------------------------------------------------------------------------------

_COUNTS = {
    'prompt_tokens': ('prompt_tokens', 'input_tokens', 'promptTokens', 'inputTokens', 'promptTokenCount'),
    'completion_tokens': (
        'completion_tokens',
        'output_tokens',
        'completionTokens',
        'outputTokens',
        'candidatesTokenCount',
    ),
}
"""OpenAI's names of the counts, with those that others give them (Anthropic, AI SDKs, Gemini)."""

_DETAILS = ('prompt_tokens_details', 'completion_tokens_details')
_TOO_MANY = 10**15  # beyond it, a count is none, and beyond 64 bits upstream's arithmetic fails


def usage_in(body: JsonObject) -> object:
    """Find the usage of a reply: its own, or that of a choice (Moonshot's streams) or of `x_groq` (Groq's)."""
    holders = [body, *objects(body.get('choices')), *objects(body.get('x_groq'))]
    return next((holder['usage'] for holder in holders if holder.get('usage')), body.get('usage'))


def usage_of(value: object) -> JsonObject | None:
    """Give a usage that upstream can read: counts are integers, details are objects, and nothing else is touched."""
    if not is_object(value):
        return None
    if _is_sound(value):
        return value
    counts = {name: _count(*map(value.get, names)) for name, names in _COUNTS.items()}
    details = {name: _detail_counts(value[name]) for name in _DETAILS if name in value}
    return {**value, **counts, **details, 'total_tokens': _count(value.get('total_tokens'), sum(counts.values()))}


def _is_sound(usage: JsonObject) -> bool:
    return (
        _is_count(usage.get('prompt_tokens'))
        and _is_count(usage.get('completion_tokens'))
        and _is_count(usage.get('total_tokens'))
        and all(_are_sound_details(usage.get(name)) for name in _DETAILS)
    )


def _are_sound_details(details: object) -> bool:
    return details is None or (
        is_object(details) and all(value is None or _is_count(value) for value in details.values())
    )


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _TOO_MANY


def _count(*values: object) -> int:
    for value in values:
        if isinstance(value, str) and value.isdecimal() and len(value) < 16:
            return int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _TOO_MANY:
            return int(value)
    return 0


def _detail_counts(details: object) -> JsonObject | None:
    if not is_object(details):
        return None
    return {name: None if value is None else _count(value) for name, value in details.items()}


_COSTS: dict[str, type | UnionType] = {
    'cost': int | float,
    'is_byok': bool,
    'cost_details': dict,
    'server_tool_use_details': dict,
}


def without_odd_costs(usage: JsonObject | None) -> JsonObject | None:
    """Leave out of a usage the fields of OpenRouter's own that its upstream class would fail the whole reply for."""
    odd = [name for name, kind in _COSTS.items() if not isinstance((usage or {}).get(name), kind | None)]
    return {**(usage or {}), **dict.fromkeys(odd)} if odd else usage


def later_usage(earlier: JsonObject, later: JsonObject) -> JsonObject:
    """Give what two reports of one reply's usage say together.

    A repeated or cumulative report replaces the earlier one; counts that a report leaves out or gives as 0 stay.
    """
    return {**earlier, **{name: _later(earlier.get(name), value) for name, value in later.items()}}


def _later(earlier: Any, later: Any) -> Any:
    if is_object(earlier) and is_object(later):
        return later_usage(earlier, later)
    if isinstance(earlier, int | float) and isinstance(later, int | float):
        return max(earlier, later)
    return earlier if later is None else later


# Content -------------------------------------------------------------------------------------------------------------

_TEXT_TYPES = ('text', 'output_text', None)


def content_of(value: object) -> str | list[Any] | None:
    """Give a message's content as a string, or as the list of parts that upstream joins.

    A server that has parsed the model's JSON answer gives an object or a number: that is its JSON text.
    """
    if value is None or isinstance(value, str):
        return value
    if is_list(value):
        return _parts(value)
    part = _text_part(value)
    return as_text(part['text'] if part else value)


_THINKING_TYPES = ('thinking', 'reasoning')


def without_thinking(value: object) -> tuple[object, str | None]:
    """Take from a content the parts that are thinking (Mistral's `{'type': 'thinking', 'thinking': [...]}`).

    Returns:
        The content without them, and their text; the very content and `None` where there are none.
    """
    parts = value if is_list(value) else objects(value)
    thinking = [part for part in objects(parts) if part.get('type') in _THINKING_TYPES]
    if not thinking:
        return value, None
    return [part for part in parts if part not in thinking] or None, reasoning_of(thinking)


def joined_text(content: Any) -> str:
    """Give the text of a content, joined from its parts as upstream does it."""
    if is_list(content):
        texts = [item.get('text') if is_object(item) else item for item in content]
        return ''.join(text for text in texts if isinstance(text, str))
    return content or ''


def _parts(items: list[Any]) -> list[Any]:
    return same_if_equal(items, [_text_part(item) or item for item in items])


def _text_part(item: object) -> JsonObject | None:
    """Give a part that holds text as upstream knows it, `None` for any other value."""
    if not is_object(item):
        return None
    text = item['text'].get('value') if is_object(item.get('text')) else item.get('text', item.get('content'))
    if item.get('type') not in _TEXT_TYPES or not isinstance(text, str):
        return None
    return changed(item, type='text', text=text)


def reasoning_of(value: object) -> str | None:
    """Give the text of a reasoning field that is no string: the texts in a part or in a list of parts."""
    if isinstance(value, str):
        return value
    items = value if is_list(value) else [value]
    return ''.join(_reasoning_text(item) for item in items if item) or None


def _reasoning_text(item: object) -> str:
    if isinstance(item, str):
        return item
    if not is_object(item):
        return as_text(item)
    for key in ('text', 'content', 'summary', 'thinking'):
        if isinstance(item.get(key), str):
            return item[key]
    nested = [part['text'] for part in objects(item.get('thinking')) if isinstance(part.get('text'), str)]
    return ''.join(nested) if nested else as_text(item)


def logprobs_of(value: object) -> JsonObject | None:
    """Give log-probabilities in OpenAI's shape, `None` for any other (the legacy completions' shape for one)."""
    if not is_object(value):
        return None
    return changed(value, **{name: _tokens(value[name]) for name in ('content', 'refusal') if name in value})


def _tokens(value: object) -> list[Any] | None:
    if not is_list(value):
        return None
    tokens = [_token(item) for item in value]
    return None if None in tokens else same_if_equal(value, tokens)


def _token(item: object) -> JsonObject | None:
    if not is_object(item):
        return None
    if not isinstance(item.get('token'), str) or not isinstance(item.get('logprob'), int | float):
        return None
    top = item.get('top_logprobs')
    fixed = [token for token in map(_token, list_of(top)) if token]
    return changed(item, top_logprobs=top if fixed == top else fixed, bytes=_byte_list(item.get('bytes')))


def _byte_list(value: object) -> object:
    return value if is_list(value) and all(type(item) is int for item in value) else None


def annotations_of(value: object, types: frozenset[str]) -> list[JsonObject] | None:
    """Give the annotations that upstream's class can read; others would fail the whole reply."""
    if not is_list(value):
        return None
    sound = [item for item in value if _is_annotation(item, types)]
    return value if len(sound) == len(value) else sound


_CITATION = {'url': str, 'title': str, 'start_index': int, 'end_index': int}


def _is_annotation(item: object, types: frozenset[str]) -> bool:
    if not is_object(item):
        return False
    if not isinstance(item.get('type'), str) or item['type'] not in types:
        return False
    if item.get('type') == 'file':
        return item.get('file') is None or is_object(item['file'])
    citation = item.get('url_citation')
    return is_object(citation) and all(type(citation.get(name)) is kind for name, kind in _CITATION.items())
