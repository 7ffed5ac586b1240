"""A part of a response to what it looked like when it was sampled, or, where that is not known, to canonical Harmony.

An original is used only while it is true: parsed alone, it must give exactly one block, and that block must read to
the part as it is now. So an edited part never brings its old text back, and forged details never add a block, a body
or a call. What is unusual, stop tokens between blocks and a role that is not `assistant`, is rendered only from the
exact sample, which has to say what the rest of the original says.
"""

import re
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, cast

from pydantic_ai.messages import ModelResponse, ModelResponsePart, ToolCallPart

from ..json_text import is_json_object
from .codec import Codec
from .grammar import CALL, END, MESSAGE, OPENING, RETURN, ROLE, START, STOP_TOKENS
from .header import NAMESPACE, Header, read_header, repair_tool_name
from .originals import SPOKEN, Place, Said, SpokenPart, checksum_of, kind_of, original_of, read_head, said, views
from .parser import HEADER_ENDS, Block, S, cut

_GAP = re.compile(rf'(?:\s*{re.escape(START)})*')
_BLANK = re.compile(rf'{_GAP.pattern}\s*')
_NOT_IN_A_WORD = re.compile(r'[\s<]|(?<=to)=')
_UNKNOWN = object()
_BUILT_IN = re.compile(r'python|(?:browser|container)\..*', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rendered(Generic[S]):
    """A rendered block.

    Args:
        data: Its text or ids, with what stands before it; of a response's first block, without `<|start|>assistant`.
        history: The same once a next user turn has begun: each `<|return|>` is `<|end|>`.
        sampled: Whether this is what the model sampled, as far as what is stored tells.
        is_open: Whether it was not ended, so that only `<|start|>` begins another block.
    """

    data: S
    history: S
    sampled: bool
    is_open: bool


class Renderer(Generic[S]):
    """Renders parts; what was rendered before is remembered, up to a bound.

    Args:
        codec: What to render to.
    """

    BOUND = 4_000_000
    """How many characters or ids are remembered, about."""

    def __init__(self, codec: Codec[S]) -> None:
        self.codec = codec
        self._known: dict[Hashable, Rendered[S] | None] = {}
        self._weight = 0

    def render_parts(
        self, parts: Iterable[ModelResponsePart], functions: Collection[str] = ()
    ) -> list[tuple[SpokenPart, Rendered[S]]]:
        """Render the parts of one response, in order; a part that says nothing is left out.

        Args:
            parts: The parts.
            functions: The names of the declared functions; a name among them is no built-in tool's.
        """
        spoken = [part for part in parts if isinstance(part, SPOKEN)]
        calls = [part.part_kind == 'tool-call' for part in spoken]
        last_call = max((at for at, is_call in enumerate(calls) if is_call), default=-1)
        blocks: list[tuple[SpokenPart, Rendered[S]]] = []
        after_open = False
        for at, part in enumerate(spoken):
            is_function = calls[at] and cast('ToolCallPart', part).tool_name in functions
            place = Place(not blocks, after_open, at < last_call, is_function)
            block = self.render(said(part, self.codec), place)
            if block:
                blocks.append((part, block))
                after_open = block.is_open
        return blocks

    def render_response(self, response: ModelResponse) -> S:
        """Render a whole response as what was sampled."""
        sample = self.render_blockless(response)
        blocks = self.render_parts(response.parts)
        return self.codec.join([block.data for _, block in blocks] if sample is None else [sample])

    def render_blockless(self, response: ModelResponse) -> S | None:
        """Render a sample that held no block; `None` if the response has parts, or no true original of its own."""
        return None if response.parts else self.without_blocks(original_of(response.provider_details))

    def without_blocks(self, original: dict[str, Any]) -> S | None:
        """Render a response's own original; `None` if it is not true.

        Stored text may hold white space and `<|start|>`s only; stop tokens are rendered only from the exact sample, as
        they are behind a block.
        """
        tail, exact = original.get('tail'), self.codec.exact_in(original)
        if not isinstance(tail, str):
            return None
        if exact is None:
            return self.codec.marked(tail) if _BLANK.fullmatch(tail) else None
        sample = self.codec.from_exact(exact)
        blocks, _ = cut(self.codec.parser(), sample)
        return None if blocks or self.codec.read(sample) != tail else sample

    def message(self, header: str, body: str) -> S:
        """Render a message that is not the model's.

        Args:
            header: What stands between `<|start|>` and `<|message|>`.
            body: Its text, which is ordinary text.
        """
        block = self._recall((header, body), lambda: self._message(header, body))
        assert block is not None, 'a message is never left out'
        return block.data

    def _message(self, header: str, body: str) -> Rendered[S]:
        return self._block(START + header, body, END, sampled=False)

    def render(self, what: Said, place: Place) -> Rendered[S] | None:
        """Render what a part says; `None` if that is nothing."""
        original = None
        if what.header is not None:
            original = self._recall((what, place.first, place.after_open), lambda: self._original(what, place))
        return original or self._recall((what, place), lambda: self._new(what, place))

    def _recall(self, key: Hashable, make: Callable[[], Rendered[S] | None]) -> Rendered[S] | None:
        if (known := self._known.get(key, _UNKNOWN)) is not _UNKNOWN:
            return cast('Rendered[S] | None', known)
        block = make()
        self._weight += 100 + (len(block.data) if block else 0)
        if self._weight > self.BOUND:
            self._known.clear()
            self._weight = 0
        self._known[key] = block
        return block

    def _original(self, what: Said, place: Place) -> Rendered[S] | None:
        rendered = self._from_exact(what, place) or self._from_pieces(what, place)
        if rendered is None or what.exact is None:
            return rendered
        end = self.codec.from_exact(what.exact)[-len(rendered.data) :]
        return replace(rendered, sampled=end == rendered.data)

    def _from_exact(self, what: Said, place: Place) -> Rendered[S] | None:
        """Render the exact sample, if it is still true."""
        if what.exact is None:
            return None
        sample, opening = self.codec.from_exact(what.exact), self.codec.opening
        if place.first:
            if sample[: len(opening)] != opening:
                return None
            sample = sample[len(opening) :]
        blocks, tail = cut(self.codec.parser(), sample)
        if len(blocks) != 1 or not self._is_true(blocks[0], tail, what, place):
            return None
        return self._rendered(sample, sampled=True, is_open=blocks[0].stop_token is None or tail is not None)

    def _is_true(self, block: Block[S], tail: S | None, what: Said, place: Place) -> bool:
        """Whether a block alone says what the part says, and looks like what is stored beside it."""
        lead, text, header = read_head(self.codec, block.lead, block.header, place)
        return (
            (lead, text) == (OPENING if what.lead is None else what.lead, what.header)
            and (block.stop_token, self.codec.read(tail or self.codec.empty)) == (what.stop_token, what.tail)
            and (lead.startswith(START) or not place.after_open)
            and (_is_headless(what) if block.body is None else _reads_to(header, what))
            and self.codec.read(block.body or self.codec.empty) == what.text
        )

    def _from_pieces(self, what: Said, place: Place) -> Rendered[S] | None:
        """Render the stored header and stop token with the part's own body, if they are still true."""
        lead = _lead(what, place)
        if lead is None or what.header is None or not _ends_well(what):
            return None
        role = ROLE if lead.endswith(ROLE) else ''
        after_start = lead.removesuffix(ROLE).endswith(START)
        if HEADER_ENDS.search(what.header):
            return None
        tail = (what.stop_token or '') + what.tail
        is_open = what.stop_token is None or bool(what.tail)
        if what.headless:
            if not _is_headless(what) or not (role + what.header).strip():
                return None
            return self._rendered(self.codec.marked(lead + what.header + tail), sampled=True, is_open=is_open)
        header = read_header(role + what.header, after_start=after_start)
        if header.role not in (None, ROLE) or not _reads_to(header, what):
            return None
        is_unedited = what.checksum == checksum_of(what.text)
        return self._block(lead + what.header, what.text, tail, sampled=is_unedited, is_open=is_open)

    def _rendered(self, data: S, *, sampled: bool, is_open: bool) -> Rendered[S]:
        """Wrap data in which every `<|return|>` is a stop token: it has no body, or its body was parsed."""
        return Rendered(data, self.codec.as_history(data), sampled, is_open)

    def _block(self, header: str, body: str, end: str, *, sampled: bool, is_open: bool = False) -> Rendered[S]:
        begin = self.codec.marked(header + MESSAGE) + self.codec.plain(body)
        data = begin + self.codec.marked(end)
        history = begin + self.codec.marked(end.replace(RETURN, END)) if RETURN in end else data
        return Rendered(data, history, sampled, is_open)

    def _new(self, what: Said, place: Place) -> Rendered[S] | None:
        """Render a part that was not sampled, or is no longer what was."""
        if what.kind != 'call' and not what.text:
            return None
        header, stop_token = _canonical(what, place)
        lead = '' if place.first else OPENING
        return self._block(lead + header, what.text, stop_token, sampled=False)


def _lead(what: Said, place: Place) -> str | None:
    """Give what stands before the header in this place; `None` if what is stored cannot be rendered.

    That is more than white space, `<|start|>`s and a role; and a header that begins with another role, where its
    `<|start|>` is left out: a block does not take what stood before it to another place.
    """
    usual = '' if place.first else OPENING
    if what.lead is None:
        return usual
    if place.first != what.lead.startswith(OPENING) or (place.after_open and not what.lead.startswith(START)):
        return None if read_header(what.header or '', after_start=what.lead.endswith(START)).role else usual
    lead = what.lead.removeprefix(OPENING) if place.first else what.lead
    return lead if _GAP.fullmatch(lead.removesuffix(ROLE)) else None


def _ends_well(what: Said) -> bool:
    """Whether the stored end is one: a stop token at most, and behind it nothing that would make a block."""
    if what.stop_token is None:
        return not what.tail or (what.tail.startswith(START) and _BLANK.fullmatch(what.tail) is not None)
    return what.stop_token in STOP_TOKENS and _BLANK.fullmatch(what.tail) is not None


def _is_headless(what: Said) -> bool:
    return what.headless and what.kind == 'thinking' and not what.text


def _reads_to(header: Header, what: Said) -> bool:
    """Whether a header says what the part says."""
    named = views(header)
    return (
        not what.headless
        and kind_of(header) == what.kind
        and (named['channel'], named['content_type']) == (what.channel, what.content_type)
        and named.get('phase') == what.phase
        and _calls(header.tool_name or '', what)
    )


def _calls(name: str, what: Said) -> bool:
    """Whether a sampled name is the name of the tool that a part calls, or was repaired into it."""
    return what.tool_name == (name if what.repaired is None else repair_tool_name(name, [what.repaired]))


def _canonical(what: Said, place: Place) -> tuple[str, str]:
    """Give the header and the stop token of a part without a true original, as openai-harmony writes them."""
    if what.kind == 'thinking':
        return '<|channel|>analysis', END
    if what.kind == 'text':
        is_commentary = what.phase == 'commentary' or (what.phase is None and place.calls_follow)
        return ('<|channel|>commentary', END) if is_commentary else ('<|channel|>final', RETURN)
    recipient, channel = addressed(what.tool_name, is_function=place.is_function)
    content_type = what.content_type
    if content_type not in ('json', 'code'):
        content_type = 'json' if is_json_object(what.text) else 'code'
    marked_type = '<|constrain|>json' if content_type == 'json' else content_type
    return f' to={recipient}<|channel|>{channel} {marked_type}', CALL


@lru_cache(maxsize=1024)
def is_built_in(tool_name: str) -> bool:
    """Whether a tool of this name is one of gpt-oss's own, unless a declared function has the name."""
    return _BUILT_IN.fullmatch(tool_name) is not None


@lru_cache(maxsize=1024)
def addressed(tool_name: str, *, is_function: bool) -> tuple[str, str]:
    """Give the recipient and the channel of a tool's calls: the built-in tools have no namespace, and `analysis`.

    Whatever the name, the recipient reads as one word and as a tool's.
    """
    name = _NOT_IN_A_WORD.sub('_', tool_name)
    if not is_function and is_built_in(name):
        return name, 'analysis'
    recipient = NAMESPACE + name
    is_tool = Header('', recipient=recipient).tool_name is not None
    return recipient if is_tool else f'{recipient}_', 'commentary'
