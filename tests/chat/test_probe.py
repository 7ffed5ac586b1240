"""`probe()` against servers on loopback that show their prompt, or reject, or lose, or say nothing."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
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
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from pydantic_ai_verbatim import OpenAICompatibleModel, ProbeReport, learned_formats, probe
from pydantic_ai_verbatim.chat import shown_prompt
from pydantic_ai_verbatim.chat.readings import FormatReport, Reading, Sample, best_format, recommendation
from pydantic_ai_verbatim.cli.demo_server import LoopbackServer
from pydantic_ai_verbatim.errors import ProbeError

from .prompting_server import (
    PromptingServer,
    a_block_an_item,
    drops_empty_items,
    empties_parts,
    glues_parts,
    joins_parts,
    prints_parts,
    repeats,
)

KEY = 'sk-very-secret-0123456789'
SET_TEXT = "Set openai_compatible_tool_return_format='text' in the settings or profile."
DEFAULT_IS_RIGHT = "The default, 'parts', is right: set nothing."


def model_at(url: str, name: str = 'm', **options: Any) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(
        name, provider=OpenAICompatibleProvider('test', base_url=f'{url}/v1', api_key=KEY), **options
    )


async def probed(server: PromptingServer, name: str = 'm', path: str = '', **options: Any) -> ProbeReport:
    with LoopbackServer(server) as loopback:
        return await probe(model_at(loopback.url + path, name, **options))


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
    profile: Any = ModelProfile(openai_compatible_tool_return_format='auto')  # pyright: ignore[reportCallIssue]
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


# Endpoints that cannot be probed -------------------------------------------------------------------------------------


async def complaint(server: PromptingServer, name: str = 'm') -> str:
    with LoopbackServer(server) as loopback, pytest.raises(ProbeError) as raised:
        await probe(model_at(loopback.url, name))
    text = str(raised.value)
    assert KEY not in text
    assert '\n' not in text
    return text.replace(loopback.url, 'URL')


async def test_an_endpoint_out_of_reach():
    """The line names the base URL."""
    with LoopbackServer(PromptingServer()) as loopback:
        url = loopback.url
    with pytest.raises(ProbeError) as raised:
        await probe(model_at(url))
    assert str(raised.value) == (
        f'{url}/v1 cannot be reached: connection refused. Check that the server is running and the base URL.'
    )


async def test_a_host_without_an_address():
    """A name that is not known is told from a server that is not running."""
    with pytest.raises(ProbeError) as raised:
        await probe(model_at('http://no-such-host.invalid'))
    assert str(raised.value).startswith(
        'http://no-such-host.invalid/v1 cannot be reached: the host name is not known ('
    )


async def test_several_addresses_that_refuse(monkeypatch: pytest.MonkeyPatch):
    """Where a name has two addresses, the first one's refusal is the cause."""

    async def both(host: str, *args: Any, **options: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, '', (address, port)) for address in ('127.0.0.1', '127.0.0.2')]

    with socket.create_server(('127.0.0.1', 0)) as closed:
        port = closed.getsockname()[1]
    monkeypatch.setattr('anyio._core._sockets.getaddrinfo', both)
    with pytest.raises(ProbeError, match='cannot be reached: connection refused'):
        await probe(model_at(f'http://two.invalid:{port}'))


