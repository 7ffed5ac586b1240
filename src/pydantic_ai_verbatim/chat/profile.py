"""Profile and settings keys of `OpenAICompatibleModel`, and the one table of model families.

A profile is what is known of a model at an endpoint. Behind a server that is not the model maker's own, the name
is all there is to go by: it gives the family, upstream's profile function for the family, and what any server that
merely speaks the Chat Completions format takes.
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias, cast

from openai import AsyncAzureOpenAI, AsyncOpenAI
from pydantic_ai.exceptions import ModelQuotaExceededError, ModelRequestRejectedError
from pydantic_ai.models.openai import OpenAIChatModelSettings
from pydantic_ai.profiles import InlineDefsJsonSchemaTransformer, ModelProfile, merge_profile
from pydantic_ai.profiles.anthropic import anthropic_model_profile
from pydantic_ai.profiles.cohere import cohere_model_profile
from pydantic_ai.profiles.deepseek import deepseek_model_profile
from pydantic_ai.profiles.google import google_model_profile
from pydantic_ai.profiles.grok import grok_model_profile
from pydantic_ai.profiles.harmony import harmony_model_profile
from pydantic_ai.profiles.meta import meta_model_profile
from pydantic_ai.profiles.mistral import mistral_model_profile
from pydantic_ai.profiles.moonshotai import moonshotai_model_profile
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer, OpenAIModelProfile, openai_model_profile
from pydantic_ai.profiles.qwen import qwen_model_profile
from pydantic_ai.profiles.zai import zai_model_profile
from pydantic_ai.providers import Provider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

ToolReturnFormat: TypeAlias = Literal['auto', 'parts', 'text', 'json']
"""How a list-typed tool return is put on the wire; `auto` lets the endpoint and the model family decide."""


class ErrorReading(NamedTuple):
    """What a service means by the `type` of an error, where the HTTP status says something else."""

    category: type[ModelQuotaExceededError | ModelRequestRejectedError]
    """The kind of error that it is."""

    hint: str
    """What happened and what to do about it, for the error's message."""


class OpenAICompatibleModelProfile(OpenAIModelProfile, total=False):
    """Profile of a model used with `OpenAICompatibleModel`; each key beyond upstream's defaults to off."""

    openai_compatible_tool_return_format: ToolReturnFormat
    """How a list-typed tool return is put on the wire."""

    openai_compatible_sends_content_type: bool
    """Whether the `content_type` of a tool call is sent back, whichever endpoint gave it."""

    openai_compatible_merges_neighbours: bool
    """Whether neighbouring messages of one role are merged, their texts joined by a blank line."""

    openai_compatible_unique_tool_call_ids: bool
    """Whether tool-call ids that repeat within one request are renamed, call and result together."""

    openai_compatible_empty_content: bool
    """Whether a message without content is sent `""` instead of `null`."""

    openai_compatible_string_tool_choice: bool
    """Whether `tool_choice` is a string only: a named tool becomes `required` with just that tool."""

    openai_compatible_thinking_field_on_tool_calls: bool
    """Whether each assistant message with tool calls carries `openai_chat_thinking_field`, empty if need be."""

    openai_compatible_supports_tools: bool
    """Whether the endpoint takes tools; `False` makes any a `UserError` before the request, where upstream's
    `supports_tools` refuses output tools alone. Default: `True`."""

    openai_compatible_served_elsewhere: str
    """What to use for a model that the service does not serve over Chat Completions, which is a `UserError`."""

    openai_compatible_response_fields: tuple[str, ...]
    """Fields of a reply, beside `choices`, that are kept in `ModelResponse.provider_details`."""

    openai_compatible_reads_harmony_headers: bool
    """Whether a Harmony message header that leaked into a tool's name is read (`bash<|channel|>commentary`)."""

    openai_compatible_error_types: Mapping[str, ErrorReading]
    """What the service's own error types mean, where the HTTP status does not tell."""


class OpenAICompatibleModelSettings(OpenAIChatModelSettings, total=False):
    """Settings of a request made with `OpenAICompatibleModel`."""

    openai_compatible_tool_return_format: ToolReturnFormat
    """How a list-typed tool return is put on the wire, before all that profile and constructor say."""


