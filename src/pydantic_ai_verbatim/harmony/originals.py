"""What was sampled, kept beside what it means: a block's original in the `provider_details` of its part.

The original is the header's text, the stop token, and, where that is unusual, what lies between blocks and what a
tool's name was repaired into; the body is the part's own text, of which a checksum is kept. The exact ids (or escaped
text) are added only where these cannot give the sample back. Whatever is stored may have come from an untrusted client:
reading it here gives the right types or nothing.
"""

import zlib
from dataclasses import replace
from typing import Any, Literal, NamedTuple, cast

from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart
from pydantic_core import PydanticSerializationError

from ..surrogates import storable_value
from .codec import Codec
from .grammar import OPENING, ROLE, START
from .header import Header, read_pieces
from .parser import S

KEY = 'harmony'
"""The name in `provider_details` under which the original stands."""

Kind = Literal['call', 'thinking', 'text']

SpokenPart = ToolCallPart | TextPart | ThinkingPart
"""The parts that Harmony has a form for."""

SPOKEN = (ToolCallPart, TextPart, ThinkingPart)

_KINDS: dict[str, Kind] = {'tool-call': 'call', 'thinking': 'thinking', 'text': 'text'}


class Place(NamedTuple):
    """Where in a response a part stands.

    Attributes:
        first: Whether it is the response's first block, and follows `<|start|>assistant`.
        after_open: Whether the block before it was not ended, so that only `<|start|>` begins a new one.
        calls_follow: Whether a tool is called later in the response.
        is_function: Whether it calls a declared function.
    """

    first: bool = True
    after_open: bool = False
    calls_follow: bool = False
    is_function: bool = False


class Said(NamedTuple):
    """What a part says, and the original stored with it: all that its rendering depends on.

    Attributes:
        kind: What kind of part it is.
        text: Its body: the text, the reasoning, or the arguments.
        tool_name: The tool that is called, else empty.
        channel: The channel in the details.
        content_type: The content type in the details.
        phase: The phase in the details.
        header: The stored header without its role; `None` if there is no original.
        stop_token: The stored stop token.
        lead: What was stored of what stands before the header: all since the block before, or, of a first block,
            from the prompt's own `<|start|>assistant` on. `None` is `<|start|>assistant`. One that begins with this
            and goes on is a first block's, since behind another block it would be a header.
        tail: What was stored of what stands behind the block.
        repaired: The name that the sampled name of the tool was repaired into; `None` if it was not.
        headless: Whether the original is a header without a body.
        exact: The exact sample; `None` if the rest gives it back.
        checksum: The stored checksum of the sampled body.
    """

    kind: Kind
    text: str
    tool_name: str
    channel: str | None
    content_type: str | None
    phase: str | None
    header: str | None
    stop_token: str | None
    lead: str | None
    tail: str
    repaired: str | None
    headless: bool
    exact: str | tuple[int, ...] | None
    checksum: int | None


def read_head(codec: Codec[S], lead: S, header: S, place: Place) -> tuple[str, str, Header]:
    """Read what stands before a block's body: its lead and its header's text, as both are stored, and the header.

    The role of the model belongs to the lead, as does, in a response's first block, the prompt's `<|start|>assistant`.
    """
    gap = codec.read(lead)
    read = read_pieces(codec.pieces(header), after_start=gap.endswith(START))
    role = ROLE if read.text.startswith(ROLE) else ''
    return (OPENING if place.first else '') + gap + role, read.text.removeprefix(role), read


def views(header: Header) -> dict[str, Any]:
    """Give a header's fields as `provider_details` hold them; for a text, also upstream's `phase`."""
    named: dict[str, Any] = {'channel': header.channel, 'content_type': header.content_type}
    if kind_of(header) == 'text' and header.channel is not None:
        named['phase'] = 'commentary' if header.channel == 'commentary' else 'final_answer'
    return named


def kind_of(header: Header) -> Kind:
    """Say what kind of part a block with this header is."""
    if header.tool_name is not None:
        return 'call'
    return 'thinking' if header.channel == 'analysis' else 'text'


def original_of(details: dict[str, Any] | None) -> dict[str, Any]:
    """Give the original in the details of a part or a response, if there is one."""
    own = details.get(KEY) if details else None
    return cast('dict[str, Any]', own) if isinstance(own, dict) else {}


def said_as(part: SpokenPart) -> tuple[str | dict[str, Any] | None, str]:
    """Give a part's body as it is, and the tool it calls (else an empty name)."""
    return (part.args, part.tool_name) if isinstance(part, ToolCallPart) else (part.content, '')


def said(part: SpokenPart, codec: Codec[S]) -> Said:
    """Read a part and its original."""
    body, tool_name = said_as(part)
    details = part.provider_details or {}
    own = original_of(details)
    return Said(
        kind=_KINDS[part.part_kind],
        text=body if isinstance(body, str) else _as_json(cast('ToolCallPart', part)),
        tool_name=tool_name,
        channel=_text(details.get('channel')),
        content_type=_text(details.get('content_type')),
        phase=_text(details.get('phase')),
        header=_text(own.get('header')),
        stop_token=_text(own.get('stop_token')),
        lead=_text(own.get('lead')),
        tail=_text(own.get('tail')) or '',
        repaired=_text(own.get('repaired')),
        headless=own.get('ended_in_header') is True,
        exact=codec.exact_in(own),
        checksum=own.get('crc32') if type(own.get('crc32')) is int else None,
    )


def checksum_of(body: str) -> int:
    """Give the CRC-32 of a body's UTF-8, by which an edit is noticed; it is no protection against forgery."""
    return zlib.crc32(body.encode('utf-8', 'surrogatepass'))


def _as_json(call: ToolCallPart) -> str:
    try:
        return call.args_as_json_str()
    except PydanticSerializationError:  # a lone surrogate
        return replace(call, args=storable_value(call.args)).args_as_json_str()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
