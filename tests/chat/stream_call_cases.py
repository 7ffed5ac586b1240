"""Streams whose tool calls stray, with what is right."""

import json
from typing import Any

from pydantic_ai.exceptions import ModelAPIError

from ..wire import chunk
from .reply_bodies import PARIS, ROME
from .stray import GENERATED, Expected, Fails, Says, call, text
from .stream_events import (
    AB,
    CALLS,
    FIRST,
    JUST_A,
    NAMELESS,
    NONE,
    ONE,
    SECOND,
    STOP,
    TWO,
    A,
    B,
    W,
    of,
    piece,
    with_only,
)

CALL_CASES: list[tuple[str, list[Any], Expected]] = [
    (
        'broken-off-for-a-failure-without-arguments',
        [of(piece(0, 'c1', 'now', '')), chunk({}, 'error')],
        Says([call('now', '')], 'error', NONE),
    ),
    (
        'broken-off-for-a-failure',
        [of(piece(0, 'c1', W, FIRST)), chunk({}, 'network_error')],
        Fails(ModelAPIError, 'broke off inside a tool call: {"city":'),
    ),
    # Calls that share an index
    (
        'shared-index-without-ids',
        [of(piece(name=W, arguments=PARIS)), of(piece(name=W, arguments=ROME)), CALLS],
        Says([call(id=GENERATED), call(arguments=ROME, id=GENERATED)], 'tool_call', NONE),
    ),
    (
        'shared-index-empty-ids',
        [of(piece(0, '', W, PARIS)), of(piece(0, '', 'now', '{}')), CALLS],
        Says([call(id=GENERATED), call('now', '{}', GENERATED)], 'tool_call', NONE),
    ),
    ('shared-index-in-one-event', [of(piece(0, 'c1', W, PARIS), piece(0, 'c2', W, ROME)), CALLS], TWO),
    (
        'shared-index-in-fragments',
        [
            of(piece(0, 'c1', W, '')),
            of(piece(0, arguments=FIRST)),
            of(piece(0, arguments=SECOND)),
            of(piece(0, 'c2', W, '')),
            of(piece(0, arguments='{"city":')),
            of(piece(0, arguments='"Rome"}')),
            CALLS,
        ],
        TWO,
    ),
    (
        'shared-index-opened-together',
        [
            of(piece(0, 'c1', W, ''), piece(0, 'c2', W, '')),
            of(piece(0, 'c1', arguments=FIRST)),
            of(piece(0, 'c2', arguments=ROME)),
            of(piece(0, 'c1', arguments=SECOND)),
            CALLS,
        ],
        TWO,
    ),
    (
        'shared-index-second-without-arguments',
        [of(piece(0, 'c1', W, PARIS)), of(piece(0, 'c2', 'now', '')), CALLS],
        Says([call(), call('now', '', 'c2')], 'tool_call', NONE),
    ),
    (
        'shared-index-two-names-without-arguments',
        [of(piece(0, name='now', arguments='')), of(piece(0, name=W, arguments=PARIS)), CALLS],
        Says([call('now', '', GENERATED), call(id=GENERATED)], 'tool_call', NONE),
    ),
    (
        'same-call-twice-with-ids',
        [of(piece(0, 'c1', W, PARIS)), of(piece(0, 'c2', W, PARIS)), CALLS],
        Says([call(), call(id='c2')], 'tool_call', NONE),
    ),
    # Indexes
    ('index-a-string', [of(piece('0', 'c1', W, FIRST)), of(piece('0', arguments=SECOND)), CALLS], ONE),
    ('index-null', [of(piece(None, 'c1', W, FIRST)), of(piece(None, arguments=SECOND)), CALLS], ONE),
    ('index-from-one', [of(piece(1, 'c1', W, PARIS)), of(piece(2, 'c2', W, ROME)), CALLS], TWO),
    (
        'index-missing-without-ids',
        [of(piece(..., name=W, arguments=PARIS)), of(piece(..., name=W, arguments=ROME)), CALLS],
        Says([call(id=GENERATED), call(arguments=ROME, id=GENERATED)], 'tool_call', NONE),
    ),
    (
        'index-missing-same-call-twice',
        [of(piece(..., name='now', arguments='{}')), of(piece(..., name='now', arguments='{}')), CALLS],
        Says([call('now', '{}', GENERATED), call('now', '{}', GENERATED)], 'tool_call', NONE),
    ),
    (
        'index-missing-in-fragments',
        [of(piece(..., 'c1', W, '')), of(piece(..., arguments=FIRST)), of(piece(..., arguments=SECOND)), CALLS],
        ONE,
    ),
    ('index-missing-id-resent', [of(piece(..., 'c1', W, FIRST)), of(piece(..., 'c1', arguments=SECOND)), CALLS], ONE),
    ('index-missing-name-resent', [of(piece(..., ..., W, FIRST)), of(piece(..., ..., W, SECOND)), CALLS], NAMELESS),
    (
        'index-missing-in-a-list',
        [
            of(piece(..., 'c1', W, FIRST), piece(..., 'c2', W, '')),
            of(piece(..., arguments=SECOND), piece(..., arguments=ROME)),
            CALLS,
        ],
        TWO,
    ),
    (
        'index-missing-call-after-call-without-arguments',
        [of(piece(..., ..., 'now', '')), of(piece(..., ..., W, PARIS)), CALLS],
        Says([call('now', '', GENERATED), call(id=GENERATED)], 'tool_call', NONE),
    ),
    ('index-unknown-to-a-fragment', [of(piece(0, 'c1', W, PARIS)), of(piece(1, arguments='')), CALLS], ONE),
    (
        'index-rising-with-each-fragment',
        [
            of(piece(0, 'c1', W, FIRST)),
            of(piece(1, 'c1', arguments='"Par')),
            of(piece(2, 'c1', arguments='is"}')),
            CALLS,
        ],
        ONE,
    ),
    (
        'interleaved-calls-whose-pieces-look-like-other-calls',
        [
            of(piece(0, 'c1', W, '{"a":')),
            of(piece(1, 'c2', 'now', '')),
            of(piece(0, arguments='{"a":1}')),
            of(piece(0, arguments='}')),
            of(piece(1, arguments='{}')),
            CALLS,
        ],
        Says([call(arguments='{"a":{"a":1}}'), call('now', '{}', 'c2')], 'tool_call', NONE),
    ),
    (
        'no-index-and-no-ids-opened-without-arguments',
        [
            of(piece(..., name=W, arguments='')),
            of(piece(..., arguments=PARIS)),
            of(piece(..., name='now', arguments='')),
            of(piece(..., arguments='{}')),
            CALLS,
        ],
        Says([call(id=GENERATED), call('now', '{}', GENERATED)], 'tool_call', NONE),
    ),
    (
        'shared-index-another-tool-opened-without-arguments',
        [of(piece(0, '', W, PARIS)), of(piece(0, '', 'now', None)), of(piece(0, '', '', '{}')), CALLS],
        Says([call(id=GENERATED), call('now', '{}', GENERATED)], 'tool_call', NONE),
    ),
    (
        'shared-index-another-tool-without-arguments',
        [of(piece(0, name=W, arguments=PARIS)), of(piece(0, name='now', arguments='')), CALLS],
        Says([call(id=GENERATED), call('now', '', GENERATED)], 'tool_call', NONE),
    ),
    (
        'name-in-pieces-beside-arguments',
        [of(piece(0, 'c1', 'get_', '{"city"')), of(piece(0, name='weather', arguments=':"Paris"}')), CALLS],
        ONE,
    ),
    (
        'text-that-seems-to-begin-a-tag-before-a-call',
        [chunk({'content': '<th'}), of(piece(0, 'c1', W, PARIS)), CALLS],
        Says([text('<th'), call()], 'tool_call', NONE),
    ),
    (
        'index-of-the-tool-on-the-header',
        [
            of(piece(1, 'a', W, '')),
            of(piece(0, '', arguments=PARIS)),
            of(piece(0, 'b', 'now', '')),
            of(piece(1, '', arguments='{}')),
            CALLS,
        ],
        Says([call(id='a'), call('now', '{}', 'b')], 'tool_call', NONE),
    ),
    # Ids
    ('id-late', [of(piece(0, name=W, arguments=FIRST)), of(piece(0, 'c1', arguments=SECOND)), CALLS], ONE),
    ('id-late-with-the-name', [of(piece(0, name=W, arguments=FIRST)), of(piece(0, 'c1', W, SECOND)), CALLS], ONE),
    ('id-with-the-recap', [of(piece(0, name=W, arguments=PARIS)), of(piece(0, 'c1', W, PARIS)), CALLS], ONE),
    ('id-null-later', [of(piece(0, 'c1', W, FIRST)), of(piece(0, None, None, SECOND)), CALLS], ONE),
    ('id-empty-later', [of(piece(0, 'c1', W, FIRST)), of(piece(0, '', '', SECOND)), CALLS], ONE),
    ('id-resent', [of(piece(0, 'c1', W, FIRST)), of(piece(0, 'c1', arguments=SECOND)), CALLS], ONE),
    (
        'id-another-in-each-fragment',
        [
            of(piece(0, 'c1', W, '')),
            of(piece(0, 'x2', arguments=FIRST)),
            of(piece(0, 'x3', arguments=SECOND)),
            of(piece(0, 'x4', arguments='')),
            CALLS,
        ],
        ONE,
    ),
    ('id-and-name-another-in-each-fragment', [of(piece(0, 'c1', W, FIRST)), of(piece(0, 'x2', W, SECOND)), CALLS], ONE),
    (
        'id-numeric',
        [of(piece(0, 7, W, FIRST)), of(piece(0, 7, arguments=SECOND)), CALLS],
        Says([call(id='7')], 'tool_call', NONE),
    ),
    (
        'id-the-same-for-two',
        [of(piece(0, 'a', W, PARIS)), of(piece(1, 'a', W, ROME)), CALLS],
        Says([call(id='a'), call(arguments=ROME, id='a_2')], 'tool_call', NONE),
    ),
    (
        'id-the-same-for-two-at-one-index',
        [of(piece(0, 'a', W, PARIS)), of(piece(0, 'a', W, ROME)), CALLS],
        Says([call(id='a'), call(arguments=ROME, id='a_2')], 'tool_call', NONE),
    ),
    (
        'id-the-same-for-two-in-fragments',
        [
            of(piece(0, 'a', W, '')),
            of(piece(0, arguments=PARIS)),
            of(piece(1, 'a', W, '')),
            of(piece(1, arguments=ROME)),
            CALLS,
        ],
        Says([call(id='a'), call(arguments=ROME, id='a_2')], 'tool_call', NONE),
    ),
    (
        'id-and-name-of-its-own-in-each-piece',
        [of(piece(0, 'c1', W, '{"a":')), of(piece(0, 'u2', W, '{"b":1}')), of(piece(0, 'u3', W, '}')), CALLS],
        Says([call(arguments='{"a":{"b":1}}')], 'tool_call', NONE),
    ),
    # Names
    (
        'name-split-in-three',
        [of(piece(0, 'c1', 'get', '')), of(piece(0, name='_wea')), of(piece(0, name='ther', arguments=PARIS)), CALLS],
        ONE,
    ),
    ('name-split-with-ids', [of(piece(0, 'c1', 'get_', '')), of(piece(0, 'c1', 'weather', PARIS)), CALLS], ONE),
    (
        'name-split-and-index-missing',
        [of(piece(..., 'c1', 'get_', '')), of(piece(..., ..., 'weather', PARIS)), CALLS],
        ONE,
    ),
    (
        'name-growing',
        [of(piece(0, 'c1', 'get_', '')), of(piece(0, 'c1', W, '')), of(piece(0, arguments=PARIS)), CALLS],
        ONE,
    ),
    (
        'name-split-and-undeclared',
        [of(piece(0, 'c1', 'fetch', '')), of(piece(0, name='_it', arguments='{}')), CALLS],
        Says([call('fetch_it', '{}')], 'tool_call', NONE),
    ),
    (
        'name-resent-without-ids',
        [of(piece(0, ..., W, '')), of(piece(0, ..., W, FIRST)), of(piece(0, ..., W, SECOND)), CALLS],
        NAMELESS,
    ),
    ('name-empty-later', [of(piece(0, 'c1', W, '')), of(piece(0, name='', arguments=PARIS)), CALLS], ONE),
    ('name-null-first', [of(piece(0, 'c1', None, '')), of(piece(0, name=W, arguments=PARIS)), CALLS], ONE),
    ('name-after-the-arguments', [of(piece(0, 'c1', ..., FIRST)), of(piece(0, ..., W, SECOND)), CALLS], ONE),
    (
        'name-another-after-cut-arguments',
        [of(piece(0, ..., W, FIRST)), of(piece(0, ..., 'now', '{}')), CALLS],
        Says([call(arguments=FIRST, id=GENERATED), call('now', '{}', GENERATED)], 'tool_call', NONE),
    ),
    ('name-never', [of(piece(0, 'c1', ..., PARIS)), CALLS], Fails(ModelAPIError, 'a tool call without a name')),
    ('call-never-begun', [A, of(piece(0)), STOP], JUST_A),
    ('name-null-in-words-later', [of(piece(0, 'c1', W, FIRST)), of(piece(0, '', 'null', SECOND)), CALLS], ONE),
    ('name-and-id-none-in-words-later', [of(piece(0, 'c1', W, '')), of(piece(0, 'None', 'None', PARIS)), CALLS], ONE),
    (
        'no-index-and-no-ids-and-blank-arguments',
        [
            of(piece(..., name=W, arguments=PARIS)),
            of(piece(..., name='now', arguments=' ')),
            of(piece(..., arguments='{}')),
            CALLS,
        ],
        Says([call(id=GENERATED), call('now', ' {}', GENERATED)], 'tool_call', NONE),
    ),
    ('name-null-in-words-alone', [of(piece(0, 'c1', 'null', PARIS)), CALLS], Says([call('null')], 'tool_call', NONE)),
    # Shapes
    ('call-flat', [of({'index': 0, 'id': 'c1', 'name': W, 'arguments': PARIS}), CALLS], ONE),
    ('call-with-parameters', [of({'index': 0, 'id': 'c1', 'function': {'name': W, 'parameters': PARIS}}), CALLS], ONE),
    (
        'call-with-input-in-pieces',
        [of({'index': 0, 'id': 'c1', 'name': W, 'input': FIRST}), of({'index': 0, 'input': SECOND}), CALLS],
        ONE,
    ),
    (
        'call-beside-the-delta',
        [
            with_only(delta={'content': 'a'}, tool_calls=[piece(0, 'c1', W, FIRST)]),
            with_only(delta={}, tool_calls=[piece(0, arguments=SECOND)]),
            CALLS,
        ],
        Says([text('a'), call()], 'tool_call', NONE),
    ),
    ('call-without-function-later', [of(piece(0, 'c1', W, PARIS)), of({'index': 0, 'function': None}), CALLS], ONE),
    ('call-type-missing', [of({'index': 0, 'id': 'c1', 'function': {'name': W, 'arguments': PARIS}}), CALLS], ONE),
    ('call-type-empty', [of(piece(0, 'c1', W, PARIS, type='')), CALLS], ONE),
    (
        'call-type-another-later',
        [of(piece(0, 'c1', W, '{"city"')), of(piece(0, arguments=':"Paris"}', type='tool')), CALLS],
        ONE,
    ),
    ('provider-a-number', [{**A, 'provider': 5}, STOP], JUST_A),
    ('call-an-object', [chunk({'tool_calls': piece(0, 'c1', W, PARIS)}), CALLS], ONE),
    ('call-null', [of(None, piece(0, 'c1', W, PARIS)), CALLS], ONE),
    ('call-null-with-the-finish', [of(None, piece(0, 'c1', W, PARIS), finish='tool_calls')], ONE),
    ('call-blank', [A, of(piece(0, '', '', '', type='function')), STOP], JUST_A),
    ('call-blank-with-the-finish', [A, of(piece(0, '', '', '', type='function'), finish='stop')], JUST_A),
    ('call-blank-among', [of(piece(0, '', '', ''), piece(1, 'c1', W, PARIS)), CALLS], ONE),
    ('calls-in-words', [A, chunk({'content': 'b', 'tool_calls': '[]'}), chunk({'tool_calls': 'none'}, 'stop')], AB),
    ('call-a-string', [of('now'), CALLS], Fails(ModelAPIError, 'now')),
    (
        'call-in-function-call',
        [
            chunk({'function_call': {'name': W, 'arguments': ''}}),
            chunk({'function_call': {'arguments': PARIS}}),
            chunk({}, 'function_call'),
        ],
        NAMELESS,
    ),
    ('calls-null', [chunk({'content': 'a', 'tool_calls': None}), STOP], JUST_A),
    ('calls-empty', [chunk({'content': 'a', 'tool_calls': []}), STOP], JUST_A),
    # Arguments
    ('arguments-an-object', [of(piece(0, 'c1', W, {'city': 'Paris'})), CALLS], ONE),
    ('arguments-null', [of(piece(0, 'c1', 'now', None)), CALLS], Says([call('now', '')], 'tool_call', NONE)),
    ('arguments-missing', [of(piece(0, 'c1', 'now')), CALLS], Says([call('now', '')], 'tool_call', NONE)),
    ('arguments-null-first', [of(piece(0, 'c1', W, None)), of(piece(0, arguments=PARIS)), CALLS], ONE),
    (
        'arguments-encoded-twice',
        [of(piece(0, 'c1', W, '"{\\"city')), of(piece(0, arguments='\\":\\"Paris\\"}"')), CALLS],
        ONE,
    ),
    (
        'arguments-encoded-twice-and-cut',
        [of(piece(0, 'c1', W, '"{\\"city')), CALLS],
        Says([call(arguments='"{\\"city')], 'tool_call', NONE),
    ),
    ('arguments-encoded-twice-without-finish', [of(piece(0, 'c1', W, json.dumps(PARIS)))], ONE),
    (
        'arguments-with-space-after',
        [of(piece(0, 'c1', W, PARIS)), of(piece(0, arguments='\n')), CALLS],
        Says([call(arguments=PARIS + '\n')], 'tool_call', NONE),
    ),
    # Finish reasons
    ('finish-missing', [A, B], AB),
    ('finish-key-missing', [{**A, 'choices': [{'index': 0, 'delta': {'content': 'a'}}]}], JUST_A),
    ('finish-empty-everywhere', [chunk({'content': 'a'}, ''), chunk({'content': 'b'}, ''), STOP], AB),
    ('finish-missing-with-calls', [of(piece(0, 'c1', W, PARIS))], ONE),
    ('finish-stop-with-calls', [of(piece(0, 'c1', W, PARIS), finish='stop')], ONE),
    ('finish-stop-after-calls', [of(piece(0, 'c1', W, PARIS)), STOP], ONE),
    ('finish-stop-before-calls', [STOP, of(piece(0, 'c1', W, PARIS))], ONE),
    (
        'finish-sensitive',
        [A, chunk({}, 'sensitive')],
        Says([text('a')], 'content_filter', NONE, {'finish_reason': 'sensitive'}),
    ),
    ('finish-network-error', [A, chunk({}, 'network_error')], Says([text('a')], 'error', NONE)),
    (
        'finish-with-null-delta',
        [A, {**STOP, 'choices': [{'index': 0, 'delta': None, 'finish_reason': 'length'}]}],
        Says([text('a')], 'length', NONE),
    ),
    ('finish-twice', [A, STOP, STOP], JUST_A),
    # Arguments at an index of their own
    (
        'arguments-at-the-next-index',
        [of(piece(0, 'c1', W, '')), of(piece(1, arguments=FIRST)), of(piece(2, arguments=SECOND)), CALLS],
        ONE,
    ),
    ('arguments-at-the-next-index-of-the-event', [of(piece(0, 'c1', W, ''), piece(1, None, None, PARIS)), CALLS], ONE),
    (
        'arguments-of-the-second-call-at-another-index',
        [of(piece(0, 'c1', W, PARIS)), of(piece(0, 'c2', W, '')), of(piece(1, arguments=ROME)), CALLS],
        TWO,
    ),
    # Odd shapes
    (
        'id-0',
        [of(piece(0, 0, W, FIRST)), of(piece(0, 0, arguments=SECOND)), CALLS],
        Says([call(id='0')], 'tool_call', NONE),
    ),
    ('calls-by-their-places', [chunk({'tool_calls': {'0': piece(0, 'c1', W, PARIS)}}), CALLS], ONE),
    (
        'half-a-character-in-the-arguments',
        [
            of(piece(0, 'c1', W, '{"a":"\ud83d')),
            of(piece(0, arguments='\ude00')),
            of(piece(0, arguments='\ud83d')),
            of(piece(0, arguments='\ude00"}')),
            CALLS,
        ],
        Says([call(arguments='{"a":"😀😀"}')], 'tool_call', NONE),
    ),
    (
        'half-a-character-alone-in-the-arguments',
        [of(piece(0, 'c1', W, '{"a":"x')), of(piece(0, arguments='y\ud83d')), CALLS],
        Says([call(arguments='{"a":"xy\ufffd')], 'tool_call', NONE),
    ),
]
"""Id, events, what is right."""
