"""A raw reply that strays from OpenAI's shape -> a well-formed one: pure.

What is missing is filled, text is never changed, and what cannot be understood raises upstream's typed exceptions with
the server's own words. A well-formed reply comes back as the very object that was given.
"""

from typing import Any

from openai.types.chat.chat_completion import Moderation
from pydantic import ValidationError

from ..surrogates import is_storable, storable_value
from . import fields
from .dialect import Dialect
from .faults import error_in, foreign_shape, raise_foreign, raise_unreadable, typed_error
from .fields import changed
from .json_value import JsonObject, is_list, is_object, json_in, list_of, objects
from .tool_calls import HEADER_CONTENT_TYPE, are_plain, calls_in, read_name, repaired_calls, told_apart


def repair_reply(reply: JsonObject, dialect: Dialect) -> JsonObject:
    """Repair a whole reply.

    Args:
        reply: The body as it was parsed; fields that are missing may be `None`.
        dialect: What is known of the endpoint.

    Returns:
        The same object where nothing is wrong with it, else a new one.

    Raises:
        ModelAPIError: For an error inside a 200, and for a reply without an answer.
        UnexpectedModelBehavior: For a reply in another API's shape.
    """
    if _is_plain(reply, dialect):
        return reply
    body = unwrapped(_storable(reply, dialect))
    if error := error_in(body):
        raise typed_error(error, dialect)
    choices = [choice for choice in objects(body.get('choices')) if _answers(choice)]
    if not choices:
        if shape := foreign_shape(body):
            raise_foreign(shape, body, dialect)
        raise_unreadable(f'{dialect.system} answered without any choices', body, dialect)
    repaired = [_repaired_choice(choice, dialect) for choice in choices]
    answer = merged(repaired)
    required = {name: default for name, default in dialect.fields.items() if not isinstance(body.get(name), str)}
    return changed(
        body,
        **envelope(body, 'chat.completion', dialect),
        **required,
        model=body['model'] if isinstance(body.get('model'), str) and body['model'] else dialect.model_name,
        choices=body['choices'] if answer is repaired[0] and _are_sound(repaired, body['choices']) else [answer],
    )


def _storable(reply: JsonObject, dialect: Dialect) -> JsonObject:
    """Give the reply with U+FFFD for each half of a character."""
    if is_storable(reply):
        return reply
    try:
        return storable_value(reply)
    except RecursionError:
        raise_unreadable(f'{dialect.system} answered with JSON that is too deep', None, dialect)


def _are_sound(repaired: list[JsonObject], choices: object) -> bool:
    """Whether the choices needed no repair, and upstream can read the alternatives among them, too."""
    return repaired == choices and all(choice['finish_reason'] for choice in repaired[1:])


def unwrapped(body: JsonObject, depth: int = 3) -> JsonObject:
    """Give the reply inside a body that wraps it (under `provider`, `data`, `response`, ...), or the body itself."""
    if body.get('choices') or not depth:
        return body
    for key, wrapped in body.items():
        value = json_in(wrapped)
        inner = unwrapped(value, depth - 1) if is_object(value) else {}
        if inner.get('choices') is not None and (value is wrapped or objects(inner['choices'])):
            around = {name: other for name, other in body.items() if name != key and other is not None}
            return {**around, **{name: own for name, own in inner.items() if own is not None}}
    return body


def envelope(body: JsonObject, kind: str, dialect: Dialect) -> JsonObject:
    """Give a reply's or an event's own fields as upstream can read them."""
    own: JsonObject = {
        'id': fields.identifier(body.get('id')),
        'object': kind,
        'created': fields.created_at(body.get('created')),
    }
    if body.get('error') is not None:  # one that says nothing, as `''` or `{}`
        own['error'] = None
    if (usage := fields.usage_in(body)) is not None:
        sound = fields.usage_of(usage)
        own['usage'] = fields.without_odd_costs(sound) if dialect.is_strict else sound
    for name, read in _OPTIONAL.items():
        if body.get(name) is not None:
            own[name] = read(body[name])
    return own


def _object_or_none(value: object) -> object:
    return value if is_object(value) else None


def _moderation_or_none(value: object) -> object:
    """OpenAI's moderation of a request and its answer; upstream dumps it without having validated it."""
    try:
        Moderation.model_validate(value)
    except ValidationError:
        return None
    return value


