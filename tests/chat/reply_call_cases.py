"""Whole replies whose tool calls stray, with what is right."""

import json
from typing import Any

from pydantic_ai.exceptions import ModelAPIError

from ..wire import call as wire_call
from .reply_bodies import CALLED, HI, OK, PARIS, ROME, calling, paris, paris_with, saying, with_choice
from .stray import GENERATED, Expected, Fails, Says, call, text

CALL_CASES: list[tuple[str, Any, Expected]] = [
    # Ids of calls
    ('call-id-null', calling(paris(None)), Says([call(id=GENERATED)], 'tool_call')),
    ('call-id-numeric', calling(paris(7)), Says([call(id='7')], 'tool_call')),
    ('call-id-an-object', calling(paris({})), Says([call(id=GENERATED)], 'tool_call')),
    (
        'call-ids-all-the-same',
        calling(paris('a'), wire_call('get_weather', ROME, 'a'), wire_call('now', '{}', 'a')),
        Says([call(id='a'), call(arguments=ROME, id='a_2'), call('now', '{}', 'a_3')], 'tool_call'),
    ),
    (
        'call-id-made-distinct-is-taken',
        calling(paris('a'), wire_call('get_weather', ROME, 'a_2'), wire_call('now', '{}', 'a')),
        Says([call(id='a'), call(arguments=ROME, id='a_2'), call('now', '{}', 'a_3')], 'tool_call'),
    ),
    (
        'call-id-of-kimi',
        calling(paris('functions.get_weather:0')),
        Says([call(id='functions.get_weather:0')], 'tool_call'),
    ),
    # Types and shapes of calls
    ('call-type-missing', calling(paris(type=...)), CALLED),
    ('call-type-null', calling(paris(type=None)), CALLED),
    ('call-type-empty', calling(paris(type='')), CALLED),
    ('call-type-of-another', calling(paris(type='tool_use')), CALLED),
    ('call-flat', calling({'id': 'c1', 'name': 'get_weather', 'arguments': PARIS}), CALLED),
    (
        'call-with-parameters',
        calling(paris(function={'name': 'get_weather', 'parameters': {'city': 'Paris'}, 'arguments': None})),
        CALLED,
    ),
    ('call-with-args', calling(paris(function={'name': 'get_weather', 'args': {'city': 'Paris'}})), CALLED),
    ('call-with-input', calling({'id': 'c1', 'name': 'get_weather', 'input': {'city': 'Paris'}}), CALLED),
    (
        'call-in-the-content',
        saying(
            [
                {'type': 'text', 'text': 'hi'},
                {'type': 'tool_use', 'id': 'c1', 'name': 'get_weather', 'input': {'city': 'Paris'}},
            ]
        ),
        Says([text('hi'), call()], 'tool_call'),
    ),
    (
        'part-of-a-call-without-a-name',
        saying([{'type': 'text', 'text': 'hi'}, {'type': 'tool_call', 'toolName': 'now'}]),
        HI,
    ),
    ('call-beside-the-message', with_choice(OK, tool_calls=[paris()]), Says([text('hi'), call()], 'tool_call')),
    ('calls-an-object', with_choice(OK, message={'content': None, 'tool_calls': paris()}), Says([call()], 'tool_call')),
    ('calls-with-null', calling(None, paris(), {}), CALLED),
    ('calls-blank', calling(wire_call('', '', ''), content='hi', finish='stop'), HI),
    ('calls-blank-flat', calling({'id': '', 'name': '', 'arguments': {}}, paris()), CALLED),
    ('calls-in-brackets', saying('hi', tool_calls='[]'), HI),
    ('calls-in-words', saying('hi', tool_calls='None'), HI),
    ('calls-as-text', saying('hi', tool_calls=json.dumps([paris()])), Says([text('hi'), call()], 'tool_call')),
    ('function-as-text', calling(paris(function=json.dumps(paris()['function']))), CALLED),
    ('function-a-name', calling(paris(function='get_weather', arguments=PARIS)), CALLED),
    (
        'half-a-character-in-the-arguments',
        calling(paris_with('{"city":"\ud83d"}')),
        Says([call(arguments='{"city":"\ufffd"}')], 'tool_call'),
    ),
    (
        'half-a-character-in-a-call',
        calling(paris('\ud83d', function={'name': 'get_weather', 'arguments': '{"city":"\ud83d"}'})),
        Says([call(arguments='{"city":"\ufffd"}', id='\ufffd')], 'tool_call'),
    ),
    (
        'arguments-encoded-twice-that-are-no-json',
        calling(paris_with('"{\\"a\\": NaN}"')),
        Says([call(arguments='"{\\"a\\": NaN}"')], 'tool_call'),
    ),
    ('name-of-a-word-for-nothing', calling(wire_call('none', '{}')), Says([call('none', '{}')], 'tool_call')),
    ('id-of-a-word-for-nothing', calling(paris('None')), Says([call(id=GENERATED)], 'tool_call')),
    (
        'calls-whose-id-is-their-name',
        calling(wire_call('now', '{}', 'now'), wire_call('now', '{}', 'now')),
        Says([call('now', '{}', 'now'), call('now', '{}', 'now_2')], 'tool_call'),
    ),
    ('call-said-again', calling(paris(), paris()), CALLED),
    ('calls-of-another-word', saying('hi', tool_calls='get_weather'), Fails(ModelAPIError, 'get_weather')),
    (
        'call-in-function-call',
        with_choice(OK, message={'function_call': paris()['function']}, finish_reason='function_call'),
        Says([call(id=GENERATED)], 'tool_call'),
    ),
    (
        'call-without-name',
        calling(paris(function={'arguments': PARIS})),
        Fails(ModelAPIError, 'a tool call without a name'),
    ),
    ('call-with-empty-name', calling(paris(function={'name': '', 'arguments': PARIS})), Fails(ModelAPIError, 'Paris')),
    ('call-with-null-name', calling(paris(function={'name': None, 'arguments': PARIS})), Fails(ModelAPIError, 'Paris')),
    ('call-a-string', calling('get_weather'), Fails(ModelAPIError, 'get_weather')),
    # Arguments
    ('arguments-null', calling(paris_with(None)), Says([call(arguments='')], 'tool_call')),
    ('arguments-missing', calling(paris(function={'name': 'get_weather'})), Says([call(arguments='')], 'tool_call')),
    ('arguments-empty', calling(paris_with('')), Says([call(arguments='')], 'tool_call')),
    ('arguments-an-empty-object', calling(paris_with({})), Says([call(arguments='{}')], 'tool_call')),
    (
        'arguments-a-nested-object',
        calling(paris_with({'a': {'b': ['é', 1.0, None]}})),
        Says([call(arguments='{"a":{"b":["é",1.0,null]}}')], 'tool_call'),
    ),
    ('arguments-a-list', calling(paris_with([1])), Says([call(arguments='[1]')], 'tool_call')),
    ('arguments-encoded-twice', calling(paris_with(json.dumps(PARIS))), CALLED),
    ('arguments-encoded-thrice', calling(paris_with(json.dumps(json.dumps(PARIS)))), CALLED),
    ('arguments-a-json-string', calling(paris_with('"Paris"')), Says([call(arguments='"Paris"')], 'tool_call')),
    (
        'arguments-encoded-twice-and-cut',
        calling(paris_with('"{\\"city\\":')),
        Says([call(arguments='"{\\"city\\":')], 'tool_call'),
    ),
    ('arguments-cut', calling(paris_with('{"city": "Par')), Says([call(arguments='{"city": "Par')], 'tool_call')),
    (
        'arguments-as-written',
        calling(paris_with('{ "city" : "\\u00e9" , "n": 1.0 }')),
        Says([call(arguments='{ "city" : "\\u00e9" , "n": 1.0 }')], 'tool_call'),
    ),
    ('arguments-no-json', calling(paris_with('city=Paris')), Says([call(arguments='city=Paris')], 'tool_call')),
]
"""Id, body, what is right."""
