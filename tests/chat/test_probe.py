"""`probe()` against servers on loopback that show their prompt, or reject, or lose, or say nothing."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import anyio
import pytest
from pydantic_ai.exceptions import UserError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pydantic_ai_verbatim import OpenAICompatibleModel, ProbeReport, learned_formats, probe
from pydantic_ai_verbatim.chat import shown_prompt
from pydantic_ai_verbatim.chat.negotiation import WireFormat
from pydantic_ai_verbatim.chat.readings import FormatReport, Reading, Sample, best_format, recommendation
from pydantic_ai_verbatim.cli.demo_server import LoopbackServer

from .prompting_server import (
    KEY,
    PromptingServer,
    a_block_an_item,
    drops_empty_items,
    empties_parts,
    glues_parts,
    joins_parts,
    prints_parts,
    probed,
    repeats,
)

SET_TEXT = "Set openai_compatible_tool_return_format='text' in the settings or profile."
DEFAULT_IS_RIGHT = "The default, 'parts', is right: set nothing."


def readings(report: ProbeReport) -> dict[str, tuple[Reading, Reading]]:
    return {entry.format: (entry.items.reading, entry.with_empty_item.reading) for entry in report.formats}


ALL_APART = dict.fromkeys(('parts', 'text', 'json'), ('apart', 'apart'))


# Servers that show their prompt --------------------------------------------------------------------------------------


async def test_llama_cpp_that_loses_parts():
    """The prompt of each format is shown, and the one that keeps the items is recommended."""
    report = await probed(PromptingServer(empties_parts, shows='llama.cpp'))
    assert readings(report) == {**ALL_APART, 'parts': ('lost', 'lost')}
    assert (report.shown_by, report.evidence) == ('llama.cpp', 'prompt')
    assert (report.default, report.recommended) == ('parts', 'text')
    assert report.recommendation == SET_TEXT
    parts, text, as_json = report.formats
    empty = '<tool_response></tool_response>'
    assert parts.items.prompt == f'"}}{empty}{empty}<assistant>'
    assert parts.with_empty_item.prompt == f'"}}{empty}{empty}{empty}<assistant>'
    assert text.items.prompt == '"}<tool_response>VERBATIM-ALPHA\nVERBATIM-BRAVO</tool_response><assistant>'
    assert text.with_empty_item == as_json.with_empty_item
    assert parts.with_empty_item.sent == [
        {'type': 'text', 'text': 'VERBATIM-ALPHA'},
        {'type': 'text', 'text': '""'},
        {'type': 'text', 'text': 'VERBATIM-BRAVO'},
    ]


async def test_five_requests_are_enough():
    """Two formats that put the same bytes on the wire are asked once, and the plain string goes first."""
    server = PromptingServer(shows='llama.cpp')
    await probed(server)
    sent = [chat['messages'][-1]['content'] for chat in server.chats]
    assert len(sent) == 5
    assert sent[0] == 'VERBATIM-ALPHA\nVERBATIM-BRAVO'
    assert len({json.dumps(content) for content in sent}) == 5


@pytest.mark.parametrize('shows', ['llama.cpp', 'prompt_text', 'token_ids', 'tokenize'])
async def test_a_template_that_prints_a_block_an_item(shows: str):
    """However a server shows its prompt, parts that arrive apart are right, and are the default."""
    report = await probed(PromptingServer(a_block_an_item, shows=shows))
    assert readings(report) == ALL_APART
    assert report.shown_by == ('llama.cpp' if shows == 'llama.cpp' else 'vLLM')
    assert report.recommendation == DEFAULT_IS_RIGHT
    blocks = '<tool_response>VERBATIM-ALPHA</tool_response><tool_response>VERBATIM-BRAVO</tool_response>'
    assert report.formats[0].items.prompt == f'"}}{blocks}<assistant>'


@pytest.mark.parametrize(
    ('template', 'parts'),
    [
        (joins_parts, ('apart', 'apart')),
        (glues_parts, ('spoiled', 'spoiled')),
        (prints_parts, ('spoiled', 'spoiled')),
        (drops_empty_items, ('apart', 'lost')),
    ],
)
async def test_what_a_template_makes_of_parts(template: Callable[[Any], str], parts: tuple[Reading, Reading]):
    """Items set apart by a line are fine; glued ones, a data structure's repr and a dropped empty item are not."""
    report = await probed(PromptingServer(template, shows='prompt_text'))
    assert readings(report)['parts'] == parts


