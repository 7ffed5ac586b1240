"""A sampled block to the part it means, with its original in the part's details."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Generic

from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models import ModelRequestParameters

from .codec import Codec
from .grammar import OPENING
from .header import repair_tool_name
from .originals import KEY, Kind, Place, SpokenPart, checksum_of, kind_of, read_head, said, views
from .parser import Block, BlockReader, S
from .rendering import Renderer

PROVIDER_NAME = 'harmony'


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of a block once its header has ended.

    Args:
        kind: What kind of part it becomes.
        tool_name: The tool that is called, repaired; else empty.
        details: The part's details so far.
    """

    kind: Kind
    tool_name: str
    details: dict[str, Any]


class Loader(Generic[S]):
    """Makes parts of blocks.

    Args:
        renderer: What the parts will be rendered with, asked whether an original's pieces give the sample back.
        declared: The names of the tools that the model was given; a call's name is repaired only into one of these.
    """

    def __init__(self, renderer: Renderer[S], declared: Collection[str] = ()) -> None:
        self._renderer = renderer
        self._codec: Codec[S] = renderer.codec
        self._declared = declared

    def head(self, lead: S, header: S, place: Place) -> Head:
        """Read a header."""
        before, text, read = read_head(self._codec, lead, header, place)
        original: dict[str, Any] = {'header': text}
        if before != OPENING:
            original['lead'] = before
        sampled_name = read.tool_name or ''
        name = repair_tool_name(sampled_name, self._declared)
        if name != sampled_name:
            original['repaired'] = name
        return Head(kind_of(read), name, {**views(read), KEY: original})

    def part(self, block: Block[S], place: Place, tail: S | None = None) -> SpokenPart:
        """Make the part of a block.

        Args:
            block: The block.
            place: Where in the response it stands.
            tail: What comes after the response's last block.
        """
        head = self.head(block.lead, block.header, place)
        original = head.details[KEY]
        original['stop_token'] = block.stop_token
        if tail:
            original['tail'] = self._codec.read(tail)
        if block.body is None:
            original['ended_in_header'] = True
            part = new_part(Head('thinking', '', head.details), '')
        else:
            body = self._codec.read(block.body)
            original['crc32'] = checksum_of(body)
            part = new_part(head, body)
        self._keep_exact(part, self._codec.sampled(block) + (tail or self._codec.empty), place, original)
        return part

    def without_blocks(self, tail: S | None) -> dict[str, Any]:
        """Give the response's own details for a sample that holds no block.

        Args:
            tail: The sample, if it holds anything.
        """
        sampled = tail or self._codec.empty
        original: dict[str, Any] = {'tail': self._codec.read(sampled)}
        if self._renderer.without_blocks(original) != sampled:
            original[self._codec.exact_key] = self._codec.exact(sampled)
        return {KEY: original}

    def _keep_exact(self, part: SpokenPart, sampled: S, place: Place, original: dict[str, Any]) -> None:
        """Add the exact sample, from the `<|start|>` on, to an original whose pieces do not give it back."""
        rendered = self._renderer.render(said(part, self._codec), place)
        if rendered is None or rendered.data != sampled:
            before = self._codec.opening if place.first else self._codec.empty
            original[self._codec.exact_key] = self._codec.exact(before + sampled)


def new_part(head: Head, body: str) -> SpokenPart:
    """Make a part of what a block says."""
    if head.kind == 'call':
        return ToolCallPart(head.tool_name, body, provider_name=PROVIDER_NAME, provider_details=head.details)
    kind = ThinkingPart if head.kind == 'thinking' else TextPart
    return kind(body, provider_name=PROVIDER_NAME, provider_details=head.details)


class Sample(Generic[S]):
    """A sample on its way to a response: fed in pieces, it makes each part when its block is complete.

    Args:
        renderer: What the parts will be rendered with.
        parameters: The request's parameters, for the names of its tools.
    """

    def __init__(self, renderer: Renderer[S], parameters: ModelRequestParameters | None) -> None:
        self._loader = Loader(renderer, parameters.tool_defs if parameters else ())
        self._reader = BlockReader(renderer.codec.parser())
        self._parts: list[SpokenPart] = []
        self._last: tuple[Block[S], Place] | None = None

    def feed(self, chunk: S) -> None:
        """Take more of the sample."""
        for block in self._reader.feed(chunk):
            self._add(block)

    def flush(self) -> ModelResponse:
        """End the sample, and give its response."""
        blocks, tail = self._reader.flush()
        for block in blocks:
            self._add(block)
        details = None
        if self._last is None:
            details = self._loader.without_blocks(tail)
        elif tail:
            self._parts[-1] = self._loader.part(*self._last, tail)
        return ModelResponse(list(self._parts), provider_name=PROVIDER_NAME, provider_details=details)

    def _add(self, block: Block[S]) -> None:
        place = Place() if self._last is None else Place(False, self._last[0].stop_token is None)
        self._parts.append(self._loader.part(block, place))
        self._last = block, place


def load_sample(sample: S, renderer: Renderer[S], parameters: ModelRequestParameters | None) -> ModelResponse:
    """Load a whole sample."""
    loading = Sample(renderer, parameters)
    loading.feed(sample)
    return loading.flush()
