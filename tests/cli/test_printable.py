"""What a model or a server says cannot steer the terminal that shows it."""

import unicodedata

import pytest

from pydantic_ai_verbatim.cli.printable import printable


@pytest.mark.parametrize(
    ('text', 'shown'),
    [
        pytest.param('\x1b[2J', r'\x1b[2J', id='an escape sequence'),
        pytest.param('\x9b2J', r'\x9b2J', id='the same in one C1 character'),
        pytest.param('safe\rfake', r'safe\rfake', id='an overwritten line'),
        pytest.param('\x07\x08\x7f', r'\x07\x08\x7f', id='bell, backspace, delete'),
        pytest.param('\ufeff{}', r'\ufeff{}', id='a byte order mark'),
        pytest.param('\u202etxt', r'\u202etxt', id='text turned round'),
        pytest.param('\ud83d', r'\ud83d', id='a lone surrogate'),
        pytest.param('a\tb\n\\x1b ä 漢 👩\u200d🔬', 'a\tb\n\\x1b ä 漢 👩\u200d🔬', id='what stays'),
    ],
)
def test_what_is_escaped(text: str, shown: str) -> None:
    """Each character that acts on a terminal is shown by its number; the rest is as it was."""
    assert printable(text) == shown


def test_no_control_character_is_left() -> None:
    """Of all characters there are, only tab and newline are left of the control characters."""
    shown = printable(''.join(map(chr, range(0x110000))))
    assert {char for char in shown if unicodedata.category(char) in ('Cc', 'Cs', 'Zl', 'Zp')} == {'\t', '\n'}
