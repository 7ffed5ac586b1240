"""L1: the texts of a list-typed tool return, by content shape."""

from collections import deque
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai.messages import BinaryContent, ModelRequest, ToolReturnPart, UserPromptPart

from pydantic_ai_verbatim.tool_returns import as_json, collections_as_lists, item_texts, joined


class City(BaseModel):
    name: str


def tool_return(content: Any, outcome: Any = 'success') -> ToolReturnPart:
    return ToolReturnPart('search', content, tool_call_id='c1', outcome=outcome)


@pytest.mark.parametrize(
    ('content', 'texts', 'text', 'json'),
    [
        pytest.param(['a', 'b'], ['a', 'b'], 'a\nb', '["a","b"]', id='strings'),
        pytest.param(
            [1, 1.0, True, None, {'x': 1}, [2, 'y']],
            ['1', '1.0', 'true', 'null', '{"x":1}', '[2,"y"]'],
            '1\n1.0\ntrue\nnull\n{"x":1}\n[2,"y"]',
            '[1,1.0,true,null,{"x":1},[2,"y"]]',
            id='mixed JSON',
        ),
        pytest.param(
            [City(name='Zürich'), datetime(2026, 1, 2, tzinfo=UTC)],
            ['{"name":"Zürich"}', '2026-01-02T00:00:00Z'],
            '{"name":"Zürich"}\n2026-01-02T00:00:00Z',
            '[{"name":"Zürich"},"2026-01-02T00:00:00Z"]',
            id='models and datetimes',
        ),
        pytest.param(['a'], ['a'], 'a', '["a"]', id='one element'),
        pytest.param([], [], '[]', '[]', id='empty'),
        pytest.param(['', 'a'], ['""', 'a'], '["","a"]', '["","a"]', id='an empty string'),
        pytest.param([' ', '\u3000'], ['" "', '"\u3000"'], '[" ","\u3000"]', '[" ","\u3000"]', id='white space'),
        pytest.param(['a', ' '], ['a', ' '], 'a\n ', '["a"," "]', id='white space beside a text'),
        pytest.param(['a\nb', 'c'], ['a\nb', 'c'], '["a\\nb","c"]', '["a\\nb","c"]', id='a newline'),
    ],
)
def test_each_shape(content: list[Any], texts: list[str], text: str, json: str) -> None:
    """Items become texts; one string joins them only where their borders stay readable."""
    part = tool_return(content)
    assert item_texts(part) == texts
    assert joined(part, texts) == text
    assert as_json(part) == json


@pytest.mark.parametrize('content', ['a', {'a': 1}, None, 1, ['a', BinaryContent(b'x', media_type='image/png')]])
def test_what_is_no_plain_list_is_not_sent_item_by_item(content: Any) -> None:
    assert item_texts(tool_return(content)) is None


@pytest.mark.parametrize(
    ('outcome', 'native'),
    [('success', True), ('denied', True), ('interrupted', True), ('failed', False), ('retried', False)],
)
def test_errors_keep_the_wrapping_of_upstream(outcome: str, native: bool) -> None:
    assert (item_texts(tool_return(['a', 'b'], outcome)) is not None) is native


MAKERS: list[Any] = [tuple, deque, dict.fromkeys, set, frozenset]


@pytest.mark.parametrize('make', MAKERS)
def test_a_collection_is_the_list_it_is_after_a_reload(make: Any) -> None:
    """A dictionary is none: JSON has a form of its own for it."""
    content = make(['a'])
    request = ModelRequest(parts=[UserPromptPart('hi'), tool_return(content)])
    [prompt, part] = collections_as_lists(request).parts
    assert prompt is request.parts[0]
    assert isinstance(part, ToolReturnPart)
    assert part.content == (content if isinstance(content, dict) else ['a'])


def test_a_request_without_tuples_is_passed_on_as_it_is() -> None:
    request = ModelRequest(parts=[tool_return(['a'])])
    assert collections_as_lists(request) is request
