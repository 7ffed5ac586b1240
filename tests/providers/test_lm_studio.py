"""LM Studio: any address of the server will do, and its server's own ways are in the profile."""

import pytest
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import InlineDefsJsonSchemaTransformer

from pydantic_ai_verbatim.providers.lm_studio import LMStudioProvider, base_url_of

from .conftest import Wire, completion


@pytest.mark.parametrize(
    ('address', 'base_url'),
    [
        ('http://localhost:1234', 'http://localhost:1234/v1'),
        ('http://localhost:1234/', 'http://localhost:1234/v1'),
        ('http://localhost:1234/v1', 'http://localhost:1234/v1'),
        ('http://localhost:1234/v1/', 'http://localhost:1234/v1'),
        ('http://localhost:1234/v1/chat/completions', 'http://localhost:1234/v1'),
        ('http://localhost:1234/v1/models/', 'http://localhost:1234/v1'),
        ('http://localhost:1234/chat/completions', 'http://localhost:1234/v1'),
        ('http://localhost:1234/api/v0', 'http://localhost:1234/v1'),
        ('http://localhost:1234/api/v0/chat/completions', 'http://localhost:1234/v1'),
        ('http://localhost:1234/api/v1/chat', 'http://localhost:1234/v1'),
        ('http://localhost:1234/api', 'http://localhost:1234/v1'),
        ('http://localhost:1234//v1//', 'http://localhost:1234/v1'),
        ('http://localhost:1234/v1?x=1#y', 'http://localhost:1234/v1'),
        ('localhost:1234', 'http://localhost:1234/v1'),
        ('//localhost:1234', 'http://localhost:1234/v1'),
        ('192.168.0.7:1234/v1', 'http://192.168.0.7:1234/v1'),
        ('[::1]:1234', 'http://[::1]:1234/v1'),
        ('my-mac.local', 'http://my-mac.local/v1'),
        (' HTTP://localhost:1234 ', 'http://localhost:1234/v1'),
        ('ws://localhost:1234', 'http://localhost:1234/v1'),
        ('wss://models.example.com', 'https://models.example.com/v1'),
        ('https://example.com/lm-studio/v1/chat/completions', 'https://example.com/lm-studio/v1'),
        ('https://example.com/lm-studio', 'https://example.com/lm-studio/v1'),
    ],
)
def test_any_address_leads_to_the_base_url(address: str, base_url: str, monkeypatch: pytest.MonkeyPatch):
    """What a user pastes, in code or in a variable, is cut back to the server and given its `/v1`."""
    assert base_url_of(address) == base_url
    assert base_url_of(base_url) == base_url
    assert LMStudioProvider(base_url=address).base_url == f'{base_url}/'
    monkeypatch.setenv('LMSTUDIO_BASE_URL', address)
    assert LMStudioProvider().base_url == f'{base_url}/'


@pytest.mark.parametrize('address', ['http://', ':1234', 'http:///v1', 'http://[::1', 'localhost:port', 'localhost:0'])
def test_what_is_no_address_is_an_error(address: str):
    """The error shows what was given and what would do."""
    with pytest.raises(UserError, match=r"is no address of an LM Studio server\. Give one like 'http://127\.0\.0\.1"):
        LMStudioProvider(base_url=address)


def test_the_server_s_ways_are_in_the_profile():
    """A GLM on LM Studio is a GLM, with a string where LM Studio takes no `null` and no object (R30, R31)."""
    profile = LMStudioProvider.model_profile('zai-org/glm-4.7-flash') or {}
    expected = {
        'json_schema_transformer': InlineDefsJsonSchemaTransformer,
        'openai_compatible_empty_content': True,
        'openai_compatible_string_tool_choice': True,
        'supports_json_object_output': False,
    }
    assert expected.items() <= profile.items()


async def test_gpt_oss_reasons_in_reasoning(wire: Wire, hi: list[ModelMessage]):
    """Its thinking is read from `reasoning`, and a list reaches it as one text."""
    reply = completion('because')
    reply['choices'][0]['message']['reasoning'] = 'why'
    model = OpenAIChatModel('openai/gpt-oss-20b', provider=LMStudioProvider(http_client=wire(200, reply).client))
    response = await model.request(hi, None, ModelRequestParameters())
    assert (response.thinking, response.text) == ('why', 'because')
    assert model.profile.get('openai_chat_thinking_field') == 'reasoning'
    assert model.profile.get('openai_compatible_tool_return_format') == 'text'
