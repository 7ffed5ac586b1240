"""The system and the developer message, against openai-harmony and format.md."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from pydantic_ai_verbatim.harmony.preamble import (
    Effort,
    PromptMessage,
    developer_message,
    preamble,
    reasoning_effort,
    response_format,
    system_message,
)

from . import oracle
from .test_typescript import fuzzed, tool

SEARCH = tool({'type': 'object', 'properties': {'q': {'type': 'string'}}}, 'Search.', 'search')
ANSWER = tool({'type': 'object', 'properties': {'n': {'type': 'integer'}}}, 'Answer.', 'final_result')
NOTHING = tool({}, 'Do nothing.\nNever.', 'nothing')
SHOPPING = OutputObjectDefinition(
    json_schema={'properties': {'items': {'type': 'array', 'items': {'type': 'string'}}}, 'type': 'object'},
    name='shopping_list',
    description='What to buy.\nEach once.',
)


def ids(messages: list[PromptMessage]) -> list[int]:
    """Encode messages, their bodies as ordinary text."""
    encode, special = o200k_harmony().encode, o200k_harmony().special_tokens
    return [
        token
        for message in messages
        for token in [
            special['<|start|>'],
            *encode(message.role),
            special['<|message|>'],
            *encode(message.body),
            special['<|end|>'],
        ]
    ]


def test_the_whole_preamble() -> None:
    """What the model reads before a conversation, in full."""
    parameters = ModelRequestParameters(function_tools=[SEARCH], output_mode='native', output_object=SHOPPING)
    messages = preamble(parameters, 'Be brief.', {'thinking': 'high'}, current_date=date(2025, 6, 28))
    assert '\n'.join(message.text for message in messages) == snapshot("""\
<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.
Knowledge cutoff: 2024-06
Current date: 2025-06-28

Reasoning: high

# Valid channels: analysis, commentary, final. Channel must be included for every message.
Calls to these tools must go to the commentary channel: 'functions'.<|end|>
<|start|>developer<|message|># Instructions

Be brief.

# Tools

## functions

namespace functions {

// Search.
type search = (_: {
q?: string,
}) => any;

} // namespace functions

# Response Formats

## shopping_list

// What to buy.
// Each once.
{"properties":{"items":{"type":"array","items":{"type":"string"}}},"type":"object"}<|end|>\
""")


@fuzzed
@given(
    instructions=st.none() | st.text(min_size=1),
    tools=st.lists(st.sampled_from([SEARCH, ANSWER, NOTHING]), max_size=2),
    effort=st.sampled_from(['low', 'medium', 'high']),
    current_date=st.none() | st.dates(min_value=date(1000, 1, 1)),
)
def test_the_preamble_is_the_oracle_s(
    instructions: str | None, tools: list[ToolDefinition], effort: str, current_date: date | None
) -> None:
    """Both messages are token for token what openai-harmony renders."""
    tools = list({tool.name: tool for tool in tools}.values())
    parameters = ModelRequestParameters(function_tools=tools)
    expected = [oracle.system(effort=effort, current_date=current_date and str(current_date))]
    if instructions or tools:
        expected.append(oracle.developer(instructions, tools))
    messages = preamble(parameters, instructions, {'openai_reasoning_effort': effort}, current_date=current_date)
    assert ids(messages) == oracle.render(*expected)


def test_identity_and_cutoff_are_the_oracle_s() -> None:
    """Another identity stands where openai-harmony puts it."""
    body = system_message(identity='You are Ada.', knowledge_cutoff='2025-01')
    expected = oracle.system(identity='You are Ada.', cutoff='2025-01')
    assert ids([PromptMessage('system', body)]) == oracle.render(expected)


def test_nothing_to_say_is_no_developer_message() -> None:
    """Without instructions, tools and schema there is a system message alone."""
    assert developer_message() == ''
    assert [message.role for message in preamble(ModelRequestParameters(), '')] == ['system']


def test_a_deferred_tool_is_not_shown() -> None:
    """A tool whose loading is deferred is not declared; an output tool always is."""
    hidden = ToolDefinition(name='hidden', defer_loading=True)
    parameters = ModelRequestParameters(function_tools=[hidden], output_tools=[ANSWER], output_mode='tool')
    assert preamble(parameters)[1].body == developer_message(tools=[ANSWER])
    assert "'functions'" in preamble(parameters)[0].body


@pytest.mark.parametrize('mode', ['text', 'prompted', 'tool'])
def test_only_a_native_output_is_a_response_format(mode: Any) -> None:
    """Prompted output is in the instructions already, and an output tool among the tools."""
    assert len(preamble(ModelRequestParameters(output_mode=mode, output_object=SHOPPING))) == 1


def test_a_response_format_without_a_name() -> None:
    """An unnamed schema has upstream's default name, and no description no comment."""
    output = OutputObjectDefinition(json_schema={'const': 'é', 'minimum': 1e-7})
    assert response_format(output) == '# Response Formats\n\n## final_result\n\n{"const":"é","minimum":1e-7}'


def test_schemas_are_rendered_as_they_are_or_spelled_out() -> None:
    """By default what openai-harmony says of an optional parameter, on demand all of it."""
    optional = tool({'type': 'object', 'properties': {'x': {'anyOf': [{'type': 'integer'}, {'type': 'null'}]}}})
    parameters = ModelRequestParameters(function_tools=[optional])
    assert 'x?: any,' in preamble(parameters)[1].body
    assert 'x?: number | null,' in preamble(parameters, spell_out=True)[1].body


@pytest.mark.parametrize(
    ('settings', 'thinking', 'effort'),
    [
        (None, None, 'medium'),
        ({}, 'low', 'low'),
        ({}, True, 'medium'),
        ({}, False, 'low'),
        ({'thinking': 'xhigh'}, None, 'high'),
        ({'thinking': 'high'}, 'minimal', 'low'),
        ({'openai_reasoning_effort': 'none', 'thinking': 'high'}, 'high', 'low'),
        ({'openai_reasoning_effort': None}, 'high', 'high'),
        ({'openai_reasoning_effort': 'max'}, None, 'high'),
    ],
)
def test_reasoning_effort(settings: dict[str, Any] | None, thinking: Any, effort: Effort) -> None:
    """The provider's own setting goes before the unified one, and both end at what gpt-oss knows."""
    assert reasoning_effort(settings, ModelRequestParameters(thinking=thinking)) == effort
    if thinking is None:
        assert reasoning_effort(settings) == effort


@pytest.mark.parametrize('effort', ['extreme', ['high']])
def test_an_unknown_effort_is_a_caller_s_mistake(effort: Any) -> None:
    """The error names what gpt-oss knows."""
    with pytest.raises(UserError, match=r"Use 'low', 'medium' or 'high'\."):
        reasoning_effort({'openai_reasoning_effort': effort})
