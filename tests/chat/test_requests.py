"""What an endpoint's profile changes in a mapped request: pure functions, whole messages."""

import copy
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.chat import requests
from pydantic_ai_verbatim.chat.profile import OpenAICompatibleModelProfile, family_profile

CASES = {
    case['id']: case
    for case in map(json.loads, (Path(__file__).parents[1] / 'cases/requests.jsonl').read_text().splitlines())
}


def text(content: str, **more: Any) -> dict[str, Any]:
    return {'type': 'text', 'text': content, **more}


def call(tool_call_id: str, name: str = 'f') -> dict[str, Any]:
    return {'id': tool_call_id, 'type': 'function', 'function': {'name': name, 'arguments': '{}'}}


def calling(*ids: str, **more: Any) -> Any:
    return {'role': 'assistant', 'content': None, 'tool_calls': [call(i) for i in ids], **more}


def result(tool_call_id: str, content: Any = 'r') -> Any:
    return {'role': 'tool', 'tool_call_id': tool_call_id, 'content': content}


def user(content: Any, **more: Any) -> Any:
    return {'role': 'user', 'content': content, **more}


def assistant(content: Any, **more: Any) -> Any:
    return {'role': 'assistant', 'content': content, **more}


IMAGE = {'type': 'image_url', 'image_url': {'url': 'data:image/png;base64,iVBORw=='}}


@pytest.mark.parametrize(
    ('left', 'right', 'joined'),
    [
        ('a', 'b', 'a\n\nb'),
        ('', 'b', 'b'),
        ('a', '', 'a'),
        ([text('a'), text('b')], 'c', [text('a'), text('b\n\nc')]),
        ('a', [text('b'), IMAGE], [text('a\n\nb'), IMAGE]),
        ([text('a'), IMAGE], [text('b')], [text('a'), IMAGE, text('b')]),
        (
            [text('a', cache_control={'type': 'ephemeral'})],
            'b',
            [text('a', cache_control={'type': 'ephemeral'}), text('b')],
        ),
        ([IMAGE], [IMAGE], [IMAGE, IMAGE]),
    ],
)
def test_neighbours_are_merged_by_a_blank_line(left: Any, right: Any, joined: Any):
    """Two messages of one role become one, and where their texts meet there is a blank line (R18, R36)."""
    merged = requests.merge_neighbours([user(left), user(right), assistant('x'), user('y')])
    assert merged == [user(joined), assistant('x'), user('y')]


def test_merged_assistant_turns_keep_calls_and_reasoning():
    """Tool calls follow one another, reasoning is joined as text is, and what only one turn has is kept."""
    audio = {'id': 'second'}
    left = calling('c1', reasoning_content='first', audio={'id': 'first'})
    right: Any = {**calling('c2'), 'content': 'x', 'reasoning_content': 'second', 'refusal': 'no', 'audio': audio}
    assert requests.merge_neighbours([left, right]) == [
        assistant(
            'x',
            tool_calls=[call('c1'), call('c2')],
            reasoning_content='first\n\nsecond',
            refusal='no',
            audio=audio,
        )
    ]


def test_results_and_other_speakers_are_not_merged():
    """Each tool result answers its own call, and two named users are two."""
    messages = [
        calling('c1', 'c2'),
        result('c1'),
        result('c2', [text('a'), text('b')]),
        user('x', name='ann'),
        user('y', name='bob'),
        user('z', name='bob'),
    ]
    assert requests.merge_neighbours(messages) == [*messages[:4], user('y\n\nz', name='bob')]


def test_repeated_ids_are_renamed_with_their_results_in_order():
    """A call and its result get the same new id, within a turn and over turns, and an unused id is left."""
    messages = [
        user('hi'),
        calling('c1', 'c1', 'other'),
        result('c1', 'first'),
        result('c1', 'second'),
        result('other'),
        calling('c1', 'c1_2'),
        result('c1_2', 'fourth'),
        result('c1', 'third'),
    ]
    assert requests.unique_tool_call_ids(messages) == [
        user('hi'),
        calling('c1', 'c1_2', 'other'),
        result('c1', 'first'),
        result('c1_2', 'second'),
        result('other'),
        calling('c1_3', 'c1_2_2'),
        result('c1_2_2', 'fourth'),
        result('c1_3', 'third'),
    ]


