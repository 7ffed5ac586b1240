"""The family table: which flags a model's name gives it, and where they apply."""

from typing import Any

import httpx2
import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI
from pydantic_ai.models.openai import OpenAIChatModelSettings
from pydantic_ai.profiles import DEFAULT_PROFILE, InlineDefsJsonSchemaTransformer, ModelProfile
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer, OpenAIModelProfile, validate_openai_profile
from pydantic_ai.providers import Provider
from pydantic_ai.providers.deepseek import DeepSeekProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.providers.openrouter import OpenRouterProvider
from pydantic_ai.providers.vllm import VLLMProvider

from pydantic_ai_verbatim.chat.profile import (
    OpenAICompatibleModelProfile,
    OpenAICompatibleModelSettings,
    endpoint_profile,
    family_profile,
    openai_model_name,
)

CONSERVATIVE = {
    'openai_supports_strict_tool_definition': False,
    'openai_chat_supports_max_completion_tokens': False,
    'openai_chat_supports_multiple_system_messages': False,
}


def at(provider: Provider[AsyncOpenAI], model_name: str) -> dict[str, Any]:
    profile = provider.model_profile(model_name) or {}
    return dict(endpoint_profile(profile, provider, model_name))


def generic() -> OpenAIProvider:
    return OpenAIProvider(base_url='http://localhost:8000/v1', api_key='k')


GLM_NAMES = ['glm-5', 'svc/glm-4.7', 'zai-org/GLM-5', 'unsloth/GLM-4.7-GGUF', 'zai-glm-4.7', '/models/GLM-4.7-Q4.gguf']


@pytest.mark.parametrize('model_name', GLM_NAMES)
def test_glm_is_known_by_any_spelling(model_name: str):
    """A GLM has its `$defs` inlined and reasons in `reasoning_content`, whatever stands around its name."""
    profile = dict(family_profile(model_name))
    expected = {
        **CONSERVATIVE,
        'json_schema_transformer': InlineDefsJsonSchemaTransformer,
        'openai_chat_thinking_field': 'reasoning_content',
        'openai_chat_send_back_thinking_parts': 'field',
        'supports_thinking': True,
        'may_tokenize_special_tokens_in_content': True,
    }
    assert expected.items() <= profile.items()


@pytest.mark.parametrize(
    ('model_name', 'expected'),
    [
        ('moonshotai/Kimi-K2.6', {'openai_chat_thinking_field': 'reasoning_content', 'supports_thinking': True}),
        ('MiniMaxAI/MiniMax-M2', {'ignore_streamed_leading_whitespace': True}),
        ('XiaomiMiMo/MiMo-V2-Flash', {'openai_chat_thinking_field': 'reasoning_content'}),
        ('Qwen/Qwen3-Coder-480B', {'json_schema_transformer': InlineDefsJsonSchemaTransformer}),
        ('qwq:32b', {'json_schema_transformer': InlineDefsJsonSchemaTransformer}),
        ('meta-llama/Llama-4-Scout', {'json_schema_transformer': InlineDefsJsonSchemaTransformer}),
        ('mistralai/Leanstral-2603', {'tool_call_id_length': 9}),
        ('CohereLabs/command-a-reasoning', {'supports_thinking': True}),
        ('claude-sonnet-4.5', {'json_schema_transformer': OpenAIJsonSchemaTransformer, 'supports_thinking': True}),
        ('vertex/gemini-3-pro', {'json_schema_transformer': OpenAIJsonSchemaTransformer}),
        ('google/gemma-3-27b-it', {'may_tokenize_special_tokens_in_content': True}),
        ('my-own-finetune', {'json_schema_transformer': OpenAIJsonSchemaTransformer}),
        ('marco-o1', {'json_schema_transformer': OpenAIJsonSchemaTransformer}),
    ],
)
def test_every_family_has_the_conservative_flags(model_name: str, expected: dict[str, Any]):
    """Any family behind a generic server, and an unknown one, has its own flags beside what such servers take."""
    assert {**CONSERVATIVE, **expected}.items() <= family_profile(model_name).items()
    assert 'openai_compatible_tool_return_format' not in family_profile(model_name)


