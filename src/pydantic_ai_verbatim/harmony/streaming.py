"""A sampled completion that is still being sampled, as pydantic-ai's stream events.

Sans-IO: `feed` what came, `flush` at the end. The parts are those that a whole load gives: a part begins when its
header has ended, and its last delta, without text, brings the rest of its original.
"""

from collections.abc import Callable
from typing import Any, Generic

from pydantic_ai._parts_manager import ModelResponsePartsManager
from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import ModelRequestParameters

from .given import chunk_given
from .loading import PROVIDER_NAME, Head, Loader, new_part
from .originals import Place
from .parser import Block, Closed, Collector, Delta, Event, Headless, Opened, S
from .rendering import Renderer


class HarmonyStream(Generic[S]):
    """Turns a completion into stream events, piece by piece.

    Args:
        renderer: What the parts will be rendered with.
        parameters: The request's parameters; the tools they declare are what a tool's name is repaired into.
        parts: The parts manager of a `StreamedResponse`, where one is at work.
    """

    def __init__(
        self,
        renderer: Renderer[S],
        parameters: ModelRequestParameters | None = None,
        parts: ModelResponsePartsManager | None = None,
    ) -> None:
        parameters = parameters or ModelRequestParameters()
        self._codec = renderer.codec
        self._is_text = isinstance(renderer.codec.empty, str)
        self._loader = Loader(renderer, parameters.tool_defs)
        self._parts = parts or ModelResponsePartsManager(parameters)
        self._parser = renderer.codec.parser()
        self._collector = Collector(self._parser)
        self._at = -1
        self._place = Place()
        self._kind = 'text'
        self._last: Block[S] | None = None
        self._read: Callable[[S, bool], str] = renderer.codec.reader()
        self.provider_details: dict[str, Any] | None = None
        """What the response's own details are to hold, known after `flush`: a sample without any block."""

    def feed(self, chunk: S) -> list[ModelResponseStreamEvent]:
        """Take more of the sample, cut wherever it may be.

        Raises:
            UserError: It is not what this stream is made of: text, or a list of token ids.
        """
        given = chunk_given(chunk, is_text=self._is_text)
        return [streamed for event in self._parser.feed(given) for streamed in self._take(event)]

    def flush(self) -> list[ModelResponseStreamEvent]:
        """End the sample."""
        events = [streamed for event in self._parser.flush() for streamed in self._take(event)]
        tail = self._collector.tail
        if self._last is None:
            self.provider_details = self._loader.without_blocks(tail)
        elif tail is not None:
            events += self._complete(self._last, tail)
        return events

    def response(self) -> ModelResponse:
        """Give the response as it is so far."""
        return ModelResponse(
            self._parts.get_parts(), provider_name=PROVIDER_NAME, provider_details=self.provider_details
        )

    def _take(self, event: Event[S]) -> list[ModelResponseStreamEvent]:
        block = self._collector.add(event)
        match event:
            case Opened():
                return self._open(self._loader.head(event.lead, event.header, self._next()))
            case Delta():
                return self._more(self._read(event.body, False))
            case Closed() | Headless():
                assert block is not None, 'these events complete a block'
                return self._close(event, block)
            case _:
                return []

    def _next(self) -> Place:
        self._at += 1
        self._place = Place(self._last is None, self._last is not None and self._last.stop_token is None)
        return self._place

    def _open(self, head: Head) -> list[ModelResponseStreamEvent]:
        self._kind = head.kind
        self._read = self._codec.reader()
        if head.kind != 'call':
            return [self._parts.handle_part(vendor_part_id=self._at, part=new_part(head, ''))]
        return [
            self._parts.handle_tool_call_part(
                vendor_part_id=self._at,
                tool_name=head.tool_name,
                args='',
                provider_name=PROVIDER_NAME,
                provider_details=head.details,
            )
        ]

    def _close(self, event: 'Closed | Headless[S]', block: Block[S]) -> list[ModelResponseStreamEvent]:
        place = self._next() if isinstance(event, Headless) else self._place
        self._last = block
        if isinstance(event, Headless):
            self._kind = 'thinking'
            return [self._parts.handle_part(vendor_part_id=self._at, part=self._loader.part(block, place))]
        return self._more(self._read(self._codec.empty, True)) + self._complete(block)

    def _complete(self, block: Block[S], tail: S | None = None) -> list[ModelResponseStreamEvent]:
        return self._more('', self._loader.part(block, self._place, tail).provider_details)

    def _more(self, text: str, details: dict[str, Any] | None = None) -> list[ModelResponseStreamEvent]:
        if not text and details is None:
            return []
        name = PROVIDER_NAME if details else None
        at, parts = self._at, self._parts
        if self._kind == 'text':
            found = parts.handle_text_delta(
                vendor_part_id=at, content=text, provider_name=name, provider_details=details
            )
        elif self._kind == 'thinking':
            found = parts.handle_thinking_delta(
                vendor_part_id=at, content=text, provider_name=name, provider_details=details
            )
        else:
            event = parts.handle_tool_call_delta(
                vendor_part_id=at, args=text, provider_name=name, provider_details=details
            )
            found = [event] if event else []
        return list(found)
