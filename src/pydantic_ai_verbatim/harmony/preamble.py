"""What stands before a conversation: the system and the developer message of a Harmony prompt, from pydantic-ai's data.

Pure, and token for token what openai-harmony 0.0.8 writes. Bodies are data: as ids they are encoded as ordinary text.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal, NamedTuple

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from .schemas import spelled_out
from .typescript import comment, json_text, tools_namespace

Effort = Literal['low', 'medium', 'high']

IDENTITY = 'You are ChatGPT, a large language model trained by OpenAI.'
"""What gpt-oss was trained on; format.md says to leave it, and to name another identity in the instructions."""

KNOWLEDGE_CUTOFF = '2024-06'

_CHANNELS = '# Valid channels: analysis, commentary, final. Channel must be included for every message.'
_FUNCTIONS = "Calls to these tools must go to the commentary channel: 'functions'."

_EFFORTS: dict[Any, Effort] = {
    False: 'low',
    'none': 'low',
    'minimal': 'low',
    'low': 'low',
    True: 'medium',
    'medium': 'medium',
    'high': 'high',
    'xhigh': 'high',
    'max': 'high',
}


class PromptMessage(NamedTuple):
    """A message of the prompt that the model did not write.

    Attributes:
        role: Its role, `system` or `developer`, which is its whole header.
        body: Its body.
    """

    role: str
    body: str

    @property
    def text(self) -> str:
        """The message as text, with its markers."""
        return f'<|start|>{self.role}<|message|>{self.body}<|end|>'


def preamble(
    parameters: ModelRequestParameters,
    instructions: str | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    current_date: date | None = None,
    spell_out: bool = False,
) -> list[PromptMessage]:
    """Give the messages before a conversation: the system message, and the developer message if it says anything.

    Args:
        parameters: The tools and the output schema.
        instructions: What the developer message says.
        settings: The settings, of which the reasoning effort is read.
        current_date: The date that the model is told; give the same one at each turn, or the prefix changes.
        spell_out: Rewrite the tools' schemas so that nothing they say is lost (see `spelled_out`). By default they
            are rendered as they are, as openai-harmony does.
    """
    tools = [*parameters.declared_function_tools, *parameters.output_tools]
    output = parameters.output_object if parameters.output_mode == 'native' else None
    system = system_message(
        effort=reasoning_effort(settings, parameters), current_date=current_date, has_functions=bool(tools)
    )
    developer = developer_message(instructions, [spelled_out(tool) for tool in tools] if spell_out else tools, output)
    return [PromptMessage('system', system), *([PromptMessage('developer', developer)] if developer else [])]


def system_message(
    *,
    effort: Effort = 'medium',
    current_date: date | None = None,
    has_functions: bool = False,
    identity: str = IDENTITY,
    knowledge_cutoff: str = KNOWLEDGE_CUTOFF,
) -> str:
    """Give the body of the system message, as openai/harmony's format.md describes it.

    Args:
        effort: The reasoning effort.
        current_date: The date that the model is told, if any.
        has_functions: Whether the developer message declares functions.
        identity: Who the model is.
        knowledge_cutoff: Until when it knows the world.
    """
    about = [identity, f'Knowledge cutoff: {knowledge_cutoff}']
    if current_date:
        about.append(f'Current date: {current_date:%Y-%m-%d}')
    channels = f'{_CHANNELS}\n{_FUNCTIONS}' if has_functions else _CHANNELS
    return '\n\n'.join(['\n'.join(about), f'Reasoning: {effort}', channels])


def developer_message(
    instructions: str | None = None,
    tools: Sequence[ToolDefinition] = (),
    output: OutputObjectDefinition | None = None,
) -> str:
    """Give the body of the developer message; empty if there is nothing to say.

    Args:
        instructions: What is called a system prompt elsewhere.
        tools: The functions that the model may call.
        output: What its final answer must look like.
    """
    sections = [f'# Instructions\n\n{instructions}'] if instructions else []
    if tools:
        sections.append(tools_namespace(tools))
    if output:
        sections.append(response_format(output))
    return '\n\n'.join(sections)


def response_format(output: OutputObjectDefinition) -> str:
    """Give the section on the answer's schema, which format.md puts at the end of the developer message."""
    lines = ['# Response Formats', '', f'## {output.name or "final_result"}', '']
    return '\n'.join([*lines, *comment(output.description or ''), json_text(output.json_schema)])


def reasoning_effort(
    settings: Mapping[str, Any] | None = None, parameters: ModelRequestParameters | None = None
) -> Effort:
    """Give the reasoning effort: upstream's `openai_reasoning_effort`, else its `thinking`, else `medium`.

    gpt-oss knows three and cannot be silenced: less than `low` is `low`, more than `high` is `high`.

    Raises:
        UserError: A setting is no effort that upstream knows.
    """
    given = settings or {}
    for effort in (given.get('openai_reasoning_effort'), parameters and parameters.thinking, given.get('thinking')):
        if effort is not None:
            return _known_effort(effort)
    return 'medium'


def _known_effort(effort: Any) -> Effort:
    try:
        return _EFFORTS[effort]
    except (KeyError, TypeError):
        raise UserError(f"{effort!r} is no reasoning effort. Use 'low', 'medium' or 'high'.") from None