async def test_gpt_oss_has_text_by_default():
    """A family that gets text anyway needs no setting."""
    report = await probed(PromptingServer(glues_parts, shows='token_ids'), 'm', profile=None)
    assert report.recommendation == SET_TEXT
    models = {'data': [{'id': 'gpt-oss:20b', 'owned_by': 'vllm'}]}
    server = PromptingServer(lambda content: json.dumps(glues_parts(content)), shows='token_ids')
    server.models = models
    report = await probed(server, 'gpt-oss:20b')
    assert readings(report) == {**ALL_APART, 'parts': ('spoiled', 'spoiled')}
    assert report.recommendation == "The default, 'text', is right: set nothing."


async def test_a_family_that_is_left_to_the_endpoint_starts_with_parts():
    """`auto` in a provider's profile is no format of its own."""
    profile: Any = {**ModelProfile(), 'openai_compatible_tool_return_format': 'auto'}
    with LoopbackServer(PromptingServer(shows='llama.cpp')) as loopback:
        provider = OpenAICompatibleProvider('test', base_url=f'{loopback.url}/v1', api_key=KEY, profile=profile)
        report = await probe(OpenAICompatibleModel('m', provider=provider))
    assert report.default == 'parts'


async def test_the_key_opens_the_server_s_root_below_a_path():
    """A llama.cpp with `--api-key` and a path in front is asked under that path, with the key that belongs there."""
    server = PromptingServer(empties_parts, shows='llama.cpp', key=KEY)
    report = await probed(server, path='/team')
    assert report.shown_by == 'llama.cpp'
    assert {path for path, _ in server.requests} == {'/team/props', '/team/apply-template', '/team/v1/chat/completions'}


async def test_the_model_s_own_settings_are_kept():
    """What a user's `extra_body` tells the template is told in each request and to the question."""
    own = {'chat_template_kwargs': {'enable_thinking': False}}
    server = PromptingServer(shows='llama.cpp')
    await probed(server, settings=ModelSettings(extra_body=own, temperature=0.5))
    questions = [body for path, body in server.requests if path in ('/apply-template', '/v1/chat/completions')]
    assert len(questions) == 10
    assert all(question['chat_template_kwargs'] == own['chat_template_kwargs'] for question in questions)
    assert all(chat['temperature'] == 0.5 for chat in server.chats)


# Servers that show nothing -------------------------------------------------------------------------------------------


def rejects_parts(content: Any) -> Response | None:
    if isinstance(content, str):
        return None
    said = f'messages[2]: invalid type: sequence,\n expected a string (key {KEY})'
    return JSONResponse({'error': {'message': said, 'type': 'invalid_request_error'}}, 400)


async def test_a_host_that_rejects_parts():
    """The server's words are given in one line, without the key that it repeats, and text is recommended."""
    report = await probed(PromptingServer(refuses=rejects_parts))
    assert readings(report) == {
        'parts': ('rejected', 'rejected'),
        'text': ('repeated', 'repeated'),
        'json': ('repeated', 'repeated'),
    }
    rejected = report.formats[0].items
    assert rejected.rejection == 'HTTP 400: messages[2]: invalid type: sequence, expected a string (key ***)'
    assert rejected.prompt is rejected.prompt_tokens is rejected.repeated is None
    assert (report.shown_by, report.recommendation) == (None, SET_TEXT)
    assert learned_formats() == {}


async def test_an_unknown_host_is_sent_nothing_unusual():
    """Only vLLM is sent vLLM's fields, since strict hosts reject what they do not know."""
    for shows in (None, 'prompt_text'):
        server = PromptingServer(shows=shows)
        await probed(server)
        assert [('return_prompt_text' in chat) for chat in server.chats] == [shows is not None] * 5


