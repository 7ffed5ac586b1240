"""What an endpoint wants changed in a mapped request, or refused, as its profile says: pure functions.

No function changes what it was given; each returns wire messages that say the same to the model.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from openai.types.chat import (
    ChatCompletionMessageParam,
    ChatCompletionToolChoiceOptionParam,
    ChatCompletionToolParam,
)
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModelSettings

from .fields import position
from .json_value import is_object
from .profile import OpenAICompatibleModelProfile
from .tool_calls import distinct

_Message: TypeAlias = dict[str, Any]


def apply(
    messages: Sequence[ChatCompletionMessageParam], profile: OpenAICompatibleModelProfile
) -> list[ChatCompletionMessageParam]:
    """Give the messages as the endpoint takes them.

    Args:
        messages: A whole request as upstream maps it.
        profile: Says which of this module's changes the endpoint wants; by default none.
    """
    changed = list(messages)
    if profile.get('openai_compatible_merges_neighbours', False):
        changed = merge_neighbours(changed)
    if profile.get('openai_compatible_unique_tool_call_ids', False):
        changed = unique_tool_call_ids(changed)
    field = profile.get('openai_chat_thinking_field', None)
    if field and profile.get('openai_compatible_thinking_field_on_tool_calls', False):
        changed = thinking_field_on_tool_calls(changed, field)
    if profile.get('openai_compatible_empty_content', False):
        changed = null_content_as_empty(changed)
    return changed


def merge_neighbours(messages: Sequence[ChatCompletionMessageParam]) -> list[ChatCompletionMessageParam]:
    """Merge neighbouring messages of one role, except tool results, each of which answers its own call.

    Texts are joined by a blank line, and where content is a list of parts, the two texts that meet are; files stay
    where they are, tool calls follow one another.
    """
    merged: list[_Message] = []
    for message in _plain(messages):
        if merged and _may_merge(merged[-1], message):
            merged[-1] = _merged(merged[-1], message)
        else:
            merged.append(message)
    return _typed(merged)


def _may_merge(left: _Message, right: _Message) -> bool:
    same = left['role'] == right['role'] and left.get('name') == right.get('name')
    return same and left['role'] != 'tool'


def _merged(left: _Message, right: _Message) -> _Message:
    both = {key: _joined(left[key], right[key]) for key in left if key in right and key not in ('role', 'name')}
    return {**left, **right, **both}


def _joined(left: Any, right: Any) -> Any:
    """Join two values of one key: texts by a blank line, lists end to end."""
    if not left or not right:
        return left or right
    if isinstance(left, str) and isinstance(right, str):
        return f'{left}\n\n{right}'
    if isinstance(left, str | list) and isinstance(right, str | list):
        return _joined_parts(_as_parts(left), _as_parts(right))
    return right


def _as_parts(content: Any) -> list[_Message]:
    return [{'type': 'text', 'text': content}] if isinstance(content, str) else content


def _joined_parts(left: list[_Message], right: list[_Message]) -> list[_Message]:
    """Join the texts that meet, unless one carries more than its text, such as the end of a cached prefix."""
    if _is_plain_text(left[-1]) and _is_plain_text(right[0]):
        met = {'type': 'text', 'text': f'{left[-1]["text"]}\n\n{right[0]["text"]}'}
        return [*left[:-1], met, *right[1:]]
    return [*left, *right]


def _is_plain_text(part: _Message) -> bool:
    return part.keys() == {'type', 'text'} and part['type'] == 'text'


def unique_tool_call_ids(messages: Sequence[ChatCompletionMessageParam]) -> list[ChatCompletionMessageParam]:
    """Rename a tool-call id that was used before in the request, for the call and its result together, in order.

    A name depends only on what stands before it, so a growing history keeps its prefix. A result without a call of
    its own is left with the id of the call it names.
    """
    taken: set[str] = set()
    waiting: dict[str, list[str]] = {}
    renamed: list[_Message] = []
    for message in _plain(messages):
        if calls := message.get('tool_calls'):
            message, ids = _with_unused_ids(message, calls, taken)
            waiting |= ids
        elif message['role'] == 'tool':
            message = {**message, 'tool_call_id': _answered(message['tool_call_id'], waiting)}
            taken.add(message['tool_call_id'])
        renamed.append(message)
    return _typed(renamed)


def _with_unused_ids(
    message: _Message, calls: list[_Message], taken: set[str]
) -> tuple[_Message, dict[str, list[str]]]:
    """Give the message with ids that are not `taken`, and for each id it had, the ids it has now, in order."""
    ids: dict[str, list[str]] = {}
    for call in calls:
        unused = distinct(call['id'], taken)
        ids.setdefault(call['id'], []).append(unused)
    order = {tool_call_id: iter(new) for tool_call_id, new in ids.items()}
    return {**message, 'tool_calls': [{**call, 'id': next(order[call['id']])} for call in calls]}, ids


def _answered(tool_call_id: str, waiting: Mapping[str, list[str]]) -> str:
    """Take the next call of this id that has no result; the last one stays, for a result that is there twice."""
    ids = waiting.get(tool_call_id, [tool_call_id])
    return ids.pop(0) if len(ids) > 1 else ids[0]


def thinking_field_on_tool_calls(
    messages: Sequence[ChatCompletionMessageParam], field: str
) -> list[ChatCompletionMessageParam]:
    """Give each message with tool calls the thinking field, empty where another model made the turn."""
    return _typed([{field: '', **message} if message.get('tool_calls') else message for message in _plain(messages)])


def null_content_as_empty(messages: Sequence[ChatCompletionMessageParam]) -> list[ChatCompletionMessageParam]:
    """Send `""` where a message has no content, for servers that take a string or a list only."""
    return _typed(
        [{**message, 'content': ''} if message.get('content') is None else message for message in _plain(messages)]
    )


def named_tool_choice(
    tools: list[ChatCompletionToolParam], tool_choice: ChatCompletionToolChoiceOptionParam | None
) -> tuple[list[ChatCompletionToolParam], ChatCompletionToolChoiceOptionParam | None]:
    """Say with a string what a named tool choice says: send only the tools it names.

    Args:
        tools: The tools of the request.
        tool_choice: As upstream makes it: a string, a named tool, a set of allowed tools, or `None`.

    Returns:
        The tools that may be called, and `required` (or the mode of the allowed tools) where names were given.
    """
    if tool_choice is None or isinstance(tool_choice, str):
        return tools, tool_choice
    choice = cast('_Message', tool_choice)
    chosen = choice[choice['type']]
    allowed = {_tool_name(tool) for tool in chosen.get('tools', [choice])}
    named = [tool for tool in tools if _tool_name(cast('_Message', tool)) in allowed]
    return named, chosen.get('mode', 'required')


def _tool_name(tool: _Message) -> str:
    return tool[tool['type']]['name']


def asks_for_several(settings: OpenAIChatModelSettings) -> bool:
    """Whether a request asks for several answers: pydantic-ai reads one, but settings can ask for any number."""
    body = settings.get('extra_body')
    return is_object(body) and (position(body.get('n')) or 1) > 1


def refuse_model(model_name: str, profile: OpenAICompatibleModelProfile) -> None:
    """Say when a model is built that its service does not serve it over Chat Completions.

    Raises:
        UserError: The profile names what to use instead.
    """
    if elsewhere := profile.get('openai_compatible_served_elsewhere'):
        raise UserError(f'{model_name!r} is not served over Chat Completions here. Use {elsewhere}.')


def refuse_tools(model_name: str, profile: OpenAICompatibleModelProfile, parameters: ModelRequestParameters) -> None:
    """Say before the request that the endpoint takes no tools.

    Raises:
        UserError: There are tools and the profile says that they are not supported.
    """
    tools = [tool.name for tool in (*parameters.function_tools, *parameters.output_tools)]
    if tools and not profile.get('openai_compatible_supports_tools', True):
        raise UserError(
            f'{model_name!r} takes no tools, but the request has {", ".join(map(repr, tools))}. Use another model for '
            'tools, `NativeOutput` for structured output, or set `openai_compatible_supports_tools` in `profile=`.'
        )


def _plain(messages: Sequence[ChatCompletionMessageParam]) -> list[_Message]:
    return cast('list[_Message]', messages)


def _typed(messages: list[_Message]) -> list[ChatCompletionMessageParam]:
    return cast('list[ChatCompletionMessageParam]', messages)
