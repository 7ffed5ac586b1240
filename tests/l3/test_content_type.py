"""The content type of a gpt-oss tool call, sent to servers that know no such field."""

import httpx2
import pytest
from _pytest.mark import ParameterSet
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from pydantic_ai_verbatim import OpenAICompatibleModel
from pydantic_ai_verbatim.chat.profile import OpenAICompatibleModelProfile
from tests.servers.families import GPT_OSS, ITEMS, READ_BOTH, TOOL
from tests.servers.recipe import is_chosen
from tests.servers.stories import watched_wire

pytestmark = [pytest.mark.anyio, pytest.mark.vcr, pytest.mark.block_network]

SENDS = OpenAICompatibleModelProfile(openai_compatible_sends_content_type=True)
ARGUMENTS = '{ "topic": "sport" }'

HISTORY: list[ModelMessage] = [
    ModelRequest([UserPromptPart('What do my notes say?')]),
    ModelResponse(
        [
            ToolCallPart(
                TOOL,
                ARGUMENTS,
                tool_call_id='call_1',
                provider_name='elsewhere',
                provider_details={'content_type': 'code', 'content_type_place': 'function'},
            )
        ]
    ),
    ModelRequest([ToolReturnPart(TOOL, [*ITEMS], tool_call_id='call_1')]),
]


def servers() -> list[ParameterSet]:
    return [
        pytest.param(
            f'{name}/{GPT_OSS.name}',
            marks=pytest.mark.default_cassette(f'{name}/{GPT_OSS.name}/content-type-of-a-call.yaml'),
            id=name,
        )
        for name in ('llama.cpp', 'vllm')
        if is_chosen(name, GPT_OSS.name)
    ]


@pytest.mark.parametrize('root', servers(), indirect=True, scope='session')
async def test_it_goes_out_and_does_no_harm(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the profile says so, it is sent in the place it came in, beside the argument text as it came."""
    async with watched_wire(monkeypatch) as wire:
        client = httpx2.AsyncClient(timeout=120, verify=False)
        provider = OpenAICompatibleProvider('test', base_url=f'{root}/v1', api_key='unused', http_client=client)
        model = OpenAICompatibleModel(GPT_OSS.name, provider=provider, profile=SENDS)
        run = await Agent(model).run(message_history=HISTORY)
        [request] = wire.bodies('/chat/completions')
    [call] = request['messages'][1]['tool_calls']
    assert call['function'] == {'name': TOOL, 'arguments': ARGUMENTS, 'content_type': 'code'}
    assert run.output == READ_BOTH
