"""L1: a history as the prompt of the next turn, departures included."""

import warnings
from collections import deque
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    FilePart,
    ImageUrl,
    InstructionDeltaPart,
    InstructionPart,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    SpeechPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from pydantic_ai_verbatim.harmony.adapter import HarmonyAdapter
from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from pydantic_ai_verbatim.harmony.prompt import Prompter
from tests.harmony.sampling import BASH, TEXT, TOKENS, history, ids_of, through_json, user

CALL = (
    '<|channel|>analysis<|message|>List first.<|end|>'
    '<|start|>assistant to=functions.bash<|channel|>commentary code<|message|>{ "command": "ls" }<|call|>'
)
ANSWER = (
    '<|channel|>analysis<|message|>Two files.<|end|><|start|>assistant<|channel|>final<|message|>a and b.<|return|>'
)


def after(response: ModelResponse, content: Any = 'a\nb', **fields: Any) -> ModelRequest:
    """Answer the only call of a response."""
    (call,) = response.tool_calls
    return ModelRequest([ToolReturnPart(call.tool_name, content, call.tool_call_id, **fields)])


def turn(call: str = CALL, answer: str = ANSWER) -> list[ModelMessage]:
    """A user turn with one tool call."""
    called = TEXT.load_response(call)
    return [user('What is here?'), called, after(called), TEXT.load_response(answer)]


def test_the_whole_prompt() -> None:
    """System message, developer message with its tools, user, samples and tool result, then the model's turn."""
    asked = ModelRequest([SystemPromptPart('Be brief.'), UserPromptPart('What is here?')])
    messages = [asked, *turn()[1:3]]
    assert TEXT.dump_messages(messages, BASH, current_date=date(2026, 11, 30), settings={'thinking': 'low'}) == (
        '<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\n'
        'Knowledge cutoff: 2024-06\nCurrent date: 2026-11-30\n\nReasoning: low\n\n'
        '# Valid channels: analysis, commentary, final. Channel must be included for every message.\n'
        "Calls to these tools must go to the commentary channel: 'functions'.<|end|>"
        '<|start|>developer<|message|># Instructions\n\nBe brief.\n\n# Tools\n\n## functions\n\nnamespace functions {\n\n'
        '// Run a command.\ntype bash = (_: {\ncommand?: string,\n}) => any;\n\n} // namespace functions<|end|>'
        '<|start|>user<|message|>What is here?<|end|>'
        f'<|start|>assistant{CALL}'
        '<|start|>functions.bash to=assistant<|channel|>commentary<|message|>a\nb<|end|>'
        '<|start|>assistant'
    )


def test_within_a_turn_prompt_and_sample_are_the_next_prompts_beginning() -> None:
    """What the model read and wrote comes back in the next prompt, id for id."""
    called = TOKENS.load_response(ids_of(CALL), BASH)
    before = TOKENS.dump_messages([user('What is here?')], BASH)
    then = TOKENS.dump_messages([user('What is here?'), called, after(called)], BASH)
    assert then[: len(before) + len(ids_of(CALL))] == [*before, *ids_of(CALL)]


def test_a_finished_turn_loses_its_analysis_and_its_return() -> None:
    """Once a next user turn has begun, analysis is left out of every finished turn, and a return ends a message."""
    messages = [*turn(), user('And?'), *turn()[1:], user('More?')]
    call = CALL.partition('<|end|><|start|>assistant')[2]
    finished = (
        f'<|start|>assistant{call}<|start|>functions.bash to=assistant<|channel|>commentary<|message|>a\nb<|end|>'
        '<|start|>assistant<|channel|>final<|message|>a and b.<|end|>'
    )
    assert history(messages) == (
        f'<|start|>user<|message|>What is here?<|end|>{finished}'
        f'<|start|>user<|message|>And?<|end|>{finished}<|start|>user<|message|>More?<|end|><|start|>assistant'
    )


