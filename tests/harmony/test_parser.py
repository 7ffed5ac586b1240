"""L1: the events of the parser, and that no delivery changes them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydantic_ai_verbatim.harmony.grammar import MESSAGE, SPECIAL_TOKENS
from pydantic_ai_verbatim.harmony.parser import Closed, Delta, Event, Headless, Opened, Tail, TextParser, TokenParser
from tests.conftest import load_cases

IDS_OF_MARKERS = list(SPECIAL_TOKENS.values())
markup = st.lists(st.sampled_from([*SPECIAL_TOKENS, ' ', '\n', '<', '<|', '|>', 'to=functions.a', 'word'])).map(''.join)
tokens = st.lists(st.sampled_from([*IDS_OF_MARKERS, 200000, 220, 1, 2]))
cuts = st.lists(st.integers(min_value=0, max_value=60))


def merged(events: Iterable[Event[Any]]) -> list[Event[Any]]:
    """Put neighbouring pieces of a body together, so that deliveries can be compared."""
    found: list[Event[Any]] = []
    for event in events:
        last = found[-1] if found else None
        if isinstance(event, Delta) and isinstance(last, Delta):
            body: Any = last.body
            found[-1] = Delta(body + event.body)
        else:
            found.append(event)
    return found


def sampled(events: Iterable[Event[str]]) -> str:
    """Put a text's events together again."""
    pieces: list[str] = []
    for event in events:
        match event:
            case Opened(lead, header):
                pieces += [lead, header, MESSAGE]
            case Delta(body):
                pieces.append(body)
            case Closed(stop_token):
                pieces.append(stop_token or '')
            case Headless(lead, header, stop_token):
                pieces += [lead, header, stop_token or '']
            case Tail(text):
                pieces.append(text)
    return ''.join(pieces)


def parse(parser: Any, chunks: Iterable[Any]) -> list[Event[Any]]:
    """Feed the chunks, and end the sample."""
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.flush()


def pieces(sample: Any, borders: list[int]) -> list[Any]:
    """Cut a sample at the given places."""
    places = [0, *sorted(borders), len(sample)]
    return [sample[begin:end] for begin, end in pairwise(places)]


def token_parser() -> TokenParser:
    """A parser for which 220 is white space."""
    return TokenParser(lambda ids: set(ids) == {220})


@pytest.mark.parametrize(
    ('text', 'events'),
    [
        ('', []),
        (' \n', [Tail(' \n')]),
        ('<|message|>x', [Opened('', ''), Delta('x'), Closed(None)]),
        ('a<|message|><|call|>', [Opened('', 'a'), Closed('<|call|>')]),
        ('a<|message|>b<|message|><|channel|>c', [Opened('', 'a'), Delta('b<|message|><|channel|>c'), Closed(None)]),
        ('a<|channel|>b<|end|>', [Headless('', 'a<|channel|>b', '<|end|>', cut=False)]),
        (
            'a<|start|> <|start|>b',
            [Headless('', 'a', None, cut=False), Headless('<|start|> <|start|>', 'b', None, True)],
        ),
        ('a<|mess', [Headless('', 'a<|mess', None, cut=True)]),
        (
            'a<|message|>b<|end|> <|return|> <|start|>c<|message|>d<|endoftext|> <|start|>',
            [
                Opened('', 'a'),
                Delta('b'),
                Closed('<|end|>'),
                Opened(' <|return|> <|start|>', 'c'),
                Delta('d'),
                Closed('<|endoftext|>'),
                Tail(' <|start|>'),
            ],
        ),
    ],
)
def test_events(text: str, events: list[Event[str]]) -> None:
    """A header ends at a message marker, a stop token, a start or with the sample; a body at the last three."""
    assert merged(parse(TextParser(), [text])) == events


def test_ids_of_other_markers_are_not_the_format() -> None:
    """In a body every marker but a stop token and a start is text, and so is every reserved special token."""
    body = [200008, 200005, 200003, 200000, 5]
    assert parse(token_parser(), [[1, 200000, 200008, *body, 200012]]) == [
        Opened([], [1, 200000]),
        Delta(body),
        Closed('<|call|>'),
    ]


@pytest.mark.parametrize('case', load_cases('harmony'))
def test_cases_in_every_delivery(case: dict[str, Any]) -> None:
    """Each case gives the same events whole, letter by letter and in pairs, and they hold all of it."""
    text = case['sampled']
    whole = merged(parse(TextParser(), [text]))
    assert merged(parse(TextParser(), text)) == whole
    assert merged(parse(TextParser(), pieces(text, list(range(0, len(text), 2))))) == whole
    assert sampled(whole) == text


@given(markup, cuts)
def test_text_in_random_cuts(text: str, borders: list[int]) -> None:
    """Wherever a text is cut, the events are those of the whole, and they hold all of it."""
    parser = TextParser()
    whole = merged(parse(parser, [text]))
    assert merged(parse(parser, pieces(text, borders))) == whole
    assert sampled(whole) == text


@given(tokens, cuts)
def test_ids_in_random_cuts(ids: list[int], borders: list[int]) -> None:
    """Wherever ids are cut, the events are those of the whole, from a tuple, too."""
    parser = token_parser()
    whole = merged(parse(parser, [tuple(ids)]))
    assert merged(parse(parser, pieces(ids, borders))) == whole


def test_only_the_open_header_is_held() -> None:
    """A long body passes through the parser, which keeps none of it."""
    parser = TextParser()
    parser.feed('<|channel|>final<|message|>')
    assert parser.feed('x' * 100_000 + '<|en') == [Delta('x' * 100_000)]
    assert parser.feed('<|') == [Delta('<|en')]
    assert parser.flush() == [Delta('<|'), Closed(None)]
