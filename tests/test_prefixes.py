"""L1: the eight prefixes, and where `OPENAI_API_KEY` goes."""

from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.github_copilot import GitHubCopilotModel
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.providers.deepseek import DeepSeekProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from pydantic_ai_verbatim import OpenAICompatibleModel, infer_model
from pydantic_ai_verbatim.providers.grok import GrokProvider
from tests.wire import PARAMETERS, Wire

pytestmark = pytest.mark.anyio

HISTORY: list[ModelMessage] = [
    ModelRequest(parts=[UserPromptPart('hi')]),
    ModelResponse(parts=[ToolCallPart('search', '{}', 'c1')]),
    ModelRequest(parts=[ToolReturnPart('search', ['a', 'b'], 'c1')]),
]

PREFIXES: list[tuple[str, str, dict[str, str], str, str]] = [
    ('openai-chat:gpt-5', 'openai', {}, 'https://api.openai.com/v1/', 'sk-openai'),
    ('deepseek:deepseek-chat', 'deepseek', {'DEEPSEEK_API_KEY': 'own-key'}, 'https://api.deepseek.com', 'own-key'),
    ('openrouter:z-ai/glm-5', 'openrouter', {'OR_API_KEY': 'own-key'}, 'https://openrouter.ai/api/v1', 'own-key'),
    ('grok:grok-4.3', 'grok', {'XAI_API_KEY': 'own-key'}, 'https://api.x.ai/v1/', 'own-key'),
    ('perplexity:sonar', 'perplexity', {'PPLX_API_KEY': 'own-key'}, 'https://api.perplexity.ai', 'own-key'),
    ('lm-studio:qwen3.5', 'lm-studio', {}, 'http://127.0.0.1:1234/v1/', 'placeholder'),
    ('lm-studio:qwen3.5', 'lm-studio', {'LM_API_TOKEN': 'own-key'}, 'http://127.0.0.1:1234/v1/', 'own-key'),
    ('zen:glm-5', 'zen', {'ZEN_API_KEY': 'own-key'}, 'https://opencode.ai/zen/v1/', 'own-key'),
    (
        'copilot:gpt-5',
        'github-copilot',
        {'GITHUB_COPILOT_API_KEY': 'own-key'},
        'https://api.githubcopilot.com',
        'own-key',
    ),
]


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    """All HTTP clients go here, and all of OpenAI's variables are set."""
    wire = Wire()
    monkeypatch.setattr('pydantic_ai.providers._openai_compatible.create_async_httpx2_client', lambda: wire.client)
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-openai')
    monkeypatch.setenv('OPENAI_ORG_ID', 'sk-organization')
    monkeypatch.setenv('OPENAI_PROJECT_ID', 'sk-project')
    return wire


@pytest.mark.parametrize(('model_id', 'name', 'variables', 'base_url', 'key'), PREFIXES)
async def test_each_prefix(
    model_id: str, name: str, variables: dict[str, str], base_url: str, key: str, wire: Wire, monkeypatch: Any
) -> None:
    """Each is an `OpenAICompatibleModel` that sends its own key to its own service, and lists natively."""
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    model = infer_model(model_id)
    assert isinstance(model, OpenAICompatibleModel)
    assert model.system == name
    assert model.base_url.rstrip('/') == base_url.rstrip('/')
    if name == 'perplexity':
        await model.request(HISTORY[:1], None, ModelRequestParameters())
    else:
        await model.request(HISTORY, None, PARAMETERS)
        assert [item['text'] for item in wire.messages[-1]['content']] == ['a', 'b']
    authorization = wire.requests[-1].headers['authorization']
    assert authorization == f'Bearer {key}' if key != 'placeholder' else 'sk-openai' not in authorization
    if name != 'openai':
        assert 'sk-' not in str(wire.requests[-1].headers.raw)


