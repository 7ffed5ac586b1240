"""A finite automaton that writes a model's replies: which token follows which, given what the context holds. Pure.

A rule reads: after `token`, if every `seen` set has a member somewhere in the context, write `next`. Of a token's rules
the last whose conditions hold wins, so scripts go from the general to the special.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

Seen = frozenset[int]
"""Tokens of which one must have occurred in the context."""


@dataclass(frozen=True)
class Script:
    """One reply as tokens, what its prompt ends in, and what that prompt must hold."""

    after: tuple[int, ...]
    tokens: tuple[int, ...]
    given: tuple[Seen, ...] = ()


@dataclass(frozen=True)
class Rule:
    """After `token`, with all of `given` seen, write `next`; of a token's rules the highest `rank` that holds wins."""

    token: int
    given: frozenset[Seen]
    next: int
    rank: int


def rules(scripts: Iterable[Script], marks: Collection[int]) -> list[Rule]:
    """Turn scripts into rules.

    Args:
        scripts: The replies, the general before the special.
        marks: Tokens that no prompt holds. Between two occurrences of a token in one script a mark must stand, so that
            the second occurrence can be told from the first.
    """
    made: list[Rule] = []
    for script in scripts:
        for token in script.after:
            _add(made, token, frozenset(script.given), script.tokens[0])
        for index, (token, following) in enumerate(zip(script.tokens, script.tokens[1:], strict=False)):
            given = frozenset((*script.given, *_mark_before(script.tokens, script.after, index, marks)))
            _add(made, token, given, following)
    return made


def _add(made: list[Rule], token: int, given: frozenset[Seen], following: int) -> None:
    rank = sum(rule.token == token for rule in made)
    made.append(Rule(token, given, following, rank))


def _mark_before(
    tokens: Sequence[int], after: Sequence[int], index: int, marks: Collection[int]
) -> Iterable[frozenset[int]]:
    """Give what tells this occurrence of a token from the one before, nothing for its first occurrence."""
    token = tokens[index]
    before = [place for place in range(index) if tokens[place] == token]
    if not before and token not in after:
        return
    between = [mark for mark in tokens[before[-1] if before else 0 : index] if mark in marks]
    if not between:
        raise ValueError(f'no mark stands before the repeated token {token} at {index}')
    yield frozenset(between[-1:])
