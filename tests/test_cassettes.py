"""What holds of every cassette: where it comes from is on top, and nothing is in it that does not belong to the story."""

import json
import re
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from tests.servers import table
from tests.servers.cassettes import FOLDER, Cassette, all_cassettes

CASSETTES = all_cassettes()
LARGEST = 64 * 1024

SECRETS = (
    re.compile(r'(?i)authorization|api[-_]key|bearer |set-cookie|x-request-id'),
    re.compile(r'\b(?:sk|xai|pplx|gsk|ghu|gho|ghp|hf)[-_](?!loopback)[A-Za-z0-9]{8,}'),
    re.compile(r'\beyJ[A-Za-z0-9_-]{20,}'),  # a JSON web token
)
PATHS = re.compile(r'(?<![\w/:.])/(?:home|root|tmp|Users|work|var|opt|mnt|usr)/|[A-Z]:\\\\(?:Users|Windows)|file://')

UNREACHABLE = {'deepseek', 'grok', 'openrouter', 'perplexity', 'zen', 'copilot'}
"""Services of our own prefixes that a test machine cannot reach: their stories are written."""


def each(cassettes: list[Cassette]) -> pytest.MarkDecorator:
    names = [str(cassette.path.relative_to(FOLDER)) for cassette in cassettes]
    return pytest.mark.parametrize('cassette', cassettes, ids=names)


def texts(value: Any) -> list[str]:
    """Give every text in a cassette's content."""
    match value:
        case str():
            return [value]
        case dict():
            return texts([*cast('dict[str, Any]', value).items()])
        case list() | tuple():
            return [text for item in cast('list[Any]', value) for text in texts(item)]
        case _:
            return []


def test_there_are_enough() -> None:
    """The stories cover many servers and families, both recorded and written."""
    assert len(CASSETTES) >= 60
    assert len({cassette.path.parent for cassette in CASSETTES}) >= 14
    assert {cassette.load()['origin'] for cassette in CASSETTES[::7]} <= {'recorded', 'written'}


def test_each_lies_where_it_belongs() -> None:
    """A cassette is `SERVER/FAMILY/TITLE.yaml`, and nothing else is in the folder."""
    files = [path for path in FOLDER.rglob('*') if path.is_file() and path.name != 'README.md']
    assert sorted(files) == [cassette.path for cassette in CASSETTES]
    assert all(len(path.relative_to(FOLDER).parts) == 3 for path in files)


@each(CASSETTES)
def test_scanned(cassette: Cassette) -> None:
    """It says where it comes from, and holds no key, no machine's path, no foreign host, and not too much."""
    content = cassette.load()
    assert next(iter(content)) == 'origin'
    assert content['origin'] == ('written' if cassette.server in UNREACHABLE else 'recorded')
    assert (content['server'], content['family']) == (cassette.server, cassette.family)
    _check_origin(content)
    assert cassette.path.stat().st_size <= LARGEST
    for interaction in content['interactions']:
        _check_exchange(interaction, local=content['origin'] == 'recorded')
    for text in texts(content['interactions']):
        assert not any(secret.search(text) for secret in SECRETS)
        assert not PATHS.search(text)


def _check_origin(content: dict[str, Any]) -> None:
    if content['origin'] == 'recorded':
        assert re.search(r'\d+\.\d+', content['version'])
        assert re.search(r'\.jinja of [\w-]+==\d', content['template'])
        assert 'sources' not in content
    else:
        assert content['sources']
        assert all(re.search(r'#\d+|[\w-]+\.[a-z]{2,}/|open source of', source) for source in content['sources'])
        assert 'version' not in content


def _check_exchange(interaction: dict[str, Any], *, local: bool) -> None:
    """Only content types are kept of headers; recorded exchanges are with loopback, and a request holds what was sent."""
    request, response = interaction['request'], interaction['response']
    assert set(request['headers']) <= {'content-type'}
    assert set(response['headers']) <= {'content-type'}
    assert (urlsplit(str(request['uri'])).netloc == '127.0.0.1:8080') is local
    if request['method'] == 'POST':
        assert json.loads(request['body'])


def test_the_table_is_current() -> None:
    """The docs' table of servers says what the cassettes say; `python -m tests.servers.table` brings it up to date."""
    assert table.current_page() == table.PAGE.read_text()
