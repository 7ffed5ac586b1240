"""Text from a model or a server, safe to print: what would steer the terminal, or hide, is shown as an escape."""

import re

_STEERING = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]')
"""Control characters other than tab and newline, those that turn the direction of text, line separators, the byte
order mark, and lone surrogates, which no terminal's encoding has."""


def printable(text: str) -> str:
    r"""Escape what a terminal would act on: an ESC becomes the four characters `\x1b`.

    Args:
        text: Any text; its tabs and newlines stay.
    """
    return _STEERING.sub(lambda found: found[0].encode('unicode_escape').decode('ascii'), text)