async def test_a_model_that_repeats_the_items():
    """Where every reply repeats both items, the default is right."""
    report = await probed(PromptingServer(a_block_an_item))
    assert readings(report) == dict.fromkeys(ALL_APART, ('repeated', 'repeated'))
    assert report.recommendation == DEFAULT_IS_RIGHT
    assert all(entry.items.repeated for entry in report.formats)


def says_nothing(prompt: str) -> str:
    return 'Done.'


async def test_a_host_that_shows_nothing():
    """Where neither prompt nor reply tells, the report says so."""
    report = await probed(PromptingServer(a_block_an_item, model=says_nothing))
    assert readings(report) == dict.fromkeys(ALL_APART, ('unknown', 'unknown'))
    assert report.evidence == 'none'
    assert report.recommendation == (
        'Nothing could be seen: no prompt is shown, and no reply tells what the model read. '
        "Keep the default, 'parts', unless tool results go missing."
    )


async def test_a_host_that_shows_nothing_but_rejects_a_format():
    """A rejection is something seen, though it says nothing of the other formats."""

    def rejects_json(content: Any) -> Response | None:
        return rejects_parts([]) if str(content).startswith('["') else None

    report = await probed(PromptingServer(model=says_nothing, refuses=rejects_json))
    assert readings(report)['json'][0] == 'rejected'
    assert report.evidence == 'replies'
    assert report.recommendation == (
        "Nothing here speaks against the default, 'parts': set nothing, unless tool results go missing."
    )


async def test_a_shorter_prompt_gives_a_loss_away():
    """A prompt that lacks as many tokens as a marker has cannot hold both."""
    report = await probed(PromptingServer(lambda content: empties_parts(content)[:60], model=says_nothing))
    assert readings(report)['parts'] == ('unknown', 'unknown')
    report = await probed(PromptingServer(lambda c: c if isinstance(c, str) else '', model=says_nothing))
    assert readings(report)['parts'] == ('lost', 'lost')
    assert report.recommendation == SET_TEXT


async def test_a_reply_that_does_not_repeat_parts_gives_a_loss_away():
    """A model that repeats a string and not the parts has not read them, whatever the server counts."""
    report = await probed(PromptingServer(empties_parts, extra={'usage': None}))
    assert readings(report)['parts'] == ('lost', 'lost')
    assert report.formats[0].items.prompt_tokens is None
    assert report.recommendation == SET_TEXT


async def test_a_reply_that_was_cut_off_proves_nothing():
    """A model that was still thinking has not said what it read."""
    message = {'role': 'assistant', 'content': '', 'reasoning_content': 'Let me'}
    cut = {'choices': [{'index': 0, 'message': message, 'finish_reason': 'length'}], 'usage': None}
    report = await probed(PromptingServer(empties_parts, extra=cut))
    assert readings(report) == dict.fromkeys(ALL_APART, ('unknown', 'unknown'))
    assert report.formats[0].items.repeated is None


@pytest.mark.parametrize(
    'answers',
    [
        {'props': [1], 'models': ['vllm']},
        {'props': 'hello', 'models': {'data': 'vllm'}},
        {'props': {'model': 1}, 'models': {'data': ['vllm', {'id': 'm'}]}},
        {'models': {'data': []}},
    ],
)
async def test_odd_answers_are_no_answers(answers: dict[str, Any]):
    """A server that answers the questions with something else shows no prompt, and fails nothing."""
    report = await probed(PromptingServer(**answers))
    assert report.shown_by is None
    assert readings(report)['parts'] == ('repeated', 'repeated')


async def test_a_prompt_that_is_not_to_be_had_is_not_shown():
    """A vLLM that keeps its prompt to itself is judged by its replies."""
    report = await probed(PromptingServer(shows='nothing after all'))
    assert report.shown_by == 'vLLM'
    assert report.formats[0].items.prompt is None
    assert readings(report)['parts'] == ('repeated', 'repeated')


async def test_a_prompt_without_the_call_is_shown_whole():
    """A template that leaves out the tool call's arguments still shows what it made of the return."""

    class Forgetful(PromptingServer):
        def _prompt(self, body: dict[str, Any]) -> str:
            return super()._prompt(body).partition('<call>')[2].replace('VERBATIM-QUERY', '')

    report = await probed(Forgetful(shows='llama.cpp'))
    assert report.formats[1].items.prompt == (
        '{"query":""}<tool_response>VERBATIM-ALPHA\nVERBATIM-BRAVO</tool_response><assistant>'
    )