@pytest.mark.parametrize('model_name', ['gpt-oss:20b', 'openai/gpt-oss-120b', 'unsloth/gpt-oss-20b-GGUF'])
def test_gpt_oss_reads_one_text(model_name: str):
    """A Harmony tool message holds one text, so gpt-oss is sent a list as one."""
    expected = {**CONSERVATIVE, 'openai_compatible_tool_return_format': 'text', 'supports_forced_tool_choice': False}
    assert expected.items() <= family_profile(model_name).items()
    assert openai_model_name(model_name) is None


@pytest.mark.parametrize(
    ('model_name', 'thinks', 'merges'),
    [
        ('deepseek-ai/DeepSeek-V4-Pro', True, False),
        ('deepseek-flash', True, False),
        ('deepseek-reasoner', True, True),
        ('deepseek-r1-distill-qwen-32b', True, False),
        ('deepseek-chat', False, False),
    ],
)
def test_deepseek_wants_reasoning_and_unique_ids(model_name: str, thinks: bool, merges: bool):
    """Each DeepSeek gets `reasoning_content` on tool-call turns and unique ids; the legacy reasoner merged roles."""
    expected = {
        **CONSERVATIVE,
        'openai_chat_thinking_field': 'reasoning_content',
        'openai_compatible_thinking_field_on_tool_calls': True,
        'openai_compatible_unique_tool_call_ids': True,
        'openai_compatible_merges_neighbours': merges,
        'thinking_enabled_by_default': thinks,
    }
    assert expected.items() <= family_profile(model_name).items()


@pytest.mark.parametrize(
    ('model_name', 'reasons'),
    [
        ('grok-4', True),
        ('x-ai/grok-4.5', True),
        ('grok-3-mini', True),
        ('grok-code-fast-1', True),
        ('grok-4-fast-non-reasoning', False),
        ('grok-3-fast', False),
        ('grok-2-1212', False),
        ('grok-beta', False),
    ],
)
def test_grok_drops_what_its_reasoning_models_reject(model_name: str, reasons: bool):
    """Only the reasoning models lose the three settings that they answer 400 to."""
    dropped = ('presence_penalty', 'frequency_penalty', 'stop_sequences') if reasons else ()
    assert family_profile(model_name).get('openai_unsupported_model_settings') == dropped


@pytest.mark.parametrize(
    'model_name', ['gpt-5.2', 'openai/gpt-4o', 'o3', 'o4-mini', 'chatgpt-4o-latest', 'ft:gpt-4o:me']
)
def test_an_openai_model_behind_a_proxy_keeps_openai_s_profile(model_name: str):
    """A server that passes requests on to OpenAI is sent what OpenAI takes, `max_completion_tokens` included."""
    assert not CONSERVATIVE.keys() & family_profile(model_name).keys()
    provider = generic()
    assert at(provider, model_name) == provider.model_profile(model_name)


def test_behind_openai_s_own_url_nothing_changes():
    """What is asked of OpenAI or Azure itself, whatever its name, is OpenAI's own business."""
    azure = AsyncAzureOpenAI(
        azure_endpoint='https://me.openai.azure.com',
        api_key='k',
        api_version='2025-04-01',
        http_client=httpx2.AsyncClient(),
    )
    providers = [
        OpenAIProvider(api_key='k'),
        OpenAIProvider(base_url='https://eu.api.openai.com/v1', api_key='k'),
        OpenAIProvider(openai_client=azure),
    ]
    for provider in providers:
        assert at(provider, 'glm-5') == provider.model_profile('glm-5')


def test_a_family_replaces_openai_s_profile_on_a_generic_server():
    """None of the features that only OpenAI has is left to a GLM behind `OPENAI_BASE_URL`."""
    profile = at(generic(), 'svc/glm-4.7')
    assert profile == family_profile('svc/glm-4.7')
    assert 'openai_chat_supports_allowed_tools' not in profile


