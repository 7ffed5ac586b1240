"""The command `verbatim`: one module a subcommand; nothing else in the package imports this one."""

import importlib.util
import sys


def main() -> None:
    """Run `verbatim`, or name the extra that it needs."""
    if importlib.util.find_spec('typer') is None:
        sys.exit('verbatim needs the extra "cli": pip install "pydantic-ai-verbatim[cli]"')
    from .app import app

    app()
