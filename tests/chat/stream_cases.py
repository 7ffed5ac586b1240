"""Streams that stray, with what is right: the reported ones by their ids, and more of each kind."""

import json
from typing import Any

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelOverloadedError,
    ModelRateLimitError,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
)

from ..wire import chunk
from .reply_bodies import PARIS, ROME, calling, paris, saying
from .stray import GENERATED, Expected, Fails, Says, call, text, thinking
from .stream_call_cases import CALL_CASES
from .stream_choice_cases import CHOICE_CASES
from .stream_events import (
    AB,
    CALLS,
    JUST_A,
    LLAMA_ERROR,
    NONE,
    NOTHING,
    ONE,
    STOP,
    USAGE,
    A,
    B,
    W,
    alternative,
    data,
    of,
    piece,
    unnumbered,
)
from .stream_repeat_cases import REPEAT_CASES

REPORTED: dict[str, Expected] = {
    'S01': Says([call(id='a'), call(arguments=ROME, id='b')], 'tool_call', NONE),
    'S03': Says([call(id='a')], 'tool_call', NONE),
    'S04': Says([call(id='a')], 'tool_call', NONE),
    'S06': Says([call(id=GENERATED)], 'tool_call', NONE),
    'S07': Says([call(id='a')], 'tool_call', NONE),
    'S09': Says([call(id='a'), call('now', '{}', 'b')], 'tool_call', NONE),
    'S10': Says([call(id='a'), call('now', '{}', 'b')], 'tool_call', NONE),
    'S12': Says([text('ab')]),
    'S14': Says([text('a')]),
    'S15': Says([thinking('t'), text('a')]),
    'S16': Says([text('a')], usage=NONE),
    'S18': Says([text('hi')], usage=NONE),
    'S20': Says([text('hi')], usage=NONE, details={'downstream_provider': 'X'}),
    'S21': Says([text('hi')], usage=NONE),
    'S23': Fails(ModelAPIError, '{"ci'),
    'S24': Says([call(arguments='{"ci', id='a')], 'tool_call', NONE),
    'S25': Fails(ModelRateLimitError, 'Rate limited', {'in_stream': True}),
    'S26': Fails(ModelAPIError, 'quota exceeded'),
    'S28': Says([text('a')], usage=NONE),
    'S29': Says([text('ab')], usage=NONE),
    'S31': Says([call('now', '{}', 'a')], 'tool_call', NONE),
    'S33': Says([text('a')], usage=NONE),
    'S34': Says([thinking('t'), text('a')], usage=NONE),
}
"""What is right for the cases in `tests/cases/streams.jsonl`."""
CASES: list[tuple[str, list[Any], Expected]] = [
    *CALL_CASES,
    *REPEAT_CASES,
    *CHOICE_CASES,
    # Events
    ('event-null', [A, data('null'), STOP], JUST_A),
    ('event-a-number', [A, data('1'), STOP], JUST_A),
    ('event-a-string', [data('"hello"'), A, STOP], JUST_A),
    ('event-a-list', [data([A, B]), STOP], AB),
    ('event-an-empty-list', [A, data('[]'), STOP], JUST_A),
    ('event-an-empty-object', [A, {}, STOP], JUST_A),
    ('event-a-done-string', [A, STOP, data('"[DONE]"'), B], JUST_A),
    ('event-empty', ['data:\n\n', A, 'data: \n\n', STOP], JUST_A),
    ('event-broken', [A, data('{"id":"r1","choices":[{"del'), STOP], Fails(ModelAPIError, '"del')),
    ('event-broken-after-the-finish', [A, STOP, data('{"id":"r1","usa')], JUST_A),
    ('event-a-list-of-numbers', [A, data('[1, [2]]'), STOP], JUST_A),
    ('event-encoded-twice', [data(json.dumps(json.dumps(A))), STOP], JUST_A),
    ('event-of-progress', [{'status': 'loading', 'message': 'Model is loading'}, A, STOP], JUST_A),
    ('event-of-progress-alone', [{'status': 'loading', 'message': 'wait'}], Fails(ModelAPIError, 'wait')),
    (
        'event-of-an-error-in-an-empty-chunk',
        [A, {**A, 'choices': [], 'message': 'no'}, STOP],
        Fails(ModelAPIError, 'no'),
    ),
    ('event-of-costs-at-the-end', [A, {'type': 'cost', 'cost': '0'}], JUST_A),
    ('event-of-costs-alone', [{'cost': '0'}], Fails(ModelAPIError, 'cost')),
    ('event-of-throttling', [{'code': 'Throttling.RateQuota', 'message': 'no'}], Fails(ModelRateLimitError, 'no')),
    ('event-of-an-unknown-status', [{'status': 'denied', 'message': 'no'}, A, STOP], Fails(ModelAPIError, 'no')),
    (
        'event-of-an-error-of-groq-alone',
        [A, {**A, 'choices': [], 'x_groq': {'error': 'over capacity'}}, STOP],
        Fails(ModelAPIError, 'over capacity'),
    ),
    (
        'event-beside-stray-lines',
        ['data: [HEARTBEAT]\nfoo: bar\n\n', data(chunk({'content': '😀'}))[:-1] + '{x}\n\n', STOP],
        Says([text('😀')], usage=NONE),
    ),
    ('event-of-a-failure', [{'status': 'failed', 'message': 'no'}, A, STOP], Fails(ModelAPIError, 'no')),
    ('event-of-a-status-number', [{'status': 503, 'message': 'no'}, A, STOP], Fails(ModelUnavailableError, 'no')),
    (
        'event-of-an-error-of-groq',
        [A, {**chunk({}), 'x_groq': {'error': 'over capacity'}}],
        Fails(ModelAPIError, 'over capacity'),
    ),
    (
        'event-over-lines',
        [f'data: {json.dumps(A, indent=2)}\n\n', STOP],
        JUST_A,
    ),
    (
        'error-over-lines',
        [f'data: {json.dumps({"error": {"code": 503, "message": "no"}}, indent=2)}\n\n'],
        Fails(ModelUnavailableError, 'no'),
    ),
    ('role-alone', [chunk({'role': 'assistant', 'content': ''})], Fails(ModelAPIError, 'no answer')),
    (
        'role-behind-an-empty-event-and-stop',
        [{**A, 'choices': []}, chunk({'role': 'assistant', 'content': None}), STOP],
        Says([], usage=NONE),
    ),
    ('role-and-stop', [chunk({'role': 'assistant', 'content': ''}), STOP], Says([], usage=NONE)),
    (
        'messages-of-another-api',
        [{'choices': [{'finish_reason': 'stop', 'messages': [{'text': 'hi'}]}]}],
        Fails(ModelAPIError, 'hi'),
    ),
    ('event-of-a-status', [{'type': 'status', 'message': 'Model is loading'}, A, STOP], JUST_A),
    ('event-heartbeat-in-brackets', [A, data('[HEARTBEAT]'), STOP], JUST_A),
    ('event-done-in-lower-case', [A, STOP, data('[done]'), B], JUST_A),
    ('event-of-words', [A, {'status': 'failed', 'reason': 'boom'}], Fails(ModelAPIError, 'boom')),
    ('event-without-choices-alone', [{**A, 'choices': [], 'note': 'sold out'}], Fails(ModelAPIError, 'sold out')),
    ('events-of-words-alone', [{'fault': {'faultstring': 'boom'}}], Fails(ModelAPIError, 'boom')),
    ('event-of-words-before-the-finish', [{'cost': '0'}, A, STOP], JUST_A),
    ('event-ping', ['event: ping\ndata: {"type": "ping"}\n\n', A, STOP], JUST_A),
    ('event-ping-as-data', [data('ping'), A, data('{"type": "ping"}'), STOP], JUST_A),
    ('event-some-text', [data('please wait'), A, STOP], JUST_A),
    ('events-of-text-alone', [data('Service Unavailable')], Fails(ModelAPIError, 'Service Unavailable')),
    ('no-event', [': nothing\n\n'], NOTHING),
    # Lines
    ('line-id-alone', ['id: 1\n\n', A, 'id: 2\n\n', STOP], JUST_A),
    ('line-retry-alone', ['retry: 3000\n\n', A, STOP], JUST_A),
    ('line-event-alone', ['event: message\n\n', A, STOP], JUST_A),
    ('line-data-behind-space', [' ' + data(A), STOP], JUST_A),
    ('line-unknown', ['foo: bar\n\n', A, STOP], JUST_A),
    ('line-data-without-space', [f'data:{json.dumps(A)}\n\n', STOP], JUST_A),
    ('line-byte-order-mark', ['\ufeff' + data(A), STOP], JUST_A),
    ('line-comment-as-data', [data(': OPENROUTER PROCESSING'), A, STOP], JUST_A),
    ('glued-on-lines', [f'data: {json.dumps(A)}\ndata: {json.dumps(B)}\n\n', STOP], AB),
    ('glued-on-a-line', [f'data: {json.dumps(A)}data: {json.dumps(B)}\n\n', STOP], AB),
    ('glued-json', [f'data: {json.dumps(A)}{json.dumps(B)}\n\n', STOP], AB),
    ('prefix-twice', ['data: ' + data(A), 'data: ' + data(STOP), 'data: ' + data('[DONE]')], JUST_A),
    ('glued-with-done', [A, f'data: {json.dumps(STOP)}\ndata: [DONE]\n\n'], JUST_A),
    ('glued-with-text', [f'data: {json.dumps(A)}please wait\n\n', STOP], JUST_A),
    ('data-over-lines', ['data: {"choices":\ndata: [{"delta": {"content": "a"}}]}\n\n', STOP], JUST_A),
    # Usage
    (
        'usage-repeated',
        [{**A, 'usage': USAGE}, {**STOP, 'usage': USAGE}, {**STOP, 'choices': [], 'usage': USAGE}],
        Says([text('a')]),
    ),
    ('usage-null', [{**A, 'usage': None}, {**STOP, 'usage': None}], JUST_A),
    (
        'usage-in-two-parts',
        [
            {**A, 'usage': {'prompt_tokens': 3, 'completion_tokens': 0, 'total_tokens': 3}},
            {**STOP, 'usage': {'completion_tokens': 2}},
        ],
        Says([text('a')]),
    ),
    (
        'usage-then-zeros',
        [{**A, 'usage': USAGE}, {**STOP, 'usage': {'prompt_tokens': 0, 'completion_tokens': 0, 'total_tokens': 0}}],
        Says([text('a')]),
    ),
    ('usage-a-string', [{**A, 'usage': 'none'}, STOP], JUST_A),
    (
        'usage-details-growing',
        [
            {**A, 'usage': {**USAGE, 'completion_tokens_details': {'reasoning_tokens': 1}}},
            {**STOP, 'usage': {**USAGE, 'completion_tokens_details': {'reasoning_tokens': 2}}},
        ],
        Says([text('a')]),
    ),
    # Errors
    ('error-a-string', [{'error': 'quota exceeded'}], Fails(ModelAPIError, 'quota exceeded')),
    ('error-a-string-later', [A, {'error': 'quota exceeded'}], Fails(ModelAPIError, 'quota exceeded')),
    (
        'error-an-object-later',
        [A, {'error': {'code': 429, 'message': 'slow down'}}],
        Fails(ModelRateLimitError, 'slow down'),
    ),
    ('error-by-its-status', [A, {'error': {'message': 'oh'}, 'status': 503}], Fails(ModelAPIError, 'oh')),
    (
        'error-by-its-event',
        [A, 'event: error\ndata: {"message": "overloaded", "code": "server_is_overloaded"}\n\n'],
        Fails(ModelOverloadedError, 'overloaded'),
    ),
    ('error-by-its-event-as-text', [A, 'event: error\ndata: out of order\n\n'], Fails(ModelAPIError, 'out of order')),
    ('error-flat', [{'object': 'error', 'message': 'oh', 'code': 500}], Fails(ModelServerError, 'oh')),
    ('error-flat-with-choices', [A, {**B, 'object': 'error', 'message': 'oh'}], Fails(ModelAPIError, 'oh')),
    ('error-by-name-only', [{**A, 'object': 'error'}, {**B, 'type': 'error'}, STOP], AB),
    (
        'error-in-the-choice',
        [
            A,
            {
                **STOP,
                'choices': [
                    {'index': 0, 'delta': {}, 'finish_reason': 'error', 'error': {'code': 502, 'message': 'oh'}}
                ],
            },
        ],
        Fails(ModelServerError, 'oh'),
    ),
    ('error-without-data-prefix', [A, '{"error": {"message": "oh", "code": 500}}\n'], Fails(ModelServerError, 'oh')),
    ('error-of-success', [{**A, 'error': {'code': 200, 'message': 'success'}}, STOP], JUST_A),
    ('success-first', [{'code': 0, 'message': 'success'}, A, STOP], JUST_A),
    ('message-with-the-usage', [A, STOP, {**A, 'choices': [], 'usage': USAGE, 'message': 'ok'}], Says([text('a')])),
    (
        'error-in-the-delta',
        [A, chunk({'error': {'message': 'oh', 'code': 502}, 'content': ''})],
        Fails(ModelServerError, 'oh'),
    ),
    ('detail-with-the-usage', [A, STOP, {**A, 'choices': [], 'usage': USAGE, 'detail': 'x'}], Says([text('a')])),
    ('error-that-says-nothing', [{**A, 'error': {'code': None, 'message': ''}}, STOP], JUST_A),
    ('error-in-detail', [{'detail': 'Not Found'}], Fails(ModelAPIError, 'Not Found')),
    (
        'of-anthropic',
        ['event: message_start\ndata: {"type": "message_start", "message": {}}\n\n'],
        Fails(UnexpectedModelBehavior, 'an Anthropic message'),
    ),
    ('of-responses', [{'type': 'response.created', 'response': {}}], Fails(UnexpectedModelBehavior, 'Responses')),
    # Thinking tags
    ('tag-in-one-delta', [chunk({'content': '<think>t</think>a'}), STOP], Says([thinking('t'), text('a')], usage=NONE)),
    (
        'tag-by-character',
        [*(chunk({'content': character}) for character in '<think>t</think>a'), STOP],
        Says([thinking('t'), text('a')], usage=NONE),
    ),
    (
        'tag-by-itself',
        [chunk({'content': '<think>'}), chunk({'content': 't'}), chunk({'content': '</think>'}), A, STOP],
        Says([thinking('t'), text('a')], usage=NONE),
    ),
    ('tag-that-is-none', [chunk({'content': '<'}), chunk({'content': 'b>a'}), STOP], Says([text('<b>a')], usage=NONE)),
    ('tag-cut-at-the-end', [chunk({'content': '<thi'}), STOP], Says([text('<thi')], usage=NONE)),
    ('tag-cut-without-finish', [chunk({'content': '<thi'})], Says([text('<thi')], usage=NONE)),
    ('tag-closing-cut', [chunk({'content': '<think>t</th'}), STOP], Says([thinking('t</th')], usage=NONE)),
    ('tag-in-the-text', [A, chunk({'content': ' <think> b'}), STOP], Says([text('a <think> b')], usage=NONE)),
    (
        'tag-with-the-call',
        [chunk({'content': '<think>t</think>', 'tool_calls': [piece(0, 'c1', W, PARIS)]}, 'tool_calls')],
        Says([thinking('t'), call()], 'tool_call', NONE),
    ),
    (
        'tag-in-parts',
        [chunk({'content': [{'type': 'text', 'text': '<think>t</think>a'}]}), STOP],
        Says([thinking('t'), text('a')], usage=NONE),
    ),
    ('reasoning-of-nothing', [chunk({'reasoning': {}, 'content': 'a'}), chunk({'reasoning': False}), STOP], JUST_A),
    (
        'reasoning-in-details-beside',
        [chunk({'reasoning': 't'}), chunk({'reasoning_details': [{'text': 't'}]}), A, STOP],
        Says([thinking('t'), text('a')], usage=NONE),
    ),
    (
        'half-a-character',
        [chunk({'content': 'x\ud83d'}), chunk({'content': '\ude00y'}), STOP],
        Says([text('x😀y')], usage=NONE),
    ),
    (
        'half-a-character-in-a-part',
        [chunk({'content': [{'type': 'text', 'text': 'x\ud83d'}]}), chunk({'content': '\ude00y'}), STOP],
        Says([text('x😀y')], usage=NONE),
    ),
    (
        'half-a-character-later',
        [A, B, chunk({'content': '\ud83d'}), chunk({'content': '\ude00'}), STOP],
        Says([text('ab😀')], usage=NONE),
    ),
    ('half-a-character-at-the-finish', [chunk({'content': 'a\ud83d'}), STOP], Says([text('a\ufffd')], usage=NONE)),
    (
        'half-a-character-at-the-end',
        [A, chunk({'content': 'b\ud83d'})],
        Says([text('ab\ufffd')], usage=NONE),
    ),
    (
        'recap-of-the-text',
        [
            chunk({'content': 'The answer '}),
            chunk({'content': 'is 42.'}),
            chunk({'content': 'The answer is 42.'}, 'stop'),
        ],
        Says([text('The answer is 42.')], usage=NONE),
    ),
    ('no-recap-but-a-repetition', [A, B, chunk({'content': 'ab'}, 'stop')], Says([text('abab')], usage=NONE)),
    (
        'function-call-stub',
        [chunk({'content': 'a', 'function_call': {}}), chunk({'function_call': 'none'}, 'stop')],
        JUST_A,
    ),
    ('content-in-parts', [chunk({'content': [{'type': 'text', 'text': 'a'}]}), STOP], JUST_A),
    ('content-parsed', [chunk({'content': {'n': 1}}), STOP], Says([text('{"n":1}')], usage=NONE)),
    # Fields
    (
        'envelope-missing',
        [
            {'choices': [{'delta': {'content': 'a'}}]},
            {'choices': [{'delta': {'content': 'b'}, 'finish_reason': 'stop'}]},
        ],
        AB,
    ),
    ('created-no-time', [{**A, 'created': 'now'}, {**STOP, 'created': None}], JUST_A),
    ('model-null', [{**A, 'model': None}, {**STOP, 'model': 5}], JUST_A),
    ('moderation-a-string', [{**A, 'moderation': 'none'}, STOP], JUST_A),
    ('service-tier-an-object', [{**A, 'service_tier': {}}, STOP], JUST_A),
    ('logprobs-a-string', [{**A, 'choices': [{**A['choices'][0], 'logprobs': 'none'}]}, STOP], JUST_A),
    ('role-empty', [chunk({'role': '', 'content': 'a'}), STOP], JUST_A),
    ('refusal-a-number', [chunk({'refusal': 0, 'content': 'a'}), STOP], JUST_A),
    (
        'reasoning-in-parts',
        [chunk({'reasoning': [{'text': 't'}]}), A, STOP],
        Says([thinking('t'), text('a')], usage=NONE),
    ),
    ('annotations-a-string', [chunk({'content': 'a', 'annotations': 'none'}), STOP], JUST_A),
]
"""More of each kind, through `OpenAICompatibleModel`: id, events, what is right (each with a `[DONE]`)."""

