"""Repairs of tool calls, for a whole reply: each call gets a name, a string of arguments and an id of its own.

A tool's name is never invented, and argument text is never changed, but for one that was encoded twice.
"""

import re
from dataclasses import dataclass
from typing import Any

from ..harmony.header import NAMESPACE, NO_TOOLS, read_header, repair_tool_name
from ..json_text import is_json_object, parsed
from ..surrogates import is_storable, storable
from .dialect import Dialect
from .faults import raise_unreadable
from .fields import WORDS_FOR_NOTHING, as_text, changed, identifier, same_if_equal
from .json_value import JsonObject, is_list, is_object, json_in, list_of, objects

HEADER_CONTENT_TYPE = 'header_content_type'
"""Where a call holds the content type of a header that leaked into its name; no wire format knows this key."""


@dataclass(frozen=True)
class Leak:
    """What a tool name says that holds a Harmony header.

    Attributes:
        name: The tool's name, `None` where the header is addressed to no tool.
        channel: The channel of the message.
        content_type: The content type of the message.
    """

    name: str | None
    channel: str | None = None
    content_type: str | None = None


def read_name(name: str, dialect: Dialect) -> Leak:
    """Read a tool's name, and the header in it where a gpt-oss leaked one (`execute_code<|channel|>commentary`).

    Servers cut the header before the recipient, so the name is read as the header's rest, by the header's own rules. A
    name that no tool has is repaired into one that is declared, as the Harmony adapter does it.
    """
    if not dialect.leaks_harmony or name in dialect.tools:
        return Leak(name)
    if not (name in NO_TOOLS or _HEADER.search(name)):
        return Leak(repair_tool_name(name, dialect.tools))
    header = read_header(f'to={_BEHIND.sub("", name)}')
    named = header.recipient if header.recipient in dialect.tools else header.tool_name
    return Leak(named and repair_tool_name(named, dialect.tools), header.channel, header.content_type)


_BEHIND = re.compile(r'<(\|[a-z]*\|?)?$|(?<=[\w.-])<\|(start|end|call|return)\|>(?!.*to=).*', re.DOTALL)
"""What is no part of the header: a marker that is cut off, and all from the marker on that ends it."""

_HEADER = re.compile(rf'<\|?|\s|to=|^{re.escape(NAMESPACE)}')
"""What stands in a header, and in no tool's name."""


def argument_text(value: object) -> str:
    """Give arguments as text: a string as it came, an object as its JSON, nothing for `null`."""
    return value if isinstance(value, str) else as_text(value)


def decoded_once(text: str) -> str | None:
    """Give the arguments inside a text that was encoded twice, `None` where it was not."""
    if not text.lstrip().startswith('"'):
        return None
    inner = parsed(text)
    if not isinstance(inner, str):
        return None
    return inner if is_json_object(inner) else decoded_once(inner)


def unflattened(call: JsonObject) -> JsonObject:
    """Give the call with its `function` object and its `arguments`, where a server put or named them otherwise."""
    function = json_in(call.get('function'))
    if not is_object(function):
        named = {'name': function} if isinstance(function, str) else {}
        function = named | {key: call[key] for key in ('name', 'arguments', *_ARGUMENT_NAMES) if key in call}
    elif not function.get('name') and isinstance(call.get('name'), str):
        function = {**function, 'name': call['name']}
    if function.get('arguments') in (None, ''):
        named = next((function[key] for key in _ARGUMENT_NAMES if function.get(key) is not None), None)
        function = function if named is None else {**function, 'arguments': named}
    return call if function is call.get('function') else {**call, 'function': function}


_ARGUMENT_NAMES = ('parameters', 'input', 'args')


def calls_in(message: JsonObject) -> list[Any]:
    """Give a message's tool calls as a list: its own, or one by itself, the legacy `function_call`, parts of its content."""
    calls = json_in(message.get('tool_calls'))
    if calls and not (isinstance(calls, str) and calls.strip().lower() in _NO_CALLS):
        if is_object(calls) and all(map(str.isdecimal, calls)):  # a list that became an object, by its places
            return list(calls.values())
        return calls if is_list(calls) else [calls]
    functions = [function for function in objects(message.get('function_call')) if not _is_stub(function)]
    legacy = [{'type': 'function', 'function': function} for function in functions]
    return legacy or [part for part in objects(list_of(message.get('content'))) if _is_call(part)]


