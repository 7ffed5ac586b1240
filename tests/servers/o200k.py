"""gpt-oss's vocabulary, o200k_harmony, as a server's tokenizer needs it: with the merges that BPE makes its tokens by."""

from collections.abc import Iterator, Mapping

from pydantic_ai_verbatim.harmony.encoding import (
    _PIECES,
    SPECIAL_TOKENS,
    VOCABULARY_SIZE,
    _ranks,
)
from tests.servers.vocabulary import Vocabulary, spelled


def merges(ranks: Mapping[bytes, int]) -> Iterator[tuple[bytes, bytes]]:
    """Give the merge that makes each token, in the order in which BPE prefers them."""
    for token in ranks:
        if len(token) > 1:
            yield _halves(token, ranks)


def _halves(token: bytes, ranks: Mapping[bytes, int]) -> tuple[bytes, bytes]:
    """Merge the bytes of a token until two parts are left: those that its own merge joins."""
    parts = [token[place : place + 1] for place in range(len(token))]
    while len(parts) > 2:
        places = range(len(parts) - 1)
        place = min(places, key=lambda at: ranks.get(parts[at] + parts[at + 1], VOCABULARY_SIZE))
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts[0], parts[1]


def vocabulary() -> Vocabulary:
    """Make the vocabulary with its merges and special tokens."""
    ranks = _ranks()
    made = Vocabulary(pre='gpt-4o', pattern=_PIECES)
    for token in ranks:
        made.add(spelled(token), 'normal')
    named = {identity: token for token, identity in SPECIAL_TOKENS.items()}
    for identity in range(len(ranks), VOCABULARY_SIZE):
        made.add(named.get(identity, f'<|reserved_{identity}|>'), 'special')
    made.merges = [(spelled(left), spelled(right)) for left, right in merges(ranks)]
    return made
