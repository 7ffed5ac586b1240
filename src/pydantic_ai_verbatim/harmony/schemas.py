"""A tool's schema said in words that the TypeScript of a Harmony prompt keeps.

As openai-harmony renders it, and as gpt-oss was trained, `$ref`, `anyOf`, `allOf`, `const` and `null` are lost. The
same rendering keeps `oneOf`, lists of types and enums, so a schema is rewritten to those before it is rendered.
"""

from dataclasses import replace
from typing import Any, cast

from pydantic_ai.exceptions import UserError
from pydantic_ai.profiles import JsonSchemaTransformer
from pydantic_ai.tools import ToolDefinition


def spelled_out(tool: ToolDefinition) -> ToolDefinition:
    """Rewrite a tool's schema so that its TypeScript says all of its types.

    What refers to a definition holds it instead, but where a type holds itself; a schema that cannot be rewritten, since
    a reference leads nowhere, to the schema itself or to too much, stays as it is. The result is for rendering only;
    what the model's arguments are checked against stays the tool's own schema.
    """
    try:
        schema = _SpelledOut(tool.parameters_json_schema).walk()
    except UserError:
        return tool
    return replace(tool, parameters_json_schema=_root(schema))


def _root(schema: dict[str, Any]) -> dict[str, Any]:
    """Where a type holds itself, upstream makes the whole schema a definition, too, and refers to it."""
    name = schema.get('$ref', '').removeprefix('#/$defs/')
    return schema['$defs'][name] if name else schema


class _SpelledOut(JsonSchemaTransformer):
    def __init__(self, schema: dict[str, Any]) -> None:
        super().__init__(schema, prefer_inlined_defs=True)

    def transform(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Rewrite one node, whose children are rewritten already; TypeScript says `null` in a list of types only."""
        if schema.get('type') == 'null':
            return {**schema, 'type': ['null']}
        if variants := schema.get('anyOf') or _only(schema.get('allOf')):
            schema = _union(schema, variants)
        if isinstance(schema.get('const'), str):
            schema = {**schema, 'enum': [schema['const']]}
        is_text = all(isinstance(value, str) for value in schema.get('enum') or [None])
        return {'type': 'string', **schema} if is_text else schema


def _only(variants: list[Any] | None) -> list[Any] | None:
    return variants if variants and len(variants) == 1 else None


def _union(schema: dict[str, Any], variants: list[Any]) -> dict[str, Any]:
    """Give `anyOf` as the only type there is, maybe `nullable`, or else as `oneOf`."""
    rest = {key: value for key, value in schema.items() if key not in ('anyOf', 'allOf')}
    types = [variant for variant in variants if variant != {'type': ['null']}]
    if len(types) == 1 and isinstance(types[0], dict):
        nullable = {'nullable': True} if len(types) < len(variants) else {}
        return {**cast('dict[str, Any]', types[0]), **nullable, **rest}
    return {**rest, 'oneOf': variants}