def test_keep_analysis() -> None:
    """On request the analysis stays; the return ends a message all the same."""
    rendered = history([*turn(), user('And?')], keep_analysis=True)
    assert f'<|start|>assistant{CALL}<|start|>' in rendered
    assert f'<|start|>assistant{ANSWER.replace("<|return|>", "<|end|>")}<|start|>user' in rendered


@pytest.mark.parametrize(
    'answer',
    [
        pytest.param('<|channel|>analysis<|message|>Two.<|end|><|start|>assistant<|channel|>final<|message|>a a', id='cut'),
        pytest.param('<|channel|>analysis<|message|>Two.<|end|><|start|>assistant<|channel|>commentary<|message|>a<|end|>', id='preamble'),
        pytest.param('<|channel|>analysis<|message|>Two.<|end|>', id='analysis'),
        pytest.param(CALL, id='call'),
        pytest.param('<|channel|>analysis<|message|>t<|end|><|start|>assistant<|channel|>comment<|message|>Plan.<|end|>', id='no channel'),
        pytest.param('<|channel|>analysis<|message|>t<|end|><|start|>user<|message|>Next?<|end|><|start|>assistant<|channel|>analysis<|message|>u', id='another role'),
    ],
)  # fmt: skip
def test_a_turn_without_a_finished_answer_keeps_its_analysis(answer: str) -> None:
    """Analysis leads to the answer that is still to come, and stays until it has been given."""
    rendered = history([*turn(answer=answer), user('And?')])
    assert f'<|start|>assistant{CALL}<|start|>' in rendered
    assert f'<|start|>assistant{answer}<|start|>user' in rendered


THOUGHT = '<|channel|>analysis<|message|>t<|end|>'


@pytest.mark.parametrize('adapter', [TEXT, TOKENS], ids=['text', 'ids'])
@pytest.mark.parametrize(
    ('sampled', 'rendered'),
    [
        pytest.param('assistant<|channel|>final<|message|>y<|return|>', '<|channel|>final<|message|>y', id='a role'),
        pytest.param('<|channel|>final<|message|>y<|return|>', '<|channel|>final<|message|>y', id='nothing'),
        pytest.param(
            '\n<|start|>assistant<|channel|>final<|message|>y<|return|>',
            '<|channel|>final<|message|>y',
            id='white space',
        ),
        pytest.param(
            '<|start|><|start|>assistant<|channel|>final<|message|>y<|return|>',
            '<|channel|>final<|message|>y',
            id='starts',
        ),
        pytest.param(
            '<|end|><|start|>assistant<|channel|>final<|message|>y<|return|>',
            '<|channel|>final<|message|>y',
            id='a stop token',
        ),
        pytest.param('<|start|><|channel|>final <|message|>y<|return|>', '<|channel|>final <|message|>y', id='no role'),
        pytest.param(
            '<|start|>user<|channel|>final<|message|>y<|return|>', '<|channel|>final<|message|>y', id='another role'
        ),
        pytest.param(
            '<|start|>assistantassistant<|channel|>final<|message|>y<|return|>',
            'assistant<|channel|>final<|message|>y',
            id='a header of its own',
        ),
    ],
)
def test_what_stood_before_a_block_stays_behind(adapter: HarmonyAdapter[Any], sampled: str, rendered: str) -> None:
    """A block that has become the first one follows `<|start|>assistant`, and nothing of what led up to it elsewhere."""
    sample = THOUGHT + sampled if adapter is TEXT else ids_of(THOUGHT + sampled)
    response = through_json(adapter.load_response(sample))
    assert adapter.dump_response(response) == sample
    expected = f'<|start|>user<|message|>x<|end|><|start|>assistant{rendered}<|end|><|start|>user<|message|>y<|end|>'
    prompt = adapter.dump_messages([user('x'), response, user('y')])
    assert expected in (prompt if isinstance(prompt, str) else o200k_harmony().decode(prompt).decode())
    moved = adapter.dump_response(ModelResponse(response.parts[1:]))
    assert moved == (f'{rendered}<|return|>' if adapter is TEXT else ids_of(f'{rendered}<|return|>'))


