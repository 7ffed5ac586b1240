"""`OpenAICompatibleModel`: each override calls `super()` and then changes one thing.

What goes out: list-typed tool returns as native content parts, or in the format that the endpoint takes.
What comes back: whole replies and streams are repaired before upstream reads them.
"""

from collections.abc import AsyncIterable, Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, cast

from openai import AsyncOpenAI, AsyncStream
from openai.types import chat
from openai.types.chat import ChatCompletionChunk, ChatCompletionContentPartTextParam
from pydantic_ai.exceptions import AgentRunError, ModelAPIError
from pydantic_ai.messages import (
    FinishReason,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings, OpenAIStreamedResponse
from pydantic_ai.profiles import ModelProfile, ModelProfileSpec
from pydantic_ai.providers import Provider
from pydantic_ai.settings import ModelSettings

from .. import providers
from ..tool_returns import EMPTY_LIST, as_json, collections_as_lists, item_texts, joined
from . import llama_cpp, negotiation, requests
from .completions import repaired_completion, undecoded_body
from .content_types import MODEL, keep_content_types, with_original_calls
from .dialect import DEFAULT_THINKING_TAGS, Dialect
from .error_types import rereading_errors, typing_transport_errors
from .faults import raise_unreadable
from .fields import meaning_of
from .keys import refuse_leaked_key
from .negotiation import TOOL_RETURN_FORMAT, Attempt, Decision, Endpoint, WireFormat
from .peeking import PeekedStream
from .profile import OpenAICompatibleModelProfile, ToolReturnFormat, endpoint_profile
from .sse import repair_stream
from .streamed_response import RepairedStreamedResponse, kept_fields

ChatReply = chat.ChatCompletion | AsyncStream[ChatCompletionChunk] | ModelResponse

_UPSTREAM_JOINS_CONTENT = 'openai_include_unmapped_response_data' in OpenAIChatModelSettings.__annotations__
"""Whether upstream joins the text parts of a content itself, which came with this setting."""

_attempt: ContextVar[Attempt | None] = ContextVar('attempt', default=None)
"""The request being mapped: `_map_user_message` sees no settings, and concurrent runs must not share a decision."""


@dataclass(init=False)
class OpenAICompatibleModel(OpenAIChatModel):
    """A model behind an OpenAI-compatible Chat Completions server.

    It sends a list returned by a tool as a native `list[ChatCompletionContentPartTextParam]`, one part an item, and
    does everything else as `OpenAIChatModel` does it.
    """

    _default_provider: ClassVar[str] = 'openai'

    _tool_return_format: ToolReturnFormat = field(repr=False)

    def __init__(
        self,
        model_name: str,
        *,
        provider: Provider[AsyncOpenAI] | str | None = None,
        profile: ModelProfileSpec | None = None,
        settings: ModelSettings | None = None,
        tool_return_format: ToolReturnFormat = 'auto',
    ) -> None:
        """Initialize the model.

        Args:
            model_name: The model's name, as the server knows it.
            provider: The provider, or the name of one: `'grok'`, `'lm-studio'`, `'perplexity'`, `'zen'`, or one that
                upstream knows; by default `'openai'`, and for a subclass that of its service.
            profile: The model profile; by default the provider's, and behind a generic provider the model family's.
            settings: Default settings of this model's requests.
            tool_return_format: How list-typed tool returns are sent: `'parts'` (native), `'text'` (one text, the items
                joined by newlines), `'json'` (one JSON text), or `'auto'`, which starts with what the model family
                takes and learns from the endpoint. A call's setting `openai_compatible_tool_return_format` goes first.

        Raises:
            UserError: For an unknown format, and for an `OpenAIProvider` that would send `OPENAI_API_KEY` to a base URL
                given in code.
        """
        self._tool_return_format = negotiation.checked_format(tool_return_format)
        chosen = providers.named(provider or self._default_provider)
        super().__init__(model_name, provider=chosen, profile=profile, settings=settings)
        refuse_leaked_key(self._provider)
        requests.refuse_model(model_name, self._compatible_profile)

    def _provider_model_profile(self) -> ModelProfile:
        """Behind a generic provider, take the model family's flags instead of OpenAI's."""
        return endpoint_profile(super()._provider_model_profile(), self._provider, self.model_name)

    # What goes out ---------------------------------------------------------------------------------------------------

    @property
    def _compatible_profile(self) -> OpenAICompatibleModelProfile:
        return cast('OpenAICompatibleModelProfile', self.profile)

    @property
    def _endpoint(self) -> Endpoint:
        return Endpoint(negotiation.public_base_url(self.base_url), self.model_name)

    @cached_property
    def _user_format(self) -> object:
        """The format in the user's own `profile=`, which counts as their word; the rest of the profile does not."""
        user = self._profile
        if not callable(user):
            return (user or {}).get(TOOL_RETURN_FORMAT)
        resolved = self.profile.get(TOOL_RETURN_FORMAT)
        return resolved if resolved != self._family_format else None

    @cached_property
    def _family_format(self) -> object:
        return self._provider_model_profile().get(TOOL_RETURN_FORMAT)

    def _decide(self, model_settings: ModelSettings | None) -> Decision:
        return negotiation.decide(
            {
                'setting': (model_settings or {}).get(TOOL_RETURN_FORMAT),
                'constructor': self._tool_return_format,
                'profile': self._user_format,
            },
            self._endpoint,
            self._family_format,
        )

    async def _map_messages(
        self,
        messages: Sequence[ModelMessage],
        model_request_parameters: ModelRequestParameters,
        *,
        model_settings: ModelSettings | None = None,
    ) -> list[chat.ChatCompletionMessageParam]:
        """Decide on the format before the messages are mapped; then change what the endpoint wants changed."""
        with _attempting(_attempt.get() or Attempt(self._decide(model_settings))) as attempt:
            mapped = await super()._map_messages(messages, model_request_parameters, model_settings=model_settings)
        attempt.report()
        return requests.apply(mapped, self._compatible_profile)

    async def _map_user_message(self, message: ModelRequest) -> AsyncIterable[chat.ChatCompletionMessageParam]:
        """Replace the content of the tool messages that hold a list.

        Upstream yields one `role: tool` message for each tool return, in the order of the parts.
        """
        attempt = _attempt.get() or Attempt(self._decide(self.settings))
        message = collections_as_lists(message)
        returns = (part for part in message.parts if _becomes_tool_message(part))
        async for param in super()._map_user_message(message):
            if param['role'] == 'tool':
                part = next(returns, None)
                if isinstance(part, ToolReturnPart) and (texts := item_texts(part)) is not None:
                    param['content'] = await self._list_content(part, texts, attempt)
            yield param

    async def _list_content(
        self, part: ToolReturnPart, texts: list[str], attempt: Attempt
    ) -> str | list[ChatCompletionContentPartTextParam]:
        attempt.carries_lists = True
        if not texts:
            return EMPTY_LIST
        if negotiation.should_ask(self._endpoint, attempt):
            await self._ask(attempt)
        attempt.carries_parts |= attempt.decision.format == 'parts'
        return _content(part, texts, attempt.decision.format)

    async def _ask(self, attempt: Attempt) -> None:
        """Find out whether the endpoint is a llama.cpp whose template loses parts; if so, this request heals already."""
        async with negotiation.questioning(self._endpoint) as unanswered:
            if unanswered and await llama_cpp.loses_parts(self.client, self.model_name):
                negotiation.learn(self._endpoint, Decision('text', 'llama.cpp template'))
        attempt.decision = negotiation.learned(self._endpoint) or attempt.decision

    def _get_tool_choice(
        self, model_settings: OpenAIChatModelSettings, model_request_parameters: ModelRequestParameters
    ) -> tuple[list[chat.ChatCompletionToolParam], chat.ChatCompletionToolChoiceOptionParam | None]:
        """Refuse tools that the endpoint does not take, and say a named tool with a string where it takes no other."""
        requests.refuse_tools(self.model_name, self._compatible_profile, model_request_parameters)
        chosen = super()._get_tool_choice(model_settings, model_request_parameters)
        strings_only = self._compatible_profile.get('openai_compatible_string_tool_choice', False)
        return requests.named_tool_choice(*chosen) if strings_only else chosen

    async def _completions_create(  # pyright: ignore[reportIncompatibleMethodOverride]  # upstream's overloads in one
        self,
        messages: list[ModelMessage],
        stream: bool,
        model_settings: OpenAIChatModelSettings,
        model_request_parameters: ModelRequestParameters,
    ) -> Any:
        """Send a request whose native parts were rejected once more, as text; if that passes, it is remembered."""
        request = (messages, stream, model_settings, model_request_parameters)
        attempt = Attempt(self._decide(model_settings), may_ask=True)
        try:
            return await self._create(attempt, *request)
        except ModelAPIError as error:
            if not attempt.is_refused_by(error):
                raise
            rejection = error
        try:
            reply = await self._create(Attempt(Decision('text', 'rejected'), is_second=True), *request)
        except AgentRunError:
            raise rejection  # noqa: B904  # the second error is its context
        negotiation.learn_rejection(self._endpoint, rejection)
        return reply

    async def _create(
        self,
        attempt: Attempt,
        messages: list[ModelMessage],
        stream: bool,
        model_settings: OpenAIChatModelSettings,
        model_request_parameters: ModelRequestParameters,
    ) -> Any:
        """Send one request; of a stream, look at the first event, so that an error in it is seen before it is handed on."""
        with _attempting(attempt), rereading_errors(self._compatible_profile):
            reply = await self._receive(messages, stream, model_settings, model_request_parameters)
        if not isinstance(reply, AsyncStream):
            if attempt.is_watched:  # an error inside a 200 counts, too
                reply = repaired_completion(reply, self._dialect)
            self._notice(reply)
            return reply
        peeked = await PeekedStream.peek(reply)
        if peeked.first is None:  # upstream's own reading of it raises the typed exception
            await self._process_streamed_response(cast('Any', peeked), model_request_parameters, model_settings)
        self._notice(peeked.first)
        return peeked

    def _notice(self, reply: object) -> None:
        if negotiation.is_of_llama_cpp(reply):
            negotiation.suspect(self._endpoint)

    # What comes back --------------------------------------------------------------------------------------------------

    async def _receive(
        self,
        messages: list[ModelMessage],
        stream: bool,
        model_settings: OpenAIChatModelSettings,
        model_request_parameters: ModelRequestParameters,
    ) -> ChatReply | str:
        """Send one request; a stream will be read through the repairs, and a body that is no JSON by `_process_response`."""
        create = cast('Callable[..., Awaitable[ChatReply]]', super()._completions_create)
        try:
            with typing_transport_errors(self.model_name):
                reply = await create(messages, stream, model_settings, model_request_parameters)
        except ModelAPIError as error:
            if stream or (text := undecoded_body(error)) is None:
                raise
            return text
        except RecursionError:
            raise_unreadable(f'{self.system} answered with JSON that is too deep', None, self._dialect)
        dialect = replace(
            self._dialect,
            tools=frozenset(model_request_parameters.tool_defs),
            alternatives=requests.asks_for_several(model_settings),
        )
        if isinstance(reply, AsyncStream):
            return repair_stream(reply, dialect)
        return repaired_completion(reply, dialect) if dialect.leaks_harmony else reply

    @cached_property
    def _dialect(self) -> Dialect:
        """What the repairs have to know of the endpoint."""
        profile = self._compatible_profile
        reasoning = (profile.get('openai_chat_thinking_field'), 'reasoning', 'reasoning_content')
        return Dialect(
            model_name=self.model_name,
            system=self.system,
            thinking_tags=profile.get('thinking_tags', DEFAULT_THINKING_TAGS),
            joins_content=not _UPSTREAM_JOINS_CONTENT,
            reasoning_fields=tuple(dict.fromkeys(name for name in reasoning if name)),
            leaks_harmony=profile.get('openai_compatible_reads_harmony_headers', False),
        )

    def _process_response(self, response: chat.ChatCompletion | str, **kwargs: Any) -> ModelResponse:
        """Repair the reply first: upstream touches `choices[0]` before its own validation hook."""
        completion = repaired_completion(response, self._dialect)
        processed = super()._process_response(completion, **kwargs)
        if calls := completion.choices[0].message.tool_calls:
            keep_content_types(processed, calls, self.model_name, self.system)
            if processed.finish_reason == 'stop':
                processed.finish_reason = 'tool_call'
        return processed

    def _missing_finish_reason(self, choice: Any) -> Any:
        """A reply that calls tools ends with the call, whether its server says so or not."""
        return 'tool_calls' if choice.message.tool_calls else super()._missing_finish_reason(choice)

    def _map_finish_reason(self, key: str) -> FinishReason | None:
        """Read the vendors' own finish reasons too."""
        return super()._map_finish_reason(key) or meaning_of(key)

    def _process_provider_details(self, response: chat.ChatCompletion) -> dict[str, Any] | None:
        """Keep the fields of the service's own that the profile names."""
        details = super()._process_provider_details(response) or {}
        return {**details, **kept_fields(response, self._compatible_profile)} or None

    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return RepairedStreamedResponse

    async def _process_streamed_response(
        self,
        response: AsyncStream[ChatCompletionChunk],
        model_request_parameters: ModelRequestParameters,
        model_settings: OpenAIChatModelSettings | None = None,
    ) -> OpenAIStreamedResponse:
        """Tell the response which model was asked for: with the provider's URL, that is the endpoint."""
        streamed = await super()._process_streamed_response(response, model_request_parameters, model_settings)
        if isinstance(streamed, RepairedStreamedResponse):
            streamed.requested_model = self.model_name
        return streamed

    def _map_model_response(self, message: ModelResponse) -> chat.ChatCompletionMessageParam | None:
        """Send tool calls back as they came: their argument text, and their content type where it is known."""
        param = super()._map_model_response(message)
        return with_original_calls(param, message, lambda part: self._sends_content_type(part, message))

    def _sends_content_type(self, part: ToolCallPart, message: ModelResponse) -> bool:
        if self._compatible_profile.get('openai_compatible_sends_content_type', False):
            return True
        gave_it = (part.provider_name, message.provider_url, (part.provider_details or {}).get(MODEL))
        return gave_it == (self.system, self._provider.base_url, self.model_name)


@contextmanager
def _attempting(attempt: Attempt) -> Generator[Attempt]:
    token = _attempt.set(attempt)
    try:
        yield attempt
    finally:
        _attempt.reset(token)


def _becomes_tool_message(part: ModelRequestPart) -> bool:
    """Whether upstream makes a tool message of a part: each tool return, and its deprecated `RetryPromptPart`s of tools."""
    return part.part_kind == 'tool-return' or (part.part_kind == 'retry-prompt' and part.tool_name is not None)


def _content(
    part: ToolReturnPart, texts: list[str], format: WireFormat
) -> str | list[ChatCompletionContentPartTextParam]:
    if format == 'parts':
        return [{'type': 'text', 'text': text} for text in texts]
    return joined(part, texts) if format == 'text' else as_json(part)
