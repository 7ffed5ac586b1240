"""`verbatim demo`: run it, print it, and answer with the exit status whether the list arrived natively."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from pydantic_ai.exceptions import AgentRunError


def demo(
    svg: Annotated[Path | None, typer.Option(help='Save the output as a picture, too.', dir_okay=False)] = None,
) -> None:
    """See what a list returned by a tool becomes, with and without this package.

    A server embedded in this command plays the model: no key, no network. The exit status is 0 only if the list
    arrived natively, streamed and not.
    """
    from rich.console import Console

    from .demo_runs import compare
    from .demo_view import ComparisonView, picture

    if svg is not None:
        _refuse_no_place(svg)
    try:
        comparison = compare()
    except (AgentRunError, OSError) as error:
        sys.exit(f'The demo could not run: {error}')
    Console(highlight=False).print(ComparisonView(comparison))
    if svg is not None:
        svg.write_text(picture(comparison), encoding='utf-8')
    if comparison.complaint:
        sys.exit(comparison.complaint)


def _refuse_no_place(svg: Path) -> None:
    """Find out before the runs whether the picture can be saved, and leave what is there as it is."""
    is_new = not svg.exists()
    try:
        svg.open('a').close()
    except OSError as error:
        sys.exit(f'The picture cannot be saved: {error.strerror}: {svg}')
    if is_new:
        svg.unlink()
