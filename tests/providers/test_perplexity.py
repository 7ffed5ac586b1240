"""Perplexity's Sonar models: no tools, alternating roles, thinking in tags, sources in the reply."""

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, TextPart, ThinkingPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel

from pydantic_ai_verbatim.chat.requests import apply
from pydantic_ai_verbatim.providers.perplexity import PerplexityProvider

from .conftest import Wire, completion


class Answer(BaseModel):
    """What to give."""

    n: int


async def test_structured_output_is_asked_for_with_a_schema(wire: Wire):
    """There are no output tools, so an output type goes out as a JSON schema."""
    server = wire(200, completion('{"n": 1}'))
    provider = PerplexityProvider(api_key='k', http_client=server.client)
    agent = Agent(OpenAIChatModel('sonar-pro', provider=provider), output_type=Answer)
    result = await agent.run('hi', model_settings={'max_tokens': 9})
    assert result.output == Answer(n=1)
    assert 'tools' not in server.body
    assert server.body['max_tokens'] == 9
    assert server.body['response_format']['type'] == 'json_schema'


@pytest.mark.parametrize('model_name', ['sonar-reasoning', 'sonar-reasoning-pro', 'sonar-deep-research'])
async def test_a_reasoning_model_thinks_in_tags(model_name: str, wire: Wire, hi: list[ModelMessage]):
    """What stands in `<think>` before the answer is thinking, and `thinking=` is one of three efforts."""
    server = wire(200, completion('<think>why</think>because'))
    model = OpenAIChatModel(model_name, provider=PerplexityProvider(api_key='k', http_client=server.client))
    response = await model.request(hi, {'thinking': 'minimal'}, ModelRequestParameters())
    thinking, answer = response.parts
    assert isinstance(thinking, ThinkingPart)
    assert isinstance(answer, TextPart)
    assert (thinking.content, answer.content) == ('why', 'because')
    assert server.body['reasoning_effort'] == 'low'


def test_what_our_model_class_does_for_it():
    """The profile says what `OpenAICompatibleModel` refuses, merges and keeps."""
    profile = PerplexityProvider.model_profile('sonar') or {}
    expected = {
        'openai_compatible_supports_tools': False,
        'openai_compatible_merges_neighbours': True,
        'openai_compatible_response_fields': ('citations', 'search_results'),
        'supports_thinking': False,
    }
    assert expected.items() <= {'supports_thinking': False, **profile}.items()
    merged = apply([{'role': 'user', 'content': 'hi'}, {'role': 'user', 'content': 'hi'}], {**profile})
    assert merged == [{'role': 'user', 'content': 'hi\n\nhi'}]
