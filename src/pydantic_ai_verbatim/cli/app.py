"""The `verbatim` application: its subcommands are added here."""

from importlib.metadata import version
from typing import Annotated

import typer

from .demo import demo
from .harmony import harmony
from .probe import probe

app = typer.Typer(name='verbatim', no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f'verbatim {version("pydantic-ai-verbatim")}')
        raise typer.Exit


@app.callback()
def verbatim(
    _version: Annotated[
        bool, typer.Option('--version', callback=_print_version, is_eager=True, help='Print the version.')
    ] = False,
) -> None:
    """See what your model reads."""


app.command()(demo)
app.command()(harmony)
app.command()(probe)
