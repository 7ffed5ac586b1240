"""A whole history as the prompt of the next turn: users, tool results, and responses as they were sampled.

Within a user turn nothing that was sampled changes. The two departures from that, once a next user turn has begun,
are made in `depart` and nowhere else.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Generic, NamedTuple, TypedDict, cast

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_core import PydanticSerializationError

from pydantic_ai_verbatim.tool_returns import collections_as_lists, item_texts, joined

from ..surrogates import storable_value
from .given import date_given, messages_given, options_given, parameters_given
from .grammar import CHANNEL
from .header import NAMESPACE, read_header
from .originals import original_of
from .parser import S
from .preamble import preamble
from .rendering import Renderer, addressed, is_built_in


class Span(NamedTuple, Generic[S]):
    """A stretch of a prompt.

    Attributes:
        data: Its text or ids.
        message: The place of its message in the history.
        sampled: The same as it was sampled, if the model wrote it.
        details: The details of the part or the response that it was rendered from, if the model wrote it.
    """

    data: S
    message: int
    sampled: S | None = None
    details: dict[str, Any] | None = None


class Kept(NamedTuple):
    """A message as the prompt of the next turn takes it.

    Attributes:
        message: The message.
        parts: The parts that stay.
        is_history: Whether a next user turn has begun after it, so that its `<|return|>` is `<|end|>`.
    """

    message: ModelMessage
    parts: Sequence[ModelRequestPart | ModelResponsePart]
    is_history: bool = False


class PromptOptions(TypedDict, total=False):
    """What a prompt can be told beside its messages and parameters."""

    settings: Mapping[str, Any] | None
    """The model settings, of which the reasoning effort is read."""

    current_date: date | str | None
    """The date that the model is told, or an ISO string for it; give the same one at each turn, or the prefix changes. By default none."""

    spell_out: bool
    """Whether tool schemas are rewritten so that nothing they say is lost; by default as openai-harmony does."""

    keep_analysis: bool
    """Whether the analysis of finished turns stays; by default it does not."""


def instructions_of(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> str | None:
    """Give the standing system prompt, the instructions, and those of a prompted output, as upstream orders them."""
    texts = [part.content for part in standing_prompts(messages)]
    if parameters.instruction_parts is not None:
        texts += [part.content for part in parameters.instruction_parts]
    else:
        requests = (message for message in reversed(messages) if isinstance(message, ModelRequest))
        texts += [text for text in (request.instructions for request in requests) if text is not None][:1]
    if parameters.output_mode == 'prompted' and (asked := parameters.prompted_output_instructions) not in (
        None,
        *texts,
    ):
        texts.append(asked)
    return '\n\n'.join(texts) or None


def depart(messages: Sequence[ModelMessage], *, keep_analysis: bool) -> list[Kept]:
    """Make the two departures from what was sampled, in every turn that a next user turn has followed.

    The analysis before a finished final answer is left out (that between tool calls is not, while their turn has no
    final answer), and a `<|return|>` is rendered as `<|end|>`. From openai/harmony's `docs/format.md`.
    """
    kept: list[Kept] = []
    is_history = is_answered = False
    for message in reversed(messages):
        if isinstance(message, ModelRequest):
            kept.append(Kept(message, message.parts))
            if any(_begins_turn(part) for part in message.parts):
                is_history, is_answered = True, False
        elif is_history:
            parts, is_answered = _before_answer(message, is_answered, keep_analysis=keep_analysis)
            kept.append(Kept(message, parts, is_history=True))
        else:
            kept.append(Kept(message, message.parts))
    return kept[::-1]


def _begins_turn(part: ModelRequestPart) -> bool:
    """Whether a part speaks with the user's voice."""
    if part.part_kind == 'retry-prompt':
        return part.tool_name is None
    return part.part_kind in ('user-prompt', 'retry-feedback')


def _before_answer(
    message: ModelResponse, is_answered: bool, *, keep_analysis: bool
) -> tuple[list[ModelResponsePart], bool]:
    """Leave out the analysis before a final answer; say whether such an answer is in it, or was after it."""
    parts: list[ModelResponsePart] = []
    calls_follow = False
    for part in reversed(message.parts):
        is_answered = is_answered or _is_finished_answer(part, calls_follow)
        calls_follow = calls_follow or isinstance(part, ToolCallPart)
        if keep_analysis or not is_answered or not _is_analysis(part):
            parts.append(part)
    return parts[::-1], is_answered


def _is_finished_answer(part: ModelResponsePart, calls_follow: bool) -> bool:
    """Whether a part ends its turn: a sampled text by its channel and its stop token, another one if no call follows."""
    if not isinstance(part, TextPart):
        return False
    details = part.provider_details or {}
    original = original_of(details)
    if 'header' in original:
        return details.get('channel') == 'final' and original.get('stop_token') is not None
    return bool(part.content) and not calls_follow and details.get('phase') != 'commentary'