_OPTIONAL: dict[str, Any] = {
    'service_tier': fields.string_or_none,
    'system_fingerprint': fields.string_or_none,
    'metadata': _object_or_none,
    'moderation': _moderation_or_none,
}


# The replies that nearly all are -------------------------------------------------------------------------------------

_PLAIN_TEXTS = ('service_tier', 'system_fingerprint')
_PLAIN_REASONS = frozenset({'stop', 'length', 'tool_calls', 'content_filter', 'function_call'})
_SPECIAL_FIELDS = frozenset(
    {'tool_calls', 'annotations', 'audio', 'function_call', 'reasoning_details', 'reasoning_text', 'thinking'}
)


def _is_plain(reply: JsonObject, dialect: Dialect) -> bool:
    """Whether a reply is what nearly all are, well-formed and without anything special, so that no closer look is due."""
    choices, created = reply.get('choices'), reply.get('created')
    if not is_list(choices) or len(choices) != 1 or dialect.is_strict or dialect.leaks_harmony:
        return False
    if not reply.get('id') or not reply.get('model') or reply.get('object') != 'chat.completion':
        return False
    if type(reply['id']) is not str or type(reply['model']) is not str or type(created) is not int:
        return False
    if not (reply['id'].isascii() and reply['model'].isascii()):
        return False
    if not 0 <= created <= fields.LATEST or fields.usage_of(reply.get('usage')) is not reply.get('usage'):
        return False
    for name in ('error', 'metadata', 'moderation', 'service_tier', 'system_fingerprint'):
        if reply.get(name) is not None and (name not in _PLAIN_TEXTS or type(reply[name]) is not str):
            return False
    if reply.get('usage') is None and fields.usage_in(reply) is not None:
        return False
    return is_object(choices[0]) and _is_plain_choice(choices[0], dialect)


def _is_plain_choice(choice: JsonObject, dialect: Dialect) -> bool:
    message, reason = choice.get('message'), choice.get('finish_reason')
    if not is_object(message) or type(choice.get('index')) is not int or type(reason) is not str:
        return False
    if (
        reason not in _PLAIN_REASONS
        or choice.get('logprobs') is not None
        or choice.get('error') is not None
        or message.get('role') != 'assistant'
    ):
        return False
    if choice.get('tool_calls') or choice.get('text'):
        return False
    for name, value in message.items():
        if value is None or name == 'tool_calls':
            continue
        if type(value) is not str or name in _SPECIAL_FIELDS or not (value.isascii() or is_storable(value)):
            return False
    if dialect.thinking_tags[0] in (message.get('content') or ''):
        return False
    calls = message.get('tool_calls')
    return calls is None or (is_list(calls) and are_plain(calls))


# Choices -------------------------------------------------------------------------------------------------------------


def message_in(choice: JsonObject) -> JsonObject | None:
    """Find a choice's message: as a stream's `delta`, as a legacy completion's `text`, or spread over the choice, too."""
    for key in ('message', 'delta'):
        if is_object(choice.get(key)):
            return choice[key]
        if isinstance(choice.get(key), str):
            return {'role': 'assistant', 'content': choice[key]}
    if isinstance(choice.get('text'), str):
        return {'role': 'assistant', 'content': choice['text']}
    return {name: choice[name] for name in _SAID if choice.get(name)} or None


_SAID = ('content', 'reasoning', 'reasoning_content', 'reasoning_details', 'refusal', 'tool_calls', 'function_call')


def with_what_is_beside(message: JsonObject, choice: JsonObject) -> JsonObject:
    """Give a message with the calls and the text that stand on its choice, unless it has some of its own."""
    beside = {'tool_calls': choice.get('tool_calls'), 'content': choice.get('text')}
    missing = {name: value for name, value in beside.items() if value and not message.get(name)}
    return {**message, **missing} if missing else message


def _answers(choice: JsonObject) -> bool:
    """Whether a choice has a message, or says why it has none."""
    message = message_in(choice) or {}
    return any(value is not None for value in message.values()) or explains_itself(choice)


def explains_itself(choice: JsonObject) -> bool:
    """Whether a choice's finish reason says why it has no message."""
    reason = choice.get('finish_reason')
    return bool(reason) and fields.meaning_of(str(reason)) != 'stop'


