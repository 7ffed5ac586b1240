"""Streams whose choices and deltas stray, with what is right."""

from typing import Any

from pydantic_ai.exceptions import (
    ModelAPIError,
)

from ..wire import chunk
from .reply_bodies import PARIS, calling, paris, saying
from .stray import Expected, Fails, Says, call, text
from .stream_events import (
    AAB,
    AB,
    CALLS,
    CUT,
    FIRST,
    JUST_A,
    NONE,
    ONE,
    SECOND,
    STOP,
    USAGE,
    A,
    B,
    W,
    alternative,
    of,
    piece,
    unnumbered,
    with_only,
)

CHOICE_CASES: list[tuple[str, list[Any], Expected]] = [
    # Deltas and choices
    ('delta-missing', [A, {**A, 'choices': [{'index': 0}]}, STOP], JUST_A),
    ('delta-a-string', [A, {**A, 'choices': [{'index': 0, 'delta': 'b'}]}, STOP], AB),
    ('delta-as-text', [A, {**A, 'choices': [{'index': 0, 'text': 'b'}]}, STOP], AB),
    ('delta-as-message', [{**A, 'choices': [{'index': 0, 'message': {'content': 'ab'}, 'finish_reason': 'stop'}]}], AB),
    ('choices-missing', [A, {'id': 'r1'}, STOP], JUST_A),
    ('choices-of-null', [A, {**A, 'choices': [None]}, STOP], JUST_A),
    ('choices-an-object', [A, {**A, 'choices': B['choices'][0]}, STOP], AB),
    ('choices-null-alone', [{**A, 'choices': None}], Fails(ModelAPIError, 'no answer')),
    ('choices-empty-alone', [{**A, 'choices': [], 'usage': USAGE}], Fails(ModelAPIError, 'no answer')),
    (
        'choice-index-missing',
        [{**A, 'choices': [{'delta': {'content': 'a'}}]}, {**A, 'choices': [{'delta': {'content': 'b'}}]}, STOP],
        AB,
    ),
    ('choice-index-missing-first', [unnumbered(A), B, STOP], AB),
    ('choice-index-missing-later', [A, unnumbered(B), STOP], AB),
    ('choice-index-null-later', [A, unnumbered(B, None), STOP], AB),
    ('choice-index-a-string-first', [unnumbered(A, '0'), B, STOP], AB),
    (
        'choice-index-missing-inside-a-call',
        [of(piece(0, 'c1', W, FIRST)), unnumbered(of(piece(0, arguments=SECOND))), CALLS],
        ONE,
    ),
    (
        'choice-index-null-before-the-rest-of-a-call',
        [unnumbered(of(piece(0, 'c1', W, FIRST)), None), of(piece(0, arguments=SECOND)), CALLS],
        ONE,
    ),
    ('text-in-pieces', [with_only(text='a'), with_only(text='a'), STOP], Says([text('aa')], usage=NONE)),
    ('message-in-pieces', [with_only(message={'content': 'a'}), with_only(message={'content': 'ab'}), STOP], AAB),
    ('delta-a-string-in-pieces', [with_only(delta='a'), with_only(delta='ab'), STOP], AAB),
    (
        'message-beside-an-empty-delta',
        [
            chunk({'role': 'assistant'}),
            with_only(delta={}, message=calling(paris(), content='a')['choices'][0]['message']),
        ],
        Says([text('a'), call()], 'tool_call', NONE),
    ),
    (
        'message-so-far-beside-an-empty-delta',
        [A, with_only(delta={'content': ''}, message={'content': 'ab'}), STOP],
        AB,
    ),
    ('text-beside-an-empty-delta', [with_only(delta={}, text='a'), STOP], JUST_A),
    (
        'message-beside-a-delta-with-a-role',
        [A, with_only(delta={'role': 'assistant', 'content': ''}, message={'content': 'ab'}, finish_reason='stop')],
        AB,
    ),
    ('message-beside-a-delta', [A, with_only(delta={'content': 'b'}, message={'content': 'ab'}), STOP], AB),
    (
        'call-in-another-choice',
        [
            A,
            {
                **CALLS,
                'choices': [
                    {'index': 1, 'delta': {'tool_calls': [piece(0, 'c1', W, PARIS)]}, 'finish_reason': 'tool_calls'}
                ],
            },
        ],
        Says([text('a'), call()], 'tool_call', NONE),
    ),
    (
        'call-in-another-choice-of-the-event',
        [{**A, 'choices': [A['choices'][0], {'index': 0, 'delta': {'tool_calls': [piece(0, 'c1', W, PARIS)]}}]}, CALLS],
        Says([text('a'), call()], 'tool_call', NONE),
    ),
    ('alternative-later', [A, B, alternative('x', 'length'), STOP], AB),
    ('alternative-after-the-end', [A, STOP, alternative('x', 'length')], JUST_A),
    ('choices-counting-the-events', [unnumbered(A, 1), unnumbered(B, 2), unnumbered(chunk({}, 'length'), 3)], CUT),
    ('choices-counting-from-0', [A, unnumbered(B, 1), unnumbered(chunk({}, 'length'), 2)], CUT),
    (
        'choices-counting-but-for-the-last',
        [A, unnumbered(B, 1), chunk({}, 'length')],
        CUT,
    ),
    (
        'choices-counting-a-call',
        [
            of(piece(0, 'c1', W, '')),
            unnumbered(of(piece(0, arguments=FIRST)), 1),
            unnumbered(of(piece(0, arguments=SECOND)), 2),
            unnumbered(CALLS, 3),
        ],
        ONE,
    ),
    (
        'alternative-in-the-event',
        [A, {**B, 'choices': [*alternative('x', 'length')['choices'], *B['choices']]}, STOP],
        AB,
    ),
    (
        'alternatives-that-open-first',
        [
            chunk({'role': 'assistant'}),
            unnumbered(chunk({'role': 'assistant'}), 1),
            A,
            alternative('x', 'length'),
            B,
            STOP,
        ],
        AB,
    ),
    (
        'alternative-that-seemed-to-count',
        [A, alternative('x', 'length'), B, alternative('y', 'length'), STOP],
        Says([text('axb')], usage=NONE),
    ),
    (
        'text-of-a-call-in-the-next-choice',
        [{**A, 'choices': [*calling(paris())['choices'], {**saying('a', 'tool_calls')['choices'][0], 'index': 1}]}],
        Says([text('a'), call()], 'tool_call', NONE),
    ),
    ('nested', [{'data': A}, {'data': B}, {'data': STOP}], AB),
    ('nested-beside-empty-choices', [{'choices': [], 'data': A}, {'choices': [], 'data': B}, STOP], AB),
]
