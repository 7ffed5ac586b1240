"""Failures that a server reports inside a 200: found here, and raised as upstream's typed exceptions.

Every exception holds the server's own words, and its body as evidence.
"""

import json
from typing import NoReturn

from pydantic_ai._model_errors import HTTPErrorCategory, openai_compatible_category, openai_compatible_status
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelRequestRejectedError,
    UnexpectedModelBehavior,
)

from .dialect import Dialect
from .fields import as_text, excerpt, position
from .json_value import JsonObject, is_list, is_object, json_in, object_of, objects

_MESSAGE_KEYS = ('message', 'msg', 'error_msg', 'error_message', 'errorMessage', 'status_msg', 'detail', 'details')
_STATUS_KEYS = ('code', 'status', 'status_code', 'statusCode', 'http_code', 'error_code')

_ERROR_KEYS = frozenset({'error', 'errors', 'base_resp', 'detail', 'choices', *_STATUS_KEYS})

_STATUSES = {
    'authentication_error': 401,
    'engine_overloaded_error': 503,
    'internal_server_error': 500,
    'invalid_api_key': 401,
    'invalid_request_error': 400,
    'model_not_found': 404,
    'not_found_error': 404,
    'overloaded_error': 529,
    'server_overloaded': 503,
    'throttling': 429,  # DashScope's
    'throttling.allocationquota': 429,
    'throttling.ratequota': 429,
}
"""The HTTP status of error codes and types that upstream does not know."""

_MINIMAX_STATUSES = {
    1000: 500,
    1001: 504,
    1002: 429,
    1004: 401,
    1008: 402,
    1024: 500,
    1026: 400,
    1027: 400,
    1033: 500,
    1039: 429,
    1041: 429,
    2013: 400,
    2045: 429,
    2049: 401,
    2056: 402,
}
"""The HTTP status of the codes in MiniMax's `base_resp` (https://platform.minimax.io/docs/api-reference/errorcode)."""


def error_in(body: JsonObject, event: str | None = None) -> JsonObject | None:
    """Find the error that a body reports, as an object with a `message`, and with a `code` where it has one.

    Args:
        body: A reply or an event.
        event: The name of a server-sent event; one called `error` is an error whatever its shape.
    """
    choices = objects(body.get('choices'))
    error = body.get('error') or object_of(body.get('x_groq')).get('error')
    if error and not _says_nothing(error, beside_answer=bool(choices) or _is_last(body)):
        return _error(error, body)
    names_itself = 'error' in (body.get('object'), body.get('type')) and (not choices or _has_message(body))
    if event == 'error' or names_itself:
        return _error(body, body)
    if choices:
        return _choice_error(choices)
    return _flat_error(body)


def is_remark(body: JsonObject, event: str | None) -> bool:
    """Whether all that makes an event an error is its message: it may be no more than a remark (`Model is loading`)."""
    named = 'error' in (event, body.get('object'), body.get('type'))
    marks = _ERROR_KEYS & body.keys()
    return not named and (not marks or (marks == frozenset({'status'}) and str(body['status']).lower() in _UNDER_WAY))


_UNDER_WAY = ('in_progress', 'loading', 'ok', 'pending', 'processing', 'queued', 'running', 'starting', 'warming_up')
"""What a status says that is no failure's."""


def _says_nothing(error: object, *, beside_answer: bool) -> bool:
    """Whether an error object is none: it is empty, or its code says beside an answer that all went well."""
    return is_object(error) and (not any(error.values()) or (beside_answer and _is_success(error)))


def _has_message(body: JsonObject) -> bool:
    return any(isinstance(body.get(key), str) and body[key] for key in _MESSAGE_KEYS)


def _is_success(body: JsonObject) -> bool:
    return any(position(body.get(key)) in (0, 200) for key in _STATUS_KEYS)


def _is_last(body: JsonObject) -> bool:
    """Whether a body is a stream's last event, with the usage in place of choices."""
    return is_list(body.get('choices')) and is_object(body.get('usage'))


def _error(error: object, body: JsonObject) -> JsonObject:
    """Give an error of any JSON type as an object; a flat one (`{code, error}`, as x.ai sends it) keeps its code."""
    error = json_in(error)
    if is_list(error) and error:
        error = error[0]
    if not is_object(error):
        return _coded({'message': (as_text(error) if error is not True else '') or as_text(body)}, body)
    if is_object(error.get('error')):  # wrapped once more
        return _error(error['error'], error)
    message = next((error[key] for key in _MESSAGE_KEYS if error.get(key) and isinstance(error[key], str)), None)
    return _coded({**error, 'message': message or as_text(error)}, body)


