"""L1: a conversation as ids, mask and log-probabilities, whole and turn by turn."""

from dataclasses import replace
from itertools import compress
from typing import Any

import pytest
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from tests.harmony.sampling import TOKENS, ids_of, through_json

END = 200007
CALL = ids_of(
    '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.a<|channel|>commentary code<|message|>1<|call|>'
)
ANSWER = ids_of('<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>')


def conversation(answer: Any = None) -> list[ModelMessage]:
    """Two requests and two responses, the first with log-probabilities."""
    called = TOKENS.load_response(CALL, logprobs=[-float(at) for at in range(len(CALL))])
    (call,) = called.tool_calls
    return [
        ModelRequest([UserPromptPart('x')]),
        through_json(called),
        ModelRequest([ToolReturnPart('a', '1', call.tool_call_id)]),
        answer or TOKENS.load_response(ANSWER),
    ]


def test_the_whole_conversation() -> None:
    """The mask picks out what was sampled, in order; what was not has no log-probability."""
    messages = conversation()
    tokens = TOKENS.tokens(messages)
    assert [*tokens.ids, *ids_of('<|start|>assistant')] == TOKENS.dump_messages(messages)
    assert len(tokens.ids) == len(tokens.mask) == len(tokens.logprobs)
    assert list(compress(tokens.ids, tokens.mask)) == [*CALL, *ANSWER]
    known = [value for value in tokens.logprobs if value is not None]
    assert known == [-float(at) for at in range(len(CALL))]
    assert list(compress(tokens.logprobs, tokens.mask))[: len(CALL)] == known


def test_by_turn() -> None:
    """Each response stands behind its own prompt, and only its own ids are in the mask."""
    messages = conversation()
    first, second = TOKENS.tokens_by_turn(messages)
    assert first.ids == [*TOKENS.dump_messages(messages[:1]), *CALL]
    assert second.ids == [*TOKENS.dump_messages(messages[:3]), *ANSWER]
    assert list(compress(first.ids, first.mask)) == CALL
    assert list(compress(second.ids, second.mask)) == ANSWER
    assert set(second.logprobs) == {None}
    assert [value for value in first.logprobs if value is not None] == [-float(at) for at in range(len(CALL))]


def test_the_departures_are_not_in_the_mask() -> None:
    """In a finished turn the end that stands for a return was not sampled, and what was left out is not there."""
    tokens = TOKENS.tokens([*conversation(), ModelRequest([UserPromptPart('y')])])
    sampled = list(compress(tokens.ids, tokens.mask))
    assert sampled == [
        *ids_of(' to=functions.a<|channel|>commentary code<|message|>1<|call|>'),
        *ids_of('<|channel|>final<|message|>Yes.'),
    ]


@pytest.mark.parametrize(
    'response',
    [
        pytest.param(ModelResponse([TextPart('Yes.')]), id='from elsewhere'),
        pytest.param(TOKENS.load_response([]), id='empty'),
    ],
)
def test_what_was_not_sampled(response: ModelResponse) -> None:
    """A response that the model did not write has no sampled ids."""
    (_, turn) = TOKENS.tokens_by_turn(conversation(response))
    assert not any(turn.mask)


def test_a_sample_without_a_block_keeps_its_log_probabilities() -> None:
    """They stand in the response's own details, as the sample does."""
    response = through_json(TOKENS.load_response(ids_of('\n<|end|>'), logprobs=[-1.0, -2.0]))
    tokens = TOKENS.tokens([response])
    assert list(compress(tokens.logprobs, tokens.mask)) == [-1.0, -2.0]