def test_an_unanswered_call_does_not_take_a_later_result():
    """A result belongs to the nearest turn that made such a call."""
    messages = [calling('c1'), user('stop'), calling('c1'), result('c1', 'late')]
    renamed = requests.unique_tool_call_ids(messages)
    assert renamed == [calling('c1'), user('stop'), calling('c1_2'), result('c1_2', 'late')]


def test_a_result_without_a_call_is_sent_as_given():
    """An orphan keeps its id, which no later call may have, and a result sent twice stays with its call (R21, R23)."""
    messages = [result('c1', 'orphan'), calling('c1'), result('c1'), result('c1')]
    assert requests.unique_tool_call_ids(messages) == [
        result('c1', 'orphan'),
        calling('c1_2'),
        result('c1_2'),
        result('c1_2'),
    ]


def test_empty_ids_are_told_apart():
    """Servers that send no ids at all still get each result to its call."""
    messages = [calling('', ''), result('', 'a'), result('', 'b')]
    assert requests.unique_tool_call_ids(messages) == [calling('', '_2'), result('', 'a'), result('_2', 'b')]


@st.composite
def histories(draw: st.DrawFn) -> list[Any]:
    """Turns of calls with few distinct ids, each answered in order, its place in the history being its result."""
    messages: list[Any] = []
    for turn in range(draw(st.integers(0, 6))):
        ids = draw(st.lists(st.sampled_from(['a', 'b', 'a_2', 'functions.f:0', '']), max_size=4))
        messages.append(calling(*ids) if ids else user(f'{turn}'))
        messages.extend(result(tool_call_id, f'{turn}.{n}') for n, tool_call_id in enumerate(ids))
    return messages


@given(histories())
def test_ids_become_unique_and_results_stay_with_their_calls(messages: list[Any]):
    """For any history: all ids differ, the nth result of a turn answers its nth call, and nothing else changes."""
    before = copy.deepcopy(messages)
    renamed: list[Any] = list(requests.unique_tool_call_ids(messages))
    calls = [c['id'] for m in renamed for c in m.get('tool_calls', ())]
    assert len(calls) == len(set(calls))
    assert [m['tool_call_id'] for m in renamed if m['role'] == 'tool'] == calls
    assert requests.unique_tool_call_ids(renamed) == renamed
    assert messages == before


@given(histories(), st.integers(0, 30))
def test_a_growing_history_keeps_its_prefix(messages: list[Any], length: int):
    """What was sent once is sent again byte for byte, so that a server's prompt cache holds."""
    whole = requests.unique_tool_call_ids(messages)
    assert requests.unique_tool_call_ids(messages[:length]) == whole[:length]


contents = st.one_of(st.text(max_size=5), st.lists(st.builds(text, st.text(max_size=5)), min_size=1, max_size=3))


@given(st.lists(st.fixed_dictionaries({'role': st.sampled_from(['user', 'assistant', 'system']), 'content': contents})))
def test_merging_alternates_and_loses_no_text(messages: list[Any]):
    """For any history: no two neighbours share a role, and all text is there in order."""
    merged: list[Any] = list(requests.merge_neighbours(messages))
    assert all(left['role'] != right['role'] for left, right in pairwise(merged))
    assert _letters(merged) == _letters(messages)


def _letters(messages: list[Any]) -> str:
    contents = [m['content'] if isinstance(m['content'], list) else [text(m['content'])] for m in messages]
    return ''.join(part['text'] for content in contents for part in content).replace('\n', '')


def test_missing_content_becomes_empty():
    """A server that takes a string or a list only gets `""` for a turn of tool calls alone (R31)."""
    absent: Any = {'role': 'assistant', 'tool_calls': [call('c2')]}
    messages = [user('hi'), calling('c1'), absent, result('c1')]
    assert requests.null_content_as_empty(messages) == [
        user('hi'),
        {**calling('c1'), 'content': ''},
        {**calling('c2'), 'content': ''},
        result('c1'),
    ]


def test_tool_call_turns_carry_the_thinking_field():
    """A turn that another model made gets the field empty; its own thinking is left (R16, R17)."""
    own = calling('c2', reasoning_content='why')
    messages = [calling('c1'), result('c1'), own, assistant('done')]
    assert requests.thinking_field_on_tool_calls(messages, 'reasoning_content') == [
        calling('c1', reasoning_content=''),
        result('c1'),
        own,
        assistant('done'),
    ]


