"""Tools as TypeScript: the ids that openai-harmony renders, for the case file and for random schemas."""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from pydantic_ai_verbatim.harmony.typescript import json_text, tools_namespace, typescript

from ..conftest import load_cases
from . import oracle

START, MESSAGE, END = 200006, 200008, 200007

NUMBERS = (
    st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.5, -0.25, 1.0, 1e-5, -3e-5, 2.5e-7, 1e16, 1.5e22, 2**64, 10**30, -(2**63) - 1])
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=['Cs']), max_size=8),
    st.sampled_from(['null', 'a\nb', '\r\n', '"', '\\', '<|end|>', 'é', '// x']),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda values: st.one_of(st.lists(values, max_size=3), st.dictionaries(TEXTS, values, max_size=3)),
    max_leaves=4,
)
WORDS = st.sampled_from(['a', 'b', 'null', 'first\nsecond', '"', '\\', '<|end|>', 'größe', '// x', ''])
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, 1.5, '', 'text', [], ['a', 1, None], {}, {'a': [1, 'é']}]
)
TYPES = st.sampled_from(
    [
        'object',
        'object',
        'array',
        'string',
        'number',
        'integer',
        'boolean',
        'null',
        'other',
        ['integer', 'null'],
        [1, 'x'],
    ]
)


def keywords(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Give schemas of the keywords that the rendering reads, now and then with a value of the wrong kind."""
    several = st.lists(schemas, max_size=3)
    return st.fixed_dictionaries(
        {'type': TYPES | ODD},
        optional={
            'properties': st.dictionaries(WORDS, schemas, max_size=3) | ODD,
            'required': st.lists(WORDS, max_size=3) | ODD,
            'items': schemas,
            'oneOf': several | ODD,
            'anyOf': several,
            'enum': st.lists(WORDS, max_size=3) | ODD,
            'default': WORDS | ODD,
            'description': WORDS | ODD,
            'title': WORDS | ODD,
            'examples': st.lists(WORDS, max_size=2) | ODD,
            'nullable': ODD,
            'const': ODD,
            '$ref': WORDS,
        },
    )


TOOLS = st.builds(
    ToolDefinition,
    name=st.sampled_from(['f', 'ünï']),
    description=st.none() | WORDS | TEXTS,
    parameters_json_schema=keywords(st.recursive(ODD, keywords, max_leaves=4)),
)

fuzzed = settings(
    max_examples=2_000 if os.environ.get('HYPOTHESIS_PROFILE') == 'fuzz' else 100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def tool(schema: dict[str, Any], description: str | None = None, name: str = 'f') -> ToolDefinition:
    """Give a tool of this schema."""
    return ToolDefinition(name=name, description=description, parameters_json_schema=schema)


def developer_ids(body: str) -> list[int]:
    """Encode a developer message of this body."""
    encode = o200k_harmony().encode
    return [START, *encode('developer'), MESSAGE, *encode(body), END]


def assert_same(tools: list[ToolDefinition]) -> None:
    """Assert that the tools come out as openai-harmony writes them, as text and as ids."""
    expected = oracle.render(oracle.developer(None, tools))
    body = tools_namespace(tools)
    assert body == oracle.harmony().decode(expected[3:-1])
    assert developer_ids(body) == expected


@pytest.mark.parametrize('case', load_cases('harmony_tools'))
def test_a_tool_is_the_oracle_s(case: dict[str, Any]) -> None:
    """A tool comes out token for token as openai-harmony renders it."""
    assert_same([tool(case['schema'], case['description'])])


def test_all_tools_together_are_the_oracle_s() -> None:
    """So do many tools in one namespace."""
    cases = [parameters.values[0] for parameters in load_cases('harmony_tools')]
    assert len(cases) >= 60
    assert_same([tool(case['schema'], case['description'], f'tool_{i}') for i, case in enumerate(cases)])


@fuzzed
@given(st.lists(TOOLS, min_size=1, max_size=3))
def test_random_tools_are_the_oracle_s(tools: list[ToolDefinition]) -> None:
    """And so does whatever is written where a schema should be."""
    assert_same(tools)


@fuzzed
@given(VALUES)
@example([-3e-5, 1e-6, 2**64, -(2**63) - 1])
@example([123456789.12345679, 2.225073858507e-311])
def test_a_default_is_the_oracle_s(value: Any) -> None:
    """A default, which is shown as JSON, is written as openai-harmony writes it."""
    assert_same([tool({'type': 'object', 'properties': {'x': {'default': value}}})])


def nested(depth: int) -> dict[str, Any]:
    """Give a schema of objects in objects."""
    schema: dict[str, Any] = {'type': 'string'}
    for _ in range(depth):
        schema = {'type': 'object', 'properties': {'x': schema}}
    return schema


def test_nesting_on_which_the_oracle_fails() -> None:
    """A schema too deep for openai-harmony is rendered by the same rules."""
    deep = tool(nested(150))
    with pytest.raises(ValueError, match='recursion limit'):
        oracle.render(oracle.developer(None, [deep]))
    assert typescript(deep.parameters_json_schema).count('x?: {') == 149


@pytest.mark.parametrize(
    ('value', 'text'),
    [
        (float('nan'), 'nan'),
        (float('-inf'), '-inf'),
        pytest.param(10**400, str(10**400), id='10**400'),
        ('\ud800', '"\ud800"'),
    ],
)
def test_a_default_on_which_the_oracle_fails(value: Any, text: str) -> None:
    """A default that JSON or Rust cannot hold is shown as it is."""
    with pytest.raises(ValueError, match='invalid conversation JSON'):
        oracle.render(oracle.developer(None, [tool({'default': value})]))
    assert json_text(value) == text


def test_tuples_are_lists() -> None:
    """A schema written in Python may hold tuples."""
    schema = {'type': 'object', 'properties': {'x': {'type': 'string', 'enum': ('a', 'b')}}, 'required': ('x',)}
    assert_same([tool(schema)])
    assert typescript(schema) == '{\nx: "a" | "b",\n}'
