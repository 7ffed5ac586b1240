"""renderers as a second oracle: what it reads of a completion, and how it renders a history."""

import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelRequest, TextPart, ThinkingPart, ToolReturnPart, UserPromptPart

from pydantic_ai_verbatim.cli.drift import offline_vocabulary
from pydantic_ai_verbatim.harmony.grammar import SPECIAL_TOKENS, START
from tests.conftest import load_cases
from tests.harmony.sampling import TEXT, TOKENS, ids_of

READ_OTHERWISE = {
    'python-builtin': 'a call is to a function',
    'browser-builtin': 'a call is to a function',
    'other-namespace': 'a call is to a function',
    'unknown-namespace': 'a call is to a function',
    'code-then-constrain-json': 'a call is to a function',
    'no-namespace': 'a call is to a function',
    'spaces-round-equals': 'a recipient is glued to its `to=`',
    'recipient-without-to': 'a recipient has a `to=`',
    'recipient-after-constrain': 'a recipient has a `to=`',
    'recipient-assistant-then-analysis': 'the first channel counts',
    'channel-word-inside': 'a channel is all of its word',
    'commentary-then-analysis-no-start': 'every block begins with `<|start|>`',
    'no-start-between': 'every block begins with `<|start|>`',
    'no-channel': 'a text without a channel is none',
    'prose-in-header': 'a header ends with `<|message|>`',
}
"""The reported strays that renderers reads by a stricter rule, and the rule."""


@cache
def renderer() -> Any:
    """Load renderers over our vocabulary, offline."""
    from renderers.gpt_oss import GptOssRenderer  # pyright: ignore[reportMissingTypeStubs]  # it has none

    script = Path(__file__).parents[2] / 'benchmarks' / 'harmony.py'
    tokenizer: Any = runpy.run_path(str(script))['Tokenizer']()
    with offline_vocabulary():
        return GptOssRenderer(tokenizer)


@pytest.mark.parametrize('case', load_cases('harmony'))
def test_a_completion_says_what_renderers_reads(case: dict[str, Any]) -> None:
    """Text, reasoning and calls are those that renderers reads, but where it knows less of what gpt-oss writes."""
    theirs = renderer().parse_response(ids_of(f'<|start|>assistant{case["sampled"]}'))
    read = (theirs.content or '', theirs.reasoning_content or '', [(call.name, call.raw) for call in theirs.tool_calls])
    response = TOKENS.load_response(ids_of(case['sampled']))
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    thoughts = [part.content for part in response.parts if isinstance(part, ThinkingPart)]
    calls = [(call.tool_name, call.args) for call in response.tool_calls]
    assert ((''.join(texts), ''.join(thoughts), calls) == read) is (case['id'] not in READ_OTHERWISE)


def test_a_history_is_what_renderers_renders() -> None:
    """From the first user on, with the header that renderers gives its calls; it opens the next turn's analysis, too."""
    sampled = (
        '<|channel|>analysis<|message|>List first.<|end|>'
        '<|start|>assistant to=functions.bash<|channel|>commentary<|message|>{"command": "ls"}<|call|>'
    )
    response = TEXT.load_response(sampled)
    (call,) = response.tool_calls
    messages = [
        ModelRequest([UserPromptPart('What is here?')]),
        response,
        ModelRequest([ToolReturnPart('bash', ['a', 'b'], call.tool_call_id)]),
    ]
    function = {'name': 'bash', 'arguments': call.args}
    theirs = renderer().render_ids(
        [
            {'role': 'user', 'content': 'What is here?'},
            {
                'role': 'assistant',
                'content': '',
                'reasoning_content': 'List first.',
                'tool_calls': [{'id': '1', 'type': 'function', 'function': function}],
            },
            {'role': 'tool', 'tool_call_id': '1', 'name': 'bash', 'content': 'a\nb'},
        ],
        add_generation_prompt=True,
    )
    ours = [*TOKENS.dump_messages(messages), *ids_of('<|channel|>analysis<|message|>')]
    assert ours[ours.index(SPECIAL_TOKENS[START], 1) :] == theirs[theirs.index(SPECIAL_TOKENS[START], 1) :]
