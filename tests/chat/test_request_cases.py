"""L1: publicly reported rejections, each with its own id: what goes out instead, or which error comes back.

The cases of one provider or family are in `tests/providers/test_request_cases.py`.
"""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic_ai.exceptions import ModelHTTPError, ModelRequestRejectedError, UserError
from pydantic_ai.messages import (
    ModelRequest,
    ToolReturnPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.providers import Provider
from pydantic_ai.providers.deepseek import DeepSeekProvider
from pydantic_ai.providers.openrouter import OpenRouterProvider

from pydantic_ai_verbatim import OpenAICompatibleModel, forget, infer_model
from pydantic_ai_verbatim.chat.variants import CopilotCompatibleModel, OpenRouterCompatibleModel
from pydantic_ai_verbatim.errors import ToolReturnFormatWarning
from pydantic_ai_verbatim.providers.copilot import copilot_provider
from pydantic_ai_verbatim.providers.grok import GrokProvider
from pydantic_ai_verbatim.providers.lm_studio import LMStudioProvider
from pydantic_ai_verbatim.providers.zen import ZenProvider
from tests.reported_requests import PNG, REPORTED, history
from tests.wire import Wire, answer, body

pytestmark = pytest.mark.anyio

IMAGE = {'type': 'image_url', 'image_url': {'url': PNG.data_uri}}


@pytest.fixture(autouse=True)
def nothing_learned() -> None:
    forget()


def text(value: str) -> dict[str, str]:
    return {'type': 'text', 'text': value}


def model_for(prefix: str, wire: Wire, model_name: str) -> OpenAICompatibleModel:
    client: Any = wire.client
    providers: dict[str, Any] = {
        'any': wire.provider,
        'copilot': lambda: copilot_provider(api_key='k', http_client=client),
        'deepseek': lambda: DeepSeekProvider(api_key='k', http_client=client),
        'grok': lambda: GrokProvider(api_key='k', http_client=client),
        'lm-studio': lambda: LMStudioProvider(http_client=client),
        'openrouter': lambda: OpenRouterProvider(api_key='k', http_client=client),
        'zen': lambda: ZenProvider(api_key='k', http_client=client),
    }
    classes = {'copilot': CopilotCompatibleModel, 'openrouter': OpenRouterCompatibleModel}
    provider: Provider[Any] = providers[prefix]()
    return classes.get(prefix, OpenAICompatibleModel)(model_name, provider=provider)


async def sent(case: str, prefix: str = 'any', model_name: str = 'm') -> httpx2.Request:
    """Send a reported request, and give it as it went out."""
    wire = Wire()
    await model_for(prefix, wire, model_name).request(history(case), None, ModelRequestParameters())
    return wire.requests[-1]


async def messages_of(case: str, prefix: str = 'any', model_name: str = 'm') -> list[Any]:
    return body(await sent(case, prefix, model_name))['messages']


@pytest.mark.parametrize(('case', 'prefix'), [('R01', 'deepseek'), ('R14', 'zen'), ('R28', 'grok')])
async def test_a_host_that_takes_strings_only(case: str, prefix: str) -> None:
    """Native parts are sent once; the rejection makes the request go out again as text, with one warning."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        tool = body(request)['messages'][-1]['content']
        reported = REPORTED[case]
        return httpx2.Response(reported['status'], json=reported['response']) if tool != 'a\nb' else answer(request)

    wire = Wire(respond)
    model = model_for(prefix, wire, 'mimo-v2')
    with pytest.warns(ToolReturnFormatWarning):
        await model.request(history('R01'), None, ModelRequestParameters())
    await model.request(history('R01'), None, ModelRequestParameters())
    assert [b['messages'][-1]['content'] for b in wire.bodies] == [[text('a'), text('b')], 'a\nb', 'a\nb']


async def test_R02_text_can_be_forced_where_nothing_shows_the_loss() -> None:
    wire = Wire()
    model = OpenAICompatibleModel('glm-5', provider=wire.provider(), tool_return_format='text')
    await model.request(history('R02'), None, ModelRequestParameters())
    assert wire.messages[-1]['content'] == 'a\nb'


async def test_R03_gpt_oss_gets_one_text() -> None:
    assert (await messages_of('R03', model_name='openai/gpt-oss-120b'))[-1]['content'] == 'a\nb'


@pytest.mark.parametrize(
    ('case', 'prefix', 'told'),
    [
        ('R04', 'lm-studio', '["a","See file img."]'),
        ('R05', 'any', '["See file img."]'),
        ('R06', 'any', '["See file img."]'),
    ],
)
async def test_images_of_a_tool_go_to_a_user_message(case: str, prefix: str, told: str) -> None:
    tool, user = (await messages_of(case, prefix))[-2:]
    assert (tool['role'], tool['content']) == ('tool', told)
    assert user['role'] == 'user'
    assert IMAGE in user['content']


async def test_R08_files_follow_the_last_tool_message() -> None:
    calls = history('R08')[:2]
    returns = ModelRequest(
        parts=[ToolReturnPart('get_weather', ['a', PNG], 'c1'), ToolReturnPart('get_weather', ['b'], 'c2')]
    )
    wire = Wire()
    await model_for('copilot', wire, 'm').request([*calls, returns], None, ModelRequestParameters())
    assert [message['role'] for message in wire.messages] == ['user', 'assistant', 'tool', 'tool', 'user']


async def test_R10_an_image_is_announced_to_copilot() -> None:
    assert (await sent('R10', 'copilot')).headers['copilot-vision-request'] == 'true'


@pytest.mark.parametrize(('case', 'initiator'), [('R11', 'agent'), ('R10', 'user')])
async def test_R11_an_agents_step_is_not_billed_as_a_users(case: str, initiator: str) -> None:
    assert (await sent(case, 'copilot')).headers['x-initiator'] == initiator


async def test_R11_the_callers_own_headers_win() -> None:
    wire = Wire()
    settings: Any = {'extra_headers': {'X-Initiator': 'user', 'X-Own': '1'}}
    await model_for('copilot', wire, 'm').request(history('R11'), settings, ModelRequestParameters())
    assert wire.requests[-1].headers['x-initiator'] == 'user'
    assert wire.requests[-1].headers['x-own'] == '1'


async def test_R12_objects_are_wrapped_as_text_parts() -> None:
    assert (await messages_of('R12'))[-1]['content'] == [text('{"x":1}'), text('{"x":2}')]


async def test_R13_an_object_is_never_sent_as_content() -> None:
    assert (await messages_of('R13', model_name='glm-4.7'))[-1]['content'] == '{"x":1}'


async def test_R20_no_empty_list_of_tool_calls() -> None:
    assert (await messages_of('R20', 'deepseek'))[-1] == {'role': 'assistant', 'content': 'x'}


@pytest.mark.parametrize('case', ['R21', 'R22', 'R32', 'R40'])
async def test_a_history_is_sent_as_given_and_the_servers_own_words_come_back(case: str) -> None:
    """Repairing a history is the agent's job; the model keeps the error typed and readable."""
    reported = REPORTED[case]
    wire = Wire(lambda _: httpx2.Response(reported['status'], json=reported['response']))
    with pytest.raises(ModelRequestRejectedError) as raised:
        await model_for('any', wire, 'glm-5').request(history(case), None, ModelRequestParameters())
    assert [message['role'] for message in wire.messages] == [message['role'] for message in reported['messages']]
    assert reported['response']['error']['message'] in str(raised.value)
    assert len(wire.bodies) == 1


async def test_R38_broken_arguments_are_wrapped_for_strict_servers() -> None:
    call = (await messages_of('R38', 'openrouter', 'anthropic/claude-sonnet-4.6'))[1]['tool_calls'][0]
    assert json.loads(call['function']['arguments']) == {'INVALID_JSON': '{"city": "Par'}


async def test_R42_a_free_model_is_refused_in_clear_words_and_no_client_is_imitated() -> None:
    reported = REPORTED['R42']
    wire = Wire(lambda _: httpx2.Response(403, json=reported['response']))
    with pytest.raises(ModelHTTPError, match='FreeTierError') as raised:
        await model_for('zen', wire, 'glm-4.7-free').request(history('R42'), None, ModelRequestParameters())
    assert raised.value.status_code == 403
    headers = wire.requests[-1].headers
    assert headers['user-agent'].startswith('pydantic-ai')
    assert not any(name.startswith('x-opencode') for name in headers)


@pytest.mark.parametrize(
    ('prefix', 'variables'),
    [
        ('deepseek', ['DEEPSEEK_API_KEY']),
        ('grok', ['XAI_API_KEY', 'GROK_API_KEY', 'X_AI_API_KEY']),
        ('openrouter', ['OPENROUTER_API_KEY', 'OR_API_KEY']),
        ('perplexity', ['PERPLEXITY_API_KEY', 'PPLX_API_KEY', 'PERPLEXITYAI_API_KEY']),
        ('zen', ['OPENCODE_API_KEY', 'OPENCODE_ZEN_API_KEY', 'ZEN_API_KEY']),
        ('copilot', ['GITHUB_COPILOT_API_KEY', 'GITHUB_COPILOT_API_TOKEN', 'COPILOT_GITHUB_TOKEN']),
    ],
)
def test_R43_a_missing_key_names_its_variables(
    prefix: str, variables: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', 'openai-key')
    with pytest.raises(UserError) as raised:
        infer_model(f'{prefix}:m')
    assert all(variable in str(raised.value) for variable in variables)
    assert 'openai-key' not in str(raised.value)


def test_every_reported_case_has_its_test() -> None:
    sources = [Path(__file__), Path(__file__).parents[1] / 'providers' / 'test_request_cases.py']
    written = ''.join(source.read_text() for source in sources)
    assert [case for case in REPORTED if case not in written] == []