def _coded(error: JsonObject, body: JsonObject) -> JsonObject:
    """Put the status beside the message under `code`, an integer where it is one: upstream reads it there."""
    given = [source.get(key) for source in (error, body) for key in _STATUS_KEYS]
    codes = [code for code in given if isinstance(code, str | int) and not isinstance(code, bool) and code != '']
    if not codes:
        return {key: value for key, value in error.items() if key != 'code'}
    numbers = [number for code in codes if (number := position(code)) is not None]
    word = {} if position(codes[0]) is not None or error.get('type') else {'type': codes[0]}
    return {**error, 'code': numbers[0], **word} if numbers else {**error, 'code': codes[0]}


def _choice_error(choices: list[JsonObject]) -> JsonObject | None:
    """OpenRouter reports some failures in the choice (https://openrouter.ai/docs/api/reference/errors-and-debugging)."""
    places = [choices[0], *(object_of(choices[0].get(key)) for key in ('delta', 'message'))]
    error = next((place['error'] for place in places if place.get('error')), None)
    return _error(error, {}) if error and choices[0].get('finish_reason') in ('error', None, '') else None


def _flat_error(body: JsonObject) -> JsonObject | None:
    """Find the error in a body without choices: FastAPI's `detail`, Cloudflare's `errors`, MiniMax's `base_resp`."""
    for key in ('errors', 'base_resp', *(() if _is_last(body) else ('detail',))):
        nested = body.get(key)
        if nested and not (is_object(nested) and nested.get('status_code') == 0):
            return _error(nested, body)
    if _has_message(body) and not _is_success(body) and not _is_last(body):
        return _error(body, body)
    return None


def typed_error(error: JsonObject, dialect: Dialect, *, in_stream: bool = False) -> ModelAPIError:
    """Give the exception for an error that came inside a 200, of the kind that it has as an HTTP status."""
    message = as_text(error.get('message'))
    code, kind = _word(error.get('code')), _word(error.get('type'))
    status, category = _classified(error, code, kind, message)
    if status is None:
        return (category or ModelAPIError)(
            model_name=dialect.model_name,
            message=message,
            body=error,
            provider_error_code=code,
            provider_error_type=kind,
            in_stream=in_stream,
        )
    return ModelHTTPError.for_category(
        category,
        status_code=status,
        model_name=dialect.model_name,
        body=error,
        provider_error_code=code,
        provider_error_type=kind,
        in_stream=in_stream,
    )


def _classified(
    error: JsonObject, code: str | None, kind: str | None, message: str
) -> tuple[int | None, HTTPErrorCategory | None]:
    number = position(error.get('code'))
    if number is not None and 'status_msg' in error:
        number = _MINIMAX_STATUSES.get(number, number)
    words = (code or '').lower(), (kind or '').lower()
    known = next((_STATUSES[word] for word in words if word in _STATUSES), None)
    status = number if number is not None and 400 <= number < 600 else openai_compatible_status(*words) or known
    category = openai_compatible_category(status, *words, message)
    if category is ModelContextWindowExceededError:
        return status or 400, category
    return status, ModelRequestRejectedError if status == 403 and _flags_input(error) else category


def _flags_input(error: JsonObject) -> bool:
    """OpenRouter's 403 for flagged input is a rejected request (https://openrouter.ai/docs/api-reference/errors)."""
    metadata = error.get('metadata')
    return is_object(metadata) and bool({'flagged_input', 'reasons'} & metadata.keys())


def _word(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


# Replies that are none -----------------------------------------------------------------------------------------------

_FOREIGN_EVENTS = {
    'message_start': 'an Anthropic message',
    'content_block_start': 'an Anthropic message',
    'content_block_delta': 'an Anthropic message',
    'message_delta': 'an Anthropic message',
}


def foreign_shape(body: JsonObject) -> str | None:
    """Name the API whose shape a body without choices has, `None` if it is none that is known."""
    kind, name = body.get('type'), body.get('object')
    if kind == 'message' and is_list(body.get('content')):
        return 'an Anthropic message'
    if isinstance(kind, str) and (kind in _FOREIGN_EVENTS or kind.startswith('response.')):
        return _FOREIGN_EVENTS.get(kind, 'an OpenAI Responses event')
    if name == 'response' or is_list(body.get('output')):
        return 'an OpenAI Responses response'
    if is_list(body.get('candidates')):
        return 'a Gemini response'
    if 'done' in body and ('message' in body or 'response' in body):
        return 'an Ollama response'
    return None


def raise_foreign(shape: str, body: JsonObject, dialect: Dialect) -> NoReturn:
    """Raise for a reply in another API's shape."""
    raise UnexpectedModelBehavior(
        f'{dialect.system} answered with {shape} where a chat completion was expected. Check the base URL and the '
        f'model: {excerpt(body)}',
        json.dumps(body),
    )


def raise_unreadable(what: str, words: object, dialect: Dialect) -> NoReturn:
    """Raise for a reply that holds no answer, as an error that may be tried again or elsewhere."""
    said = excerpt(words)
    raise ModelAPIError(model_name=dialect.model_name, message=f'{what}: {said}' if said else what, body=words)