async def test_a_server_that_does_not_answer_questions_costs_its_patience(monkeypatch: pytest.MonkeyPatch):
    """A question that hangs is given up."""
    monkeypatch.setattr(shown_prompt, '_PATIENCE', 0.05)

    class Slow(PromptingServer):
        async def _props(self, request: Request) -> Response:
            await anyio.sleep(0.5)
            return await super()._props(request)

    report = await probed(Slow(shows='llama.cpp'))
    assert report.shown_by is None


# Models --------------------------------------------------------------------------------------------------------------


async def test_a_stock_model_s_endpoint_is_probed_with_ours():
    """A wrapped `OpenAIChatModel` has an endpoint, too, and its own settings with it."""
    server = PromptingServer(shows='llama.cpp')
    with LoopbackServer(server) as loopback:
        provider = OpenAICompatibleProvider('test', base_url=f'{loopback.url}/v1', api_key=KEY)
        stock = OpenAIChatModel('m', provider=provider, settings=ModelSettings(seed=7))
        report = await probe(WrapperModel(stock))
    assert readings(report) == ALL_APART
    assert {chat['seed'] for chat in server.chats} == {7}


async def test_a_model_string_is_resolved(monkeypatch: pytest.MonkeyPatch):
    """A string resolves through the registry."""
    with LoopbackServer(PromptingServer(shows='llama.cpp')) as loopback:
        monkeypatch.setenv('OPENAI_BASE_URL', f'{loopback.url}/v1')
        monkeypatch.setenv('OPENAI_API_KEY', KEY)
        report = await probe('openai-chat:m')
    assert (report.base_url, report.model_name) == (f'{loopback.url}/v1', 'm')


async def test_another_kind_of_model_is_a_caller_s_mistake():
    """Only Chat Completions has tool messages of this form."""
    with pytest.raises(UserError, match='Only models that speak Chat Completions can be probed; TestModel does not'):
        await probe(TestModel())


async def test_a_report_is_json():
    """`dataclasses.asdict` gives what `json` takes, and holds no key."""
    report = await probed(PromptingServer(refuses=rejects_parts))
    text = json.dumps(asdict(report))
    assert KEY not in text
    assert json.loads(text)['formats'][0]['items']['reading'] == 'rejected'


# The recommendation --------------------------------------------------------------------------------------------------


def reports(**chosen: Reading) -> list[FormatReport]:
    fine = Sample('', 'apart')
    formats: tuple[WireFormat, ...] = ('parts', 'text', 'json')
    return [FormatReport(format, replace(fine, reading=chosen[format]), fine) for format in formats]


@pytest.mark.parametrize(
    ('chosen', 'default', 'expected'),
    [
        ({'parts': 'apart', 'text': 'apart', 'json': 'apart'}, 'text', 'text'),
        ({'parts': 'unknown', 'text': 'repeated', 'json': 'repeated'}, 'parts', 'text'),
        ({'parts': 'rejected', 'text': 'unknown', 'json': 'unknown'}, 'parts', 'text'),
        ({'parts': 'spoiled', 'text': 'lost', 'json': 'apart'}, 'parts', 'json'),
    ],
)
def test_the_best_reading_wins(chosen: dict[str, Any], default: Any, expected: str):
    """Among equals the default stays, then the order of the formats decides."""
    assert best_format(reports(**chosen), default).format == expected


def test_no_format_may_be_right():
    """A template that loses everything is not cured by a setting, and the line says so."""
    best = best_format(reports(parts='lost', text='spoiled', json='lost'), 'parts')
    assert recommendation(best, 'parts', 'prompt') == (
        'No format reaches this model whole. Look at its chat template; '
        "openai_compatible_tool_return_format='text' comes closest."
    )


def test_the_obedient_model_of_these_tests_repeats_what_it_reads():
    """It is a function of the prompt alone."""
    assert repeats('VERBATIM-ALPHA and VERBATIM-BRAVO') == 'VERBATIM-ALPHA VERBATIM-BRAVO'
    assert repeats('') == 'It is empty.'