async def test_openais_custom_headers_stay_with_openai(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK would let them replace the service's own key."""
    monkeypatch.setenv('OPENAI_CUSTOM_HEADERS', 'Authorization: Bearer sk-openai\nX-Secret: sk-secret')
    for variable in ('DEEPSEEK_API_KEY', 'OPENROUTER_API_KEY', 'XAI_API_KEY', 'ZEN_API_KEY', 'GITHUB_COPILOT_API_KEY'):
        monkeypatch.setenv(variable, 'own-key')
    for model_id in ('deepseek:x', 'openrouter:x/y', 'grok:grok-4', 'lm-studio:x', 'zen:glm-5', 'copilot:gpt-5'):
        await infer_model(model_id).request(HISTORY[:1], None, ModelRequestParameters())
        assert 'sk-' not in str(wire.requests[-1].headers.raw)


def test_upstreams_own_classes_stand_behind_two_prefixes(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENROUTER_API_KEY', 'k')
    monkeypatch.setenv('GITHUB_COPILOT_API_KEY', 'k')
    assert isinstance(infer_model('openrouter:z-ai/glm-5'), OpenRouterModel)
    assert isinstance(infer_model('copilot:gpt-5'), GitHubCopilotModel)


@pytest.mark.parametrize('model_id', [prefix[0] for prefix in PREFIXES])
def test_a_provider_given_to_the_factory_is_used(model_id: str) -> None:
    from pydantic_ai_verbatim import registry

    found = registry.find(model_id)
    assert found
    provider = Wire().provider()
    assert found[0](found[1], provider=provider).provider is provider  # pyright: ignore[reportAttributeAccessIssue]


async def test_the_openai_key_goes_to_the_base_url_of_the_same_environment(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_BASE_URL', 'http://127.0.0.1:8000/v1')
    await infer_model('openai-chat:glm-5').request(HISTORY[:1], None, ModelRequestParameters())
    assert str(wire.requests[-1].url) == 'http://127.0.0.1:8000/v1/chat/completions'
    assert wire.requests[-1].headers['authorization'] == 'Bearer sk-openai'


async def test_no_key_is_needed_behind_another_base_url(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv('OPENAI_API_KEY')
    monkeypatch.setenv('OPENAI_BASE_URL', 'http://127.0.0.1:8000/v1')
    model = infer_model('openai-chat:glm-5')
    await model.request(HISTORY[:1], None, ModelRequestParameters())
    assert model.system == 'openai'


def test_a_missing_openai_key_is_an_error_at_openai_itself() -> None:
    with pytest.raises(UserError, match=r"'OPENAI_BASE_URL' environment variable to your server.* or 'OPENAI_API_KEY'"):
        infer_model('openai-chat:gpt-5')


def sdk(base_url: str) -> AsyncOpenAI:
    """A client that finds its key by itself."""
    return AsyncOpenAI(base_url=base_url)


ELSEWHERE = 'https://other.example.com/v1'


@pytest.mark.parametrize(
    'make',
    [
        lambda: OpenAIProvider(base_url=ELSEWHERE),
        lambda: OpenAIProvider(base_url='http://api.openai.com/v1'),
        lambda: OpenAIProvider(base_url='https://mine.cloudapp.azure.com/v1'),
        lambda: OpenAIProvider(openai_client=sdk(ELSEWHERE)),
        lambda: GrokProvider(openai_client=sdk('https://api.x.ai/v1')),
        lambda: DeepSeekProvider(openai_client=sdk('https://api.deepseek.com')),
    ],
)
def test_the_openai_key_never_goes_elsewhere(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-openai')
    with pytest.raises(UserError, match=r'would send OPENAI_API_KEY to http') as raised:
        OpenAICompatibleModel('m', provider=make())
    assert 'sk-openai' not in str(raised.value)


@pytest.mark.parametrize(
    'base_url',
    ['https://api.openai.com/v1', 'https://eu.api.openai.com/v1', 'https://x.openai.azure.com/openai/v1', None],
)
def test_openais_own_addresses_take_it(base_url: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-openai')
    OpenAICompatibleModel('gpt-5', provider=OpenAIProvider(base_url=base_url))


@pytest.mark.parametrize(
    'base_url',
    ['http://MyServer:8000/v1', 'http://localhost:80/v1', 'HTTP://host/v1/', 'http://host/v1?x=1'],
)
def test_the_environments_own_address_takes_it_however_it_is_written(
    base_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-openai')
    monkeypatch.setenv('OPENAI_BASE_URL', base_url)
    assert infer_model('openai-chat:glm-5').model_name == 'glm-5'


def test_a_key_given_in_code_goes_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-openai')
    OpenAICompatibleModel('glm-5', provider=OpenAIProvider(base_url=ELSEWHERE, api_key='other'))
    OpenAICompatibleModel('m', provider=OpenAICompatibleProvider('mine', base_url=ELSEWHERE, api_key='sk-openai'))


async def test_openrouters_cache_settings_mark_native_parts(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last part of the last message gets the mark, and the tool's own list stays as it was."""
    monkeypatch.setenv('OPENROUTER_API_KEY', 'k')
    model = infer_model('openrouter:anthropic/claude-sonnet-4.6')
    settings: Any = {'openrouter_cache_messages': True}
    await model.request(HISTORY, settings, PARAMETERS)
    assert wire.messages[-1]['content'] == [
        {'type': 'text', 'text': 'a'},
        {'type': 'text', 'text': 'b', 'cache_control': {'type': 'ephemeral', 'ttl': '5m'}},
    ]
    [part] = HISTORY[-1].parts
    assert isinstance(part, ToolReturnPart)
    assert part.content == ['a', 'b']


def test_zen_refuses_models_that_live_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('ZEN_API_KEY', 'k')
    with pytest.raises(UserError, match="'gpt-5' is not served over Chat Completions here"):
        infer_model('zen:gpt-5')


async def test_perplexity_refuses_tools_before_any_request(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('PPLX_API_KEY', 'k')
    with pytest.raises(UserError, match="'sonar' takes no tools"):
        await infer_model('perplexity:sonar').request(HISTORY[:1], None, PARAMETERS)
    assert wire.requests == []
