"""A caller's mistake is a `UserError` at the entrance, and names the remedy; what is right comes in any of its forms."""

from array import array
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pytest
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelRequest, UserPromptPart

from pydantic_ai_verbatim.harmony.adapter import HarmonyAdapter
from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from tests.harmony.sampling import TEXT, TOKENS, streamed_parts

IDS = [200005, 17196, 200008, 13225, 200002]
ASKED = ModelRequest([UserPromptPart('x')])
text: Any = TEXT
tokens: Any = TOKENS
adapter: Any = HarmonyAdapter


@pytest.mark.parametrize(
    ('mistake', 'remedy'),
    [
        (lambda: text.load_response(None), 'text, or a list of token ids; this is None'),
        (lambda: text.load_response(b'abc'), 'not bytes: decode it'),
        (lambda: text.load_response([1, 'a']), 'at place 1 of this stands `str`'),
        (lambda: tokens.load_response([1, 'a']), 'at place 1 of this stands `str`'),
        (lambda: tokens.load_response([1.0]), 'at place 0 of this stands `float`'),
        (lambda: tokens.load_response((1.0,)), 'at place 0 of this stands `float`'),
        (lambda: tokens.load_response([IDS]), 'a flat list of whole numbers; at place 0 of this stands `list`'),
        (lambda: tokens.load_response([5, True]), 'at place 1 of this stands `bool`'),
        (lambda: tokens.load_response({'input_ids': IDS}), 'at place 0 of this stands `str`'),
        (lambda: text.load_response('', {'temperature': 1}), 'ModelRequestParameters, and this is `dict`'),
        (lambda: text.load_messages(None), 'text, or a list of token ids; this is None'),
        (lambda: text.load_messages('', []), 'ModelRequestParameters, and this is `list`'),
        (lambda: list(text.stream(None)), 'takes an iterable of chunks; this is None'),
        (lambda: list(text.stream(['a'], 3)), 'ModelRequestParameters, and this is `int`'),
        (lambda: list(text.stream([None])), 'text, or a list of token ids; this is None'),
        (lambda: list(text.stream(IDS)), r'Chunks are lists of token ids.*use `\[id\]`'),
        (lambda: list(tokens.stream(IDS)), r'Chunks are lists of token ids.*use `\[id\]`'),
        (lambda: list(text.stream(['a', [1]])), 'This stream is one of text, and a chunk of it is `list`'),
        (lambda: list(tokens.stream([[1], 'a'])), 'This stream is one of token ids, and a chunk of it is `str`'),
        (lambda: tokens.begin_stream().feed('a'), 'This stream is one of token ids'),
        (lambda: text.begin_stream().feed([1]), 'This stream is one of text'),
        (lambda: text.begin_stream([]), 'ModelRequestParameters, and this is `list`'),
        (lambda: text.dump_response([ASKED]), 'one ModelResponse, and this is `list`; histories: `dump_messages`'),
        (lambda: text.dump_messages(ASKED), r'this is `ModelRequest`: use `\[message\]`'),
        (lambda: text.dump_messages('x'), 'A history is a list of messages; this is `str`'),
        (lambda: text.dump_messages([ASKED, 'x']), 'at place 1 of this stands `str`'),
        (lambda: text.dump_messages([ASKED], {}), 'model settings: `settings=`'),
        (lambda: text.dump_messages([ASKED], foo=1), "There is no option 'foo'; there are 'settings', 'current_date'"),
        (lambda: text.dump_messages([ASKED], settings='low'), 'a ModelSettings dict; this is `str`'),
        (lambda: text.dump_messages([ASKED], current_date='today'), 'a datetime.date, or an ISO string'),
        (lambda: text.dump_messages([ASKED], current_date=2026), 'a datetime.date, or an ISO string'),
        (lambda: tokens.tokens(ASKED), r'use `\[message\]`'),
        (lambda: tokens.tokens_by_turn(ASKED), r'use `\[message\]`'),
        (lambda: adapter(encoding=o200k_harmony), r'use `o200k_harmony\(\)`, not `function`'),
    ],
)
def test_mistakes(mistake: Callable[[], Any], remedy: str) -> None:
    """Each is refused where it is made."""
    with pytest.raises(UserError, match=remedy):
        mistake()


def test_ids_in_other_forms() -> None:
    """Tuples, arrays and other whole numbers are taken as the list of ids they are."""

    class Whole:
        def __init__(self, number: int) -> None:
            self.number = number

        def __index__(self) -> int:
            return self.number

    for given in (tuple(IDS), array('l', IDS), [Whole(token) for token in IDS], iter(IDS)):
        assert tokens.dump_response(tokens.load_response(given)) == IDS
    stream = tokens.begin_stream()
    for chunk in (array('l', IDS[:2]), iter(IDS[2:])):
        stream.feed(chunk)
    stream.flush()
    assert tokens.dump_response(stream.response()) == IDS
    (part,) = streamed_parts(tokens.stream([iter(IDS[:2]), iter(IDS[2:])]))
    assert part == stream.response().parts[0]


def test_histories_in_other_forms() -> None:
    """A tuple of messages is a history, and a message may be of a class of one's own."""

    class Request(ModelRequest):
        pass

    assert text.dump_messages((Request(ASKED.parts),)) == text.dump_messages([ASKED])


@pytest.mark.parametrize('given', [date(2026, 1, 31), datetime(2026, 1, 31, 12), '2026-01-31'])
def test_dates(given: Any) -> None:
    """A date is told as it is, and an ISO string as the date it says."""
    assert 'Current date: 2026-01-31\n' in text.dump_messages([ASKED], current_date=given)
