"""A whole transcript, as it was a prompt, to messages: the roles of its blocks say whose they are.

What a response was comes back as it was sampled. Of the system and developer messages only the instructions are kept:
the rest is what a request's parameters and settings say anew.
"""

from collections import defaultdict, deque
from dataclasses import replace
from typing import Generic

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    SystemPromptPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters

from .grammar import ROLE, START
from .header import NAMESPACE, Header, read_header, read_pieces
from .loading import load_sample
from .parser import Block, S, cut
from .preamble import preamble
from .prompt import calls_function
from .rendering import Renderer, addressed

_HEADINGS = ('\n\n# Tools\n\n## functions\n', '\n\n# Response Formats\n\n## ')


class Transcript(Generic[S]):
    """Collects the messages of a transcript, block by block.

    Args:
        renderer: What the responses will be rendered with.
        parameters: The parameters of the requests, for the names of their tools.
    """

    def __init__(self, renderer: Renderer[S], parameters: ModelRequestParameters | None) -> None:
        self._renderer = renderer
        self._codec = renderer.codec
        self._parameters = parameters
        self._functions = frozenset(parameters.tool_defs) if parameters else frozenset[str]()
        self._sampled: list[S] = []
        self._calls: dict[str, deque[str]] = defaultdict(deque)
        self.messages: list[ModelMessage] = []

    def load(self, conversation: S) -> list[ModelMessage]:
        """Load a conversation; the `<|start|>assistant` that a prompt ends with is no response.

        Raises:
            UserError: It does not start with `<|start|>`.
        """
        blocks, tail = cut(self._codec.parser(), conversation)
        if blocks and not self._codec.read(blocks[0].lead).endswith(START):
            raise UserError(
                'A transcript starts with `<|start|>`; this looks like a sample: use `load_response`, '
                'or put `<|start|>assistant` in front of it.'
            )
        if (
            blocks
            and blocks[-1].cut
            and self._codec.sampled(blocks[-1])[-len(self._codec.opening) :] == self._codec.opening
        ):
            tail = blocks.pop().lead[: -len(self._codec.marked(START))]
        for block in blocks:
            self._add(block)
        if self._sampled and tail:
            self._sampled.append(tail)
        self._end_response()
        return self.messages

    def _add(self, block: Block[S]) -> None:
        gap = self._codec.read(block.lead)
        header = read_pieces(self._codec.pieces(block.header), after_start=gap.endswith(START))
        if header.text.startswith(ROLE) or header.role is None:
            if not self._sampled and gap.strip() == START:  # white space between messages is nobody's
                block = replace(block, lead=self._codec.marked(START))
            self._sampled.append(self._codec.sampled(block))
            return
        if self._sampled:
            self._sampled.append(block.lead[: -len(self._codec.marked(START))])
        self._end_response()
        if part := self._request_part(header, '' if block.body is None else self._codec.read(block.body)):
            self._ask(part)

    def _end_response(self) -> None:
        if not self._sampled:
            return
        sampled, opening = self._codec.join(self._sampled), self._codec.opening
        if sampled[: len(opening)] == opening:
            sampled = sampled[len(opening) :]
        response = load_sample(sampled, self._renderer, self._parameters)
        self._sampled = []
        self.messages.append(response)
        for call in response.tool_calls:
            author, _ = addressed(call.tool_name, is_function=calls_function(call, self._functions))
            self._calls[author].append(call.tool_call_id)

    def _ask(self, part: ModelRequestPart) -> None:
        last = self.messages[-1] if self.messages else None
        if isinstance(last, ModelRequest):
            last.parts = [*last.parts, part]
        else:
            self.messages.append(ModelRequest([part]))

    def _request_part(self, header: Header, text: str) -> ModelRequestPart | None:
        match header.role:
            case 'system':
                return None
            case 'developer':
                instructions = self._instructions(text)
                return SystemPromptPart(instructions) if instructions else None
            case 'user':
                return UserPromptPart(text)
            case _:
                return self._tool_return(header, text)

    def _tool_return(self, header: Header, text: str) -> ToolReturnPart:
        """Answer the first open call of the tool that speaks here."""
        name = read_header(f'to={header.role}').tool_name or ''
        author, _ = addressed(name, is_function=(header.role or '').startswith(NAMESPACE))
        calls = self._calls[author]
        if not calls:
            return ToolReturnPart(name, text)
        return ToolReturnPart(name, text, tool_call_id=calls.popleft())

    def _instructions(self, developer: str) -> str:
        """Give what a developer message says before its tools and its output schema: those of the parameters, if known."""
        text = f'\n\n{developer}'
        for section in _sections(self._parameters) if self._parameters else ():
            if text.endswith(section):
                return _without_heading(text.removesuffix(section))
        ends = [at for at in map(text.rfind, _HEADINGS) if at >= 0]
        return _without_heading(text[: min(ends, default=len(text))])


def _sections(parameters: ModelRequestParameters) -> list[str]:
    """Give what may follow the instructions: tools and output schema, as they are and spelled out."""
    prompts = [preamble(parameters, spell_out=spell_out) for spell_out in (False, True)]
    return [''.join(f'\n\n{message.body}' for message in prompt[1:]) for prompt in prompts]


def _without_heading(text: str) -> str:
    return text.removeprefix('\n\n').removeprefix('# Instructions\n\n')
