"""The events that stray streams are made of, and what the usual ones say."""

import json
from typing import Any

from pydantic_ai.exceptions import ModelAPIError

from ..wire import chunk
from .reply_bodies import ROME
from .stray import GENERATED, Fails, Says, call, text

NONE = (0, 0)
STOP, CALLS = chunk({}, 'stop'), chunk({}, 'tool_calls')
A, B, AB = chunk({'content': 'a'}), chunk({'content': 'b'}), Says([text('ab')], usage=NONE)
CUT = Says([text('ab')], 'length', NONE)
JUST_A = Says([text('a')], usage=NONE)
ONE, TWO = (
    Says([call()], 'tool_call', NONE),
    Says([call(), call(arguments=ROME, id='c2')], 'tool_call', NONE),
)
NAMELESS = Says([call(id=GENERATED)], 'tool_call', NONE)
NOTHING = Fails(ModelAPIError, 'no answer')
USAGE = {'prompt_tokens': 3, 'completion_tokens': 2, 'total_tokens': 5}


def of(*fragments: Any, finish: str | None = None) -> dict[str, Any]:
    """Give a chunk of tool-call fragments."""
    return chunk({'tool_calls': list(fragments)}, finish)


def piece(index: Any = 0, id: Any = ..., name: Any = ..., arguments: Any = ..., **extra: Any) -> dict[str, Any]:
    """Give a fragment; what is `...` is left out."""
    function = {key: value for key, value in (('name', name), ('arguments', arguments)) if value is not ...}
    fragment = {'index': index, 'id': id, 'function': function, **extra}
    return {key: value for key, value in fragment.items() if value is not ...}


def unnumbered(event: dict[str, Any], index: Any = ...) -> dict[str, Any]:
    """Give an event with another index on its choice, or with none."""
    return {
        **event,
        'choices': [{key: value for key, value in {**event['choices'][0], 'index': index}.items() if value is not ...}],
    }


def with_only(**choice: Any) -> dict[str, Any]:
    """Give an event with a choice that holds nothing else."""
    return {**A, 'choices': [{'index': 0, **choice}]}


def alternative(content: str | None, finish: str) -> dict[str, Any]:
    """Give an event of the second of two alternatives."""
    return unnumbered(chunk({'content': content}, finish), 1)


def data(value: Any) -> str:
    return f'data: {value if isinstance(value, str) else json.dumps(value)}\n\n'


W = 'get_weather'
FIRST, SECOND = '{"city":', '"Paris"}'
SPACED = '{"city": "Paris"}'
AAB = Says([text('aab')], usage=NONE)
LLAMA_ERROR = 'error: {"code":500,"message":"boom","type":"server_error"}\n\n'