@pytest.mark.parametrize(
    ('lead', 'body'),
    [
        pytest.param('<|start|>assistant', ids_of('y'), id='usual'),
        pytest.param('<|start|>assistant', [160], id='a body that is no UTF-8'),
        pytest.param('assistant', ids_of('y'), id='no start'),
        pytest.param('<|end|>\n<|start|>assistant', ids_of('y'), id='a stop token'),
        pytest.param('<|start|>', ids_of('y'), id='no role'),
    ],
)
def test_the_log_probabilities_of_an_answer_whose_analysis_is_left_out(lead: str, body: list[int]) -> None:
    """The answer keeps its own; those of what stood before its header go with the analysis."""
    thought, header = ids_of('<|channel|>analysis<|message|>t<|end|>'), ids_of('<|channel|>final<|message|>')
    sample = [*thought, *ids_of(lead), *header, *body, 200002]
    response = through_json(TOKENS.load_response(sample, logprobs=[-float(at) for at in range(len(sample))]))
    whole = TOKENS.tokens([response])
    assert list(compress(whole.logprobs, whole.mask)) == [-float(at) for at in range(len(sample))]
    departed = TOKENS.tokens([response, ModelRequest([UserPromptPart('y')])])
    assert list(compress(departed.ids, departed.mask)) == [*header, *body]
    begin = len(thought) + len(ids_of(lead))
    assert list(compress(departed.logprobs, departed.mask)) == [-float(at) for at in range(begin, len(sample) - 1)]


def test_log_probabilities_that_json_cannot_hold_are_unknown() -> None:
    """Minus infinity is no number in JSON, and is `None`; so is what was stored by somebody else."""
    sample = ids_of('<|channel|>final<|message|>x')
    logprobs = [None, float('-inf'), *range(len(sample) - 2)]
    response = through_json(TOKENS.load_response(sample, logprobs=logprobs))
    known = [None, None, *map(float, range(len(sample) - 2))]
    assert TOKENS.tokens([response]).logprobs[-len(sample) :] == known
    details: Any = response.parts[0].provider_details
    details['harmony']['logprobs'] = ['x'] * len(sample)
    assert set(TOKENS.tokens([response]).logprobs) == {None}
    details['harmony']['logprobs'] = [-1.0]
    assert set(TOKENS.tokens([response]).logprobs) == {None}


@pytest.mark.parametrize('text', ['No.', 'Yes?', '{"a":2}', 'A longer text than what was sampled.'])
@pytest.mark.parametrize('sample', [CALL, ANSWER], ids=['call', 'answer'])
def test_an_edited_part_was_not_sampled(sample: list[int], text: str) -> None:
    """A block whose body is no longer what was sampled is out of the mask, and its log-probabilities are unknown."""
    response = TOKENS.load_response(sample, logprobs=[-0.5] * len(sample))
    sizes = [len(sample) - sample.index(END) - 1, sample.index(END) + 1]
    for at, part in enumerate(response.parts):
        changes: Any = {'args' if isinstance(part, ToolCallPart) else 'content': text}
        parts = [*response.parts[:at], replace(part, **changes), *response.parts[at + 1 :]]
        messages = [ModelRequest([UserPromptPart('x')]), through_json(replace(response, parts=parts))]
        tokens = TOKENS.tokens(messages)
        assert sum(tokens.mask) == sizes[at]
        assert [value is not None for value in tokens.logprobs] == tokens.mask
        assert text in o200k_harmony().decode(tokens.ids).decode()


@pytest.mark.parametrize('wrong', [['a'] * len(CALL), 3])
def test_log_probabilities_are_numbers(wrong: Any) -> None:
    """Anything else is the caller's mistake."""
    with pytest.raises(UserError, match='Log-probabilities are a list of numbers'):
        TOKENS.load_response(CALL, logprobs=wrong)


def test_as_many_log_probabilities_as_ids() -> None:
    """Another number of them is the caller's mistake."""
    with pytest.raises(UserError, match='has 3 sampled ids: give as many log-probabilities, not 1'):
        TOKENS.load_response(ids_of('<|channel|>final<|message|>'), logprobs=[0.0])
    with pytest.raises(UserError, match='has 1 sampled ids: give as many log-probabilities, not 3'):
        TOKENS.load_response(ids_of('<|end|>'), logprobs=[0.0, 0.0, 0.0])
    assert not TOKENS.load_response([], logprobs=[]).parts
