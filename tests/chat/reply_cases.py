"""Whole replies that stray, with what is right: the reported ones by their ids, and more of each kind."""

import json
from typing import Any

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
)

from ..wire import chunk, completion
from .reply_bodies import (
    ANOTHER_CITY,
    CALL,
    CALLED,
    DETAILS,
    HI,
    NO_USAGE,
    NOTHING,
    OK,
    PARIS,
    ROME,
    TWO,
    calling,
    error,
    numbered,
    paris,
    saying,
    with_choice,
    without,
)
from .reply_call_cases import CALL_CASES
from .stray import GENERATED, Expected, Fails, Says, call, text, thinking

REPORTED: dict[str, Expected] = {
    'J01': Fails(ModelAPIError, '"choices":[]'),
    'J02': Says([text('hi')], usage=(0, 0)),
    'J04': Says([text('hi')]),
    'J06': Says([text('on it'), call()], 'tool_call'),
    'J07': Fails(UnexpectedModelBehavior, 'an Anthropic message'),
    'J08': Says([call()], 'tool_call'),
    'J10': Says([call('now', '{}', GENERATED)], 'tool_call'),
    'J11': Says([call(id=GENERATED), call(arguments=ROME, id=GENERATED)], 'tool_call'),
    'J13': Says([call(id='a'), call(arguments=ROME, id='a_2')], 'tool_call'),
    'J15': Says([call()], 'tool_call'),
    'J17': Says([call()], 'tool_call', details={'finish_reason': 'stop'}),
    'J19': Says(
        [text('Paris[1].')],
        details={'citations': ['https://a'], 'search_results': [{'title': 'A', 'url': 'https://a', 'date': None}]},
    ),
    'J20': Fails(ModelServerError, 'Provider returned error', {'status_code': 502}),
    'J22': Says([thinking('need tool')], 'tool_call'),
    'J23': Says(
        [
            text(
                '<|tool_calls_section_begin|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}'
                '<|tool_call_end|><|tool_calls_section_end|>'
            )
        ]
    ),
    'J24': Says([call(arguments='{"city": "Par')], 'length'),
    'J25': Says([thinking('t')], 'length', (0, 0)),
    'J26': Says([text('hi')], usage=(0, 0)),
    'J28': Fails(ModelNotFoundError, 'Model glm-9 is not supported'),
    'J30': Fails(ModelRateLimitError, 'slow down', {'retry_after': 3600.0}),
    'J32': Fails(ModelRequestRejectedError, 'Bad Request'),
}
"""What is right for the cases in `tests/cases/replies.jsonl`."""

KINDS = {'J19': 'perplexity', 'J28': 'zen'}
"""Cases that belong to a prefix of their own."""

