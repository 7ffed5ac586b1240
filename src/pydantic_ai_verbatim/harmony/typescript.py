"""Tools as the TypeScript that gpt-oss was trained on: pure, and token for token what openai-harmony 0.0.8 writes.

Its quirks are kept, since the model has read them all along: `$ref`, `anyOf`, `allOf` and `const` say nothing (`any`),
a second line of a parameter's description is no comment, an enum's text is not escaped, an integer is a `number`.
Where openai-harmony fails (NaN, a lone surrogate, nesting beyond 128), the same rules go on.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any, cast

from pydantic_ai.tools import ToolDefinition

_NAMES = {'string': 'string', 'number': 'number', 'integer': 'number', 'boolean': 'boolean'}


def tools_namespace(tools: Iterable[ToolDefinition]) -> str:
    """Give the `# Tools` section of a developer message, with the namespace `functions`.

    Args:
        tools: The tools, in the order in which the model reads them.
    """
    lines = ['# Tools', '', '## functions', '', 'namespace functions {', '']
    for tool in tools:
        lines += comment(tool.description or '')
        lines += [f'type {tool.name} = (_: {typescript(tool.parameters_json_schema)}) => any;', '']
    return '\n'.join([*lines, '} // namespace functions'])


def comment(text: str) -> list[str]:
    r"""Give the text as comment lines; a line ends with `\n` or `\r\n`, and with nothing else."""
    lines = text.replace('\r\n', '\n').split('\n')
    return [f'// {line}' for line in (lines if lines[-1] else lines[:-1])]


def typescript(schema: Any, indent: str = '') -> str:
    """Give a JSON schema as a TypeScript type.

    Args:
        schema: The schema; whatever cannot be read as one is `any`.
        indent: What each line of the type begins with.
    """
    fields = _fields(schema)
    if isinstance(fields.get('oneOf'), list | tuple):
        return ''.join(f'\n{indent} | {_variant(variant, indent)}' for variant in fields['oneOf'])
    kind = fields.get('type')
    if names := [name for name in _items(kind) if isinstance(name, str)]:
        return ' | '.join('number' if name == 'integer' else name for name in names)
    if kind == 'object':
        return _object(fields, indent)
    if kind == 'array':
        return f'{typescript(fields["items"], indent)}[]' if 'items' in fields else 'Array<any>'
    if kind == 'string' and (values := [value for value in _items(fields.get('enum')) if isinstance(value, str)]):
        return ' | '.join(f'"{value}"' for value in values)
    return _NAMES.get(kind, 'any') if isinstance(kind, str) else 'any'


def json_text(value: Any) -> str:
    """Give a value as compact JSON, with numbers as Rust's serde_json writes them."""
    if isinstance(value, dict):
        pairs = cast('dict[str, Any]', value).items()
        return '{' + ','.join(f'{_scalar(key)}:{json_text(item)}' for key, item in pairs) + '}'
    if isinstance(value, list | tuple):
        return '[' + ','.join(map(json_text, _items(value))) + ']'
    return _scalar(value)


def _fields(schema: Any) -> dict[str, Any]:
    return cast('dict[str, Any]', schema) if isinstance(schema, dict) else {}


def _items(value: Any) -> Sequence[Any]:
    return cast('Sequence[Any]', value) if isinstance(value, list | tuple) else ()


def _object(fields: dict[str, Any], indent: str) -> str:
    required = [name for name in _items(fields.get('required')) if isinstance(name, str)]
    lines = list(_comments(indent, fields.get('description')))
    lines.append('{')
    for name, schema in _fields(fields.get('properties')).items():
        lines += _property(name if name in required else f'{name}?', schema, indent)
    return '\n'.join([*lines, f'{indent}}}'])


