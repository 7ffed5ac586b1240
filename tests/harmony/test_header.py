"""L1: what a header says, rule by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pydantic_ai_verbatim.harmony.grammar import SPECIAL_TOKENS
from pydantic_ai_verbatim.harmony.header import read_header, read_pieces, repair_tool_name


@pytest.mark.parametrize(
    ('text', 'channel'),
    [
        ('<|channel|>analysis', 'analysis'),
        ('<|channel|> \n final', 'final'),
        ('<|channel|>commentary<|channel|>analysis', 'analysis'),
        ('<|channel|>commentary<|channel|>json', 'commentary'),
        ('<|channel|>commentaryto=functions.a', 'commentary'),
        ('<|channel|>finally', 'final'),
        ('<|channel|>comment', None),
        ('<|channel|><|constrain|>analysis', None),
        ('<|channel|>to=analysis', None),
        ('commentary', None),
        ('', None),
    ],
)
def test_channel(text: str, channel: str | None) -> None:
    """The last channel marker whose word begins with a channel's name gives the channel."""
    assert read_header(text).channel == channel


@pytest.mark.parametrize(
    ('text', 'recipient', 'tool_name'),
    [
        (' to=functions.a', 'functions.a', 'a'),
        (' to = functions.a json', 'functions.a', 'a'),
        (' to=\nfunctions.a<|channel|>commentary', 'functions.a', 'a'),
        (' to=functions.a<|channel|>commentary to=functions.b', 'functions.b', 'b'),
        (' to=functions.a to=<|channel|>commentary', 'functions.a', 'a'),
        (' to=to=functions.a', 'functions.a', 'a'),
        ('<|channel|>commentaryto=functions.a', 'functions.a', 'a'),
        (' to=functions.functions.a', 'functions.functions.a', 'a'),
        (' to=functions.user', 'functions.user', 'user'),
        (' to=functions.', 'functions.', None),
        (' to=assistant', 'assistant', None),
        (' to=user', 'user', None),
        (' to=all', 'all', None),
        (' to=python', 'python', 'python'),
        ('<|channel|>commentary <|constrain|>functions.a', 'functions.a', 'a'),
        ('functions.a<|channel|>functions.b', 'functions.a', 'a'),
        ('<|channel|>commentary', None, None),
    ],
)
def test_recipient(text: str, recipient: str | None, tool_name: str | None) -> None:
    """The last `to=` that has a word gives the recipient, else the first word in the `functions.` namespace."""
    header = read_header(text)
    assert (header.recipient, header.tool_name) == (recipient, tool_name)


@pytest.mark.parametrize(
    ('text', 'role', 'recipient'),
    [
        ('assistant<|channel|>commentary', 'assistant', None),
        ('functions.a<|channel|>commentary', 'functions.a', None),
        ('functions.a functions.b<|channel|>commentary', 'functions.a', 'functions.b'),
        ('<|channel|>commentary functions.a', None, 'functions.a'),
        ('functions.a to=assistant', 'functions.a', 'assistant'),
    ],
)
def test_role(text: str, role: str | None, recipient: str | None) -> None:
    """After `<|start|>` the first word is the role, and a tool's answer is not taken for a call."""
    header = read_header(text, after_start=True)
    assert (header.role, header.recipient) == (role, recipient)
    assert read_header(text).role is None


@pytest.mark.parametrize(
    ('text', 'content_type'),
    [
        ('<|channel|>commentary to=functions.a <|constrain|>json', 'json'),
        ('<|channel|>commentary to=functions.a<|constrain|> \n json', 'json'),
        ('<|channel|>commentary to=functions.a code<|constrain|>json', 'json'),
        ('<|channel|>commentary to=functions.a <|constrain|><|constrain|>python', 'python'),
        ('<|channel|>commentary <|constrain|>functions.a json', 'json'),
        ('<|channel|>commentary <|constrain|>to=functions.a json', 'json'),
        ('<|channel|>commentary to=functions.a json code', 'json'),
        (' to=functions.a<|channel|>commentary code', 'code'),
        (' to=functions.a code', 'code'),
        (' to=functions.a<|channel|>comment', 'comment'),
        ('<|channel|>commentary to=functions.a<|channel|>commentary<|channel|>json', 'json'),
        ('<|channel|>commentary json to=functions.a', None),
        (' to=functions.a json<|channel|>commentary', None),
        ('<|channel|>commentary to=functions.a analysis json', 'json'),
        ('<|channel|>final <|constrain|>json', 'json'),
        ('<|channel|>final json', 'json'),
        ('<|channel|>commentary to=functions.a <|constrain|>json{"a":1}', 'json'),
        ('<|channel|>commentary to=functions.a <|constrain|>{"a":1}', None),
        ('<|channel|>commentary to=functions.a {"a": 1}', None),
        ('json', None),
        ('', None),
    ],
)
def test_content_type(text: str, content_type: str | None) -> None:
    """The constrained word gives the content type, else the first bare one after the recipient and the channel."""
    assert read_header(text).content_type == content_type


def test_a_marker_spelled_in_ordinary_text_is_text() -> None:
    """Pieces say what is a marker; the same characters in ordinary text are none."""
    assert read_pieces(['<|channel|>final', '<|channel|>', 'analysis']).channel == 'analysis'
    assert read_pieces(['<|channel|>final to=a']).channel is None


@given(
    st.text() | st.lists(st.sampled_from([*SPECIAL_TOKENS, ' ', 'to=', 'json', 'functions.a', 'final'])).map(''.join)
)
def test_never_raises_and_keeps_the_text(text: str) -> None:
    """Whatever stands in a header, it is read, and its text is the one that was sampled."""
    assert read_header(text).text == text
    assert read_header(text, after_start=True).text == text


@pytest.mark.parametrize(
    ('name', 'declared', 'repaired'),
    [
        ('shelljson', ['shell'], 'shell'),
        ('shelljson', ['shell', 'shelljson'], 'shelljson'),
        ('shellcommentary', ['shell'], 'shell'),
        ('shell:', ['shell'], 'shell'),
        ('shell{"command":"ls"}', ['shell'], 'shell'),
        ('get_weather', ['get'], 'get_weather'),
        ('shell.exec', ['shell'], 'shell.exec'),
        ('shellcodecode', ['shell', 'shellcode'], 'shellcode'),
        ('shell', [], 'shell'),
    ],
)
def test_repair(name: str, declared: list[str], repaired: str) -> None:
    """A name is repaired only into a declared tool's, and only where what was glued to it belongs to a header."""
    assert repair_tool_name(name, declared) == repaired
