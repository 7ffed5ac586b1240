"""gpt-oss over a completions endpoint, token ids in and out: what was sampled goes back as it was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from _pytest.mark import ParameterSet
from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

from pydantic_ai_verbatim.harmony.adapter import HarmonyAdapter
from pydantic_ai_verbatim.harmony.encoding import SPECIAL_TOKENS, o200k_harmony
from tests.servers.families import GPT_OSS, ITEMS, READ_BOTH, TOOL
from tests.servers.recipe import is_chosen

pytestmark = [pytest.mark.anyio, pytest.mark.vcr, pytest.mark.block_network]

STOPS = [SPECIAL_TOKENS['<|call|>'], SPECIAL_TOKENS['<|return|>']]


@dataclass(frozen=True)
class Endpoint:
    """How a server takes and gives token ids.

    Args:
        path: Where completions are asked for.
        body: What the request carries besides the prompt.
        tokens: Where the sampled ids are in the reply.
    """

    path: str
    body: Mapping[str, Any]
    tokens: Sequence[str | int]

    async def sample(self, client: httpx2.AsyncClient, prompt: list[int]) -> tuple[list[int], Any]:
        """Give the sampled ids and the whole reply."""
        response = await client.post(self.path, json={'prompt': prompt, **self.body})
        reply = found = response.raise_for_status().json()
        for key in self.tokens:
            found = found[key]
        return found, reply


ENDPOINTS = {
    'llama.cpp': Endpoint('/completion', {'return_tokens': True, 'cache_prompt': True, 'n_predict': 64}, ['tokens']),
    'vllm': Endpoint(
        '/v1/completions',
        {
            'model': GPT_OSS.name,
            'max_tokens': 64,
            'return_token_ids': True,
            'skip_special_tokens': False,
            'stop_token_ids': STOPS,
        },
        ['choices', 0, 'token_ids'],
    ),
}


def endpoints() -> list[ParameterSet]:
    return [
        pytest.param(
            f'{name}/{GPT_OSS.name}',
            endpoint,
            marks=pytest.mark.default_cassette(f'{name}/{GPT_OSS.name}/token-ids-in-and-out.yaml'),
            id=name,
        )
        for name, endpoint in ENDPOINTS.items()
        if is_chosen(name, GPT_OSS.name)
    ]


def ids(text: str) -> list[int]:
    """Encode a prompt in which special tokens are meant."""
    encoding = o200k_harmony()
    found: list[int] = []
    for piece in text.replace('<|', '\0<|').replace('|>', '|>\0').split('\0'):
        found += [SPECIAL_TOKENS[piece]] if piece in SPECIAL_TOKENS else encoding.encode(piece)
    return found


@pytest.mark.parametrize(('root', 'endpoint'), endpoints(), indirect=['root'], scope='session')
async def test_a_run_token_for_token(root: str, endpoint: Endpoint) -> None:
    """The sampled call is loaded, rendered back as it was, and followed by the result; the model answers by it."""
    adapter = HarmonyAdapter(encoding=o200k_harmony())
    async with httpx2.AsyncClient(base_url=root, timeout=120, verify=False) as client:
        prompt = ids('<|start|>user<|message|>What do my notes say?<|end|><|start|>assistant')
        sampled, reply = await endpoint.sample(client, prompt)
        response = adapter.load_response(sampled)
        thinking, call = response.parts
        assert isinstance(thinking, ThinkingPart)
        assert thinking.content == 'Indeed.'
        assert isinstance(call, ToolCallPart)
        assert (call.tool_name, call.args) == (TOOL, '{"topic": "sport"}')
        assert (call.provider_details or {})['content_type'] == 'json'
        assert adapter.dump_response(response) == sampled
        _check_prompt(reply, prompt)

        result = '\n'.join(ITEMS)
        continued = prompt + adapter.dump_response(response)
        continued += ids(f'<|start|>functions.{TOOL} to=assistant<|channel|>commentary<|message|>{result}<|end|>')
        continued += ids('<|start|>assistant')
        sampled, reply = await endpoint.sample(client, continued)
        response = adapter.load_response(sampled)
        [answer] = response.parts
        assert isinstance(answer, TextPart)
        assert answer.content == READ_BOTH
        assert adapter.dump_response(response) == sampled
        _check_prompt(reply, continued, reused=len(prompt))


def _check_prompt(reply: Any, prompt: list[int], reused: int = 0) -> None:
    """The server read exactly these ids; llama.cpp had those of the turn before in its cache."""
    if 'timings' in reply:
        assert reply['timings']['prompt_n'] + reply['timings']['cache_n'] == len(prompt)
        assert reply['timings']['cache_n'] >= reused
    else:
        assert reply['choices'][0]['prompt_token_ids'] == prompt