def _repaired_choice(choice: JsonObject, dialect: Dialect) -> JsonObject:
    index = fields.position(choice.get('index'))
    return changed(
        choice,
        index=0 if index is None else index,
        **reason_and_logprobs(choice, dialect),
        message=repaired_message(with_what_is_beside(message_in(choice) or {}, choice), dialect),
    )


def reason_and_logprobs(choice: JsonObject, dialect: Dialect) -> JsonObject:
    """Give a choice's finish reason and log-probabilities as upstream can read them."""
    raw = choice.get('finish_reason')
    own: JsonObject = {'finish_reason': fields.finish_reason(raw, dialect.finish_reasons)}
    if choice.get('logprobs') is not None:
        own['logprobs'] = fields.logprobs_of(choice['logprobs'])
    if dialect.is_strict:
        native = fields.string_or_none(choice.get('native_finish_reason'))
        own['native_finish_reason'] = native or (raw if isinstance(raw, str) and raw != own['finish_reason'] else None)
    return own


def merged(choices: list[JsonObject]) -> JsonObject:
    """Give one choice for an answer that was spread over several (text in one, calls in another).

    The first text that is not empty counts, and all calls; but where the first choice has calls of its own and the
    choices are numbered, the others with calls are alternatives, which upstream leaves out too.
    """
    first, *others = choices
    if first['message'].get('tool_calls'):
        others = [choice for choice in others if not _is_alternative(choice, first)]
    message, reason = first['message'], first['finish_reason']
    for choice in others:
        reason = reason if _says(message) else choice['finish_reason']
        message = _with(message, choice['message'])
    return changed(first, message=message, finish_reason=reason)


def _is_alternative(choice: JsonObject, first: JsonObject) -> bool:
    """Whether a choice is another answer than the first, which calls tools, and not the text beside its calls."""
    if choice.get('index') == first.get('index'):
        return False
    ends_otherwise = choice['finish_reason'] not in (None, 'tool_calls')
    return ends_otherwise or bool(choice['message'].get('tool_calls') or first['message'].get('content'))


def _says(message: JsonObject) -> bool:
    return any(value for name, value in message.items() if name != 'role')


def _with(message: JsonObject, other: JsonObject) -> JsonObject:
    calls, more = list_of(message.get('tool_calls')), list_of(other.get('tool_calls'))
    if not more and message.get('content') and other.get('content'):
        return message  # an alternative
    taken = {name: value for name, value in other.items() if value and not message.get(name)}
    if message.get('content'):
        taken.pop('refusal', None)
    taken['content'] = message.get('content') or other.get('content')
    return {**message, **taken, 'tool_calls': told_apart([*calls, *more]) or None}


# Messages ------------------------------------------------------------------------------------------------------------


def repaired_message(message: JsonObject, dialect: Dialect) -> JsonObject:
    """Give a message whose fields have the types that upstream reads."""
    own = message_fields(message, dialect)
    if is_unclosed(own.get('content', message.get('content')), dialect.thinking_tags):
        own['content'] = own.get('content', message['content']) + dialect.thinking_tags[1]
    calls = calls_in(message)
    if calls or message.get('tool_calls') is not None:
        own['tool_calls'] = repaired_calls(calls, dialect)
    repaired = changed(message, role='assistant', **own)
    return _without_leaks(repaired, dialect) if dialect.leaks_harmony and calls else repaired


def is_unclosed(content: object, tags: tuple[str, str]) -> bool:
    """Whether a content is thinking that was cut off: upstream would take it for the answer."""
    opening, closing = tags
    return isinstance(content, str) and content.lstrip().startswith(opening) and closing not in content


def message_fields(message: JsonObject, dialect: Dialect, *, is_delta: bool = False) -> JsonObject:
    """Give the fields of a message or a delta, but for its tool calls, with the types that upstream reads."""
    own: JsonObject = {}
    for name, value in message.items():
        if value is None or (type(value) is str and name not in _NO_STRINGS):
            continue
        if name == 'content':
            own.update(_content_fields(message, value, dialect))
        elif name in dialect.reasoning_fields:
            own[name] = fields.reasoning_of(value)
        elif name == 'annotations' and (dialect.is_strict or not (is_delta and is_list(value))):
            own[name] = fields.annotations_of(value, dialect.annotation_types)
        elif name == 'audio':
            own[name] = value if _is_audio(value) else None
        elif name == 'refusal':
            own[name] = fields.as_text(value) if value else None
        elif name == 'function_call':  # it is read as a call, if it is one
            own[name] = None
        elif name in _REASONING_ELSEWHERE and name not in dialect.reasoning_fields:
            if not _has_reasoning(message, dialect):
                own[dialect.reasoning_fields[0]] = fields.reasoning_of(value)
        elif name == 'reasoning_details':
            own.update(_reasoning_details(message, value, dialect))
    return own