def _property(name: str, schema: Any, indent: str) -> Iterator[str]:
    fields = _fields(schema)
    for title in _comments(indent, fields.get('title')):
        yield title
        yield f'{indent}//'
    if 'oneOf' not in fields:
        yield from _comments(indent, fields.get('description'))
    if examples := _items(fields.get('examples')):
        yield f'{indent}// Examples:'
        yield from (f'{indent}// - "{example}"' for example in examples if isinstance(example, str))
    if isinstance(fields.get('oneOf'), list | tuple):
        yield from _union_property(name, fields, indent)
    else:
        default = [] if 'oneOf' in fields else _default(fields)
        yield f'{indent}{name}: {_nullable(schema, f"{indent}    ")},{_trailing(default)}'


def _union_property(name: str, fields: dict[str, Any], indent: str) -> Iterator[str]:
    """Give a property of several types; its first type's description is the property's, if only one has any."""
    variants = _items(fields['oneOf'])
    description = fields.get('description')
    first = _fields(variants[0]).get('description') if variants else None
    stands_above = isinstance(description, str) and description != first
    if stands_above:
        yield f'{indent}// {description}'
    yield from (f'{indent}// {default}' for default in _default(fields))
    yield f'{indent}{name}:'
    for position, variant in enumerate(variants):
        comments = [] if stands_above and position == 0 else _texts(_fields(variant).get('description'), description)
        comments += _default(_fields(variant))
        yield f'{indent} | {_nullable(variant, f"{indent}   ")}{_trailing(comments)}'
    yield f'{indent},'


def _variant(variant: Any, indent: str) -> str:
    """Give a type of a union that is no property; here alone, an enum's default is quoted."""
    fields = _fields(variant)
    comments = _texts(fields.get('description'))
    if isinstance(fields.get('default'), str) and _is_enum(fields):
        comments.append(f'default: {json_text(fields["default"])}')
    else:
        comments += _default(fields)
    return _nullable(variant, f'{indent}   ') + _trailing(comments)


def _nullable(schema: Any, indent: str) -> str:
    text = typescript(schema, indent)
    return f'{text} | null' if _fields(schema).get('nullable') is True and 'null' not in text else text


def _comments(indent: str, text: Any) -> Iterator[str]:
    if isinstance(text, str):
        yield f'{indent}// {text}'


def _texts(text: Any, known: Any = None) -> list[str]:
    return [text] if isinstance(text, str) and text != known else []


def _trailing(comments: list[str]) -> str:
    return f' // {" ".join(comments)}' if comments else ''


def _default(fields: dict[str, Any]) -> list[str]:
    if 'default' not in fields:
        return []
    default = fields['default']
    if not isinstance(default, str):
        return [f'default: {json_text(default)}']
    return [f'default: {default}' if _is_enum(fields) else f'default: "{default}"']


def _is_enum(fields: dict[str, Any]) -> bool:
    return bool(_items(fields.get('enum')))


def _scalar(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value)
    return json.dumps(value, ensure_ascii=False)


def _as_serde_reads(value: float) -> float:
    """Give a float as serde_json reads its digits, whose last one it may miss: all digits, times a power of ten."""
    if not isfinite(value):
        return value
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    read, power = float(int(''.join(map(str, digits)))), int(exponent)
    if power < -308:  # the least power of ten that it divides by at once
        read, power = read / 1e308, power + 308
    read = read / float(f'1e{-power}') if power < 0 else read * float(f'1e{power}')
    return -read if sign else read


def _number(value: float) -> str:
    """Write a number: beyond 64 bits it is a float, and a float has no `+` and no leading zero in its exponent."""
    if isinstance(value, int) and (-(2**63) <= value < 2**64 or abs(value) > 10**308):
        return str(value)
    mantissa, _, exponent = repr(_as_serde_reads(float(value))).partition('e')
    if exponent == '-05':
        sign, digits = mantissa[: mantissa.startswith('-')], mantissa.lstrip('-').replace('.', '')
        return f'{sign}0.0000{digits}'
    return f'{mantissa}e{int(exponent)}' if exponent else mantissa