class RenamedProvider(OpenAICompatibleProvider):
    """A user's own provider that adds nothing about models."""


class KnowingProvider(OpenAICompatibleProvider):
    """A user's own provider that knows its models."""

    @staticmethod
    def model_profile(model_name: str) -> ModelProfile | None:
        return ModelProfile(supports_thinking=True)


def test_a_user_s_own_provider_is_generic_until_it_knows_its_models():
    """A subclass that says nothing about models gets the family, one that does is believed."""
    url = 'http://localhost:8000/v1'
    assert at(RenamedProvider('mine', base_url=url), 'glm-5') == family_profile('glm-5')
    assert at(KnowingProvider('mine', base_url=url), 'glm-5') == {'supports_thinking': True}


def test_a_profile_given_to_the_provider_wins():
    """What the user told an `OpenAICompatibleProvider` stands above the family, and only that."""
    given = ModelProfile(json_schema_transformer=None, supports_thinking=False)
    provider = OpenAICompatibleProvider('mine', base_url='http://localhost:8000/v1', profile=given)
    configured: ModelProfile = {**(provider.model_profile('glm-5') or {}), **given}
    assert endpoint_profile(configured, provider, 'glm-5') == {**family_profile('glm-5'), **given}


def test_a_profile_function_given_to_the_provider_replaces_the_family():
    """A function from the model name to a profile is the user's last word, as it is upstream."""
    given = ModelProfile(supports_thinking=True)
    provider = OpenAICompatibleProvider('mine', base_url='http://localhost:8000/v1', profile=lambda _: given)
    assert endpoint_profile(given, provider, 'glm-5') == given


@pytest.mark.parametrize(
    'provider', [VLLMProvider(base_url='http://localhost:8000/v1'), OpenRouterProvider(api_key='k')]
)
def test_a_dedicated_provider_knows_best(provider: Provider[AsyncOpenAI]):
    """Upstream's own providers keep their profile; a family adds how it reads tool returns and writes names, and nothing else."""
    ours = {'openai_compatible_tool_return_format': 'text', 'openai_compatible_reads_harmony_headers': True}
    assert at(provider, 'openai/gpt-oss-120b') == {**ours, **(provider.model_profile('openai/gpt-oss-120b') or {})}
    assert at(provider, 'deepseek/deepseek-reasoner') == provider.model_profile('deepseek/deepseek-reasoner')


def test_deepseek_s_own_api_gets_deepseek_s_keys():
    """At DeepSeek's own address our keys for the family are added to upstream's profile."""
    provider = DeepSeekProvider(api_key='k')
    assert at(provider, 'deepseek-reasoner') == {
        **(provider.model_profile('deepseek-reasoner') or {}),
        'openai_compatible_thinking_field_on_tool_calls': True,
        'openai_compatible_unique_tool_call_ids': True,
        'openai_compatible_merges_neighbours': True,
    }


@pytest.mark.parametrize(
    'model_name',
    ['glm-5', 'kimi-k3', 'deepseek-v3', 'gpt-oss', 'minimax-m2', 'mimo', 'qwen3', 'grok-4', 'llama', 'mistral', 'x'],
)
def test_each_profile_is_one_that_upstream_accepts(model_name: str):
    """Upstream checks a profile when a model is built."""
    validate_openai_profile({**DEFAULT_PROFILE, **family_profile(model_name)})


@pytest.mark.parametrize(
    ('own', 'parent'),
    [
        (OpenAICompatibleModelProfile, OpenAIModelProfile),
        (OpenAICompatibleModelSettings, OpenAIChatModelSettings),
    ],
)
def test_each_own_key_begins_with_our_prefix(own: type, parent: type):
    """Profiles and settings of several packages are merged, so a key says whose it is."""
    declared = set(own.__annotations__) - set(parent.__annotations__)
    assert 'openai_compatible_tool_return_format' in declared
    assert {key for key in declared if not key.startswith('openai_compatible_')} == set()