def _is_analysis(part: ModelResponsePart) -> bool:
    """Whether a part is analysis; a header without a body is it if it names that channel."""
    if not isinstance(part, ThinkingPart):
        return False
    details = part.provider_details or {}
    return original_of(details).get('ended_in_header') is not True or details.get('channel') == 'analysis'


def standing_prompts(messages: Sequence[ModelMessage]) -> list[SystemPromptPart]:
    """Give the system prompts that the history begins with; they belong in front of the tools."""
    prompts: list[SystemPromptPart] = []
    for part in messages[0].parts if messages else ():
        if not isinstance(part, SystemPromptPart):
            break
        prompts.append(part)
    return prompts


class Caller(NamedTuple):
    """How a tool was called: its answer comes from there.

    Attributes:
        is_function: Whether the call was addressed to a declared function, and not to a built-in tool.
        channel: The channel in the call's details.
    """

    is_function: bool
    channel: Any = None


def _callers(parts: Sequence[ModelRequestPart | ModelResponsePart], functions: Collection[str]) -> dict[str, Caller]:
    """Say of each call by a built-in tool's name what it was: by its sampled header, or else by what is declared."""
    return {
        part.tool_call_id: Caller(calls_function(part, functions), (part.provider_details or {}).get('channel'))
        for part in parts
        if isinstance(part, ToolCallPart) and is_built_in(part.tool_name)
    }


def calls_function(call: ToolCallPart, functions: Collection[str]) -> bool:
    """Whether a call is to a declared function, and not to a built-in tool: by its sampled header, if it is true."""
    text = original_of(call.provider_details).get('header')
    header = read_header(text) if isinstance(text, str) else None
    if header is None or header.recipient is None or header.tool_name != call.tool_name:  # not sampled, or edited
        return call.tool_name in functions
    return header.recipient.startswith(NAMESPACE)


def _header_and_text(
    part: ModelRequestPart, callers: dict[str, Caller], functions: Collection[str]
) -> tuple[str, str] | None:
    """Give the header and the body of a message; `None` for what upstream keeps in a request for itself."""
    try:
        return _as_it_is(part, callers, functions)
    except PydanticSerializationError:  # its content holds a lone surrogate, which JSON cannot
        part = replace(cast('ToolReturnPart', part), content=storable_value(cast('Any', part).content))
        return _as_it_is(part, callers, functions)


def _as_it_is(part: ModelRequestPart, callers: dict[str, Caller], functions: Collection[str]) -> tuple[str, str] | None:
    if isinstance(part, ToolReturnPart):
        (part,) = cast('list[ToolReturnPart]', collections_as_lists(ModelRequest([part])).parts)
        return _tool_header(part.tool_name, part.tool_call_id, callers, functions), _tool_text(part)
    if isinstance(part, UserPromptPart):
        return 'user', _user_text(part)
    if isinstance(part, SystemPromptPart):
        return 'developer', f'# Instructions\n\n{part.content}'
    if part.part_kind == 'retry-feedback':
        return 'user', part.model_response()
    if part.part_kind == 'retry-prompt':
        name = part.tool_name
        header = 'user' if name is None else _tool_header(name, part.tool_call_id, callers, functions)
        return header, part.model_response()
    return None


def _tool_header(name: str, call_id: str, callers: dict[str, Caller], functions: Collection[str]) -> str:
    """Address a tool's answer: a function's on `commentary`, a built-in tool's on the channel that called it."""
    caller = callers.get(call_id) or Caller(name in functions)
    author, channel = addressed(name, is_function=caller.is_function)
    if channel == 'analysis' and caller.channel == 'commentary':
        channel = 'commentary'
    return f'{author} to=assistant{CHANNEL}{channel}'


def _tool_text(part: ToolReturnPart) -> str:
    texts = item_texts(part)
    if texts is not None:
        return joined(part, texts)
    if part.files:
        raise UserError(
            f"gpt-oss reads text only, and the tool '{part.tool_name}' returned a file: return text instead."
        )
    return part.model_response_str()


def _user_text(part: UserPromptPart) -> str:
    if isinstance(part.content, str):
        return part.content
    texts: list[str] = []
    for item in part.content:
        if isinstance(item, str | TextContent):
            texts.append(item if isinstance(item, str) else item.content)
        elif not isinstance(item, CachePoint):
            raise UserError(f'gpt-oss reads text only, and a user prompt holds {_named(item)}: leave it out.')
    return '\n'.join(texts)


def _named(item: object) -> str:
    name = type(item).__name__
    return f'{"an" if name[0] in "AEIOU" else "a"} {name}'


_UNPREPARED = ('speech', 'instruction-delta')
"""The kinds of parts that upstream's models turn into others before they map a history."""


