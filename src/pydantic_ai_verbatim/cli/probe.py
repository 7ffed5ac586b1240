"""`verbatim probe MODEL`: put the question, print the report, and say in one line what went wrong."""

import sys
from dataclasses import asdict
from functools import partial
from json import dumps
from typing import Annotated

import typer
from pydantic_ai.exceptions import AgentRunError, UserError


def probe(
    model: Annotated[str, typer.Argument(help="A model string, such as 'openai-chat:glm-5'.")],
    json: Annotated[bool, typer.Option('--json', help='Print the report as JSON.')] = False,
    timeout: Annotated[float, typer.Option(metavar='SECONDS', help='How long each request may take.')] = 60,
) -> None:
    """See what the model behind a live endpoint reads of a list returned by a tool, in each format.

    It takes five chat requests of some hundred tokens, and ends with the setting to use.
    """
    from anyio.from_thread import start_blocking_portal
    from openai import OpenAIError
    from rich.console import Console

    from ..chat.probe import model_to_probe, shown_url
    from ..chat.probe import probe as ask
    from .printable import printable
    from .probe_view import ReportView

    try:
        asked = model_to_probe(model)
        typer.echo(printable(f'asking {shown_url(asked)} ({asked.model_name})'), err=True)
        with start_blocking_portal() as portal:
            report = portal.call(partial(ask, asked, timeout=timeout))
    except (AgentRunError, UserError, OpenAIError, ImportError) as error:
        sys.exit(printable(str(error)))
    if json:
        typer.echo(dumps(asdict(report), indent=2))
    else:
        Console(highlight=False).print(ReportView(report))
