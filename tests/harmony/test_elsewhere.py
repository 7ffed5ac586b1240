"""L1: what another model or a caller wrote, in Harmony's canonical form."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart

from pydantic_ai_verbatim.harmony.adapter import HarmonyAdapter
from pydantic_ai_verbatim.surrogates import storable
from tests.harmony.sampling import TEXT, TOKENS, fuzzed, history, ids_of, user


@pytest.mark.parametrize(
    ('parts', 'rendered'),
    [
        ([TextPart('Hi.')], '<|channel|>final<|message|>Hi.<|return|>'),
        ([TextPart('')], ''),
        ([ThinkingPart('Hm.')], '<|channel|>analysis<|message|>Hm.<|end|>'),
        ([ThinkingPart('')], ''),
        ([TextPart('Hi.', provider_details={'phase': 'commentary'})], '<|channel|>commentary<|message|>Hi.<|end|>'),
        (
            [TextPart('Now.'), ToolCallPart('a', '{"x": 1}')],
            '<|channel|>commentary<|message|>Now.<|end|>'
            + '<|start|>assistant to=functions.a<|channel|>commentary <|constrain|>json<|message|>{"x": 1}<|call|>',
        ),
        (
            [ToolCallPart('a', {'x': 1}, provider_details={'content_type': 'code'})],
            ' to=functions.a<|channel|>commentary code<|message|>{"x":1}<|call|>',
        ),
        (
            [ToolCallPart('a', '[1]', provider_details={'content_type': 'json'})],
            ' to=functions.a<|channel|>commentary <|constrain|>json<|message|>[1]<|call|>',
        ),
        (
            [ToolCallPart('a', '[1]', provider_details={'content_type': 'yaml'})],
            ' to=functions.a<|channel|>commentary code<|message|>[1]<|call|>',
        ),
        ([ToolCallPart('a', 'ls')], ' to=functions.a<|channel|>commentary code<|message|>ls<|call|>'),
        ([ToolCallPart('a')], ' to=functions.a<|channel|>commentary <|constrain|>json<|message|>{}<|call|>'),
        ([ToolCallPart('a b<', '1')], ' to=functions.a_b_<|channel|>commentary code<|message|>1<|call|>'),
        ([ToolCallPart('a to=b', '1')], ' to=functions.a_to_b<|channel|>commentary code<|message|>1<|call|>'),
        ([ToolCallPart('', '1')], ' to=functions._<|channel|>commentary code<|message|>1<|call|>'),
    ],
)
def test_parts_from_elsewhere(parts: list[Any], rendered: str) -> None:
    """What was not sampled is written as openai-harmony would; an explicit `json` or `code` is honoured on a call."""
    response = ModelResponse(parts)
    assert TEXT.dump_response(response) == rendered
    assert TOKENS.dump_response(response) == ids_of(rendered)


@fuzzed
@given(st.text() | st.lists(st.sampled_from(['to', '=', ' ', 'functions.', '<|call|>', 'user', 'a'])).map(''.join))
@pytest.mark.parametrize('adapter', [TEXT, TOKENS], ids=['text', 'ids'])
def test_any_name_is_one_call(adapter: HarmonyAdapter[Any], name: str) -> None:
    """A call from elsewhere reads as one call of a tool, by its own name where that is a word."""
    sample = adapter.dump_response(ModelResponse([ToolCallPart(name, '{}')]))
    (call,) = adapter.load_response(sample).parts
    assert isinstance(call, ToolCallPart)
    is_word = re.fullmatch(r'(?!functions\.)[\w.-]+', name)
    assert call.tool_name == name if is_word else call.tool_name


def test_a_finished_answer_from_elsewhere() -> None:
    """An answer by another model finishes its turn; text before its calls does not."""
    thought, call = ThinkingPart('Hm.'), ToolCallPart('a', {})
    assert 'Hm.' not in history([user('x'), ModelResponse([thought, TextPart('Yes.')]), user('y')])
    assert 'Hm.' in history([user('x'), ModelResponse([thought, TextPart('Now.'), call]), user('y')])


@pytest.mark.parametrize(
    ('arguments', 'content_type'),
    [
        pytest.param('{"a":"\\ud800"}', '<|constrain|>json', id='an escaped lone surrogate'),
        pytest.param('{"a":"\ud83d"}', '<|constrain|>json', id='a lone surrogate'),
        pytest.param('{"a":' * 300 + '1' + '}' * 300, '<|constrain|>json', id='deep'),
        pytest.param('{"a":' + '9' * 5000 + '}', '<|constrain|>json', id='a long number'),
        pytest.param('{"a": NaN}', 'code', id='not a number'),
        pytest.param('{"a": "\n"}', 'code', id='a control character'),
        pytest.param('{"a": 1} b', 'code', id='and something behind it'),
        pytest.param('{"a":' * 100_000, 'code', id='too deep to read'),
    ],
)
def test_the_content_type_of_a_call_from_elsewhere(arguments: str, content_type: str) -> None:
    """It is `json` for what the standard calls a JSON object, and reading it never fails."""
    response = ModelResponse([ToolCallPart('a', arguments)])
    rendered = f' to=functions.a<|channel|>commentary {content_type}<|message|>{arguments}<|call|>'
    assert TEXT.dump_response(response) == rendered
    assert TOKENS.dump_response(response) == ids_of(storable(rendered))
