"""What goes back with a tool call as it came: its content type, in the place it stood in, and its argument text.

Servers of gpt-oss put the content type of a call's message (`json`, `code`) beside its name or on its function; no
field of OpenAI's format holds it.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

from openai.types.chat import ChatCompletionMessageParam
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_core import from_json

from .json_value import JsonObject, object_of
from .tool_calls import HEADER_CONTENT_TYPE

CONTENT_TYPE = 'content_type'
PLACE = 'content_type_place'
MODEL = 'content_type_model'


def content_type_details(call: Any, model_name: str) -> dict[str, Any] | None:
    """Give the `provider_details` of a call, or of a streamed piece of one, that has a content type.

    Args:
        call: The SDK's object.
        model_name: The model that was asked for: with the provider's URL, it is the endpoint that gave it.
    """
    own, functions = object_of(call.model_extra), object_of(getattr(call.function, 'model_extra', None))
    if not own and not functions:
        return None
    for place, extra in (('tool_call', own), ('function', functions)):
        content_type = extra.get(CONTENT_TYPE)
        if isinstance(content_type, str) and content_type:
            return {CONTENT_TYPE: content_type, PLACE: place, MODEL: model_name}
    leaked = own.get(HEADER_CONTENT_TYPE)
    return {CONTENT_TYPE: leaked} if leaked else None


def keep_content_types(response: ModelResponse, calls: Sequence[Any], model_name: str, provider_name: str) -> None:
    """Note the content types of a reply's tool calls on the parts that upstream made of them, one to one."""
    parts = [part for part in response.parts if isinstance(part, ToolCallPart)]
    for part, call in zip(parts, calls, strict=False):  # there are no parts beside a refusal
        if details := content_type_details(call, model_name):
            part.provider_details = {**(part.provider_details or {}), **details}
            part.provider_name = provider_name


def with_original_calls(
    param: ChatCompletionMessageParam | None, message: ModelResponse, sends: Callable[[ToolCallPart], bool]
) -> ChatCompletionMessageParam | None:
    """Amend the tool calls of a mapped response, one to one with its parts.

    Argument text goes back as it came where it is a JSON object that strict parsers read; upstream's own wrapping of any
    other stays, since strict servers reject a broken argument for ever.

    Args:
        param: The message as upstream maps it.
        message: The response it was mapped from.
        sends: Whether the content type of a call goes back.
    """
    calls = cast('list[JsonObject]', cast('JsonObject', param or {}).get('tool_calls') or [])
    parts = [part for part in message.parts if isinstance(part, ToolCallPart)]
    if not calls or len(calls) != len(parts):
        return param
    amended = [_amended(call, part, sends(part)) for call, part in zip(calls, parts, strict=True)]
    return cast('ChatCompletionMessageParam', {**cast('JsonObject', param), 'tool_calls': amended})


def _is_sound(arguments: str) -> bool:
    """Whether arguments are a JSON object without half characters, NaN or extreme nesting."""
    try:
        return isinstance(from_json(arguments, allow_inf_nan=False), dict)
    except ValueError:
        return False


def _amended(call: JsonObject, part: ToolCallPart, sends_content_type: bool) -> JsonObject:
    function = cast('JsonObject', call['function'])
    if isinstance(part.args, str) and _is_sound(part.args):
        function = {**function, 'arguments': part.args}
    details = part.provider_details or {}
    content_type, place = details.get(CONTENT_TYPE), details.get(PLACE)
    if not sends_content_type or not isinstance(content_type, str):
        return {**call, 'function': function}
    if place == 'function':
        return {**call, 'function': {**function, CONTENT_TYPE: content_type}}
    return {**call, 'function': function, CONTENT_TYPE: content_type}