ALTERNATIVES: list[tuple[str, list[Any], Expected]] = [
    ('text', [A, unnumbered(B, 1), STOP], JUST_A),
    (
        'the-other-ends-first',
        [A, alternative('x', 'length'), B, alternative('y', 'length'), STOP, alternative(None, 'content_filter')],
        AB,
    ),
    ('calls-of-the-other', [A, unnumbered(of(piece(0, 'c2', W, ROME)), 1), STOP, unnumbered(CALLS, 1)], JUST_A),
    ('calls', [of(piece(0, 'c1', W, PARIS)), unnumbered(of(piece(0, 'c2', W, ROME)), 1), CALLS], ONE),
]
"""Streams of two answers that were asked for: the first one counts."""

LONG = '{"n":' + '9' * 5_000 + '}'

BROKEN_OFF: list[tuple[str, list[Any], Expected]] = [
    ('in-the-arguments', [of(piece(0, 'c1', W, '{"ci'))], Fails(ModelAPIError, '{"ci')),
    ('before-the-arguments', [of(piece(0, 'c1', W, ''))], Fails(ModelAPIError, 'broke off')),
    (
        'in-the-second-call',
        [of(piece(0, 'c1', W, PARIS)), of(piece(1, 'c2', W, '{'))],
        Fails(ModelAPIError, 'broke off'),
    ),
    ('in-arguments-encoded-twice', [of(piece(0, 'c1', W, '"{\\"ci'))], Fails(ModelAPIError, 'broke off')),
    ('in-an-event', [A, 'data: {"id":"r1","choi'], Fails(ModelAPIError, '"choi')),
    ('in-a-field-name', [A, STOP, 'dat'], JUST_A),
    ('after-the-call', [of(piece(0, 'c1', W, PARIS))], ONE),
    ('after-a-call-with-a-long-number', [of(piece(0, 'c1', W, LONG))], Says([call(arguments=LONG)], 'tool_call', NONE)),
    ('after-the-finish', [of(piece(0, 'c1', W, '{"ci')), CALLS], Says([call(arguments='{"ci')], 'tool_call', NONE)),
    ('in-a-call-that-ends-with-null', [of(piece(0, 'c1', W, '{"ci')), chunk({}, 'null')], Fails(ModelAPIError, '{"ci')),
    ('after-an-event-that-nothing-ended', [A, f'data: {json.dumps(STOP)}'], JUST_A),
    ('after-a-done-that-nothing-ended', [A, STOP, 'data: [DONE]'], JUST_A),
    ('after-text', [A, B], AB),
    (
        'after-an-alternative',
        [of(piece(0, 'c1', W, '{"ci')), alternative('x', 'stop'), alternative('y', 'stop')],
        Fails(ModelAPIError, 'broke off'),
    ),
    ('after-a-blank-call', [A, of(piece(0, '', '', '')), B], AB),
    ('json-for-a-stream', [json.dumps(calling(paris(), content='a'))], Says([text('a'), call()], 'tool_call')),
    ('json-over-lines-for-a-stream', [json.dumps(saying('a'), indent=2)], Says([text('a')])),
    ('json-lines-for-a-stream', [json.dumps(A) + '\n' + json.dumps(STOP) + '\n'], JUST_A),
    ('json-error-for-a-stream', ['{"error": "no such route"}'], Fails(ModelAPIError, 'no such route')),
    ('json-list-for-a-stream', ['[]'], NOTHING),
    ('json-null-for-a-stream', ['null'], NOTHING),
    ('in-words', [A, data('Internal server error')], Fails(ModelAPIError, 'Internal server error')),
    ('in-words-as-json', [A, data('"Internal server error"')], Fails(ModelAPIError, 'Internal server error')),
    (
        'in-words-after-a-call',
        [of(piece(0, 'c1', W, PARIS)), data('out of memory')],
        Fails(ModelAPIError, 'out of memory'),
    ),
    ('in-html', [A, '<html>502 Bad Gateway</html>\n'], Fails(ModelAPIError, '502 Bad Gateway')),
    ('in-html-after-a-call', [of(piece(0, 'c1', W, PARIS)), '<html>502</html>'], Fails(ModelAPIError, '502')),
    ('in-words-after-the-finish', [A, STOP, data('good bye')], JUST_A),
    ('in-an-error-of-llama-cpp', [A, LLAMA_ERROR], Fails(ModelServerError, 'boom')),
    (
        'in-an-error-of-llama-cpp-after-a-call',
        [of(piece(0, 'c1', W, PARIS)), LLAMA_ERROR],
        Fails(ModelServerError, 'boom'),
    ),
    ('html-for-a-stream', ['<html>502 Bad Gateway</html>'], Fails(ModelAPIError, '502 Bad Gateway')),
    ('nothing-for-a-stream', [''], NOTHING),
]
"""Streams without `[DONE]`."""