def test_what_stood_before_a_first_block_stays_behind() -> None:
    """A first block's own beginning comes back in the first place, and nowhere else."""
    sampled = '\n<|start|>assistant<|channel|>final<|message|>y<|return|>'
    response = through_json(TEXT.load_response(sampled))
    assert TEXT.dump_response(response) == sampled
    parts = [ThinkingPart('t'), *response.parts]
    assert (
        TEXT.dump_response(ModelResponse(parts)) == f'{THOUGHT}<|start|>assistant<|channel|>final<|message|>y<|return|>'
    )


def test_a_return_in_a_body_is_text() -> None:
    """Only the end of a block is rewritten, where a body that was not sampled spells it, or an edited one, too."""
    spelled = 'Write <|return|> here.'
    edited = [replace(part, content=spelled) for part in TEXT.load_response(ANSWER).parts if part.part_kind == 'text']
    for part in (TextPart(spelled), *edited):
        rendered = history([user('x'), ModelResponse([part]), user('y')])
        assert f'<|start|>assistant<|channel|>final<|message|>{spelled}<|end|><|start|>user' in rendered


def test_analysis_after_the_answer_stays() -> None:
    """What the model thought after its answer did not lead to it."""
    answer = f'{ANSWER.replace("<|return|>", "<|end|>")}<|start|>assistant<|channel|>analysis<|message|>Hm.<|end|>'
    assert '<|message|>Hm.<|end|>' in history([user('x'), TEXT.load_response(answer), user('y')])


def test_headers_without_a_body_in_a_finished_turn() -> None:
    """A header that ended early is left out where it named the analysis channel, and kept elsewhere."""
    sampled = '<|channel|>analysis Need it.<|end|><|start|>assistant<|channel|>commentary? Hm.<|end|><|start|>assistant'
    response = TEXT.load_response(f'{sampled}<|channel|>final<|message|>Yes.<|return|>')
    rendered = history([user('x'), response, user('y')])
    assert '<|start|>assistant<|channel|>commentary? Hm.<|end|><|start|>assistant<|channel|>final' in rendered
    assert 'Need it.' not in rendered


def test_a_look_alike_in_a_header_without_a_body_names_no_channel() -> None:
    """With ids, only the marker's own id makes a header name its channel."""
    spelled = o200k_harmony().encode('<|channel|>analysis')
    sampled = [*spelled, *ids_of(f'<|end|><|start|>assistant{ANSWER}')]
    prompt = TOKENS.dump_messages([user('x'), TOKENS.load_response(sampled), user('y')])
    assert '<|start|>assistant<|channel|>analysis<|end|>' in o200k_harmony().decode(prompt).decode()


def test_a_response_of_which_nothing_stays_is_left_out() -> None:
    """A response that was only analysis leaves no empty message behind."""
    messages = [
        user('x'),
        TEXT.load_response('<|channel|>analysis<|message|>Hm.<|end|>'),
        TEXT.load_response('<|channel|>final<|message|>Yes.<|return|>'),
        user('y'),
    ]
    assert history(messages) == (
        '<|start|>user<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|end|>'
        '<|start|>user<|message|>y<|end|><|start|>assistant'
    )


@pytest.mark.parametrize(('sampled', 'rendered'), [('', ''), ('<|return|>', '<|end|>')])
def test_a_sample_without_a_block_in_a_history(sampled: str, rendered: str) -> None:
    """A sample without a block keeps its place; a response from elsewhere without content has none."""
    response = TEXT.load_response(sampled)
    assert history([user('x'), response]).endswith(f'<|end|><|start|>assistant{sampled}<|start|>assistant')
    assert f'<|end|><|start|>assistant{rendered}<|start|>user' in history([user('x'), response, user('y')])
    assert history([user('x'), ModelResponse([])]) == history([user('x')])


