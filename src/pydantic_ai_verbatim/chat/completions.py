"""Whole replies at the SDK's rim: whatever the SDK gave -> a well-formed `ChatCompletion`.

The SDK builds its objects without validating, and gives text where the content type is not JSON.
"""

import json
from collections.abc import Iterable
from typing import Any

from openai.types.chat import ChatCompletion
from pydantic import BaseModel
from pydantic_ai.exceptions import ModelAPIError

from .dialect import Dialect
from .faults import raise_unreadable
from .json_value import JsonObject, is_list, list_of, object_of, objects
from .replies import repair_reply
from .sse import chunks_in
from .streaming import StreamRepair


class RepairedCompletion(ChatCompletion):
    """A completion that was repaired with all that is known of its request, and is not to be read once more."""


def repaired_completion(response: object, dialect: Dialect) -> ChatCompletion:
    """Give a well-formed completion, the same object where nothing is wrong with it.

    Args:
        response: A `ChatCompletion` that was not validated, or any JSON value, or a text.
        dialect: What is known of the endpoint.

    Raises:
        ModelAPIError: For an error inside a 200, and for a reply without an answer.
        UnexpectedModelBehavior: For a reply in another API's shape.
    """
    if isinstance(response, RepairedCompletion):
        return response
    if isinstance(response, ChatCompletion):
        raw = _dumped(response, dialect)
        body = repair_reply(raw, dialect)
        return response if body is raw and not dialect.leaks_harmony else _constructed(body)
    return _constructed(repair_reply(_body(response, dialect), dialect))


def _dumped(response: BaseModel, dialect: Dialect) -> JsonObject:
    try:
        return response.model_dump(warnings=False)
    except UnicodeError:  # half a character in a field's name, which pydantic cannot write
        raise_unreadable(f'{dialect.system} answered with what is no text', repr(response), dialect)


def _constructed(body: JsonObject) -> ChatCompletion:
    return RepairedCompletion.model_construct(**{key: value for key, value in body.items() if not key.startswith('_')})


def _body(response: object, dialect: Dialect) -> JsonObject:
    """Find the reply in a value that is no object: in its text, in a list, or in an event stream."""
    if isinstance(response, str):
        return _body_in_text(response, dialect)
    if is_list(response):  # the SDK has made objects of its items
        response = [_dumped(item, dialect) if isinstance(item, BaseModel) else item for item in response]
    found = objects(response)
    if not found:
        raise_unreadable(f'{dialect.system} answered with what is no object', response, dialect)
    if len(found) > 1:  # the events of a stream
        repair = StreamRepair(dialect)
        chunks = [chunk for item in found for chunk in repair.feed(item)]
        return assembled(chunks + repair.close(is_done=True))
    return found[0]


def _body_in_text(text: str, dialect: Dialect) -> JsonObject:
    try:
        value = json.loads(text.lstrip('\ufeff'))
    except (ValueError, RecursionError):
        return assembled(chunks_in(text, dialect))
    if isinstance(value, str) and not value.lstrip().startswith('{'):
        raise_unreadable(f'{dialect.system} answered with what is no object', value, dialect)
    return _body(value, dialect)


def undecoded_body(error: ModelAPIError) -> str | None:
    """Give the body that the SDK could not decode as JSON, from the error that upstream made of that."""
    cause = error.__cause__
    if isinstance(cause, json.JSONDecodeError):
        return cause.doc
    return cause.object.decode('utf-8', 'replace') if isinstance(cause, UnicodeDecodeError) else None


# A stream where a whole reply was asked for --------------------------------------------------------------------------


def assembled(chunks: Iterable[JsonObject]) -> JsonObject:
    """Put the chunks of a repaired stream together to the reply that they are."""
    body: JsonObject = {}
    choice: JsonObject = {'index': 0, 'finish_reason': None}
    message: JsonObject = {'role': 'assistant', 'content': None}
    calls: dict[int, JsonObject] = {}
    for chunk in chunks:
        said = {name: value for name, value in chunk.items() if name != 'choices' and value is not None}
        body.update({name: value for name, value in said.items() if value or name not in body})
        for part in chunk['choices']:
            choice.update({name: value for name, value in part.items() if name != 'delta' and value is not None})
            _add_delta(message, part['delta'], calls)
    if calls:
        message['tool_calls'] = list(calls.values())
    return {**body, 'object': 'chat.completion', 'choices': [{**choice, 'message': message}]}


def _add_delta(message: JsonObject, delta: JsonObject, calls: dict[int, JsonObject]) -> None:
    for name, value in delta.items():
        if name == 'tool_calls':
            for fragment in list_of(value):
                _add_fragment(calls, fragment)
        elif name != 'role' and value is not None:
            message[name] = _added(message.get(name), value)


def _added(before: Any, more: Any) -> Any:
    if isinstance(before, str) and isinstance(more, str):
        return before + more
    if before is None:
        return more
    return [*_as_parts(before), *_as_parts(more)] if is_list(before) or is_list(more) else more


def _as_parts(content: Any) -> list[Any]:
    return content if is_list(content) else [{'type': 'text', 'text': content}]


def _add_fragment(calls: dict[int, JsonObject], fragment: JsonObject) -> None:
    call = calls.setdefault(
        fragment['index'], {'id': '', 'type': 'function', 'function': {'name': '', 'arguments': ''}}
    )
    function = call['function']
    for name, value in object_of(fragment.get('function')).items():
        function[name] = function[name] + (value or '') if name in ('name', 'arguments') else value
    more = {name: value for name, value in fragment.items() if name not in ('function', 'index', 'type')}
    call.update({name: value for name, value in more.items() if value is not None})
