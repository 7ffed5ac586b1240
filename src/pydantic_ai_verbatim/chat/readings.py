"""What a prompt or a reply says of how a model reads a list, and which format that recommends: pure.

The prompt is the evidence where a server shows it; elsewhere the reply is, as far as it goes.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal, cast

from ..tool_returns import EMPTY_ITEM
from .llama_cpp import MARKERS, shows_apart
from .negotiation import TOOL_RETURN_FORMAT, WireFormat
from .shown_prompt import Server

Reading = Literal['apart', 'repeated', 'unknown', 'spoiled', 'lost', 'rejected']
"""What is known of how the model reads a list, best first.

`apart`: the prompt shows each item, set apart. `repeated`: no prompt is shown, but the reply repeats the items.
`unknown`: neither. `spoiled`: the prompt shows the items glued, or as the printed form of a data structure. `lost`: an
item is not in the prompt, or the reply gives away that it was not. `rejected`: the request was.
"""

_BEST_FIRST: tuple[Reading, ...] = ('apart', 'repeated', 'unknown', 'spoiled', 'lost', 'rejected')

Evidence = Literal['prompt', 'replies', 'none']
"""What a report goes by: a prompt that was shown, replies and rejections, or nothing at all."""

QUERY = 'VERBATIM-QUERY'
"""The argument of the tool call; what stands behind it in a prompt was made of the tool's return."""

_FEWEST_MARKER_TOKENS = 4
"""No tokenizer makes fewer tokens of a marker, so that a prompt with that many missing has lost one."""


@dataclass(frozen=True)
class Sample:
    """One list, sent in one format.

    Attributes:
        sent: The content of the tool message.
        reading: How the model reads it.
        rejection: What the server said, where it rejected the request.
        prompt: What the server put behind the tool call in the prompt, where it shows its prompt.
        prompt_tokens: The prompt's length, where the server counts.
        repeated: Whether the reply repeats both items; `None` where it was cut off before it could.
    """

    sent: Any
    reading: Reading
    rejection: str | None = None
    prompt: str | None = None
    prompt_tokens: int | None = None
    repeated: bool | None = None


@dataclass(frozen=True)
class FormatReport:
    """One format: a list of two items, and the same with an empty item between them."""

    format: WireFormat
    items: Sample
    with_empty_item: Sample

    @property
    def reading(self) -> Reading:
        """The worse of the two readings."""
        readings: tuple[Reading, ...] = (self.items.reading, self.with_empty_item.reading)
        return max(readings, key=_BEST_FIRST.index)


@dataclass(frozen=True)
class ProbeReport:
    """What an endpoint makes of each format; `dataclasses.asdict()` gives it ready for JSON.

    Attributes:
        base_url: The endpoint's base URL.
        model_name: The endpoint's model.
        shown_by: The kind of server that showed its prompt, or `None` where there were only replies to go by.
        evidence: What there was to go by; `'none'` where no format's reading is known.
        formats: One report each of `parts`, `text` and `json`.
        default: The format that this model gets where nothing is set and nothing was learned.
        recommended: The format to use.
        recommendation: The same as a sentence, with the setting.
    """

    base_url: str
    model_name: str
    shown_by: Server | None
    evidence: Evidence
    formats: list[FormatReport]
    default: WireFormat
    recommended: WireFormat
    recommendation: str


def read_sample(
    sent: Any, reply: dict[str, Any], prompt: str | None, *, has_empty_item: bool, baseline: Sample | None
) -> Sample:
    """Read what one accepted request shows.

    Args:
        sent: The content of its tool message.
        reply: The raw reply.
        prompt: The whole prompt, if the server showed it.
        has_empty_item: Whether an empty item stood between the two.
        baseline: The sample of the same items as one plain string, or `None` for that sample itself.
    """
    fragment = None if prompt is None else prompt[prompt.rfind(QUERY) + 1 :].removeprefix(QUERY[1:])
    tokens, repeated = _prompt_tokens(reply), _repeats(reply)
    if fragment is None:
        reading = _reading_of_reply(tokens, repeated, baseline)
    else:
        reading = _reading_of_prompt(fragment, has_empty_item)
    return Sample(sent, reading, None, fragment, tokens, repeated)


def evidence(formats: list[FormatReport]) -> Evidence:
    """Say what there was to go by."""
    samples = [sample for report in formats for sample in (report.items, report.with_empty_item)]
    if any(sample.prompt is not None for sample in samples):
        return 'prompt'
    return 'none' if all(sample.reading == 'unknown' for sample in samples) else 'replies'


def best_format(formats: list[FormatReport], default: WireFormat) -> FormatReport:
    """Give the format that is read best; among equals the default, then the first."""
    return min(formats, key=lambda report: (_BEST_FIRST.index(report.reading), report.format != default))


def recommendation(best: FormatReport, default: WireFormat, evidence: Evidence) -> str:
    """Say in one line what to set."""
    if evidence == 'none':
        return (
            'Nothing could be seen: no prompt is shown, and no reply tells what the model read. '
            f'Keep the default, {default!r}, unless tool results go missing.'
        )
    setting = f'{TOOL_RETURN_FORMAT}={best.format!r}'
    if best.reading in ('spoiled', 'lost', 'rejected'):
        return f'No format reaches this model whole. Look at its chat template; {setting} comes closest.'
    if best.format != default:
        return f'Set {setting} in the settings or profile.'
    if best.reading == 'unknown':
        return f'Nothing here speaks against the default, {default!r}: set nothing, unless tool results go missing.'
    return f'The default, {default!r}, is right: set nothing.'


def _reading_of_prompt(fragment: str, has_empty_item: bool) -> Reading:
    if not all(marker in fragment for marker in MARKERS):
        return 'lost'
    between = fragment.partition(MARKERS[0])[2].partition(MARKERS[1])[0].replace('\\', '')
    if has_empty_item and EMPTY_ITEM not in between:
        return 'lost'
    apart = shows_apart(fragment, MARKERS) and not (has_empty_item and between == EMPTY_ITEM)
    return 'apart' if apart else 'spoiled'


def _reading_of_reply(tokens: int | None, repeated: bool | None, baseline: Sample | None) -> Reading:
    if repeated:
        return 'repeated'
    if baseline is None:
        return 'unknown'
    shorter = tokens and baseline.prompt_tokens and tokens <= baseline.prompt_tokens - _FEWEST_MARKER_TOKENS
    silent = repeated is False and baseline.repeated
    return 'lost' if shorter or silent else 'unknown'


def _prompt_tokens(reply: dict[str, Any]) -> int | None:
    usage = reply.get('usage')
    tokens = cast('dict[str, object]', usage).get('prompt_tokens') if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) else None


def _repeats(reply: dict[str, Any]) -> bool | None:
    choices = json.dumps(reply.get('choices'), default=str)
    if all(marker in choices for marker in MARKERS):
        return True
    return None if '"finish_reason": "length"' in choices else False