COMPATIBLE_PROFILE = OpenAICompatibleModelProfile(
    json_schema_transformer=OpenAIJsonSchemaTransformer,
    supports_json_schema_output=True,
    supports_json_object_output=True,
    # A server that constrains the output to a schema does not show the schema to the model.
    native_output_requires_schema_in_instructions=True,
    # Upstream's defence against special tokens in user text, for servers that render a chat template.
    may_tokenize_special_tokens_in_content=True,
    # `strict` in a tool definition is a 400 on several hosts (pydantic/pydantic-ai#1846).
    openai_supports_strict_tool_definition=False,
    # `max_completion_tokens` is unknown to most hosts, and ignored by some.
    openai_chat_supports_max_completion_tokens=False,
    # Many chat templates take one system message, at the beginning (pydantic/pydantic-ai#5812).
    openai_chat_supports_multiple_system_messages=False,
)
"""What any server takes that speaks the Chat Completions format, whatever it serves."""

_REASONS_IN_FIELD = OpenAICompatibleModelProfile(
    openai_chat_thinking_field='reasoning_content',
    openai_chat_send_back_thinking_parts='field',
)
_CLOSED = OpenAICompatibleModelProfile(may_tokenize_special_tokens_in_content=False)


def _glm(model_name: str) -> ModelProfile:
    """Nested arguments whose schema is a `$ref` come back as strings (pydantic/pydantic-ai#10243)."""
    inlined = ModelProfile(json_schema_transformer=InlineDefsJsonSchemaTransformer)
    return merge_profile(zai_model_profile(model_name), _REASONS_IN_FIELD, inlined)


def _kimi(model_name: str) -> ModelProfile:
    """Ids like `functions.name:0` go back byte for byte: no key here touches them."""
    return merge_profile(moonshotai_model_profile(model_name), _REASONS_IN_FIELD)


def _deepseek(model_name: str) -> ModelProfile:
    """A tool-call turn without `reasoning_content` is a 400 (pydantic/pydantic-ai#3629), repeated ids are too."""
    thinks = model_name.startswith(('deepseek-v4', 'deepseek-flash', 'deepseek-r1', 'deepseek-reasoner'))
    return merge_profile(
        deepseek_model_profile(model_name),
        _REASONS_IN_FIELD,
        OpenAICompatibleModelProfile(
            thinking_enabled_by_default=thinks,
            openai_chat_thinking_requires_field_on_tool_calls=True,
            openai_compatible_thinking_field_on_tool_calls=True,
            openai_compatible_unique_tool_call_ids=True,
            # "does not support successive user or assistant messages" (BerriAI/litellm#8018)
            openai_compatible_merges_neighbours=model_name.startswith('deepseek-reasoner'),
        ),
    )


def _gpt_oss(model_name: str) -> ModelProfile:
    """A Harmony tool message holds one text, and hosts drop a later part (vllm-project/vllm#25001)."""
    one_text = OpenAICompatibleModelProfile(
        openai_compatible_tool_return_format='text',
        openai_compatible_reads_harmony_headers=True,
        # Its hosts render a chat template, which has no place for a later system message.
        supports_inline_system_prompts=False,
    )
    return merge_profile(harmony_model_profile(model_name), one_text)


def _minimax(model_name: str) -> ModelProfile:
    """Its thinking goes back the way it came, in its field or in tags, which is upstream's default."""
    return ModelProfile(ignore_streamed_leading_whitespace=True)


_NOT_REASONING_GROK = re.compile(r'non-reasoning|^grok-(?:beta|vision|[12]\b|3-(?!mini))')


def _grok(model_name: str) -> ModelProfile:
    """Its reasoning models answer 400 to these three settings (docs.x.ai/docs/guides/reasoning)."""
    dropped = ('presence_penalty', 'frequency_penalty', 'stop_sequences')
    reasons = not _NOT_REASONING_GROK.search(model_name)
    return merge_profile(
        grok_model_profile(model_name),
        _CLOSED,
        OpenAICompatibleModelProfile(openai_unsupported_model_settings=dropped if reasons else ()),
    )


def _claude(model_name: str) -> ModelProfile:
    schema = ModelProfile(json_schema_transformer=OpenAIJsonSchemaTransformer)
    return merge_profile(anthropic_model_profile(model_name.replace('.', '-')), _CLOSED, schema)


def _gemini(model_name: str) -> ModelProfile:
    schema = ModelProfile(json_schema_transformer=OpenAIJsonSchemaTransformer)
    return merge_profile(google_model_profile(model_name), _CLOSED, schema)