CASES: list[tuple[str, Any, Expected]] = [
    # Choices
    ('choices-null', {**OK, 'choices': None}, NOTHING),
    ('choices-missing', without(OK, 'choices'), NOTHING),
    ('choices-of-null', {**OK, 'choices': [None]}, NOTHING),
    ('choices-of-empty-objects', {**OK, 'choices': [{}]}, NOTHING),
    ('choices-of-strings', {**OK, 'choices': ['hi']}, NOTHING),
    ('choices-a-string', {**OK, 'choices': 'hi'}, NOTHING),
    ('choices-an-object', {**OK, 'choices': OK['choices'][0]}, HI),
    ('choices-null-before-the-choice', {**OK, 'choices': [None, OK['choices'][0]]}, HI),
    (
        'choice-without-message',
        with_choice(OK, message=None, finish_reason='content_filter'),
        Says([], 'content_filter'),
    ),
    ('message-a-string', with_choice(OK, message='hi'), HI),
    ('message-as-delta', with_choice(OK, message=..., delta={'content': 'hi'}), HI),
    ('message-as-text', with_choice(OK, message=..., text='hi'), HI),
    # Nested bodies
    ('nested-in-data', {'code': 0, 'data': OK}, HI),
    ('nested-twice', {'result': {'response': OK}}, HI),
    ('nested-in-a-list', [OK], HI),
    ('nested-as-a-string', json.dumps(OK), HI),
    ('nested-beside-empty-choices', {'choices': [], 'data': OK}, HI),
    ('nested-call', {'data': CALL}, CALLED),
    ('message-over-the-choice', with_choice(OK, message=..., content='hi', role='assistant'), HI),
    ('call-over-the-choice', with_choice(CALL, message=..., tool_calls=[paris()]), CALLED),
    # Several choices
    (
        'call-in-a-numbered-choice',
        {
            **OK,
            'choices': [
                {**OK['choices'][0], 'finish_reason': None},
                {**CALL['choices'][0], 'index': 1},
            ],
        },
        Says([text('hi'), call()], 'tool_call'),
    ),
    (
        'text-after-the-call',
        {**OK, 'choices': [CALL['choices'][0], OK['choices'][0]]},
        Says([text('hi'), call()], 'tool_call'),
    ),
    (
        'calls-in-several-choices',
        {**OK, 'choices': [CALL['choices'][0], calling(ANOTHER_CITY)['choices'][0]]},
        TWO,
    ),
    (
        'calls-in-choices-of-their-own',
        {**OK, 'choices': [OK['choices'][0], numbered(CALL, 1), numbered(calling(ANOTHER_CITY), 2)]},
        Says([text('hi'), *TWO.parts], 'tool_call'),
    ),
    (
        'an-empty-choice-first',
        {**OK, 'choices': [saying(None)['choices'][0], numbered(saying('hi', 'length'), 1)]},
        Says([text('hi')], 'length'),
    ),
    (
        'reasoning-in-another-choice',
        {**OK, 'choices': [OK['choices'][0], saying(None, reasoning='t')['choices'][0]]},
        Says([thinking('t'), text('hi')]),
    ),
    (
        'text-of-a-call-in-the-next-choice',
        {**OK, 'choices': [CALL['choices'][0], numbered(saying('hi', 'tool_calls'), 1)]},
        Says([text('hi'), call()], 'tool_call'),
    ),
    ('alternative-without-a-finish-reason', {**OK, 'choices': [OK['choices'][0], numbered(saying('x', None), 1)]}, HI),
    (
        'calls-of-one-id-in-two-choices',
        {**OK, 'choices': [CALL['choices'][0], calling({**ANOTHER_CITY, 'id': 'c1'})['choices'][0]]},
        Says([call(), call(arguments=ROME, id='c1_2')], 'tool_call'),
    ),
    ('alternative-that-refuses', {**OK, 'choices': [OK['choices'][0], numbered(saying(None, refusal='no'), 1)]}, HI),
    ('message-null', with_choice(OK, message=None), NOTHING),
    ('message-empty', with_choice(OK, message={}, finish_reason=None), NOTHING),
    ('message-null-for-a-reason', with_choice(OK, message=None, finish_reason='length'), Says([], 'length')),
    ('messages-of-another-api', with_choice(OK, message=..., messages=[{'text': 'hi'}]), Fails(ModelAPIError, 'hi')),
    ('half-a-character', saying('a\ud83d b', reasoning='\ude00'), Says([thinking('\ufffd'), text('a\ufffd b')])),
    ('body-in-a-string-that-is-none', {'response': '{"choices":["a"]}'}, Fails(ModelAPIError, 'choices')),
    ('half-a-character-in-the-id', {**OK, 'id': '\ud83d'}, HI),
    ('body-in-a-string', {'statusCode': 200, 'body': json.dumps(OK)}, HI),
    ('an-alternative-with-text', {**OK, 'choices': [CALL['choices'][0], numbered(OK, 1)]}, CALLED),
    (
        'alternatives',
        {**OK, 'choices': [OK['choices'][0], {**saying('hello')['choices'][0], 'index': 1}]},
        HI,
    ),
    (
        'alternative-calls',
        {**OK, 'choices': [CALL['choices'][0], {**calling(ANOTHER_CITY)['choices'][0], 'index': 1}]},
        CALLED,
    ),
    # Missing fields
    ('id-missing', without(OK, 'id'), HI),
    ('id-null', {**OK, 'id': None}, HI),
    ('id-numeric', {**OK, 'id': 7}, HI),
    ('object-empty', {**OK, 'object': ''}, HI),
    ('object-of-a-chunk', {**OK, 'object': 'chat.completion.chunk'}, HI),
    ('created-a-string', {**OK, 'created': '1700000000'}, HI),
    ('created-a-float', {**OK, 'created': 1700000000.25}, HI),
    ('created-no-time', {**OK, 'created': 'today'}, HI),
    ('created-beyond-time', {**OK, 'created': 10**30}, HI),
    ('model-missing', without(OK, 'model'), HI),
    ('model-null', {**OK, 'model': None}, HI),
    ('index-missing', with_choice(OK, index=...), HI),
    ('index-a-string', with_choice(OK, index='0'), HI),
    ('role-missing', with_choice(OK, message={'content': 'hi'}), HI),
    ('role-of-another', with_choice(OK, message={'role': 'model', 'content': 'hi'}), HI),
    ('only-the-message', {'choices': [{'message': {'content': 'hi'}}]}, NO_USAGE),
    ('service-tier-a-number', {**OK, 'service_tier': 1}, HI),
    ('fingerprint-an-object', {**OK, 'system_fingerprint': {}}, HI),
    ('moderation-a-string', {**OK, 'moderation': 'none'}, HI),
    ('metadata-a-list', {**OK, 'metadata': [1]}, HI),
    ('metadata-an-object', {**OK, 'metadata': {'a': 1}}, HI),
    *CALL_CASES,
    # Finish reasons
    ('finish-missing', with_choice(OK, finish_reason=...), HI),
    ('finish-null', with_choice(OK, finish_reason=None), HI),
    ('finish-empty', with_choice(OK, finish_reason=''), HI),
    ('finish-a-number', with_choice(OK, finish_reason=0), HI),
    ('finish-missing-with-calls', with_choice(CALL, finish_reason=...), CALLED),
    ('finish-empty-with-calls', with_choice(CALL, finish_reason=''), CALLED),
    (
        'finish-sensitive',
        saying('hi', 'sensitive'),
        Says([text('hi')], 'content_filter', details={'finish_reason': 'sensitive'}),
    ),
    ('finish-network-error', saying('hi', 'network_error'), Says([text('hi')], 'error')),
    ('finish-of-gemini', saying('hi', 'MAX_TOKENS'), Says([text('hi')], 'length')),
    *(
        (f'finish-word-{word}', saying('hi', word), Says([text('hi')], meaning))
        for word, meaning in (
            ('null', 'stop'),
            ('BLOCKLIST', 'content_filter'),
            ('IMAGE_SAFETY', 'content_filter'),
            ('SPII', 'content_filter'),
            ('content_filter: RECITATION', 'content_filter'),
            ('MALFORMED_FUNCTION_CALL', 'error'),
            ('canceled', 'error'),
            ('COMPLETE', 'stop'),
            ('FINISH_REASON_MAX_TOKENS', 'length'),
            ('function_call_filter: MALFORMED_FUNCTION_CALL', 'error'),
        )
    ),
    ('finish-with-a-hyphen', with_choice(CALL, finish_reason='tool-calls'), CALLED),
    ('finish-an-object', saying('hi', {'type': 'length'}), Says([text('hi')], 'length')),
    ('finish-of-anthropic', saying('hi', 'end_turn'), HI),
    ('finish-tool-use', with_choice(CALL, finish_reason='tool_use'), CALLED),
    ('finish-upper-case', saying('hi', 'STOP'), HI),
    ('finish-unknown', saying('hi', 'moonphase'), Says([text('hi')], None, details={'finish_reason': 'moonphase'})),
    ('finish-length-with-calls', with_choice(CALL, finish_reason='length'), Says([call()], 'length')),
    # Usage
    ('usage-missing', without(OK, 'usage'), NO_USAGE),
    ('usage-empty', {**OK, 'usage': {}}, NO_USAGE),
    ('usage-a-number', {**OK, 'usage': 5}, NO_USAGE),
    ('usage-without-total', {**OK, 'usage': {'prompt_tokens': 3, 'completion_tokens': 2}}, HI),
    (
        'usage-of-nulls',
        {**OK, 'usage': {'prompt_tokens': None, 'completion_tokens': 2}},
        Says([text('hi')], usage=(0, 2)),
    ),
    ('usage-of-strings', {**OK, 'usage': {'prompt_tokens': '3', 'completion_tokens': 2.0}}, HI),
    ('usage-of-anthropic', {**OK, 'usage': {'input_tokens': 3, 'output_tokens': 2}}, HI),
    ('usage-details-null', {**OK, 'usage': {**OK['usage'], 'prompt_tokens_details': None}}, HI),
    ('usage-details-a-list', {**OK, 'usage': {**OK['usage'], 'prompt_tokens_details': []}}, HI),
    (
        'usage-details-of-strings',
        {**OK, 'usage': {**OK['usage'], 'completion_tokens_details': {'reasoning_tokens': '1'}}},
        HI,
    ),
    ('usage-in-the-choice', with_choice(without(OK, 'usage'), usage=OK['usage']), HI),
    ('usage-in-the-choice-beside-null', with_choice({**OK, 'usage': None}, usage=OK['usage']), HI),
    ('usage-of-groq', {**without(OK, 'usage'), 'x_groq': {'id': 'req', 'usage': OK['usage']}}, HI),
    # Content
    ('content-a-part', saying({'type': 'text', 'text': 'hi'}), HI),
    ('content-output-text', saying([{'type': 'output_text', 'text': 'h'}, {'text': 'i'}]), HI),
    ('content-parsed-json', saying({'answer': 'é'}), Says([text('{"answer":"é"}')])),
    ('content-a-number', saying(42), Says([text('42')])),
    ('content-of-assistants', saying([{'type': 'text', 'text': {'value': 'hi', 'annotations': []}}]), HI),
    ('content-of-content', saying([{'type': 'text', 'content': 'hi'}]), HI),
    (
        'content-a-refusal',
        saying([{'type': 'refusal', 'refusal': 'no'}]),
        Says([], 'content_filter', details={'refusal': 'no'}),
    ),
    ('content-beside-the-message', with_choice(saying(None), text='hi'), HI),
    ('name-beside-the-function', calling({**paris(function={'arguments': PARIS}), 'name': 'get_weather'}), CALLED),
    (
        'arguments-empty-beside-parameters',
        calling(paris(function={'name': 'get_weather', 'arguments': '', 'parameters': {'city': 'Paris'}})),
        CALLED,
    ),
    ('function-call-empty', saying('hi', function_call={}), HI),
    ('function-call-false', saying('hi', function_call=False), HI),
    ('function-call-a-string', saying('hi', function_call='none'), HI),
    ('function-call-of-nulls', saying('hi', function_call={'name': None, 'arguments': None}), HI),
    ('function-call-of-nothing', saying('hi', function_call={'name': '', 'arguments': '{}'}), HI),
    ('refusal-an-empty-list', saying('hi', refusal=[]), HI),
    ('annotations-of-another', saying('hi', annotations=[{'type': 'video'}, 'x']), HI),
    ('annotations-of-odd-types', saying('hi', annotations=[{'type': ['video']}]), HI),
    ('annotations-a-string', saying('hi', annotations='none'), HI),
    ('audio-a-string', saying('hi', audio='none'), HI),
    ('logprobs-a-list', with_choice(OK, logprobs=[1]), HI),
    ('logprobs-of-legacy', with_choice(OK, logprobs={'tokens': ['hi'], 'token_logprobs': [-0.1]}), HI),
    ('logprobs-broken', with_choice(OK, logprobs={'content': [{'token': 'hi'}]}), HI),
    (
        'reasoning-in-parts',
        saying('hi', reasoning=[{'type': 'text', 'text': 't'}, 'u']),
        Says([thinking('tu'), text('hi')]),
    ),
    ('reasoning-an-object', saying('hi', reasoning_content={'summary': 't'}), Says([thinking('t'), text('hi')])),
    ('reasoning-an-odd-object', saying('hi', reasoning={'n': 1}), Says([thinking('{"n":1}'), text('hi')])),
    ('reasoning-a-list-of-numbers', saying('hi', reasoning=[1]), Says([thinking('1'), text('hi')])),
    ('reasoning-of-ollama', saying('hi', thinking='t'), Says([thinking('t'), text('hi')])),
    ('reasoning-of-ollama-beside', saying('hi', reasoning='why', thinking='t'), Says([thinking('why'), text('hi')])),
    ('reasoning-false', saying('hi', reasoning=False), HI),
    ('reasoning-an-empty-object', saying('hi', reasoning_content={}), HI),
    ('reasoning-empty', saying('hi', reasoning={'text': ''}), HI),
    ('reasoning-details-alone', saying('hi', reasoning_details=DETAILS), Says([thinking('tu'), text('hi')])),
    (
        'reasoning-details-beside',
        saying('hi', reasoning='why', reasoning_details=DETAILS),
        Says([thinking('why'), text('hi')]),
    ),
    ('reasoning-details-encrypted', saying('hi', reasoning_details=[{'type': 'reasoning.encrypted', 'data': 'x'}]), HI),
    (
        'thinking-in-parts',
        saying([{'type': 'thinking', 'thinking': [{'type': 'text', 'text': 't'}]}, {'type': 'text', 'text': 'hi'}]),
        Says([thinking('t'), text('hi')]),
    ),
    ('thinking-a-part', saying({'type': 'thinking', 'thinking': 't'}), Says([thinking('t')])),
    (
        'thinking-in-parts-beside',
        saying([{'type': 'reasoning', 'text': 't'}, {'type': 'text', 'text': 'hi'}], reasoning_content='why'),
        Says([thinking('why'), text('hi')]),
    ),
    ('thinking-in-tags-cut-off', saying(' <think>t', 'length'), Says([text(' '), thinking('t')], 'length')),
    ('thinking-in-tags', saying('<think>t</think>hi'), Says([thinking('t'), text('hi')])),
    # Errors inside a 200
    ('error-a-string', error('quota exceeded'), Fails(ModelAPIError, 'quota exceeded')),
    (
        'error-with-null-choices',
        error({'message': 'oh', 'code': 503}, choices=None),
        Fails(ModelUnavailableError, 'oh'),
    ),
    ('error-with-choices', error({'message': 'oh', 'code': '500'}, **OK), Fails(ModelServerError, 'oh')),
    ('error-flat', {'code': 'rate_limit_exceeded', 'error': 'slow down'}, Fails(ModelRateLimitError, 'slow down')),
    (
        'error-object',
        {'object': 'error', 'message': 'no such model', 'code': 404},
        Fails(ModelNotFoundError, 'no such'),
    ),
    ('error-by-name-only', {**saying('hi'), 'object': 'error'}, Says([text('hi')])),
    (
        'error-typed',
        {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'busy'}},
        Fails(ModelOverloadedError, 'busy'),
    ),
    ('error-in-detail', {'detail': 'Not Found'}, Fails(ModelAPIError, 'Not Found')),
    (
        'error-in-details',
        {'detail': [{'loc': ['body'], 'msg': 'field required'}]},
        Fails(ModelAPIError, 'field required'),
    ),
    (
        'error-in-errors',
        {'success': False, 'errors': [{'code': 7003, 'message': 'no route'}]},
        Fails(ModelAPIError, 'no route'),
    ),
    (
        'error-in-base-resp',
        {'choices': None, 'base_resp': {'status_code': 1008, 'status_msg': 'no balance'}},
        Fails(ModelQuotaExceededError, 'no balance'),
    ),
    (
        'error-in-base-resp-of-a-limit',
        {'choices': None, 'base_resp': {'status_code': '1002', 'status_msg': 'rate limit'}},
        Fails(ModelRateLimitError, 'rate limit'),
    ),
    (
        'error-in-base-resp-unknown',
        {'base_resp': {'status_code': 1999, 'status_msg': 'boom'}},
        Fails(ModelAPIError, 'boom'),
    ),
    (
        'error-in-the-choice',
        with_choice(OK, finish_reason='error', error={'code': 502, 'message': 'oh'}),
        Fails(ModelServerError, 'oh'),
    ),
    ('error-in-a-list', error([{'message': 'oh'}]), Fails(ModelAPIError, 'oh')),
    ('error-in-an-error', error({'error': {'message': 'oh', 'code': 429}}), Fails(ModelRateLimitError, 'oh')),
    ('error-true', error(True, reason='gone'), Fails(ModelAPIError, 'gone')),
    ('error-without-message', error({'reason': 'gone'}), Fails(ModelAPIError, 'gone')),
    (
        'error-of-context',
        error({'message': "This model's maximum context length is 8192 tokens"}),
        Fails(ModelContextWindowExceededError, '8192'),
    ),
    ('error-of-quota', error({'type': 'insufficient_quota', 'message': 'pay'}), Fails(ModelQuotaExceededError, 'pay')),
    ('error-of-key', error({'code': 401, 'message': 'bad key'}), Fails(ModelAuthenticationError, 'bad key')),
    ('error-of-odd-status', error({'code': 418, 'message': 'teapot'}), Fails(ModelAPIError, 'teapot')),
    (
        'error-of-flagged-input',
        error({'code': 403, 'message': 'flagged', 'metadata': {'flagged_input': 'x'}}),
        Fails(ModelRequestRejectedError, 'flagged'),
    ),
    ('error-empty', error('', **OK), HI),
    ('error-of-success', error({'code': 0, 'message': 'success'}, **OK), HI),
    ('error-of-success-as-text', error({'code': '200', 'message': 'ok'}, **OK), HI),
    ('error-of-success-without-an-answer', error({'code': 0, 'message': 'busy'}), Fails(ModelAPIError, 'busy')),
    ('success-without-an-answer', {'code': 0, 'message': 'success'}, NOTHING),
    ('error-that-says-nothing', error({'code': None, 'message': '', 'type': None}, **OK), HI),
    ('error-null', error(None, **OK), HI),
    ('message-only', {'message': 'under maintenance'}, Fails(ModelAPIError, 'under maintenance')),
    # Other APIs
    (
        'of-responses',
        {'object': 'response', 'output': []},
        Fails(UnexpectedModelBehavior, 'an OpenAI Responses response'),
    ),
    ('of-gemini', {'candidates': []}, Fails(UnexpectedModelBehavior, 'a Gemini response')),
    ('of-ollama', {'message': {'content': 'hi'}, 'done': True}, Fails(UnexpectedModelBehavior, 'an Ollama response')),
    (
        'error-of-a-word-and-a-status',
        {'code': 'INTERNAL_SERVER_ERROR', 'status': 500, 'message': 'boom'},
        Fails(ModelServerError, 'INTERNAL_SERVER_ERROR'),
    ),
    (
        'error-in-the-message',
        completion({'role': 'assistant', 'content': None, 'error': {'message': 'boom', 'code': 502}}, 'error'),
        Fails(ModelServerError, 'boom'),
    ),
    (
        'error-of-minimax-beside-usage',
        {**OK, 'choices': [], 'base_resp': {'status_code': 1004, 'status_msg': 'boom'}},
        Fails(ModelAuthenticationError, 'boom'),
    ),
    (
        'error-overloaded',
        error({'type': 'engine_overloaded_error', 'message': 'boom'}),
        Fails(ModelOverloadedError, 'boom'),
    ),
    (
        'error-of-spending',
        error({'code': 'organization_spend_limit_exceeded', 'message': 'boom'}),
        Fails(ModelQuotaExceededError, 'boom'),
    ),
    (
        'error-of-overload-by-its-message',
        error({'code': 503, 'message': 'Model overloaded'}),
        Fails(ModelOverloadedError, 'overloaded'),
    ),
    (
        'error-in-base-resp-of-context',
        {'base_resp': {'status_code': 2013, 'status_msg': 'maximum context length is 8192 tokens'}},
        Fails(ModelContextWindowExceededError, '8192'),
    ),
    (
        'error-in-capitals',
        error({'code': 'CONTEXT_LENGTH_EXCEEDED', 'message': 'boom'}),
        Fails(ModelContextWindowExceededError, 'boom'),
    ),
    # Events where a reply belongs
    (
        'chunks-in-a-list',
        [chunk({'content': [{'type': 'text', 'text': 'h'}]}), chunk({'content': 'i'}, 'length')],
        Says([text('hi')], 'length', (0, 0)),
    ),
    # No objects
    ('null', None, Fails(ModelAPIError, 'no object')),
    ('a-number', 3, Fails(ModelAPIError, '3')),
    ('a-string', 'out of order', Fails(ModelAPIError, 'out of order')),
    ('an-empty-list', [], Fails(ModelAPIError, 'no object')),
    ('an-empty-object', {}, NOTHING),
]
"""More of each kind, through `OpenAICompatibleModel`: id, body, what is right."""