def test_python_keeps_its_channel() -> None:
    """The built-in tools are called and answer on the analysis channel, which stays, in a finished turn too."""
    sampled = '<|channel|>analysis to=python code<|message|>print(1)\n<|call|>'
    for call, channel in ((sampled, 'analysis'), (sampled.replace('analysis', 'commentary'), 'commentary')):
        response = TEXT.load_response(call)
        messages = [user('x'), response, after(response, '1'), TEXT.load_response(ANSWER), user('y')]
        assert (
            f'<|start|>assistant{call}<|start|>python to=assistant<|channel|>{channel}<|message|>1<|end|>'
        ) in history(messages)


@pytest.mark.parametrize('functions', [[], [ToolDefinition(name='python')]], ids=['undeclared', 'declared'])
@pytest.mark.parametrize(
    ('call', 'author'),
    [
        (
            '<|channel|>commentary to=functions.python <|constrain|>json<|message|>{}<|call|>',
            'functions.python to=assistant<|channel|>commentary',
        ),
        ('<|channel|>analysis to=python code<|message|>1<|call|>', 'python to=assistant<|channel|>analysis'),
    ],
    ids=['function', 'built-in'],
)
def test_an_answer_comes_from_where_the_call_went(call: str, author: str, functions: list[ToolDefinition]) -> None:
    """Which tools are declared when the prompt is rendered changes nothing of what a sampled call was."""
    response = through_json(TEXT.load_response(call))
    messages = [user('x'), response, after(response, '1')]
    rendered = history(messages, parameters=ModelRequestParameters(function_tools=functions))
    assert f'<|start|>assistant{call}<|start|>{author}<|message|>1<|end|>' in rendered


def test_the_answer_to_a_renamed_call_comes_from_the_tool_it_calls_now() -> None:
    """An edited call is rendered as if it had not been sampled, and so is its answer."""
    response = TEXT.load_response('<|channel|>commentary to=functions.bash code<|message|>1<|call|>')
    renamed = ModelResponse([replace(call, tool_name='python') for call in response.tool_calls])
    rendered = history([user('x'), renamed, after(renamed, '1')])
    assert ' to=python<|channel|>analysis code<|message|>1<|call|><|start|>python to=assistant<|channel|>' in rendered


def test_a_function_called_python_is_a_function() -> None:
    """A declared tool is a function, whatever its name."""
    parameters = ModelRequestParameters(function_tools=[ToolDefinition(name='python')])
    call = ToolCallPart('python', {'code': '1'})
    messages = [user('x'), ModelResponse([call]), ModelRequest([ToolReturnPart('python', '1', call.tool_call_id)])]
    rendered = history(messages, parameters=parameters)
    assert '<|start|>assistant to=functions.python<|channel|>commentary <|constrain|>json<|message|>' in rendered
    assert '<|start|>functions.python to=assistant<|channel|>commentary<|message|>1<|end|>' in rendered
    assert ' to=python<|channel|>analysis <|constrain|>json' in history(messages)


@pytest.mark.parametrize(
    ('part', 'text'),
    [
        (ToolReturnPart('a', {'x': ['\ud83d']}), '{"x":["\ufffd"]}'),
        (ToolReturnPart('a', [{'x': '\ud83d'}, 1]), '{"x":"\ufffd"}\n1'),
        (ToolReturnPart('a', {'x': [Path('\ud83d'), ('y', 1)]}), '{"x":["\ufffd",["y",1]]}'),
        (ToolReturnPart('a', '\ud83d', outcome='failed'), '{"error":"\ufffd"}'),
        (
            RetryFeedbackPart(
                [{'type': 'missing', 'loc': ('x',), 'msg': 'No.', 'input': '\ud83d'}],
                retry=RetryInfo(cause='model_retry', attempt=1, max_retries=1),
            ),
            '\ufffd',
        ),
    ],
)
def test_values_with_a_lone_surrogate(part: Any, text: str) -> None:
    """What JSON cannot hold is written as U+FFFD, in results, in feedback and in arguments."""
    assert text in TEXT.dump_messages([ModelRequest([part])])
    assert TEXT.dump_response(ModelResponse([ToolCallPart('a', {'x': '\ud83d'})])).endswith('{"x":"\ufffd"}<|call|>')


