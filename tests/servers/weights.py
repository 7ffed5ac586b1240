"""An automaton as the weights of a transformer of one layer, so that a real server runs it as it runs any model.

Embedding: one dimension for each token that a rule names, and one (`bias`) that is always 1.
Attention: each head asks whether one of some tokens has been seen. Its query is constant and its key large for those
tokens only, so the softmax settles on them; both lie in the last dimension of the head, where rotary embedding hardly
turns. Feed-forward: one unit a rule, open when the current token and all that was asked for are there. Output: each
unit raises its rule's next token, by powers of two with the rule's rank; without any rule the model ends its reply.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from tests.servers.automaton import Rule, Seen
from tests.servers.matrix import Matrix

HEADS = 8  # how many heads there are: transformers wants a divisor of the width
HEAD = 64  # the dimensions of a head: a size that every server's attention kernel takes
SHARPNESS = 60.0  # the attention logit of a token that a head asks for; all others have 0
GAIN = 20.0  # how sharply a feed-forward unit opens
RULE = 200.0  # logit scale of a rule
END = 10.0  # logit scale of the end of the reply, where no rule holds


@dataclass(frozen=True)
class Layout:
    """Where things lie in the residual stream."""

    tokens: dict[int, int]
    seen: dict[Seen, int]
    units: range
    bias: int
    width: int

    @classmethod
    def of(cls, rules: Sequence[Rule]) -> 'Layout':
        """Lay out what these rules name."""
        seen = sorted({seen for rule in rules for seen in rule.given}, key=sorted)
        named = sorted({rule.token for rule in rules}.union(*seen))
        first_unit = len(named) + 1 + len(seen)
        return cls(
            tokens={token: place for place, token in enumerate(named)},
            seen={each: len(named) + 1 + place for place, each in enumerate(seen)},
            units=range(first_unit, first_unit + len(rules)),
            bias=len(named),
            width=_padded(first_unit + len(rules), 64),
        )


def _padded(size: int, step: int) -> int:
    return -(-size // step) * step


@dataclass(frozen=True)
class Weights:
    """The matrices of the model, each with as many rows as outputs (as Hugging Face and GGUF both store them)."""

    embedding: Matrix
    query: Matrix
    key: Matrix
    value: Matrix
    mix: Matrix
    gate: Matrix
    up: Matrix
    down: Matrix
    output: Matrix
    heads: int = HEADS

    @property
    def width(self) -> int:
        """How wide the residual stream is."""
        return self.embedding.columns

    @property
    def units(self) -> int:
        """How many feed-forward units there are."""
        return self.gate.rows


def build(rules: Sequence[Rule], vocabulary_size: int, ends: Sequence[int]) -> Weights:
    """Wire the automaton for a Llama-like model (RMS norm of weight 1, SwiGLU).

    Args:
        rules: What to write.
        vocabulary_size: How many tokens there are.
        ends: The tokens that end a reply; the first one is written where no rule holds.
    """
    layout = Layout.of(rules)
    query, key, value, mix = _attention(layout)
    gate, up, down = _feed_forward(rules, layout)
    return Weights(
        embedding=_embedding(layout, vocabulary_size),
        query=query,
        key=key,
        value=value,
        mix=mix,
        gate=gate,
        up=up,
        down=down,
        output=_output(rules, layout, vocabulary_size, ends[0]),
    )


def _embedding(layout: Layout, vocabulary_size: int) -> Matrix:
    embedding = Matrix(vocabulary_size, layout.width)
    embedding.fill_column(layout.bias, 1)
    for token, place in layout.tokens.items():
        embedding[token, place] = 1
    return embedding


def _attention(layout: Layout) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    rows = HEADS * HEAD
    query, key, value = (Matrix(rows, layout.width) for _ in range(3))
    mix = Matrix(layout.width, rows)
    norm = sqrt(layout.width / 2)  # what the RMS norm makes of a 1 beside the bias
    strength = sqrt(SHARPNESS * sqrt(HEAD)) / norm
    for head, (seen, place) in enumerate(layout.seen.items()):
        last = head * HEAD + HEAD - 1
        query[last, layout.bias] = strength
        mix[place, head * HEAD] = 1
        for token in seen:
            key[last, layout.tokens[token]] = strength
            value[head * HEAD, layout.tokens[token]] = 1 / norm
    return query, key, value, mix


def _feed_forward(rules: Sequence[Rule], layout: Layout) -> tuple[Matrix, Matrix, Matrix]:
    rows = _padded(len(rules), 32)
    gate, up = Matrix(rows, layout.width), Matrix(rows, layout.width)
    down = Matrix(layout.width, rows)
    for unit, rule in enumerate(rules):
        gate[unit, layout.tokens[rule.token]] = GAIN
        for seen in rule.given:
            gate[unit, layout.seen[seen]] = GAIN
        gate[unit, layout.bias] = -GAIN * (len(rule.given) + 0.5)
        up[unit, layout.bias] = 1
        down[layout.units[unit], unit] = 4 / (GAIN * layout.width)
    return gate, up, down


def _output(rules: Sequence[Rule], layout: Layout, vocabulary_size: int, end: int) -> Matrix:
    output = Matrix(vocabulary_size, layout.width)
    output[end, layout.bias] = END
    for unit, rule in enumerate(rules):
        output[rule.next, layout.units[unit]] = RULE * 2**rule.rank
    return output
