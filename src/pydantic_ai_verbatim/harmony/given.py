"""What a caller hands in, checked once at each entrance: a mistake is a `UserError` that names the remedy.

What is right passes at the price of a look at its types; nothing of what is given stands in an error but type names.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from numbers import Real
from operator import index
from typing import Any, cast

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models import ModelRequestParameters

from .encoding import Encoding

_INT = {int}
_MESSAGES = {ModelRequest, ModelResponse}


def sample_given(given: Any) -> Any:
    """Take text as it is, and token ids as a list of Python's own integers: the same list if it is one."""
    if isinstance(given, str):
        return given
    if type(given) is list and _INT.issuperset(map(type, cast('list[Any]', given))):
        return cast('Any', given)
    if isinstance(given, bytes | bytearray | memoryview):
        raise UserError('A sample is text or token ids, not bytes: decode it first.')
    if not isinstance(given, Iterable):
        raise UserError(f'A sample is text, or a list of token ids; this is {_type(given)}.')
    return [_id(token, at) for at, token in enumerate(cast('Iterable[Any]', given))]


def _id(token: Any, at: int) -> int:
    try:
        if not isinstance(token, bool):
            return index(token)
    except TypeError:
        pass
    raise UserError(f'A sample is text, or a flat list of whole numbers; at place {at} of this stands {_type(token)}.')


def logprobs_given(given: Any) -> Sequence[float | None]:
    """Take log-probabilities: a number, or `None`, for each id."""
    if not isinstance(given, Iterable):
        raise UserError(f'Log-probabilities are a list of numbers; this is {_type(given)}.')
    values = list(cast('Iterable[Any]', given))
    for at, value in enumerate(values):
        if value is not None and not isinstance(value, Real):
            raise UserError(
                f'Log-probabilities are a list of numbers, with None where one is unknown; at place {at} of this stands '
                f'{_type(value)}.'
            )
    return values


def chunks_given(given: Any) -> Iterable[Any]:
    """Take the chunks of a stream."""
    if isinstance(given, Iterable):
        return cast('Iterable[Any]', given)
    raise UserError(
        f'`stream` takes an iterable of chunks; this is {_type(given)}. '
        'What comes asynchronously can be fed to `begin_stream()`.'
    )


def chunk_given(given: Any, *, is_text: bool | None = None) -> Any:
    """Take a chunk of a stream that is all text, or all token ids; `None` accepts either, for the first chunk."""
    if isinstance(given, int):
        raise UserError('Chunks are lists of token ids, and this one is a single id: use `[id]`, or `load_response`.')
    if is_text is not None and isinstance(given, str) is not is_text:
        raise UserError(
            f'This stream is one of {"text" if is_text else "token ids"}, and a chunk of it is {_type(given)}: '
            'let all chunks be text, or all be lists of token ids.'
        )
    return sample_given(given)


def response_given(given: Any) -> ModelResponse:
    """Take a response."""
    if isinstance(given, ModelResponse):
        return given
    raise UserError(f'`dump_response` takes one ModelResponse, and this is {_type(given)}; histories: `dump_messages`.')


def messages_given(given: Any) -> Sequence[ModelMessage]:
    """Take a history."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise UserError(f'A history is a list of messages; this is {_type(given)}: use `[message]` for a single one.')
    messages = cast('Sequence[Any]', given)
    if not _MESSAGES.issuperset(map(type, messages)):
        for at, message in enumerate(messages):
            if not isinstance(message, ModelRequest | ModelResponse):
                raise UserError(
                    f'A history holds ModelRequests and ModelResponses; at place {at} of this stands {_type(message)}.'
                )
    return messages


def parameters_given(given: Any) -> ModelRequestParameters | None:
    """Take a request's parameters."""
    if given is None or isinstance(given, ModelRequestParameters):
        return given
    raise UserError(
        f'`parameters` are ModelRequestParameters, and this is {_type(given)}. '
        'Tools: `ModelRequestParameters(function_tools=[...])`; model settings: `settings=`.'
    )


def options_given(given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse unknown options, and settings that are not a mapping."""
    for name in given.keys() - set(known):
        raise UserError(f"There is no option '{name}'; there are {', '.join(map(repr, known))}.")
    settings = given.get('settings')
    if not isinstance(settings, Mapping | None):
        raise UserError(f'`settings` are a ModelSettings dict; this is {_type(settings)}.')


def date_given(given: Any) -> date | None:
    """Take a date, or an ISO string for one."""
    if isinstance(given, date | None):
        return given
    try:
        return date.fromisoformat(given)
    except (TypeError, ValueError):
        raise UserError("`current_date` is a datetime.date, or an ISO string such as '2026-01-31'.") from None


def encoding_given(given: Any) -> Encoding:
    """Take a vocabulary."""
    if all(hasattr(given, name) for name in ('encode', 'decode', 'vocabulary_size')):
        return given
    raise UserError(
        f'An encoding has `encode`, `decode` and `vocabulary_size`; use `o200k_harmony()`, not {_type(given)}.'
    )


def _type(given: Any) -> str:
    return 'None' if given is None else f'`{type(given).__name__}`'