_REASONING_ELSEWHERE = ('reasoning_text', 'thinking')
"""Names of reasoning that other APIs have: Copilot's and Ollama's."""

_NO_STRINGS = ('annotations', 'audio', 'function_call', 'reasoning_details', *_REASONING_ELSEWHERE)


def _content_fields(message: JsonObject, value: object, dialect: Dialect) -> JsonObject:
    """Give a content that is no string, and the thinking in it, unless the message has that in its own field."""
    said, thinking = fields.without_thinking(value)
    content = fields.content_of(said)
    own: JsonObject = {'content': fields.joined_text(content) if dialect.joins_content else content}
    refusals = [part['refusal'] for part in objects(said) if isinstance(part.get('refusal'), str)]
    if refusals and not message.get('refusal'):
        own['refusal'] = ''.join(refusals)
    if thinking and not _has_reasoning(message, dialect):
        own[dialect.reasoning_fields[0]] = thinking
    return own


def _has_reasoning(message: JsonObject, dialect: Dialect) -> bool:
    return any(message.get(name) for name in dialect.reasoning_fields)


_AUDIO = {'id': str, 'data': str, 'expires_at': int, 'transcript': str}


def _is_audio(value: object) -> bool:
    return is_object(value) and all(type(value.get(key)) is kind for key, kind in _AUDIO.items())


_DETAIL_TEXT = {'reasoning.text': 'text', 'reasoning.summary': 'summary', 'reasoning.encrypted': 'data'}


def _reasoning_details(message: JsonObject, value: object, dialect: Dialect) -> JsonObject:
    """Keep reasoning details where upstream's class reads them; else the text in them, if nothing else holds it."""
    details = objects(value)
    if not dialect.is_strict:
        text = ''.join(map(_detail_text, details))
        return {dialect.reasoning_fields[0]: text} if text and not _has_reasoning(message, dialect) else {}
    if is_list(value) and len(details) == len(value) and all(map(_is_detail, details)):
        return {}
    return {
        'reasoning_details': None,
        'reasoning': fields.string_or_none(message.get('reasoning')) or fields.reasoning_of(value),
    }


def _detail_text(detail: JsonObject) -> str:
    return next((detail[name] for name in ('text', 'summary') if isinstance(detail.get(name), str)), '')


def _is_detail(detail: JsonObject) -> bool:
    kind = detail.get('type')
    return (
        isinstance(kind, str)
        and kind in _DETAIL_TEXT
        and isinstance(detail.get(_DETAIL_TEXT[kind], ''), str)
        and all(detail.get(name) is None or isinstance(detail[name], str) for name in ('id', 'format', 'signature'))
        and (detail.get('index') is None or type(detail['index']) is int)
    )


def _without_leaks(message: JsonObject, dialect: Dialect) -> JsonObject:
    """Read the headers that leaked into tool names; a call to nobody is the message that it really was."""
    calls: list[JsonObject] = []
    texts: JsonObject = {}
    for call in message['tool_calls']:
        function = call['function']
        leak = read_name(function['name'], dialect)
        if leak.name is None:
            field = text_field(message, leak.channel, dialect)
            texts[field] = _appended(texts.get(field, message.get(field)), function['arguments'])
        elif leak.name == function['name']:
            calls.append(call)
        else:
            renamed = {**call, 'function': {**function, 'name': leak.name}}
            calls.append({**renamed, HEADER_CONTENT_TYPE: leak.content_type} if leak.content_type else renamed)
    return changed(message, **texts, tool_calls=message['tool_calls'] if calls == message['tool_calls'] else calls)


def _appended(content: Any, text: str) -> Any:
    return [*content, {'type': 'text', 'text': text}] if is_list(content) else (content or '') + text


def text_field(message: JsonObject, channel: str | None, dialect: Dialect) -> str:
    """Name the field for a text of a channel: the reasoning field in use for analysis, else the content."""
    if channel != 'analysis':
        return 'content'
    return next((name for name in dialect.reasoning_fields if message.get(name)), dialect.reasoning_fields[0])
