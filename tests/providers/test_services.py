"""What each provider of ours does alike: address, key, clients, errors. Nothing of OpenAI's goes to any of them."""

import warnings
from typing import Any

import httpx
import httpx2
import pytest
from openai import AsyncOpenAI
from pydantic_ai.exceptions import PydanticAIDeprecationWarning, UserError
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers import Provider
from pydantic_ai.providers.deepseek import DeepSeekProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from pydantic_ai_verbatim import OpenAICompatibleModel
from pydantic_ai_verbatim.providers.grok import GrokProvider
from pydantic_ai_verbatim.providers.lm_studio import LMStudioProvider
from pydantic_ai_verbatim.providers.perplexity import PerplexityProvider
from pydantic_ai_verbatim.providers.service import ServiceProvider, missing_key_error
from pydantic_ai_verbatim.providers.zen import ZenProvider

from .conftest import Wire, completion

OPENAI = {
    'OPENAI_API_KEY': 'openai-secret',
    'OPENAI_ADMIN_KEY': 'openai-secret',
    'OPENAI_ORG_ID': 'openai-secret',
    'OPENAI_PROJECT_ID': 'openai-secret',
}
SERVICES: dict[type[ServiceProvider], tuple[str, str, list[str], list[str]]] = {
    GrokProvider: (
        'grok',
        'https://api.x.ai/v1/',
        ['XAI_API_KEY', 'GROK_API_KEY', 'X_AI_API_KEY'],
        ['XAI_BASE_URL'],
    ),
    PerplexityProvider: (
        'perplexity',
        'https://api.perplexity.ai',
        ['PERPLEXITY_API_KEY', 'PPLX_API_KEY', 'PERPLEXITYAI_API_KEY'],
        [],
    ),
    LMStudioProvider: (
        'lm-studio',
        'http://127.0.0.1:1234/v1/',
        ['LM_API_TOKEN', 'LMSTUDIO_API_KEY', 'LM_STUDIO_API_KEY'],
        ['LM_STUDIO_BASE_URL', 'LMSTUDIO_BASE_URL', 'LM_STUDIO_API_BASE'],
    ),
    ZenProvider: (
        'zen',
        'https://opencode.ai/zen/v1/',
        ['OPENCODE_API_KEY', 'OPENCODE_ZEN_API_KEY', 'ZEN_API_KEY'],
        ['OPENCODE_ZEN_BASE_URL'],
    ),
}
PROVIDERS = list(SERVICES)
KEYED = [provider for provider in PROVIDERS if provider is not LMStudioProvider]

each = pytest.mark.parametrize('provider', PROVIDERS, ids=lambda provider: provider.__name__)


@pytest.fixture(autouse=True)
def openai_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test here runs with OpenAI's own variables set."""
    for name, value in OPENAI.items():
        monkeypatch.setenv(name, value)


async def ask(provider: OpenAICompatibleProvider, messages: list[ModelMessage]) -> Any:
    return await OpenAIChatModel('m', provider=provider).request(messages, None, ModelRequestParameters())


@each
async def test_a_key_in_code_is_the_bearer(provider: type[ServiceProvider], wire: Wire, hi: list[ModelMessage]):
    """The key that is passed goes to the service, over upstream's own model class, under the recorded name."""
    name, base_url, _, _ = SERVICES[provider]
    server = wire()
    response = await ask(provider(api_key='given', http_client=server.client), hi)
    assert (response.provider_name, response.provider_url, response.text) == (name, base_url, 'hello')
    assert str(server.request.url) == f'{base_url.rstrip("/")}/chat/completions'
    assert server.request.headers['authorization'] == 'Bearer given'
    assert 'openai-secret' not in str(server.request.headers.raw)
    assert server.body == {'model': 'm', 'messages': [{'role': 'user', 'content': 'hi'}], 'stream': False}