_FAMILIES: Mapping[str, Callable[[str], ModelProfile | None]] = {
    'glm': _glm,
    'kimi|moonshot(?:ai)?': _kimi,
    'deepseek': _deepseek,
    'gpt[-_]?oss': _gpt_oss,
    'minimax(?:ai)?': _minimax,
    'mimo': lambda _: _REASONS_IN_FIELD,
    'qwen|qwq': qwen_model_profile,
    'grok': _grok,
    'llama': meta_model_profile,
    'gemma': google_model_profile,
    'mistral(?:ai)?|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral': mistral_model_profile,
    'command(?=-)': cohere_model_profile,
    'claude': _claude,
    'gemini': _gemini,
}
"""How a family's models are named (a regular expression), and its profile for the name from there on."""

_OPENAI_MODEL = re.compile(
    r'^(?:openai[-.])?((?:gpt-(?:[3-9](?![a-z])|4o|audio|realtime)|ft:(?:gpt|o)|chatgpt-|codex-|computer-use-|o[134]'
    r'(?:-(?:mini|pro|preview|deep|\d)|$)).*)'
)
_WORDS = {re.compile(rf'(?:^|[^a-z0-9])(?:chat)?({words})(?![a-z])'): profile for words, profile in _FAMILIES.items()}


def family_profile(model_name: str) -> OpenAICompatibleModelProfile:
    """Give the profile of a model behind a server that is not its maker's own.

    Args:
        model_name: As the server calls it: `glm-5`, `svc/glm-4.7`, `zai-org/GLM-5`, `unsloth/Qwen3-8B-GGUF`.

    Returns:
        The family's profile over `COMPATIBLE_PROFILE`; for a model that OpenAI serves itself, OpenAI's own, since
        such a server passes the request on; for an unknown name, `COMPATIBLE_PROFILE`.
    """
    if openai_name := openai_model_name(model_name):
        schema = ModelProfile(json_schema_transformer=OpenAIJsonSchemaTransformer)
        return _ours(merge_profile(schema, openai_model_profile(openai_name)))
    name = model_name.lower()
    # The model's own name decides; the organization's is asked where that says nothing (`mistralai/Leanstral`).
    family = _family(name.rpartition('/')[2]) or _family(name)
    return _ours(merge_profile(COMPATIBLE_PROFILE, family))


def _ours(profile: ModelProfile) -> OpenAICompatibleModelProfile:
    return cast('OpenAICompatibleModelProfile', profile)


def openai_model_name(model_name: str) -> str | None:
    """Give OpenAI's own name of the model where OpenAI serves it itself, else `None` (as for gpt-oss)."""
    found = _OPENAI_MODEL.search(model_name.lower().rpartition('/')[2])
    return found[1] if found else None


def _family(name: str) -> ModelProfile | None:
    """Read the first family word of a name: a distilled model is named after what it imitates first."""
    found = [(match.start(1), profile) for words, profile in _WORDS.items() if (match := words.search(name))]
    if not found:
        return None
    start, profile = min(found, key=lambda item: item[0])
    return profile(name[start:])


def endpoint_profile(profile: ModelProfile, provider: Provider[AsyncOpenAI], model_name: str) -> ModelProfile:
    """Give the profile of a model at a provider's endpoint, before the user's own `profile=`.

    Args:
        profile: What upstream takes from the provider.
        provider: The provider that is asked; one without a service of its own is a generic server.
        model_name: The model's name at the endpoint.

    Returns:
        The family's profile where the server is generic, with what the user gave to an `OpenAICompatibleProvider`
        above it. A provider of a service of its own knows best: there the family only adds keys upstream lacks.
    """
    family = family_profile(model_name)
    if not _is_generic(provider):
        return merge_profile(_own_keys(family, home=provider.name == 'deepseek'), profile)
    given = provider._model_profile_override if isinstance(provider, OpenAICompatibleProvider) else None
    if callable(given) or openai_model_name(model_name):
        return profile
    return merge_profile(family, given)


_GENERIC_PROFILES = (OpenAIProvider.model_profile, OpenAICompatibleProvider.model_profile)


def _is_generic(provider: Provider[AsyncOpenAI]) -> bool:
    """Say whether the provider may be in front of any server: it knows no models of its own and is not at OpenAI's."""
    if type(provider).model_profile not in _GENERIC_PROFILES or isinstance(provider.client, AsyncAzureOpenAI):
        return False
    host = provider.client.base_url.host
    return host != 'openai.com' and not host.endswith('.openai.com')


def _own_keys(family: ModelProfile, *, home: bool) -> ModelProfile:
    """Keep of a family's profile the keys that hold wherever it is served, or all our own at its maker's."""
    everywhere = ('openai_compatible_tool_return_format', 'openai_compatible_reads_harmony_headers')
    kept = 'openai_compatible_' if home else everywhere
    return cast('ModelProfile', {key: value for key, value in family.items() if key.startswith(kept)})
