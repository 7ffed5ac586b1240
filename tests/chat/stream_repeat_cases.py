"""Streams that say a call, or some of its arguments, more than once, with what is right."""

import json
from typing import Any

from .reply_bodies import PARIS, ROME, calling, paris, saying
from .stray import GENERATED, Expected, Says, call, text
from .stream_events import (
    AB,
    CALLS,
    FIRST,
    NAMELESS,
    NONE,
    ONE,
    SECOND,
    SPACED,
    STOP,
    TWO,
    A,
    B,
    W,
    of,
    piece,
)

REPEAT_CASES: list[tuple[str, list[Any], Expected]] = [
    # Repeats
    (
        'repeated-at-the-end',
        [
            of(piece(0, 'c1', W, FIRST)),
            of(piece(0, arguments=SECOND)),
            of(piece(0, 'c1', W, PARIS), finish='tool_calls'),
        ],
        ONE,
    ),
    ('repeated-before-the-end', [of(piece(0, 'c1', W, PARIS)), of(piece(0, 'c1', W, PARIS)), CALLS], ONE),
    (
        'repeated-without-ids',
        [of(piece(0, ..., W, FIRST)), of(piece(0, arguments=SECOND)), of(piece(0, ..., W, PARIS)), CALLS],
        NAMELESS,
    ),
    (
        'repeated-without-names',
        [of(piece(0, 'c1', W, FIRST)), of(piece(0, arguments=SECOND)), of(piece(0, arguments=PARIS)), CALLS],
        ONE,
    ),
    (
        'repeated-without-indexes',
        [
            of(piece(0, 'c1', W, PARIS)),
            of(piece(1, 'c2', W, ROME)),
            of(piece(..., ..., W, PARIS), piece(..., ..., W, ROME), finish='tool_calls'),
        ],
        TWO,
    ),
    (
        'repeated-as-a-message',
        [A, of(piece(0, 'c1', W, PARIS)), {**CALLS, 'choices': calling(paris(), content='a')['choices']}],
        Says([text('a'), call()], 'tool_call', NONE),
    ),
    ('text-repeated-as-a-message', [A, B, {**STOP, 'choices': saying('ab')['choices']}], AB),
    ('text-completed-by-a-message', [A, {**STOP, 'choices': saying('ab')['choices']}], AB),
    # The same call again
    (
        'repeated-in-other-white-space',
        [
            of(piece(0, 'c1', W, FIRST)),
            of(piece(0, arguments=SECOND)),
            of(piece(0, 'c1', W, SPACED), finish='tool_calls'),
        ],
        ONE,
    ),
    (
        'repeated-as-an-object',
        [of(piece(0, 'c1', W, PARIS)), of(piece(0, 'c1', W, {'city': 'Paris'}), finish='tool_calls')],
        ONE,
    ),
    (
        'repeated-as-an-object-of-one-encoded-twice',
        [of(piece(0, 'c1', W, json.dumps(PARIS))), of(piece(0, 'c1', W, {'city': 'Paris'}), finish='tool_calls')],
        ONE,
    ),
    (
        'another-call-under-the-same-id-cut',
        [of(piece(0, 'a', W, PARIS)), of(piece(0, 'a', W, FIRST)), CALLS],
        Says([call(id='a'), call(arguments=FIRST, id='a_2')], 'tool_call', NONE),
    ),
    (
        'another-call-under-the-same-id-with-true-for-1',
        [of(piece(0, 'a', W, '{"n":1}')), of(piece(0, 'a', W, '{"n":true}')), CALLS],
        Says([call(arguments='{"n":1}', id='a'), call(arguments='{"n":true}', id='a_2')], 'tool_call', NONE),
    ),
    (
        'equal-calls-without-ids-the-second-with-the-finish',
        [of(piece(0, ..., W, PARIS)), of(piece(1, ..., W, PARIS), finish='tool_calls')],
        Says([call(id=GENERATED), call(id=GENERATED)], 'tool_call', NONE),
    ),
    # Arguments said before, or more than once
    (
        'stub-before-the-arguments',
        [of(piece(0, 'c1', W, '{}')), of(piece(0, arguments=FIRST)), of(piece(0, arguments=SECOND)), CALLS],
        ONE,
    ),
    (
        'stub-object-before-the-arguments',
        [of(piece(0, 'c1', W, {})), of(piece(0, arguments=FIRST)), of(piece(0, arguments=SECOND)), CALLS],
        ONE,
    ),
    ('stub-that-stays', [of(piece(0, 'c1', W, '{}')), CALLS], Says([call(arguments='{}')], 'tool_call', NONE)),
    (
        'object-and-more',
        [of(piece(0, 'c1', W, '{}')), of(piece(0, arguments='}')), CALLS],
        Says([call(arguments='{}}')], 'tool_call', NONE),
    ),
    (
        'cumulative',
        [
            of(piece(0, 'c1', W, '')),
            of(piece(0, arguments='{"ci')),
            of(piece(0, arguments=FIRST)),
            of(piece(0, arguments=PARIS)),
            CALLS,
        ],
        ONE,
    ),
    (
        'cumulative-with-id-and-name',
        [of(piece(0, 'c1', W, '{"ci')), of(piece(0, 'c1', W, FIRST)), of(piece(0, 'c1', W, PARIS)), CALLS],
        ONE,
    ),
    (
        'cumulative-at-the-end-only',
        [of(piece(0, 'c1', W, FIRST)), of(piece(0, arguments='"Par')), of(piece(0, arguments=PARIS)), CALLS],
        ONE,
    ),
    (
        'cumulative-and-then-not',
        [of(piece(0, 'c1', W, '{"ci')), of(piece(0, arguments=FIRST)), of(piece(0, arguments=SECOND)), CALLS],
        ONE,
    ),
    (
        'cumulative-and-cut',
        [of(piece(0, 'c1', W, '{"ci')), of(piece(0, arguments=FIRST)), CALLS],
        Says([call(arguments='{"ci{"city":')], 'tool_call', NONE),
    ),
    (
        'object-that-begins-with-an-equal-one',
        [of(piece(0, 'c1', W, '{"a":')), of(piece(0, arguments='{"a":1}')), of(piece(0, arguments='}')), CALLS],
        Says([call(arguments='{"a":{"a":1}}')], 'tool_call', NONE),
    ),
    (
        'growing-objects',
        [
            of(piece(0, 'c1', W, '{"city":"P"}')),
            of(piece(0, 'c1', W, '{"city":"Par"}')),
            of(piece(0, 'c1', W, PARIS)),
            CALLS,
        ],
        Says([call(arguments='{"city":"P"}{"city":"Par"}' + PARIS)], 'tool_call', NONE),
    ),
    (
        'another-object-with-the-id',
        [of(piece(0, 'c1', W, PARIS)), of(piece(0, 'c1', W, ROME)), CALLS],
        Says([call(), call(arguments=ROME, id='c1_2')], 'tool_call', NONE),
    ),
    (
        'call-again-encoded-twice',
        [
            of(piece(0, 'c1', W, FIRST)),
            of(piece(0, 'c1', arguments=SECOND)),
            of(piece(0, 'c1', W, json.dumps(SPACED))),
            CALLS,
        ],
        ONE,
    ),
    (
        'call-again-encoded-twice-at-the-end',
        [of(piece(0, 'c1', W, PARIS)), of(piece(0, 'c1', W, json.dumps(PARIS)), finish='tool_calls')],
        ONE,
    ),
    (
        'call-again-at-the-next-index',
        [of(piece(0, 'c1', W, '')), of(piece(0, arguments=PARIS)), of(piece(1, 'c1', W, PARIS)), CALLS],
        ONE,
    ),
    (
        'call-again-while-another-is-open',
        [
            of(piece(0, 'c1', W, PARIS)),
            of(piece(1, 'c2', 'now', '')),
            of(piece(0, arguments=PARIS)),
            of(piece(1, arguments='{}')),
            CALLS,
        ],
        Says([call(), call('now', '{}', 'c2')], 'tool_call', NONE),
    ),
    (
        'stub-while-another-is-open',
        [
            of(piece(0, 'c1', W, '{}')),
            of(piece(1, 'c2', 'now', '')),
            of(piece(0, arguments=PARIS)),
            of(piece(1, arguments='{}')),
            CALLS,
        ],
        Says([call(), call('now', '{}', 'c2')], 'tool_call', NONE),
    ),
    (
        'calls-of-the-same-id-two-of-them-twice',
        [of(piece(0, 'c1', W, PARIS)), of(piece(1, 'c1', W, ROME)), of(piece(2, 'c1', W, ROME)), CALLS],
        Says([call(), call(arguments=ROME, id='c1_2')], 'tool_call', NONE),
    ),
    (
        'calls-whose-id-is-their-name',
        [of(piece(0, 'now', 'now', '{}')), of(piece(1, 'now', 'now', '{}')), CALLS],
        Says([call('now', '{}', 'now'), call('now', '{}', 'now_2')], 'tool_call', NONE),
    ),
    (
        'another-call-of-the-same-id',
        [
            of(piece(0, 'c1', W, '')),
            of(piece(1, 'c1', W, '')),
            of(piece(0, arguments=PARIS)),
            of(piece(1, arguments=ROME)),
            CALLS,
        ],
        Says([call(), call(arguments=ROME, id='c1_2')], 'tool_call', NONE),
    ),
    (
        'name-again-with-white-space',
        [of(piece(0, 'c1', W, PARIS)), of(piece(0, 'c1', W, '\n')), CALLS],
        Says([call(arguments=PARIS + '\n')], 'tool_call', NONE),
    ),
    (
        'name-again-with-white-space-without-ids',
        [of(piece(name=W, arguments=PARIS)), of(piece(name=W, arguments=' ')), CALLS],
        Says([call(arguments=PARIS + ' ', id=GENERATED)], 'tool_call', NONE),
    ),
]