OPENROUTER_CASES: list[tuple[str, Any, Expected]] = [
    ('provider-missing', without(OK, 'provider'), Says([text('hi')], details={'downstream_provider': 'unknown'})),
    (
        'finish-of-vendor',
        {**saying('hi', 'sensitive'), 'provider': 'X'},
        Says([text('hi')], 'content_filter', details={'finish_reason': 'sensitive'}),
    ),
    ('finish-function-call', {**with_choice(CALL, finish_reason='function_call'), 'provider': 'X'}, CALLED),
    ('finish-unknown', {**saying('hi', 'moonphase'), 'provider': 'X'}, HI),
    (
        'finish-native',
        {**with_choice(saying('hi', 'eos'), native_finish_reason='EOS'), 'provider': 'X'},
        Says([text('hi')], details={'finish_reason': 'EOS'}),
    ),
    (
        'reasoning-details',
        {**saying('hi', reasoning_details=[{'type': 'reasoning.text', 'text': 't', 'index': 0}]), 'provider': 'X'},
        Says([thinking('t'), text('hi')]),
    ),
    (
        'reasoning-details-of-another-shape',
        {**saying('hi', reasoning_details=[{'type': 'thought', 'text': 't'}]), 'provider': 'X'},
        Says([thinking('t'), text('hi')]),
    ),
    ('annotations-file', {**saying('hi', annotations=[{'type': 'file', 'file': {'name': 'a'}}]), 'provider': 'X'}, HI),
    ('created-null', {**OK, 'created': None, 'provider': 'X'}, HI),
]
