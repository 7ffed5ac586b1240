"""The bodies that stray replies are made of, and what the usual ones say."""

from typing import Any

from pydantic_ai.exceptions import ModelAPIError

from ..wire import call as wire_call
from ..wire import completion
from .stray import Fails, Says, call, text

PARIS, ROME = '{"city":"Paris"}', '{"city":"Rome"}'


def calling(*calls: Any, finish: Any = 'tool_calls', content: str | None = None) -> dict[str, Any]:
    return completion({'role': 'assistant', 'content': content, 'tool_calls': list(calls)}, finish)


def saying(content: Any, finish: Any = 'stop', **message: Any) -> dict[str, Any]:
    return completion({'role': 'assistant', 'content': content, **message}, finish)


def without(body: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in keys}


def with_choice(body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Change the only choice; a change to `...` leaves the key out."""
    choice = {**body['choices'][0], **changes}
    return {**body, 'choices': [{key: value for key, value in choice.items() if value is not ...}]}


def numbered(body: dict[str, Any], index: int) -> dict[str, Any]:
    """Give the only choice of a body, with another number."""
    return {**body['choices'][0], 'index': index}


def error(error: Any, **body: Any) -> dict[str, Any]:
    return {'error': error, **body}


def paris(id: Any = 'c1', **changes: Any) -> dict[str, Any]:
    """Give the call of Paris, changed; a change to `...` leaves the key out."""
    changed = {**wire_call('get_weather', PARIS, id), **changes}
    return {key: value for key, value in changed.items() if value is not ...}


def paris_with(arguments: Any) -> dict[str, Any]:
    return paris(function={'name': 'get_weather', 'arguments': arguments})


DETAILS = [
    {'type': 'reasoning.text', 'text': 't', 'index': 0},
    {'type': 'reasoning.summary', 'summary': 'u'},
    {'type': 'reasoning.encrypted', 'data': 'x'},
]
OK, CALL = saying('hi'), calling(paris())
HI, CALLED = Says([text('hi')]), Says([call()], 'tool_call')
NO_USAGE = Says([text('hi')], usage=(0, 0))
NOTHING = Fails(ModelAPIError, 'without any choices')
ANOTHER_CITY = wire_call('get_weather', ROME, 'c2')
TWO = Says([call(), call(arguments=ROME, id='c2')], 'tool_call')
