"""`verbatim harmony FILE`: read a sampled completion, show its blocks, and say whether it renders back exactly."""

import sys
from enum import StrEnum
from json import JSONDecodeError, loads
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from pydantic_ai.exceptions import UserError


class Oracle(StrEnum):
    """What a rendering can be compared with."""

    OPENAI_HARMONY = 'openai-harmony'


def harmony(
    file: Annotated[
        Path, typer.Argument(help='A file with what was sampled after <|start|>assistant: text, or a JSON list of ids.')
    ],
    against: Annotated[Oracle | None, typer.Option(help='Show where this one, given the same sample, drifts.')] = None,
) -> None:
    """See what gpt-oss sampled, block by block, and what another renderer would make of it.

    The exit status is 1 if the sample does not render back exactly, here or, with --against, there.
    """
    from rich.console import Console

    from .harmony_view import BlocksView, DriftView

    console = Console(highlight=False)
    try:
        sampled = _read(file)
        view = BlocksView(sampled)
        console.print(view)
        if against is None:
            sys.exit(not view.is_exact)
        from .drift import drift_of_openai_harmony

        drift = drift_of_openai_harmony(sampled)
    except (OSError, UserError) as error:
        sys.exit(str(error))
    console.print(DriftView(drift, against))
    sys.exit(drift is not None or not view.is_exact)


def _read(file: Path) -> str | list[int]:
    """Take a JSON list of whole numbers for token ids, and everything else for text as it is."""
    text = file.read_bytes().decode('utf-8', 'surrogateescape')
    try:
        loaded: Any = loads(text)
    except (JSONDecodeError, RecursionError):
        return text
    ids: list[Any] = cast('list[Any]', loaded) if isinstance(loaded, list) else [text]
    return ids if all(type(token) is int for token in ids) else text