def tool(name: str) -> Any:
    return {'type': 'function', 'function': {'name': name, 'parameters': {}}}


ALLOWED = {'mode': 'auto', 'tools': [{'type': 'function', 'function': {'name': 'g'}}]}


@pytest.mark.parametrize(
    ('choice', 'names', 'sent'),
    [
        ({'type': 'function', 'function': {'name': 'g'}}, ['g'], 'required'),
        ({'type': 'allowed_tools', 'allowed_tools': ALLOWED}, ['g'], 'auto'),
        ('required', ['f', 'g'], 'required'),
        ('none', ['f', 'g'], 'none'),
        (None, ['f', 'g'], None),
    ],
)
def test_a_named_tool_choice_becomes_a_string(choice: Any, names: list[str], sent: Any):
    """The choice is kept by sending only the tools it names (R30)."""
    tools, tool_choice = requests.named_tool_choice([tool('f'), tool('g')], choice)
    assert (tools, tool_choice) == ([tool(name) for name in names], sent)


@pytest.mark.parametrize(
    ('profile', 'case', 'expected'),
    [
        ({}, 'R18', CASES['R18']['messages']),
        (family_profile('deepseek-chat'), 'R18', CASES['R18']['messages']),
        (family_profile('deepseek-reasoner'), 'R18', [user('hi\n\nhi')]),
    ],
)
def test_a_profile_says_what_is_merged(profile: OpenAICompatibleModelProfile, case: str, expected: Any):
    """Roles are merged where the profile says so, and nowhere else."""
    assert requests.apply(CASES[case]['messages'], profile) == expected


@pytest.mark.parametrize('case', ['R16', 'R17'])
def test_deepseek_gets_reasoning_content_on_each_tool_call(case: str):
    """Both wordings of the 400 are avoided for any DeepSeek behind any server."""
    sent: Any = requests.apply(CASES[case]['messages'], family_profile('deepseek-ai/DeepSeek-V3.2'))
    assert [message.get('reasoning_content') for message in sent] == [None, '', None]


def test_kimi_ids_go_back_byte_for_byte():
    """No key of the family touches an id, repeated or not."""
    messages = [calling('functions.f:0', 'functions.f:0'), result('functions.f:0'), result('functions.f:0')]
    assert requests.apply(messages, family_profile('kimi-k2.6')) == messages


def test_all_changes_together():
    """Merged turns have unique ids, a thinking field, and a content."""
    profile = OpenAICompatibleModelProfile(
        openai_chat_thinking_field='reasoning_content',
        openai_compatible_merges_neighbours=True,
        openai_compatible_unique_tool_call_ids=True,
        openai_compatible_thinking_field_on_tool_calls=True,
        openai_compatible_empty_content=True,
    )
    messages = [user('a'), user('b'), calling('c'), calling('c'), result('c', '1'), result('c', '2')]
    assert requests.apply(messages, profile) == [
        user('a\n\nb'),
        {**calling('c', 'c_2'), 'content': '', 'reasoning_content': ''},
        result('c', '1'),
        result('c_2', '2'),
    ]


def test_tools_are_refused_where_none_are_taken():
    """The error comes before the request and names the tools and the ways out."""
    profile = OpenAICompatibleModelProfile(openai_compatible_supports_tools=False)
    parameters = ModelRequestParameters(
        function_tools=[ToolDefinition(name='f')], output_tools=[ToolDefinition(name='g')]
    )
    with pytest.raises(UserError, match=r"'sonar' takes no tools, but the request has 'f', 'g'\. .*`NativeOutput`"):
        requests.refuse_tools('sonar', profile, parameters)


@pytest.mark.parametrize(
    ('profile', 'tools'),
    [({'openai_compatible_supports_tools': False}, []), ({}, [ToolDefinition(name='f')])],
)
def test_tools_are_no_error_elsewhere(profile: OpenAICompatibleModelProfile, tools: list[ToolDefinition]):
    """A request without tools, and an endpoint that takes them, pass."""
    requests.refuse_tools('m', profile, ModelRequestParameters(function_tools=tools))
