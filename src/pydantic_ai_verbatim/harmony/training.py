"""A conversation as token ids to train on, with a mask of what the model sampled, and the log-probabilities it had."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, cast

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse, ModelResponsePart

from .originals import KEY, original_of
from .prompt import Span
from .rendering import Renderer

LogProbs = Sequence[float | None]


@dataclass(frozen=True)
class Tokens:
    """Token ids and what is known of each; all three have one length.

    Args:
        ids: The token ids.
        mask: Whether the model sampled the token, and it stands here as it was sampled.
        logprobs: The log-probability with which it was sampled, or `None` where that is unknown.
    """

    ids: list[int] = field(default_factory=list[int])
    mask: list[bool] = field(default_factory=list[bool])
    logprobs: list[float | None] = field(default_factory=list[float | None])

    def add(self, ids: list[int], sampled: Sequence[int] | None = None, logprobs: LogProbs | None = None) -> None:
        """Add ids at the end.

        Args:
            ids: The ids.
            sampled: The ids as they were sampled, as many; `None` if the model did not write them.
            logprobs: The log-probabilities of the sampled ids.
        """
        mask = [False] * len(ids) if sampled is None else [now == then for now, then in zip(ids, sampled, strict=True)]
        known = logprobs if logprobs and len(logprobs) == len(ids) else [None] * len(ids)
        self.ids.extend(ids)
        self.mask.extend(mask)
        self.logprobs.extend(value if is_sampled else None for value, is_sampled in zip(known, mask, strict=True))


def tokens_of(spans: Iterable[Span[list[int]]], only: int | None = None) -> Tokens:
    """Put the spans of a prompt together.

    Args:
        spans: The spans.
        only: The place of the one message whose sampled tokens count as such, if not all do.
    """
    tokens = Tokens()
    for span in spans:
        if only in (None, span.message):
            tokens.add(span.data, span.sampled, _logprobs_of(span.part))
        else:
            tokens.add(span.data)
    return tokens


def _logprobs_of(part: ModelResponsePart | None) -> LogProbs | None:
    details: dict[str, Any] | None = getattr(part, 'provider_details', None)
    stored = original_of(details).get('logprobs')
    if not isinstance(stored, list):
        return None
    return [value if isinstance(value, float) else None for value in cast('list[Any]', stored)]


def with_logprobs(response: ModelResponse, logprobs: LogProbs, renderer: Renderer[list[int]]) -> ModelResponse:
    """Keep the log-probabilities of a response's sampled ids, each part's beside its original.

    Args:
        response: The response.
        logprobs: One for each id that was sampled, `None` where it is unknown.
        renderer: What renders the response as it was sampled.

    Raises:
        UserError: There are more or fewer of them than ids.
    """
    blocks = renderer.render_parts(response.parts)
    size = sum(len(block.data) for _, block in blocks)
    if blocks and size != len(logprobs):
        raise UserError(f'The response has {size} sampled ids: give as many log-probabilities, not {len(logprobs)}.')
    parts: list[ModelResponsePart] = []
    at = 0
    for part, block in blocks:
        end = at + len(block.data)
        parts.append(_with_details(part, [_stored(value) for value in logprobs[at:end]]))
        at = end
    return replace(response, parts=parts)


def _stored(value: float | None) -> float | None:
    """Give a number that JSON can hold; a log-probability of minus infinity is none."""
    return float(value) if value is not None and isfinite(value) else None


def _with_details(part: ModelResponsePart, logprobs: list[float | None]) -> ModelResponsePart:
    details = part.provider_details or {}
    return replace(part, provider_details={**details, KEY: {**original_of(details), 'logprobs': logprobs}})