class Prompter(Generic[S]):
    """Renders prompts; a message that has not changed since the last one is recognised, up to a bound.

    Args:
        renderer: What to render with.
    """

    BOUND = 8_192
    """How many messages are recognised."""

    def __init__(self, renderer: Renderer[S]) -> None:
        self.renderer = renderer
        self._known: dict[int, tuple[object, object, list[Span[S]]]] = {}

    def spans(
        self, messages: Sequence[ModelMessage], parameters: ModelRequestParameters | None, options: PromptOptions
    ) -> Iterator[Span[S]]:
        """Render a prompt, without the `<|start|>assistant` at its end.

        Args:
            messages: The history.
            parameters: The tools, the output schema and the instructions.
            options: What else the prompt is told.
        """
        messages = messages_given(messages)
        parameters = parameters_given(parameters) or ModelRequestParameters()
        options_given(options, PromptOptions.__annotations__)
        for role, body in preamble(
            parameters,
            instructions_of(messages, parameters),
            options.get('settings'),
            current_date=date_given(options.get('current_date')),
            spell_out=options.get('spell_out', False),
        ):
            yield Span(self.renderer.message(role, body), -1)
        functions = frozenset(parameters.tool_defs)
        callers: dict[str, Caller] = {}
        standing = len(standing_prompts(messages))
        for at, kept in enumerate(depart(messages, keep_analysis=options.get('keep_analysis', False))):
            if at == 0 and standing:
                kept = kept._replace(parts=kept.parts[standing:])
            yield from self._message(kept, at, functions, callers)
            callers.update(_callers(kept.parts, functions))

    def _message(self, kept: Kept, at: int, functions: frozenset[str], callers: dict[str, Caller]) -> Iterable[Span[S]]:
        parts = kept.parts
        prints = [fingerprint(part) for part in parts]
        if not parts or None in prints:
            return self._render(kept, at, functions, callers)
        asked = [callers.get(part.tool_call_id) for part in parts if part.part_kind == 'tool-return']
        around = (at, kept.is_history, functions, asked)
        then = self._known.get(id(parts[0]))
        if then is not None and then[:2] == (around, prints):
            return then[2]
        if len(self._known) >= self.BOUND:
            self._known.clear()
        spans = list(self._render(kept, at, functions, callers))
        self._known[id(parts[0])] = (around, [_snapshot(own) for own in prints if own], spans)
        return spans

    def _render(self, kept: Kept, at: int, functions: frozenset[str], callers: dict[str, Caller]) -> Iterator[Span[S]]:
        for part in kept.parts:
            if part.part_kind in _UNPREPARED:
                raise UserError(
                    f'The history holds {_named(part)}, which no prompt has a form for: let `prepare_messages` of a model '
                    'turn it into a prompt or a text, or leave it out.'
                )
        if isinstance(kept.message, ModelResponse):
            yield from self._response(kept, kept.message, at, functions)
            return
        for part in kept.parts:
            if rendered := _header_and_text(cast('ModelRequestPart', part), callers, functions):
                yield Span(self.renderer.message(*rendered), at)

    def _response(self, kept: Kept, message: ModelResponse, at: int, functions: frozenset[str]) -> Iterator[Span[S]]:
        codec = self.renderer.codec
        blocks = self.renderer.render_parts(cast('Sequence[ModelResponsePart]', kept.parts), functions)
        if blocks:
            yield Span(codec.opening, at)
            for part, block in blocks:
                data = block.history if kept.is_history or not block.sampled else block.data
                yield Span(data, at, block.data if block.sampled else None, part.provider_details)
        elif (sampled := self.renderer.render_blockless(message)) is not None:
            yield Span(codec.opening, at)
            yield Span(codec.as_history(sampled) if kept.is_history else sampled, at, sampled, message.provider_details)


def fingerprint(part: ModelRequestPart | ModelResponsePart) -> tuple[object, ...] | None:
    """Give all that the rendering of a part depends on; `None` where it cannot be compared cheaply and safely."""
    match part.part_kind:
        case 'text' | 'thinking':
            return (part.part_kind, part.content, part.provider_details)
        case 'tool-call':
            if isinstance(part.args, str):
                return (part.tool_name, part.args, part.tool_call_id, part.provider_details)
        case 'tool-return':
            content = part.content
            if isinstance(content, str) or _is_list_of_texts(content):
                return (part.tool_name, content, part.tool_call_id, part.outcome)
        case 'user-prompt' | 'system-prompt':
            if isinstance(part.content, str):
                return (part.part_kind, part.content)
        case _:
            pass
    return None


def _is_list_of_texts(content: Any) -> bool:
    return type(content) is list and all(type(item) is str for item in cast('list[Any]', content))


def _snapshot(own: tuple[object, ...]) -> tuple[object, ...]:
    """Copy what may be changed in place of all that a rendering depends on."""
    return tuple(_copied(value) if isinstance(value, dict | list) else value for value in own)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in cast('dict[Any, Any]', value).items()}
    return list(map(_copied, cast('list[Any]', value))) if isinstance(value, list) else value
