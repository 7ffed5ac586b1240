"""What we rely on of upstream's and the SDK's private surface: a new version that changes it fails here, by name."""

import inspect
from collections.abc import Callable
from typing import Any

import pydantic_ai.models
import pydantic_ai.models.fallback
import pydantic_ai.models.wrapper
import pytest
from openai import AsyncStream
from pydantic_ai._model_errors import openai_compatible_category, openai_compatible_status
from pydantic_ai.models.github_copilot import GitHubCopilotModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from pydantic_ai_verbatim.chat.variants import CopilotCompatibleModel, OpenRouterCompatibleModel


def parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('_map_user_message', ['self', 'message']),
        ('_map_messages', ['self', 'messages', 'model_request_parameters', 'model_settings']),
        ('_completions_create', ['self', 'messages', 'stream', 'model_settings', 'model_request_parameters']),
        ('_get_tool_choice', ['self', 'model_settings', 'model_request_parameters']),
        ('_provider_model_profile', ['self']),
        ('_map_model_response', ['self', 'message']),
        ('_process_streamed_response', ['self', 'response', 'model_request_parameters', 'model_settings']),
    ],
)
def test_overridden_methods_keep_their_parameters(name: str, expected: list[str]) -> None:
    assert parameters(getattr(OpenAIChatModel, name)) == expected


def test_upstreams_response_context_is_not_shadowed() -> None:
    """A nested class of our own would hide OpenRouter's, and its reasoning details with it."""
    assert '_MapModelResponseContext' not in vars(OpenRouterCompatibleModel.__mro__[1])
    assert OpenRouterCompatibleModel._MapModelResponseContext is OpenRouterModel._MapModelResponseContext


def test_variants_stand_in_front_of_upstreams_classes() -> None:
    for ours, theirs in ((OpenRouterCompatibleModel, OpenRouterModel), (CopilotCompatibleModel, GitHubCopilotModel)):
        names = [cls.__name__ for cls in ours.__mro__]
        assert names.index('OpenAICompatibleModel') < names.index(theirs.__name__) < names.index('OpenAIChatModel')


def test_upstream_says_what_an_error_means() -> None:
    assert parameters(openai_compatible_status) == ['code', 'error_type']
    assert parameters(openai_compatible_category) == ['status_code', 'code', 'error_type', 'message']


def test_upstream_holds_infer_model_by_name_where_it_is_replaced() -> None:
    assert pydantic_ai.models.wrapper.__dict__['infer_model'] is pydantic_ai.models.infer_model
    assert pydantic_ai.models.fallback.__dict__['infer_model'] is pydantic_ai.models.infer_model
    assert parameters(pydantic_ai.models.infer_model) == ['model', 'provider_factory']


def test_a_profile_given_to_a_generic_provider_can_be_told_from_its_default() -> None:
    assert OpenAICompatibleProvider('x', base_url='http://x')._model_profile_override is None


def test_a_stream_has_its_response_unread() -> None:
    """The question to llama.cpp bounds what it reads of an answer."""
    assert 'response' in AsyncStream.__annotations__


def test_the_stream_class_is_a_property_of_the_model() -> None:
    assert isinstance(inspect.getattr_static(OpenAIChatModel, '_streamed_response_cls'), property)