_NO_CALLS = ('', 'none', 'null')


def _is_call(part: JsonObject) -> bool:
    """Whether a part of a content calls a tool, and names it."""
    return part.get('type') in _CALL_TYPES and isinstance(part.get('name'), str)


_CALL_TYPES = ('tool_use', 'tool_call', 'function_call')  # Anthropic's, through gateways; others'


def _is_stub(function: JsonObject) -> bool:
    """Whether a `function_call` is none: some servers always send one, which names no function."""
    return not function.get('name') and argument_text(function.get('arguments')).strip() in ('', '{}')


def name_in(function: JsonObject) -> str:
    """Give the name in a function, and the empty string for what is no name."""
    name = function.get('name')
    return storable(name) if isinstance(name, str) else ''


def is_blank(call: object) -> bool:
    """Whether a call says nothing at all: it has neither a name nor arguments nor an id."""
    if not is_object(call):
        return call is None
    return all(
        not value or name in ('type', 'index') or (name == 'function' and is_blank(value))
        for name, value in call.items()
    )


def repaired_calls(calls: list[Any], dialect: Dialect) -> list[JsonObject]:
    """Give well-formed calls, each the object it was where nothing was wrong with it.

    Raises:
        ModelAPIError: For a call without a name, and for one that is no object.
    """
    return same_if_equal(calls, told_apart([_well_formed(call, dialect) for call in calls if not is_blank(call)]))


def told_apart(calls: list[JsonObject]) -> list[JsonObject]:
    """Give well-formed calls each an id of its own (upstream generates an empty one), and none of them twice."""
    taken: set[str] = set()
    return [changed(call, id=call['id'] and distinct(call['id'], taken)) for call in _once(calls)]


def _once(calls: list[JsonObject]) -> list[JsonObject]:
    """Leave out each call that is an earlier one once more, under its own id; a tool's name is no id."""
    kept: dict[object, JsonObject] = {}
    for place, call in enumerate(calls):
        name, arguments = call['function']['name'], call['function']['arguments']
        kept.setdefault(place if call['id'] in ('', name) else (call['id'], name, arguments), call)
    return list(kept.values())


def are_plain(calls: list[Any]) -> bool:
    """Whether the calls are what nearly all are, so that no closer look is due."""
    ids: set[str] = set()
    for call in calls:
        if not is_object(call) or call.get('type') != 'function' or not is_object(call.get('function')):
            return False
        name, arguments, identity = call['function'].get('name'), call['function'].get('arguments'), call.get('id')
        if type(name) is not str or type(arguments) is not str or type(identity) is not str:
            return False
        if not name or not identity or arguments[:1] != '{':
            return False
        if identity in WORDS_FOR_NOTHING or not (name.isascii() and identity.isascii()):
            return False
        if not (arguments.isascii() or is_storable(arguments)):
            return False
        ids.add(identity)
    return len(ids) == len(calls)


def _well_formed(call: object, dialect: Dialect) -> JsonObject:
    if not is_object(call):
        raise_unreadable(f'{dialect.system} sent a tool call that is no object', call, dialect)
    raw = unflattened(call)
    function = raw['function']
    name = name_in(function)
    if not name:
        raise_unreadable(f'{dialect.system} sent a tool call without a name', raw, dialect)
    text = argument_text(function.get('arguments'))
    arguments = decoded_once(text)
    function = changed(function, name=name, arguments=text if arguments is None else arguments)
    return changed(raw, id=identifier(raw.get('id')), type='function', function=function)


def distinct(identity: str, taken: set[str]) -> str:
    """Give an id that no earlier call has, and take it."""
    candidate, number = identity, 2
    while candidate in taken:
        candidate, number = f'{identity}_{number}', number + 1
    taken.add(candidate)
    return candidate