@pytest.mark.parametrize(
    ('provider', 'variable'),
    [(provider, variable) for provider in PROVIDERS for variable in SERVICES[provider][2]],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
async def test_each_variable_may_hold_the_key(
    provider: type[ServiceProvider],
    variable: str,
    wire: Wire,
    hi: list[ModelMessage],
    monkeypatch: pytest.MonkeyPatch,
):
    """A variable is read where none before it is set; an empty one counts as unset, a line break is dropped."""
    variables = SERVICES[provider][2]
    place = variables.index(variable)
    for earlier in variables[:place]:
        monkeypatch.setenv(earlier, '')
    for later in variables[place + 1 :]:
        monkeypatch.setenv(later, 'later')
    monkeypatch.setenv(variable, 'from-variable\n')
    server = wire()
    await ask(provider(http_client=server.client), hi)
    assert server.request.headers['authorization'] == 'Bearer from-variable'


@pytest.mark.parametrize('provider', KEYED)
def test_a_missing_key_names_every_way_out(provider: type[ServiceProvider]):
    """The error names all variables, in order, and the provider; OpenAI's key is no substitute."""
    name, _, (first, second, third), _ = SERVICES[provider]
    expected = (
        f'Set the `{first}`, `{second}` or `{third}` environment variable, '
        f"or pass `provider={provider.__name__}(api_key=...)`, to use '{name}:'."
    )
    with pytest.raises(UserError) as caught:
        provider()
    assert str(caught.value).startswith(expected)
    assert 'openai-secret' not in str(caught.value)


def test_a_service_with_one_variable_is_told_apart():
    """A service with a single variable is named without a list."""
    error = missing_key_error(['ONE_API_KEY'], 'OneProvider', 'one')
    assert str(error).startswith('Set the `ONE_API_KEY` environment variable, or pass `provider=OneProvider(api_key=')


async def test_lm_studio_needs_no_key(wire: Wire, hi: list[ModelMessage]):
    """A local server gets a harmless placeholder, and never OpenAI's key."""
    server = wire()
    await ask(LMStudioProvider(http_client=server.client), hi)
    assert server.request.headers['authorization'] == 'Bearer api-key-not-set'
    assert 'openai-secret' not in str(server.request.headers.raw)


@pytest.mark.parametrize(
    ('provider', 'variable'),
    [(provider, variable) for provider in PROVIDERS for variable in SERVICES[provider][3]],
)
def test_each_variable_may_name_the_address(
    provider: type[ServiceProvider], variable: str, monkeypatch: pytest.MonkeyPatch
):
    """An address in code goes before one in a variable, which goes before the service's own, in order."""
    variables = SERVICES[provider][3]
    for other in variables[variables.index(variable) + 1 :]:
        monkeypatch.setenv(other, 'http://later/v1')
    monkeypatch.setenv(variable, 'http://proxy/v1')
    assert provider(api_key='k').base_url == 'http://proxy/v1/'
    assert provider(api_key='k', base_url='http://code/v1').base_url == 'http://code/v1/'


@each
async def test_an_own_client_is_used_as_it_is(provider: type[ServiceProvider], wire: Wire, hi: list[ModelMessage]):
    """A client that the user configured keeps its address, key and headers, and needs no variable."""
    server = wire()
    client = AsyncOpenAI(api_key='own', base_url='http://mine/v1', organization='own-org', http_client=server.client)
    made = provider(openai_client=client)
    assert made.client is client
    await ask(made, hi)
    assert str(server.request.url) == 'http://mine/v1/chat/completions'
    assert server.request.headers['authorization'] == 'Bearer own'
    assert server.request.headers['openai-organization'] == 'own-org'


@each
@pytest.mark.parametrize('beside', [{'api_key': 'k'}, {'base_url': 'http://x'}, {'http_client': httpx2.AsyncClient()}])
def test_nothing_goes_beside_an_own_client(provider: type[ServiceProvider], beside: dict[str, Any]):
    """What could not take effect is an error."""
    client = AsyncOpenAI(api_key='own', http_client=httpx2.AsyncClient())
    make: Any = provider
    with pytest.raises(UserError, match='cannot be used with `openai_client`'):
        make(openai_client=client, **beside)


@each
async def test_a_legacy_http_client_works(provider: type[ServiceProvider], hi: list[ModelMessage]):
    """An `httpx.AsyncClient` is taken as upstream takes it: with a warning when passed itself, without in a client."""
    seen: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers['authorization'])
        return httpx.Response(200, json=completion())

    async with httpx.AsyncClient(transport=httpx.MockTransport(handle)) as legacy:
        with pytest.warns(PydanticAIDeprecationWarning, match='httpx2'):
            made = provider(api_key='given', http_client=legacy)
        await ask(made, hi)
        with warnings.catch_warnings(action='error'):
            legacy_client: Any = legacy
            await ask(provider(openai_client=AsyncOpenAI(api_key='own', http_client=legacy_client)), hi)
    assert seen == ['Bearer given', 'Bearer own']


@each
async def test_the_provider_closes_the_client_it_made(provider: type[ServiceProvider]):
    """As upstream's do, a provider closes its own HTTP client, and makes a new one when it is entered again."""
    made = provider(api_key='k')
    async with made:
        first: Any = made.client._client
        assert not first.is_closed
    assert first.is_closed
    async with made:
        assert not made.client._client.is_closed


@each
def test_a_provider_goes_with_other_model_classes(provider: type[ServiceProvider]):
    """It is a real provider: the Responses model takes it as well."""
    model = OpenAIResponsesModel('gpt-5', provider=provider(api_key='k'))
    assert model.system == SERVICES[provider][0]


@pytest.mark.parametrize(
    ('name', 'provider'),
    [
        ('grok', GrokProvider),
        ('lm-studio', LMStudioProvider),
        ('perplexity', PerplexityProvider),
        ('zen', ZenProvider),
        ('deepseek', DeepSeekProvider),
    ],
)
def test_a_provider_may_be_named(name: str, provider: type[Provider[Any]], monkeypatch: pytest.MonkeyPatch):
    """The class takes this package's provider names as it takes upstream's."""
    for variable in ('XAI_API_KEY', 'PERPLEXITY_API_KEY', 'ZEN_API_KEY', 'DEEPSEEK_API_KEY'):
        monkeypatch.setenv(variable, 'k')
    model = OpenAICompatibleModel('m', provider=name)
    assert type(model._provider) is provider


def test_an_unknown_provider_is_upstream_s_error():
    """Another name is for upstream to resolve."""
    with pytest.raises(ValueError, match='Unknown provider: nope'):
        OpenAICompatibleModel('m', provider='nope')
