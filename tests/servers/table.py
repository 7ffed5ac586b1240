"""The table of servers in the docs, read off the cassettes: `python -m tests.servers.table` brings it up to date."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.servers.cassettes import all_cassettes
from tests.servers.families import READ_BOTH, READ_GLUED, READ_NOTHING

PAGE = Path(__file__).parents[2] / 'docs' / 'testing-against-real-servers.md'
MARKED = re.compile(r'(<!-- from the cassettes -->\n).*(\n<!-- end -->)', re.DOTALL)

READINGS = {READ_BOTH: 'both items', READ_GLUED: '**glued**', READ_NOTHING: '**nothing**'}
TITLES = ('list-return', 'list-return-as-parts', 'list-return-as-text', 'list-return-as-json')
HEAD = '| server | family | by default | as parts | as text | as JSON |\n|---|---|---|---|---|---|'


def table() -> str:
    """Give the table: for each recorded server and family, what the model read of a list of two items."""
    return '\n'.join([HEAD, *_rows()])


def _rows() -> Iterator[str]:
    told = {(each.server, each.family, each.title): each for each in all_cassettes()}
    for server, family in sorted({(server, family) for server, family, _ in told}):
        stories = [told.get((server, family, title)) for title in TITLES]
        loaded = [each.load() for each in stories if each]
        if len(loaded) == len(TITLES) and loaded[0]['origin'] == 'recorded':
            cells = [_reading(exchange) for exchange in loaded]
            default = f'{cells[0]}, sent as {_sent(loaded[0])}'
            yield f'| {server}: {loaded[0]["version"]} | {family} | {default} | {" | ".join(cells[1:])} |'


def last_chat(content: dict[str, Any]) -> dict[str, Any]:
    """Give the last chat completion of a cassette's content."""
    return [each for each in content['interactions'] if each['request']['uri'].endswith('/chat/completions')][-1]


def _sent(content: dict[str, Any]) -> str:
    messages = json.loads(last_chat(content)['request']['body'])['messages']
    [sent] = [message['content'] for message in messages if message['role'] == 'tool']
    return 'parts' if isinstance(sent, list) else 'text'


def _reading(content: dict[str, Any]) -> str:
    reply = json.loads(last_chat(content)['response']['body']['string'])
    return READINGS[reply['choices'][0]['message']['content'].strip()]


def current_page() -> str:
    """Give the page with the table as the cassettes have it."""
    return MARKED.sub(lambda found: f'{found[1]}\n{table()}\n{found[2]}', PAGE.read_text())


if __name__ == '__main__':
    PAGE.write_text(current_page())
