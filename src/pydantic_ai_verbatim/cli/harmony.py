"""`verbatim harmony FILE`: read a sampled completion, show its blocks, and say whether it renders back exactly."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic_ai.exceptions import UserError

from .printable import printable


class Oracle(StrEnum):
    """What a rendering can be compared with."""

    OPENAI_HARMONY = 'openai-harmony'


def harmony(
    file: Annotated[
        Path,
        typer.Argument(
            help='What was sampled after <|start|>assistant, as text (the file may end with a newline of its own) or as a JSON list of '
            'token ids; - reads stdin.'
        ),
    ],
    against: Annotated[
        Oracle | None,
        typer.Option(help='Also parse and render the sample with this library, and show the first token that differs.'),
    ] = None,
) -> None:
    """See what gpt-oss sampled, block by block, and what another renderer would make of it.

    The exit status is 1 if the sample does not render back exactly, here or, with --against, there.
    """
    from rich.console import Console

    from .harmony_view import BlocksView, DriftView
    from .sampled import read_sampled, without_opening

    console = Console(highlight=False)
    try:
        given = read_sampled(file)
        sampled = without_opening(given)
        if sampled != given:
            typer.echo('Left out the leading <|start|>assistant: a sample is what follows it.')
        view = BlocksView(sampled)
        console.print(view)
        if against is None:
            sys.exit(not view.is_exact)
        from .drift import drift_of_openai_harmony

        drift = drift_of_openai_harmony(sampled)
    except UserError as error:
        sys.exit(printable(str(error)))
    console.print(DriftView(drift, against))
    sys.exit(drift is not None or not view.is_exact)