@pytest.mark.parametrize(
    ('content', 'fields', 'text'),
    [
        ('a', {}, 'a'),
        (['a', 'b'], {}, 'a\nb'),
        (('a', 'b'), {}, 'a\nb'),
        ({'a'}, {}, 'a'),
        (frozenset({'a'}), {}, 'a'),
        (deque(['a', 'b']), {}, 'a\nb'),
        (['a\nb', ''], {}, '["a\\nb",""]'),
        ([], {}, '[]'),
        ([{'x': 1.0}, 2], {}, '{"x":1.0}\n2'),
        ({'x': 1.0}, {}, '{"x":1.0}'),
        ('no', {'outcome': 'failed'}, '{"error":"no"}'),
    ],
)
def test_tool_results(content: Any, fields: dict[str, Any], text: str) -> None:
    """A result is one text, on commentary; twice rendered, after a reload, and after it was changed in place."""
    response = TEXT.load_response(CALL)
    answered = after(response, content, **fields)
    for _ in range(2):
        rendered = history([user('x'), response, answered])
        assert rendered.endswith(
            f'<|start|>functions.bash to=assistant<|channel|>commentary<|message|>{text}<|end|><|start|>assistant'
        )
    stored = ModelMessagesTypeAdapter.dump_json([user('x'), response, answered])
    assert history(ModelMessagesTypeAdapter.validate_json(stored)) == history([user('x'), response, answered])
    answered.parts = [replace(answered.parts[0], content='other', outcome='success')]
    assert '<|message|>other<|end|>' in history([user('x'), response, answered])


def test_a_change_in_place_is_seen() -> None:
    """What was rendered before is recognised by what it says, and not by which object said it."""
    response = TEXT.load_response(CALL)
    messages = [user('x'), response]
    assert 'commentary code' in history(messages)
    details = response.parts[1].provider_details
    assert details is not None
    details['content_type'] = 'json'
    assert 'commentary <|constrain|>json' in history(messages)
    details['harmony']['stop_token'] = '<|end|>'
    details['content_type'] = 'code'
    assert 'ls" }<|end|>' in history(messages)


def test_other_requests() -> None:
    """Later system prompts speak as the developer; retries and lists of texts as the user."""
    parts = [
        SystemPromptPart('Now in French.'),
        UserPromptPart(['one', CachePoint(), TextContent('two')]),
        RetryFeedbackPart('Shorter.', retry=RetryInfo(cause='model_retry', attempt=1, max_retries=1)),
    ]
    rendered = history([user('x'), ModelRequest(parts)])
    assert '<|start|>developer<|message|># Instructions\n\nNow in French.<|end|>' in rendered
    assert '<|start|>user<|message|>one\ntwo<|end|><|start|>user<|message|>' in rendered
    assert 'Shorter.' in rendered


def test_parts_that_harmony_has_no_form_for() -> None:
    """What upstream keeps for itself, and what other models made, is left out."""
    response = ModelResponse([FilePart(BinaryContent(b'x', media_type='image/png')), TextPart('Yes.')])
    rendered = history([ModelRequest([ToolAvailabilityDeltaPart(), UserPromptPart('x')]), response])
    assert rendered == (
        '<|start|>user<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|end|><|start|>assistant'
    )


@pytest.mark.parametrize(
    'message',
    [
        ModelRequest([SpeechPart(speaker='user', transcript='x')]),
        ModelResponse([SpeechPart(speaker='assistant', transcript='x')]),
        ModelRequest([InstructionDeltaPart(id=None, content='New rule.')]),
    ],
    ids=['user', 'assistant', 'instruction'],
)
def test_parts_that_only_a_model_can_prepare(message: ModelMessage) -> None:
    """What upstream's models turn into other parts first is not lost in silence."""
    with pytest.raises(UserError, match=r'holds an? (SpeechPart|InstructionDeltaPart).*prepare_messages'):
        history([message])


