"""What each level of storage preserves of sampled completions: `python benchmarks/harmony_storage.py`.

The samples are the cases in `tests/cases/harmony.jsonl`, once as a tokenizer writes them and once with each body in
other tokens of the same text, as sampling gives now and then. A sample counts if its ids are rendered back exactly.
The table in `docs/harmony.md` is this script's output.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart

from pydantic_ai_verbatim.cli.drift import drift_of_openai_harmony, ids_of
from pydantic_ai_verbatim.harmony import HarmonyAdapter, o200k_harmony
from pydantic_ai_verbatim.harmony.grammar import MESSAGE

CASES = Path(__file__).parents[1] / 'tests' / 'cases' / 'harmony.jsonl'
ADAPTER = HarmonyAdapter(encoding=o200k_harmony())

Part = TextPart | ThinkingPart | ToolCallPart
Keep = Callable[[Part, bool], dict[str, Any] | None]


def nothing(part: Part, is_last: bool) -> None:
    """Keep what any message format has: tool name, arguments and text."""


def named(part: Part, is_last: bool) -> dict[str, Any]:
    """Keep the content type, the channel and the phase, too."""
    return {key: value for key, value in (part.provider_details or {}).items() if key != 'harmony'}


def header(part: Part, is_last: bool) -> dict[str, Any]:
    """Keep the header's text; stop tokens are written by rule."""
    original = (part.provider_details or {})['harmony']
    end = '<|call|>' if isinstance(part, ToolCallPart) else '<|end|>'
    stop_token = '<|return|>' if is_last and isinstance(part, TextPart) else end
    kept = {key: value for key, value in original.items() if key in ('header', 'ended_in_header')}
    return {**named(part, is_last), 'harmony': {**kept, 'stop_token': stop_token}}


def text(part: Part, is_last: bool) -> dict[str, Any]:
    """Keep everything but ids: stop tokens, and what lies between blocks."""
    original = (part.provider_details or {})['harmony']
    return {**named(part, is_last), 'harmony': {key: value for key, value in original.items() if key != 'ids'}}


def everything(part: Part, is_last: bool) -> dict[str, Any] | None:
    """Keep everything."""
    return part.provider_details


LEVELS: dict[str, Keep] = {
    'tool name, arguments, text': nothing,
    'and content type, channel, phase': named,
    'and the header as text': header,
    'and the stop tokens, and what lies between blocks': text,
    'and the ids, where the rest cannot give them back': everything,
}


def in_other_tokens(sampled: str) -> list[int]:
    """Encode a sample with each body cut into single characters."""
    before, *bodies = sampled.split(MESSAGE)
    ids = ids_of(before)
    for piece in bodies:
        body, marker, rest = piece.partition('<|')
        ids += ids_of(MESSAGE) + [token for letter in body for token in o200k_harmony().encode(letter)]
        ids += ids_of(marker + rest)
    return ids


def is_exact(sample: list[int], keep: Keep) -> bool:
    """Say whether a sample comes back when only so much of it is stored."""
    response = ADAPTER.load_response(sample)
    parts: list[Any] = list(response.parts)
    kept = [replace(part, provider_details=keep(part, at == len(parts) - 1)) for at, part in enumerate(parts)]
    details = response.provider_details if keep in (text, everything) else None
    return ADAPTER.dump_response(ModelResponse(kept, provider_details=details)) == sample


def table() -> list[str]:
    """Give the table's lines, as markdown."""
    cases = [json.loads(line)['sampled'] for line in CASES.read_text().splitlines()]
    usual, other = [ids_of(case) for case in cases], [in_other_tokens(case) for case in cases]
    lines = [f'| what is stored | exact, of {len(cases)} | in other tokens |', '|---|---|---|']
    for name, keep in LEVELS.items():
        exact = [sum(is_exact(sample, keep) for sample in samples) for samples in (usual, other)]
        lines.append(f'| {name} | {exact[0]} | {exact[1]} |')
    theirs = [sum(drift_of_openai_harmony(sample) is None for sample in samples) for samples in (usual, other)]
    return [*lines, f'| *openai-harmony 0.0.8, parsed and rendered* | {theirs[0]} | {theirs[1]} |']


if __name__ == '__main__':
    print('\n'.join(table()))