async def test_a_server_that_hangs_up():
    """Other causes stand in the transport's own words."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(hang_up, '127.0.0.1', 0) as server:
        url = 'http://{}:{}'.format(*server.sockets[0].getsockname())
        with pytest.raises(ProbeError) as raised:
            await probe(model_at(url))
    assert 'cannot be reached: Connection error' not in str(raised.value)


@pytest.mark.parametrize(
    ('model', 'environment', 'remedy'),
    [
        ('openai-chat:m', 'OPENAI_BASE_URL', 'set OPENAI_API_KEY'),
        ('lm-studio:m', 'LM_STUDIO_BASE_URL', 'set LM_API_TOKEN or LMSTUDIO_API_KEY or LM_STUDIO_API_KEY'),
        ('vllm:m', 'VLLM_BASE_URL', 'set VLLM_API_KEY'),
        (None, '', 'give one to the provider'),
    ],
)
async def test_a_key_that_is_not_set(monkeypatch: pytest.MonkeyPatch, model: str | None, environment: str, remedy: str):
    """A placeholder that is refused is no wrong key, and the line names the variable."""
    for name in ('OPENAI_API_KEY', 'LM_STUDIO_API_KEY', 'LMSTUDIO_API_KEY', 'LM_API_TOKEN', 'VLLM_API_KEY'):
        monkeypatch.delenv(name, raising=False)
    with LoopbackServer(PromptingServer(key=KEY)) as loopback:
        if environment:
            monkeypatch.setenv(environment, f'{loopback.url}/v1')
        provider = OpenAICompatibleProvider('test', base_url=f'{loopback.url}/v1')
        with pytest.raises(ProbeError) as raised:
            await probe(model or OpenAICompatibleModel('m', provider=provider))
    assert str(raised.value).startswith(f'{loopback.url}/v1 wants a key and none is set: {remedy}')


async def test_a_wrong_key():
    """The line holds no key, though the server repeats it."""
    assert await complaint(PromptingServer(key='another')) == (
        'URL/v1 refuses the key (HTTP 401). Check the key, and that it is one for this base URL.'
    )


def answers(status: int, body: Any) -> Callable[[Any], Response]:
    def refuse(content: Any) -> Response:
        return HTMLResponse(body, status) if isinstance(body, str) else JSONResponse(body, status)

    return refuse


@pytest.mark.parametrize(
    ('refusal', 'expected'),
    [
        (
            answers(404, {'error': {'message': 'The model `m` does not exist.', 'code': 404}}),
            "does not know 'm': HTTP 404: The model `m` does not exist. Check the model name and the base URL.",
        ),
        (
            answers(404, {'detail': 'Not Found'}),
            "does not know 'm': HTTP 404: Not Found. Check the model name and the base URL.",
        ),
        (
            answers(400, {'error': {'message': f'{KEY} ' + 'no tools here, ' * 30}}),
            f"does not answer for 'm': HTTP 400: *** {('no tools here, ' * 30)[:156]}...",
        ),
        (
            answers(422, {'detail': [{'loc': ['body', 'tools'], 'msg': 'Extra inputs'}]}),
            'does not answer for \'m\': HTTP 422: [{"loc": ["body", "tools"], "msg": "Extra inputs"}]',
        ),
        (answers(400, {'code': 1214}), 'does not answer for \'m\': HTTP 400: {"code": 1214}'),
        (
            answers(400, '<html>\n<h1>Bad Request</h1>'),
            "does not answer for 'm': HTTP 400: <html> <h1>Bad Request</h1>",
        ),
    ],
)
async def test_an_endpoint_that_takes_nothing(refusal: Callable[[Any], Response], expected: str):
    """Where even a plain string is rejected, the server's words are the line."""
    assert await complaint(PromptingServer(refuses=refusal)) == f'URL/v1 {expected}'


async def test_something_that_is_no_chat_completions_server():
    """A web page with status 200 is shown as the wrong answer that it is."""
    text = await complaint(PromptingServer(refuses=answers(200, '<html>Hello')))
    assert text == "URL/v1 does not answer for 'm': <html>Hello"


async def test_a_limit_on_the_way_is_not_about_a_format():
    """A 429 after the first request ends the probe: nothing is known of the format that met it."""

    def busy(content: Any) -> Response | None:
        if isinstance(content, str):
            return None
        return JSONResponse({'error': {'message': 'Slow down'}}, 429)

    assert await complaint(PromptingServer(refuses=busy)) == "URL/v1 does not answer for 'm': HTTP 429: Slow down"


class Mute(PromptingServer):
    """A server that accepts every request, and answers none, or only what is not a chat."""

    chats_only = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if not self.chats_only or scope['path'].endswith('/chat/completions'):
            self.requests.append((scope['path'], None))
            await anyio.sleep(5)
        await super().__call__(scope, receive, send)


@pytest.mark.parametrize('chats_only', [True, False])
async def test_a_server_that_does_not_answer(chats_only: bool):
    """Every request has its time and is sent once, and the line says what that may mean."""
    server = Mute()
    server.chats_only = chats_only
    with LoopbackServer(server) as loopback, pytest.raises(ProbeError) as raised:
        await probe(model_at(loopback.url), timeout=0.2)
    assert str(raised.value) == f'{loopback.url}/v1 did not answer within 0.2 s. Is the model still loading?'
    assert len(server.chats) == 1


async def test_a_server_that_trickles_does_not_go_on_for_ever():
    """The time is that of the whole answer, not of its next byte."""

    async def spaces() -> AsyncIterator[str]:
        for _ in range(100):
            yield ' '
            await anyio.sleep(0.05)

    server = PromptingServer(refuses=lambda content: StreamingResponse(spaces(), media_type='application/json'))
    with LoopbackServer(server) as loopback, pytest.raises(ProbeError, match=r'did not answer within 0\.3 s'):
        await probe(model_at(loopback.url), timeout=0.3)


async def test_a_server_that_is_overloaded_is_asked_once():
    """The SDK would send the request twice more."""
    server = PromptingServer(refuses=answers(503, {'error': {'message': 'Loading model'}}))
    assert await complaint(server) == "URL/v1 does not answer for 'm': HTTP 503: Loading model"
    assert len(server.chats) == 1


@pytest.mark.parametrize('seconds', [0, -1, float('nan')])
async def test_no_time_is_a_caller_s_mistake(seconds: float):
    """Nothing can answer in it."""
    with pytest.raises(UserError, match=f'^A probe needs a timeout above 0 seconds, not {seconds}'):
        await probe(model_at('http://127.0.0.1:9'), timeout=seconds)


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
    return [FormatReport(format, replace(fine, reading=chosen[format]), fine) for format in ('parts', 'text', 'json')]  # pyright: ignore[reportArgumentType]


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
