"""Each stray whole reply once more as a stream, cut in three ways: the repairs are the same, so the parts are too."""

import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest

from pydantic_ai_verbatim.chat.json_value import is_list, is_object

from ..conftest import load_cases
from .reply_cases import CASES, KINDS, REPORTED
from .stray import Expected, Fails, Says, model_of, outcome_of, streamed, streaming

Cut = Literal['whole', 'by field', 'by character']


def cut_up(body: Any, cut: Cut) -> list[Any]:
    """Give the events that say what a body says: deltas where it has messages, else the body as one event."""
    if not is_object(body):
        return [body]
    choices = body.get('choices')
    if is_list(choices) and choices and all(is_object(choice) for choice in choices):
        return list(_events(body, choices, cut))
    for key, value in body.items():
        if is_object(value) and 'choices' in value:
            return [{**body, key: event} for event in cut_up(value, cut)]
    return [body]


def _events(body: dict[str, Any], choices: list[Any], cut: Cut) -> Iterator[Any]:
    envelope = {key: value for key, value in body.items() if key != 'usage'}
    if 'object' in body:
        envelope['object'] = 'chat.completion.chunk'
    for choice in choices:
        key = next((key for key in ('message', 'delta', 'text') if key in choice), 'message')
        ending = tuple(name for name in ('finish_reason', 'logprobs', 'tool_calls', 'text') if name != key)
        around = {name: value for name, value in choice.items() if name not in (key, *ending)}
        for delta in _deltas(choice.get(key), cut):
            yield {**envelope, 'choices': [{**around, 'delta' if key == 'message' else key: delta}]}
        last = {name: choice[name] for name in ending if name in choice}
        if last:
            yield {**envelope, 'choices': [{**around, 'delta': {}, **last}]}
    if 'usage' in body:
        yield {**envelope, 'choices': [], 'usage': body['usage']}


def _deltas(message: Any, cut: Cut) -> Iterator[Any]:
    if isinstance(message, str) and cut == 'by character':
        yield from message
        return
    if not is_object(message) or cut == 'whole':
        yield _with_numbered_calls(message)
        return
    for key, value in sorted(message.items(), key=lambda item: not item[0].startswith(('reasoning', 'thinking'))):
        if key == 'tool_calls' and is_list(value):
            for call in _numbered(value):
                yield from ({'tool_calls': [fragment]} for fragment in _fragments(call, cut))
        elif isinstance(value, str) and value and key not in ('role', 'tool_calls') and cut == 'by character':
            yield from ({key: character} for character in value)
        else:
            yield {key: value}


def _with_numbered_calls(message: Any) -> Any:
    if not is_object(message) or not is_list(message.get('tool_calls')):
        return message
    return {**message, 'tool_calls': _numbered(message['tool_calls'])}


def _numbered(calls: list[Any]) -> list[Any]:
    return [{'index': index, **call} if is_object(call) and call else call for index, call in enumerate(calls)]


def _fragments(call: Any, cut: Cut) -> Iterator[Any]:
    if not is_object(call) or not is_object(call.get('function')):
        yield call
        return
    function = {key: value for key, value in call['function'].items() if key != 'arguments'}
    yield {**call, 'function': function}
    arguments = call['function'].get('arguments')
    pieces = list(arguments) if isinstance(arguments, str) and cut == 'by character' else [arguments]
    for piece in pieces:
        yield {'index': call['index'], 'function': {'arguments': piece}}


WHOLE = [
    *((case.values[0]['id'], case.values[0]['body'], REPORTED[case.values[0]['id']]) for case in load_cases('replies')),
    *CASES,
]
HTTP_ERRORS = {'J28', 'J30', 'J32'}
"""Cases of an HTTP status, which no stream has."""

NOT_IN_PIECES = {'text-of-a-call-in-the-next-choice', 'calls-of-one-id-in-two-choices'}
"""Cases that pieces cannot tell: they turn on the finish reason beside a text, or on where a call ends."""

OTHER_ORDER = {'text-after-the-call', 'reasoning-in-another-choice'}
"""Cases whose stream says the parts in another order than upstream gives those of a whole reply."""


CUTS: tuple[Cut, ...] = ('whole', 'by field', 'by character')


@pytest.mark.parametrize(
    ('name', 'reply', 'expected'),
    [pytest.param(*case, id=case[0]) for case in WHOLE if case[0] not in HTTP_ERRORS | NOT_IN_PIECES],
)
async def test_a_cut_reply_says_the_same(name: str, reply: Any, expected: Expected):
    """A whole reply that strays, as one delta, one field at a time and one character at a time, gives the same parts."""
    kind = KINDS.get(name, 'compat')
    if isinstance(expected, Fails):
        expected = Fails(expected.kind)
    elif name in OTHER_ORDER:
        expected = Says(expected.parts[::-1], expected.finish, expected.usage)
    for cut in CUTS:
        model = model_of(kind, 'glm-5', streaming(cut_up(reply, cut)))
        expected.check(await outcome_of(streamed(model, kind)))


def test_the_cuts_are_different():
    """The three ways to cut a reply are three."""
    body = {'choices': [{'message': {'content': 'hi', 'tool_calls': [{'function': {'name': 'f', 'arguments': '{}'}}]}}]}
    cuts = [cut_up(body, cut) for cut in CUTS]
    assert [len(events) for events in cuts] == [1, 3, 5]
    assert json.dumps(cuts[2]).count('delta') == 5
