"""Histories that gpt-oss did not write, token for token as openai-harmony renders them."""

from dataclasses import replace

import openai_harmony  # pyright: ignore[reportMissingTypeStubs]  # it has none
import pytest
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from tests.harmony import oracle
from tests.harmony.sampling import BASH, TOKENS, ids_of


def test_an_answer_from_elsewhere_at_the_end_is_the_oracles() -> None:
    """An answer that gpt-oss did not sample ends as openai-harmony ends it in a prompt."""
    messages = [ModelRequest([UserPromptPart('x')]), ModelResponse([TextPart('y')])]
    role = openai_harmony.Role
    theirs = [
        openai_harmony.Message.from_role_and_content(role.USER, 'x'),
        openai_harmony.Message.from_role_and_content(role.ASSISTANT, 'y').with_channel('final'),
    ]
    conversation = openai_harmony.Conversation.from_messages([oracle.system(), *theirs])
    completion = oracle.harmony().render_conversation_for_completion(conversation, role.ASSISTANT)
    assert TOKENS.dump_messages(messages) == completion


@pytest.mark.parametrize('is_finished', [False, True])
def test_a_history_from_elsewhere_is_the_oracles(is_finished: bool) -> None:
    """Tools, users, calls, results and answers are token for token what openai-harmony renders of the same messages."""
    call = ToolCallPart('bash', '{"command": "ls"}')
    messages: list[ModelMessage] = [
        ModelRequest([UserPromptPart('What is here?')]),
        ModelResponse([ThinkingPart('List first.'), TextPart('Looking.'), call]),
        ModelRequest([ToolReturnPart('bash', 'a\nb', call.tool_call_id)]),
    ]
    assistant, tool = (
        openai_harmony.Role.ASSISTANT,
        openai_harmony.Author.new(openai_harmony.Role.TOOL, 'functions.bash'),
    )

    def said(text: str, channel: str) -> openai_harmony.Message:
        return openai_harmony.Message.from_role_and_content(assistant, text).with_channel(channel)

    called = said('{"command": "ls"}', 'commentary').with_recipient('functions.bash')
    answered = openai_harmony.Message.from_author_and_content(tool, 'a\nb').with_channel('commentary')
    theirs = [
        openai_harmony.Message.from_role_and_content(openai_harmony.Role.USER, 'What is here?'),
        *([] if is_finished else [said('List first.', 'analysis')]),
        said('Looking.', 'commentary'),
        called.with_content_type('<|constrain|>json'),
        answered.with_recipient('assistant'),
    ]
    if is_finished:
        messages += [
            ModelResponse([ThinkingPart('Two.'), TextPart('a and b.')]),
            ModelRequest([UserPromptPart('And?')]),
        ]
        theirs += [said('a and b.', 'final')]
        theirs += [openai_harmony.Message.from_role_and_content(openai_harmony.Role.USER, 'And?')]
    begun = [oracle.system(), oracle.developer('Be brief.', BASH.function_tools)]
    parameters = replace(BASH, instruction_parts=[InstructionPart(content='Be brief.')])
    assert TOKENS.dump_messages(messages, parameters) == [
        *oracle.render(*begun, *theirs),
        *ids_of('<|start|>assistant'),
    ]
