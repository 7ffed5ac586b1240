"""L1: a whole transcript to messages, and back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.harmony.adapter import HarmonyAdapter
from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from tests.harmony.sampling import SAMPLES, TEXT, TOKENS, fuzzed, ids_of
from tests.harmony.test_history import ANSWER, CALL, after, user

TOOLS = ModelRequestParameters(function_tools=[ToolDefinition(name='bash'), ToolDefinition(name='python')])


def transcript_tools() -> str:
    """What the tools look like behind the instructions."""
    return transcript().rpartition('<|message|>')[2].partition('<|end|>')[0]


def transcript(*messages: Any) -> str:
    return TEXT.dump_messages(messages, TOOLS)


def test_messages() -> None:
    """Instructions, users, responses and tool results come back, each answer with the id of its call."""
    called = TEXT.load_response(CALL)
    first = ModelRequest([SystemPromptPart('Be\n\n# brief.'), UserPromptPart('x')])
    conversation = transcript(first, called, after(called, 'a'), TEXT.load_response(ANSWER), user('y'))
    loaded = TEXT.load_messages(conversation, TOOLS)
    asked, call, answered, answer, again = loaded
    assert [part.content for part in asked.parts if isinstance(part, SystemPromptPart | UserPromptPart)] == [
        'Be\n\n# brief.',
        'x',
    ]
    (result,) = answered.parts
    assert isinstance(result, ToolReturnPart)
    assert (result.tool_name, result.content) == ('bash', 'a')
    assert [result.tool_call_id] == [part.tool_call_id for part in call.parts if part.part_kind == 'tool-call']
    assert [part.part_kind for part in answer.parts] == ['text']
    assert isinstance(again, ModelRequest)
    assert TEXT.dump_messages(loaded, TOOLS) == conversation


@pytest.mark.parametrize('adapter', [TEXT, TOKENS], ids=['text', 'ids'])
@pytest.mark.parametrize('sampled', SAMPLES)
def test_every_case_in_a_transcript(adapter: HarmonyAdapter[Any], sampled: str) -> None:
    """Each case comes back as it was sampled from within a transcript."""
    sample = sampled if adapter is TEXT else ids_of(sampled)
    messages = [user('x'), adapter.load_response(sample), ModelRequest([ToolReturnPart('bash', '1')])]
    conversation = adapter.dump_messages(messages)
    loaded = adapter.load_messages(conversation)
    assert adapter.dump_messages(loaded) == conversation
    assert adapter.dump_response(loaded[1]) == sample  # pyright: ignore[reportArgumentType]  # a response stands there


sampled_turns = st.lists(
    st.sampled_from([*SAMPLES, CALL, ANSWER, '', '<|start|><|return|>', '\n<|end|>']).map(TEXT.load_response)
    | st.sampled_from([user('x'), user('\n# Tools\n'), ModelRequest([ToolReturnPart('bash', '1'), ToolReturnPart('python', '2')])])
    | st.just(ModelRequest([SystemPromptPart('In French.')])),
    max_size=6,
)  # fmt: skip


def test_a_functions_answer_is_none_to_a_built_in_tool() -> None:
    """A declared `python` and the built-in one are two tools, in a transcript, too."""
    call = TEXT.load_response('<|channel|>analysis to=python code<|message|>1<|call|>')
    conversation = transcript(user('x'), call, ModelRequest([ToolReturnPart('python', '2')]))
    assert '<|start|>functions.python to=assistant<|channel|>commentary<|message|>2' in conversation
    assert transcript(*TEXT.load_messages(conversation, TOOLS)) == conversation


instructions = st.lists(
    st.sampled_from(['Be brief.', '\n\n', '# Tools\n', '# Tools', '## functions\n', '# Response Formats', '## x', '# Instructions\n\n', transcript_tools()]),
    min_size=1,
    max_size=5,
).map(lambda pieces: ''.join([*pieces, '.']))  # fmt: skip


@fuzzed
@given(instructions, sampled_turns)
def test_random_transcripts(told: str, messages: list[Any]) -> None:
    """What was rendered, loaded and rendered again is the same."""
    messages = [
        message
        for at, message in enumerate(messages)
        if isinstance(message, ModelRequest) or at == 0 or isinstance(messages[at - 1], ModelRequest)
    ]
    conversation = transcript(ModelRequest([SystemPromptPart(told), UserPromptPart('q')]), *messages)
    assert transcript(*TEXT.load_messages(conversation, TOOLS)) == conversation


@pytest.mark.parametrize(
    ('developer', 'instructions'),
    [
        ('# Instructions\n\nBe brief.\n\n# Tools\n\n## functions\n', 'Be brief.'),
        ('# Instructions\n\nBe brief.\n\n# Response Formats\n\n## x', 'Be brief.'),
        ('Be brief.', 'Be brief.'),
        ('# Tools\n\n## functions\n', None),
        ('', None),
    ],
)
def test_instructions(developer: str, instructions: str | None) -> None:
    """Of a developer message the instructions are kept, under their heading or without one."""
    messages = TEXT.load_messages(f'<|start|>developer<|message|>{developer}<|end|><|start|>user<|message|>x<|end|>')
    texts = [part.content for message in messages for part in message.parts if isinstance(part, SystemPromptPart)]
    assert texts == ([] if instructions is None else [instructions])


def test_transcripts_from_elsewhere() -> None:
    """A tool that was not called may answer, a header may have no body, and a role may be spelled in other tokens."""
    (request,) = TEXT.load_messages(
        '<|start|>functions.a to=assistant<|channel|>commentary<|message|>1<|end|><|start|>user'
    )
    assert [part.content for part in request.parts if isinstance(part, ToolReturnPart | UserPromptPart)] == ['1', '']
    ids = [
        200006,
        *o200k_harmony().encode('assist'),
        *o200k_harmony().encode('ant'),
        *ids_of('<|channel|>final<|message|>x<|end|>'),
    ]
    (response,) = TOKENS.load_messages(ids)
    assert TOKENS.dump_response(response) == ids  # pyright: ignore[reportArgumentType]  # a response stands there


@pytest.mark.parametrize('adapter', [TEXT, TOKENS], ids=['text', 'tokens'])
def test_white_space_before_an_answer_was_not_sampled(adapter: HarmonyAdapter[Any]) -> None:
    """Transcripts that are printed a message a line put a line feed between them."""
    told = '<|start|>user<|message|>u<|end|>\n<|start|>assistant<|channel|>final<|message|>x<|end|>'
    given = told if adapter is TEXT else ids_of(told)
    rendered = adapter.dump_messages(adapter.load_messages(given))
    expected = f'{told.replace(chr(10), "")}<|start|>assistant'
    assert rendered[-len(expected) :] == expected if adapter is TEXT else rendered[-9:] == ids_of(expected)[-9:]


@pytest.mark.parametrize('end', ['<|start|><|return|>', '<|start|><|start|>', '<|return|>', ''])
def test_an_answer_without_a_block_at_the_end(end: str) -> None:
    """What follows the last `<|start|>assistant` is a sample; where nothing does, the model has yet to speak."""
    loaded = TEXT.load_messages(f'{TEXT.dump_messages([user("x")])}{end}')
    assert [TEXT.dump_response(message) for message in loaded if isinstance(message, ModelResponse)] == [end][
        : len(end)
    ]
    assert [TEXT.dump_messages(loaded[:1])] == [TEXT.dump_messages([user('x')])]


@pytest.mark.parametrize('tail', ['<|return|>', '<|end|> \n', '<|start|>'])
def test_what_follows_the_last_answer_is_kept_with_it(tail: str) -> None:
    """A transcript may end with more than a stop token."""
    sampled = f'<|channel|>final<|message|>Done.<|end|>{tail}'
    asked, answered = TEXT.load_messages(f'<|start|>user<|message|>x<|end|><|start|>assistant{sampled}')
    assert isinstance(asked, ModelRequest)
    assert isinstance(answered, ModelResponse)
    assert TEXT.dump_response(answered) == sampled


@pytest.mark.parametrize('given', ['garbage', CALL, ANSWER, ids_of(CALL)])
def test_a_sample_is_no_transcript(given: str | list[int]) -> None:
    """What does not start with `<|start|>` is refused, and the method for it is named."""
    with pytest.raises(UserError, match='looks like a sample: use `load_response`'):
        TOKENS.load_messages(given)


@pytest.mark.parametrize('adapter', [TEXT, TOKENS], ids=['text', 'ids'])
def test_a_block_without_a_role_is_no_tool_result(adapter: HarmonyAdapter[Any]) -> None:
    """Nobody's words are kept as the model's own, and invent no tool."""
    conversation = '<|start|>user<|message|>x<|end|><|start|><|message|>y<|end|>'
    loaded = adapter.load_messages(conversation if adapter is TEXT else ids_of(conversation))
    assert [message.kind for message in loaded] == ['request', 'response']
    assert [part.part_kind for part in loaded[1].parts] == ['text']
    assert not TEXT.load_messages('')
