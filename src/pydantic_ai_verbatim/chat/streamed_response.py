"""The class of streamed responses, to stand in front of upstream's own: what a chunk alone does not say."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from openai.types.chat import ChatCompletionChunk, chat_completion_chunk
from pydantic_ai.messages import FinishReason, ModelResponseStreamEvent
from pydantic_ai.models.openai import OpenAIStreamedResponse
from pydantic_ai.usage import RequestUsage

from .content_types import content_type_details
from .fields import meaning_of
from .json_value import object_of
from .profile import OpenAICompatibleModelProfile


@dataclass
class RepairedStreamedResponse(OpenAIStreamedResponse):
    """A streamed response whose chunks came through the repairs."""

    requested_model: str = field(default='', init=False)
    _calls_tools: bool = field(default=False, init=False)

    def _missing_finish_reason(self) -> FinishReason:
        """A reply that calls tools ends with the call, whether its server says so or not."""
        return 'tool_call' if self._calls_tools else super()._missing_finish_reason()

    def _map_finish_reason(self, key: Any) -> FinishReason | None:
        """Read the vendors' own finish reasons; `stop` beside tool calls is a tool call."""
        reason = super()._map_finish_reason(key) or meaning_of(key)
        return 'tool_call' if reason == 'stop' and self._calls_tools else reason

    def _map_tool_call_delta(self, choice: chat_completion_chunk.Choice) -> Iterable[ModelResponseStreamEvent]:
        """Keep the content type of a call, and notice calls that come with or after a `stop`."""
        fragments = choice.delta.tool_calls or []
        if fragments:
            self._calls_tools = True
            if self.finish_reason == 'stop':
                self.finish_reason = 'tool_call'
        yield from super()._map_tool_call_delta(choice)
        for fragment in fragments:
            yield from self._content_type_events(fragment)

    def _content_type_events(
        self, fragment: chat_completion_chunk.ChoiceDeltaToolCall
    ) -> list[ModelResponseStreamEvent]:
        details = content_type_details(fragment, self.requested_model)
        if details is None:
            return []
        event = self._parts_manager.handle_tool_call_delta(
            vendor_part_id=fragment.index, provider_name=self.provider_name, provider_details=details
        )
        return [] if event is None else [event]

    def _map_chunk_provider_details(self, chunk: ChatCompletionChunk) -> dict[str, Any] | None:
        """Keep the fields of the service's own that the profile names."""
        details = super()._map_chunk_provider_details(chunk)
        kept = kept_fields(chunk, cast('OpenAICompatibleModelProfile', self._model_profile))
        return {**(details or {}), **kept} if kept else details

    def _add_usage(self, usage: RequestUsage, *, reported: bool, cumulative: bool = False) -> None:
        """Let each report replace the one before: the repairs have made it say all that is known by then."""
        if reported:  # without a report, there is nothing to add
            super()._add_usage(usage, reported=True, cumulative=True)


def kept_fields(reply: Any, profile: OpenAICompatibleModelProfile) -> dict[str, Any]:
    """Give the fields of a reply that the profile wants kept in `provider_details`, as citations."""
    names = profile.get('openai_compatible_response_fields', ())
    extra = object_of(reply.model_extra) if names else {}
    return {name: extra[name] for name in names if extra.get(name)}