def test_retries_of_old_histories() -> None:
    """A stored retry prompt is translated by upstream, and one in memory is rendered alike."""
    old: Any = {'part_kind': 'retry-prompt', 'content': 'No.', 'tool_name': 'bash', 'tool_call_id': 'c'}
    stored = ModelMessagesTypeAdapter.validate_python([{'kind': 'request', 'parts': [old]}])
    assert '<|start|>functions.bash to=assistant' in history(stored)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # upstream warns when one is made
        from pydantic_ai.messages import RetryPromptPart  # pyright: ignore[reportDeprecated]  # histories still hold it

        named = RetryPromptPart('No.', tool_name='bash')  # pyright: ignore[reportDeprecated]  # histories still hold it
        unnamed = RetryPromptPart('No.')  # pyright: ignore[reportDeprecated]  # histories still hold it
    assert '<|start|>functions.bash to=assistant<|channel|>commentary<|message|>No.' in history([ModelRequest([named])])
    assert '<|start|>user<|message|>Validation feedback:\nNo.' in history([ModelRequest([unnamed])])
    assert 'Hm.' in history([user('x'), ModelResponse([ThinkingPart('Hm.'), TextPart('y')]), ModelRequest([named])])
    assert 'Hm.' not in history(
        [user('x'), ModelResponse([ThinkingPart('Hm.'), TextPart('y')]), ModelRequest([unnamed])]
    )


def test_instructions() -> None:
    """The parameters' instructions count, else those of the last request that has some."""
    asked = [replace(user('x'), instructions='Old.'), replace(user('y'), instructions='New.'), user('z')]
    assert '# Instructions\n\nNew.<|end|>' in TEXT.dump_messages(asked)
    parameters = ModelRequestParameters(
        instruction_parts=[InstructionPart(content='One.'), InstructionPart(content='Two.')]
    )
    assert '# Instructions\n\nOne.\n\nTwo.<|end|>' in TEXT.dump_messages(asked, parameters)
    assert '<|start|>developer' not in TEXT.dump_messages([])


def test_instructions_of_a_prompted_output() -> None:
    """The schema that the model is prompted with stands behind the other instructions, once."""
    parameters = ModelRequestParameters(
        output_mode='prompted',
        prompted_output_template='Answer as {schema}',
        output_object=OutputObjectDefinition({'type': 'object'}),
        instruction_parts=[InstructionPart(content='One.')],
    )
    asked = '# Instructions\n\nOne.\n\nAnswer as {"type": "object"}<|end|>'
    assert asked in TEXT.dump_messages([user('x')], parameters)
    prepared = [*(parameters.instruction_parts or []), InstructionPart(content='Answer as {"type": "object"}')]
    assert asked in TEXT.dump_messages([user('x')], replace(parameters, instruction_parts=prepared))


def test_what_is_not_text_is_the_callers_mistake() -> None:
    """gpt-oss reads text only: images and files are named in the error."""
    with pytest.raises(UserError, match='holds an ImageUrl'):
        TEXT.dump_messages([ModelRequest([UserPromptPart([ImageUrl('https://example.com/a.png')])])])
    with pytest.raises(UserError, match="the tool 'draw' returned a file"):
        TEXT.dump_messages([ModelRequest([ToolReturnPart('draw', BinaryContent(b'x', media_type='image/png'))])])


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation larger than what is remembered is rendered all the same."""
    messages = [*turn(), user('y')]
    expected = TEXT.dump_messages(messages)
    monkeypatch.setattr(Prompter, 'BOUND', 1)
    monkeypatch.setattr('pydantic_ai_verbatim.harmony.rendering.Renderer.BOUND', 50)
    assert type(TEXT)().dump_messages(messages) == expected
