"""The law: what was sampled comes back, whatever it was, however it was delivered, and after it went through JSON."""

import random
from typing import Any
from zlib import crc32

import pytest
from hypothesis import example, given
from pydantic_ai.messages import ModelResponse

from pydantic_ai_verbatim.harmony.adapter import HarmonyAdapter
from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from pydantic_ai_verbatim.harmony.originals import SPOKEN, said_as
from pydantic_ai_verbatim.surrogates import storable
from tests.harmony.sampling import (
    SAMPLES,
    TEXT,
    TOKENS,
    cut_at,
    fuzzed,
    ids_of,
    law,
    mutations,
    places,
    streamed_parts,
    texts,
    through_json,
    tokens,
    without_ids,
)

OPENING = ids_of('<|start|>assistant')
ASSIST_ANT = [*o200k_harmony().encode('assist'), *o200k_harmony().encode('ant')]
SPELLED = o200k_harmony().encode('<|channel|>')


def assert_law(adapter: HarmonyAdapter[Any], sample: Any, borders: list[int]) -> None:
    """Hold the law for one sample, whole and cut, at once and stored."""
    response = adapter.load_response(sample)
    assert adapter.dump_response(response) == sample
    assert adapter.dump_response(through_json(response)) == sample
    parts = streamed_parts(adapter.stream(cut_at(sample, borders)))
    assert without_ids(parts) == without_ids(response.parts)
    assert all(part.provider_name and part.provider_details for part in parts)


