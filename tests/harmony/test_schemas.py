"""Schemas spelled out: what the plain rendering loses is said."""

import json
from typing import Annotated, Any, Literal

import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel, Field
from pydantic_ai import Tool
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.harmony.schemas import spelled_out
from pydantic_ai_verbatim.harmony.typescript import typescript

from ..conftest import load_cases
from .test_typescript import tool

REFUSED = ('required-is-no-list', 'list-of-types', 'one-of-empty-or-malformed')
"""Cases that upstream's walker takes for no schemas."""


class Cat(BaseModel):
    """A cat."""

    kind: Literal['cat']
    lives: int = 9


class Dog(BaseModel):
    """A dog."""

    kind: Literal['dog']


class Node(BaseModel):
    """A node of a tree."""

    name: str
    children: 'list[Node]' = []


def adopt(
    pet: Annotated[Cat | Dog, Field(discriminator='kind')],
    owner: str | None = None,
    chip: int | str | None = None,
    toys: list[str] | None = None,
) -> None: ...


def plant(tree: Node) -> None: ...


@pytest.mark.parametrize('reference', ['#', '#/$defs/Missing', 'http://example.com/schema'])
def test_a_reference_that_leads_nowhere_stays_as_it_is(reference: str) -> None:
    """What cannot be spelled out is `any`, as it is without being spelled out."""
    tool = ToolDefinition(name='f', parameters_json_schema={'type': 'object', 'properties': {'a': {'$ref': reference}}})
    assert typescript(spelled_out(tool).parameters_json_schema) == '{\na?: any,\n}'


def test_models_and_unions_are_said() -> None:
    """Nested models and optional parameters are not `any`."""
    assert typescript(spelled_out(Tool(adopt).tool_def).parameters_json_schema) == snapshot("""\
{
pet:
 |    // A cat.
{
   kind: "cat",
   lives?: number, // default: 9
   } // A cat.
 |    // A dog.
{
   kind: "dog",
   } // A dog.
,
owner?: string | null, // default: null
// default: null
chip?:
 | number
 | string
 | null
,
toys?: string[] | null, // default: null
}\
""")


def test_a_type_that_holds_itself_is_said_once() -> None:
    """A recursive model is written out to where it begins again."""
    assert typescript(spelled_out(Tool(plant).tool_def).parameters_json_schema) == snapshot("""\
// A node of a tree.
{
name: string,
children?: any[], // default: []
}\
""")


@pytest.mark.parametrize(
    ('schema', 'text'),
    [
        ({'const': 'x'}, ' "x"'),
        ({'const': 1}, ' any'),
        ({'enum': ['a', 'b']}, ' "a" | "b"'),
        ({'enum': [1, 2]}, ' any'),
        ({'enum': []}, ' any'),
        ({'allOf': [{'type': 'boolean'}]}, ' boolean'),
        ({'allOf': [{'type': 'object'}, {'required': ['a']}]}, ' any'),
        ({'anyOf': [{'type': 'null'}]}, ' null'),
        ({'anyOf': [{'$ref': '#/$defs/Color'}, {'type': 'null'}]}, ' "red" | null'),
        ({'anyOf': [True, {'type': 'null'}]}, '\n | any\n | null\n'),
        ({'type': 'array', 'items': {'$ref': '#/$defs/Color'}}, ' "red"[]'),
    ],
)
def test_each_word(schema: dict[str, Any], text: str) -> None:
    """Each keyword that the plain rendering passes over is said, where TypeScript's words are enough."""
    given = tool(
        {'type': 'object', 'properties': {'x': schema}, '$defs': {'Color': {'const': 'red', 'type': 'string'}}}
    )
    before = repr(given)
    assert typescript(spelled_out(given).parameters_json_schema) == f'{{\nx?:{text},\n}}'
    assert repr(given) == before


LOSES_NOTHING = [
    parameters
    for parameters in load_cases('harmony_tools')
    if not any(f'"{word}"' in json.dumps(parameters.values[0]) for word in ('$ref', 'anyOf', 'allOf', 'const', 'null'))
    and parameters.id not in ('enum-without-type', 'one-of-with-defaults', *REFUSED)
]


@pytest.mark.parametrize('case', LOSES_NOTHING)
def test_what_loses_nothing_is_left_as_it_is(case: dict[str, Any]) -> None:
    """A schema that the plain rendering says in full is rendered the same."""
    given = tool(case['schema'])
    assert typescript(spelled_out(given).parameters_json_schema) == typescript(case['schema'])
