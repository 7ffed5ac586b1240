"""A conversation as token ids to train on, with a mask of what the model sampled, and the log-probabilities it had."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, cast

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse, ModelResponsePart

from .codec import Codec
from .grammar import ROLE
from .originals import KEY, original_of
from .parser import cut
from .prompt import Span
from .rendering import Renderer

LogProbs = Sequence[float | None]

_OWN, _LEAD = 'logprobs', 'lead_logprobs'
"""The keys under which the log-probabilities of a block's own ids are stored, and those of the ids before it."""


@dataclass(frozen=True)
class Tokens:
    """Token ids and what is known of each; all three have one length.

    Args:
        ids: The token ids.
        mask: Whether the model sampled the token, and it stands here as it was sampled.
        logprobs: The log-probability with which it was sampled, or `None` where that is unknown.
    """

    ids: list[int]
    mask: list[bool]
    logprobs: list[float | None]


def tokens_of(spans: Iterable[Span[list[int]]], codec: Codec[list[int]], only: int | None = None) -> Tokens:
    """Put the spans of a prompt together.

    Args:
        spans: The spans.
        codec: What they are made of.
        only: The place of the one message whose sampled tokens count as such, if not all do.
    """
    ids: list[int] = []
    mask: list[bool] = []
    logprobs: list[float | None] = []
    for span in spans:
        sampled = _sampled(span) if only in (None, span.message) else [False] * len(span.data)
        ids += span.data
        mask += sampled
        known = _logprobs_of(span, codec)
        logprobs += [value if is_sampled else None for value, is_sampled in zip(known, sampled, strict=True)]
    return Tokens(ids, mask, logprobs)


def _sampled(span: Span[list[int]]) -> list[bool]:
    """Say of each id whether the model sampled it; a `<|return|>` that became `<|end|>` is not what it sampled."""
    if span.sampled is None:
        return [False] * len(span.data)
    return [now == then for now, then in zip(span.data, span.sampled, strict=True)]


def _logprobs_of(span: Span[list[int]], codec: Codec[list[int]]) -> LogProbs:
    """Give what is known of a block and of what stands before it, each where it has as many ids as it had."""
    original = original_of(span.details)
    if _OWN not in original:
        return [None] * len(span.data)
    size = _size_of_lead(span.data, codec)
    return _known(original.get(_LEAD), size) + _known(original[_OWN], len(span.data) - size)


def _known(stored: Any, size: int) -> list[float | None]:
    if not isinstance(stored, list) or len(cast('list[Any]', stored)) != size:
        return [None] * size
    return [value if isinstance(value, float) else None for value in cast('list[Any]', stored)]


def _size_of_lead(ids: list[int], codec: Codec[list[int]]) -> int:
    """Count the ids before the header of a block, which a block leaves behind where it has become the first one."""
    blocks, _ = cut(codec.parser(), ids)
    if not blocks:
        return 0
    role = codec.marked(ROLE)
    return len(blocks[0].lead) + (len(role) if blocks[0].header[: len(role)] == role else 0)


def with_logprobs(response: ModelResponse, logprobs: LogProbs, renderer: Renderer[list[int]]) -> ModelResponse:
    """Keep the log-probabilities of a response's sampled ids, each part's (or a blockless response's) by its original.

    Args:
        response: The response.
        logprobs: One for each id that was sampled, `None` where it is unknown.
        renderer: What renders the response as it was sampled.

    Raises:
        UserError: There are more or fewer of them than ids.
    """
    size = len(renderer.render_response(response))
    if size != len(logprobs):
        raise UserError(f'The response has {size} sampled ids: give as many log-probabilities, not {len(logprobs)}.')
    stored = [_stored(value) for value in logprobs]
    if not response.parts:
        return replace(response, provider_details=_with_logprobs(response.provider_details, [], stored))
    parts: list[ModelResponsePart] = []
    at = 0
    for part, block in renderer.render_parts(response.parts):
        own = at + _size_of_lead(block.data, renderer.codec)
        end = at + len(block.data)
        details = _with_logprobs(part.provider_details, stored[at:own], stored[own:end])
        parts.append(replace(part, provider_details=details))
        at = end
    return replace(response, parts=parts)


def _stored(value: float | None) -> float | None:
    """Give a number that JSON can hold; a log-probability of minus infinity is none."""
    return float(value) if value is not None and isfinite(value) else None


def _with_logprobs(details: dict[str, Any] | None, lead: list[float | None], own: list[float | None]) -> dict[str, Any]:
    kept = {_LEAD: lead, _OWN: own} if lead else {_OWN: own}
    return {**(details or {}), KEY: {**original_of(details), **kept}}