@pytest.mark.parametrize('sample', SAMPLES)
@pytest.mark.parametrize('adapter', [TEXT, TOKENS], ids=['text', 'ids'])
def test_every_case_in_every_delivery(adapter: HarmonyAdapter[Any], sample: str) -> None:
    """Each case comes back whole, one by one, and in random cuts."""
    sampled = sample if adapter is TEXT else ids_of(sample)
    one_by_one = list(range(len(sampled)))
    for borders in ([], one_by_one, *(random.Random(seed).sample(one_by_one, len(sampled) // 3) for seed in range(3))):
        assert_law(adapter, sampled, borders)


@pytest.mark.parametrize('sample', SAMPLES)
def test_each_adapter_reads_what_the_other_stored(sample: str) -> None:
    """A case loaded as text is rendered as ids; loaded as ids as text, but for stop tokens beyond a block's own."""
    assert TEXT.dump_response(TOKENS.load_response(ids_of(sample))) == sample.replace('<|end|><|return|>', '<|return|>')
    as_ids = TOKENS.dump_response(TEXT.load_response(sample))
    assert as_ids == TOKENS.dump_response(TOKENS.load_response(sample))
    assert o200k_harmony().decode(as_ids).decode() == sample
    bodies = [str(said_as(part)[0]) for part in TEXT.load_response(sample).parts if isinstance(part, SPOKEN)]
    spells_a_marker = '<|' in ''.join(bodies)  # as ids, what a body spells is ordinary text
    assert (as_ids == ids_of(sample)) is not spells_a_marker


@law
@given(texts, places)
def test_texts(sample: str, borders: list[int]) -> None:
    """Texts of markers, words, lone surrogates and anything else come back."""
    assert_law(TEXT, sample, borders)


@fuzzed
@given(texts | mutations())
@example('s<|channel|>final<|message|>x<|end|><|end|>')
@example('e|>Done.<|return|><|return|>')
@example('<|end|><|start|> assistant<|channel|> functions.bash<|message|>\ud83d\ude00<|call|>')
def test_texts_rendered_as_ids(sample: str) -> None:
    """What was loaded as text says the same as ids, wherever the vocabulary would join it with what stands before."""
    as_ids = TOKENS.dump_response(through_json(TOKENS.load_response(sample)))
    assert o200k_harmony().decode(as_ids).decode() == storable(sample)


@law
@given(tokens, places)
def test_tokens(sample: list[int], borders: list[int]) -> None:
    """Ids come back: bodies that are not in canonical BPE or no UTF-8, and special tokens in any place."""
    assert_law(TOKENS, sample, borders)


@law
@given(mutations(), places)
def test_mutations_as_text(sample: str, borders: list[int]) -> None:
    """Cases with pieces left out, doubled, or put in come back as text."""
    assert_law(TEXT, sample, borders)


@law
@given(mutations(), places)
def test_mutations_as_ids(sample: str, borders: list[int]) -> None:
    """Cases with pieces left out, doubled, or put in come back as ids."""
    assert_law(TOKENS, ids_of(sample), borders)


@pytest.mark.parametrize(
    'sample',
    [
        pytest.param([200005, 17196, 200008, 75, 33, 385, 200002], id='a body not in canonical BPE'),
        pytest.param([200005, 17196, 200008, 160, 200002], id='a body that is no UTF-8'),
        pytest.param([200005, 17196, 200008, 200005, 200003, 200002], id='markers in a body'),
        pytest.param([200005, 17196, *SPELLED, 200008, 200007], id='a marker spelled out in a header'),
        pytest.param(
            [
                *ids_of('<|channel|>analysis<|message|>x<|end|><|start|>'),
                *ASSIST_ANT,
                *ids_of('<|channel|>final<|message|>'),
            ],
            id='a role not in canonical BPE',
        ),
        pytest.param(
            [*ids_of('<|channel|>analysis<|message|>x<|end|>'), *OPENING, 200005, 17196, 200008, 75, 33, 385, 200002],
            id='a later body not in canonical BPE',
        ),
        pytest.param([220, 220, 200007, 220, 220], id='no block, and spaces not in canonical BPE'),
    ],
)
def test_ids_are_stored_only_where_text_cannot_give_them_back(sample: list[int]) -> None:
    """The ids themselves are kept where they are needed."""
    response = through_json(TOKENS.load_response(sample))
    assert TOKENS.dump_response(response) == sample
    assert "'ids'" in str(response)
    assert "'ids'" not in str(TOKENS.load_response(ids_of('ok<|end|>')))


def test_a_marker_spelled_out_in_a_body_is_ordinary() -> None:
    """Bodies are ordinary text, so that ordinary tokens that spell a marker need nothing stored."""
    response = through_json(TOKENS.load_response([200005, 17196, 200008, *SPELLED, 200002]))
    assert TOKENS.dump_response(response) == [200005, 17196, 200008, *SPELLED, 200002]
    assert "'ids'" not in str(response)


def test_a_usual_sample_stores_little() -> None:
    """A call's original is its header, its stop token, and a checksum of its body."""
    sample = '<|channel|>commentary to=functions.bash code<|message|>{ "a": 1.0 }<|call|>'
    (part,) = TOKENS.load_response(ids_of(sample)).parts
    assert part.provider_details == {
        'channel': 'commentary',
        'content_type': 'code',
        'harmony': {
            'header': '<|channel|>commentary to=functions.bash code',
            'stop_token': '<|call|>',
            'crc32': crc32(b'{ "a": 1.0 }'),
        },
    }


def test_a_sample_without_a_block() -> None:
    """What holds no block is kept in the response's own details, streamed too."""
    for sample in ('', ' \n', '<|start|><|start|>', '<|end|>', '<|end|><|call|>', '<|end|> <|start|>'):
        for adapter, sampled in ((TEXT, sample), (TOKENS, ids_of(sample))):
            response = through_json(adapter.load_response(sampled))
            assert isinstance(response, ModelResponse)
            assert not response.parts
            assert adapter.dump_response(response) == sampled
            assert len((response.provider_details or {})['harmony']) == 1 + ('<|end|>' in sample)


def test_what_is_given_back_is_the_callers() -> None:
    """Changing what was dumped changes nothing that is remembered."""
    for sample in ([], ids_of('<|end|>'), ids_of('<|channel|>final<|message|>x<|return|>')):
        response = TOKENS.load_response(sample)
        TOKENS.dump_response(response).append(0)
        TOKENS.dump_messages([response]).append(0)
        assert TOKENS.dump_response(response) == sample


def test_ids_in_any_sequence() -> None:
    """Ids come as a tuple, or as another library's integers."""

    class Token(int):
        pass

    sample = [200005, 17196, 200008, 160, 200002]
    for given_as in (tuple(sample), tuple(map(Token, sample)), [Token(token) for token in sample]):
        response = through_json(TOKENS.load_response(given_as))
        assert TOKENS.dump_response(response) == sample


def test_long_headers() -> None:
    """A header of many pages, which is prose that never ended, comes back and is not remembered."""
    prose = '<|channel|>analysis ' + 'We need to think about it. ' * 1_000
    for adapter, sample in ((TEXT, prose), (TOKENS, ids_of(prose))):
        assert_law(adapter, sample, [5])
