"""The hand-wired weights say what their scripts say: run here in plain Python, elsewhere by real servers."""

import json
import struct
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import exp, sqrt
from pathlib import Path

import pytest

from tests.servers import gguf, hugging_face, weights
from tests.servers.automaton import Script, rules
from tests.servers.families import ANSWERS, FAMILIES, Family
from tests.servers.matrix import Matrix
from tests.servers.weights import HEAD, HEADS, Weights

TINY = [family for family in FAMILIES.values() if not family.harmony]
Vector = Mapping[int, float]


def times(matrix: Matrix, vector: Vector) -> Vector:
    result: dict[int, float] = defaultdict(float)
    for (row, column), value in matrix.cells.items():
        if column in vector:
            result[row] += value * vector[column]
    return result


def normed(vector: Vector, width: int) -> Vector:
    scale = 1 / sqrt(sum(value * value for value in vector.values()) / width + 1e-6)
    return {place: value * scale for place, value in vector.items()}


def added(left: Vector, right: Vector) -> Vector:
    return {place: left.get(place, 0) + right.get(place, 0) for place in {*left, *right}}


def embedded(model: Weights, token: int) -> Vector:
    return {
        place: model.embedding.cells[token, place]
        for place in range(model.width)
        if (token, place) in model.embedding.cells
    }


def following(model: Weights, context: Sequence[int]) -> int:
    """Run the model over a context and give the likeliest next token (positions play no part in these weights)."""
    stream = [normed(embedded(model, token), model.width) for token in context]
    query = times(model.query, stream[-1])
    keys, values = [times(model.key, each) for each in stream], [times(model.value, each) for each in stream]
    heads: dict[int, float] = defaultdict(float)
    for head in range(HEADS):
        places = range(head * HEAD, head * HEAD + HEAD)
        scores = [exp(sum(query.get(at, 0) * key.get(at, 0) for at in places) / sqrt(HEAD)) for key in keys]
        for score, value in zip(scores, values, strict=True):
            for at in places:
                heads[at] += score / sum(scores) * value.get(at, 0)
    middle = added(embedded(model, context[-1]), times(model.mix, heads))
    gates, ups = times(model.gate, normed(middle, model.width)), times(model.up, normed(middle, model.width))
    opened = {unit: gate / (1 + exp(-gate)) * ups[unit] for unit, gate in gates.items()}
    last = added(middle, times(model.down, opened))
    logits = times(model.output, normed(last, model.width))
    return max(logits, key=lambda token: logits[token])


@pytest.mark.parametrize('words', [None, *ANSWERS], ids=lambda words: '-'.join(words or ()) or repr(words))
@pytest.mark.parametrize('family', TINY, ids=lambda family: family.name)
def test_replies(family: Family, words: tuple[str, ...] | None) -> None:
    """Without a tool result the model calls the tool; with one it answers by the words that it finds."""
    vocabulary = family.vocabulary()
    ends = [vocabulary.find(token) for token in family.ends]
    model = weights.build(family.rules(vocabulary), len(vocabulary.tokens), ends)
    prompt = [*'Hello. ', *((family.result, *words) if words is not None else ())]
    starts = family.starts if words is None else family.starts_after_result or family.starts
    context = [vocabulary.find(piece) for piece in [*prompt, starts[0]]]
    expected = [vocabulary.find(piece) for piece in (family.call if words is None else family.answers[words])]
    written: list[int] = []
    while not written or written[-1] not in ends:
        written.append(following(model, context + written))
    assert written == expected


def test_a_repeated_token_needs_a_mark() -> None:
    """A script that repeats a token without a mark between is refused, since the model could not tell where it is."""
    with pytest.raises(ValueError, match='no mark stands before the repeated token 2'):
        rules([Script((1,), (2, 3, 2, 4))], marks=())


def test_gguf_is_laid_out_as_specified(tmp_path: Path) -> None:
    """The header counts tensors and metadata, and the data is aligned."""
    family = TINY[0]
    vocabulary = family.vocabulary()
    model = weights.build(family.rules(vocabulary), len(vocabulary.tokens), [vocabulary.find(family.ends[0])])
    gguf.write(tmp_path / 'model.gguf', family, vocabulary, model, '{{ messages }}')
    raw = (tmp_path / 'model.gguf').read_bytes()
    assert struct.unpack('<4sIQ', raw[:16]) == (b'GGUF', 3, 12)
    assert len(raw) % gguf.ALIGNMENT == 0


@pytest.mark.parametrize('family', TINY, ids=lambda family: family.name)
def test_hugging_face_folder(tmp_path: Path, family: Family) -> None:
    """Every tensor is where the header says, and every token of the configuration is in the tokenizer."""
    vocabulary = family.vocabulary()
    ends = [vocabulary.find(token) for token in family.ends]
    model = weights.build(family.rules(vocabulary), len(vocabulary.tokens), ends)
    hugging_face.write(tmp_path, family, vocabulary, model, '{{ messages }}')
    raw = (tmp_path / 'model.safetensors').read_bytes()
    [size] = struct.unpack('<Q', raw[:8])
    header = json.loads(raw[8 : 8 + size])
    assert (
        max(tensor['data_offsets'][1] for name, tensor in header.items() if name != '__metadata__')
        == len(raw) - 8 - size
    )
    config = json.loads((tmp_path / 'config.json').read_text())
    tokens = json.loads((tmp_path / 'tokenizer.json').read_text())['model']['vocab']
    assert [tokens[token] for token in family.ends] == config['eos_token_id']
    assert config['hidden_size'] % config['num_attention_heads'] == 0
