"""The `verbatim` application: its subcommands are added here."""

import typer

from .demo import demo
from .harmony import harmony
from .probe import probe

app = typer.Typer(name='verbatim', no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def verbatim() -> None:
    """See what your model reads."""


app.command()(demo)
app.command()(harmony)
app.command()(probe)
