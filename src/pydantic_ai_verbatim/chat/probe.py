"""`probe()`: send a list returned by a tool to a live endpoint in each format, and report what became of it.

The requests go out as `OpenAICompatibleModel` sends them, each with its format set, so nothing is learned or healed.
`readings` judges what comes back.
"""

import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
from openai import Timeout
from openai.types.chat import ChatCompletion
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelConnectionError,
    ModelHTTPError,
    ModelNotFoundError,
    UserError,
)
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters, check_allow_model_requests
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.tools import ToolDefinition

from ..errors import ProbeError
from ..registry import infer_model
from .llama_cpp import MARKERS
from .model import OpenAICompatibleModel
from .negotiation import TOOL_RETURN_FORMAT, WireFormat, checked_format, public_base_url
from .readings import QUERY, FormatReport, ProbeReport, Sample, best_format, evidence, read_sample, recommendation
from .shown_prompt import EXTRA_BODY, Server, find_server, shown_prompt

_FORMATS: tuple[WireFormat, ...] = ('parts', 'text', 'json')
_ITEMS = [MARKERS[0], MARKERS[1]]
_WITH_EMPTY_ITEM = [MARKERS[0], '', MARKERS[1]]
_TOOL = ToolDefinition(
    name='search',
    description='Search.',
    parameters_json_schema={'type': 'object', 'properties': {'query': {'type': 'string'}}, 'required': ['query']},
)
_WIRE_TOOL = {
    'type': 'function',
    'function': {'name': _TOOL.name, 'description': _TOOL.description, 'parameters': _TOOL.parameters_json_schema},
}
_CALL_ID = 'call00001'
"""Nine letters and digits, which is all that Mistral takes."""

_MOST_TOKENS = 256
_CONNECT = Timeout(None, connect=10)
"""The answer's own time is limited as a whole, so that a server that trickles does not go on for ever."""

_LONGEST_WORDS = 160
_SHORTEST_SECRET = 8
_SECRET_HEADER = re.compile('authorization|key|token|cookie', re.IGNORECASE)
_NO_KEY = 'api-key-not-set'
"""What pydantic-ai's providers send where there is no key."""

_KEY_VARIABLES = {'openai': ('OPENAI_API_KEY',), 'vllm': ('VLLM_API_KEY',), 'ollama': ('OLLAMA_API_KEY',)}
"""The variables of upstream's providers that do without a key; ours know their own."""

_NOT_ABOUT_A_FORMAT = (401, 402, 403, 408, 429)


async def probe(model: Model | str, *, timeout: float = 60) -> ProbeReport:  # noqa: ASYNC109  # of each request, not the whole
    """Find out what the model behind a live endpoint reads of a list returned by a tool.

    It takes five chat requests of some hundred tokens: something for setting up, not for a run.

    Args:
        model: A model string such as `'openai-chat:glm-5'`, or a model that speaks Chat Completions.
        timeout: The seconds that each request may take. None is sent twice.

    Returns:
        The report: each format's evidence, and the recommended setting.

    Raises:
        UserError: For a model that does not speak Chat Completions or has no name, for a base URL that is none, and
            where `infer_model` raises it.
        ProbeError: Where the endpoint cannot be probed: it is out of reach, does not answer in time, refuses the key,
            does not know the model, or takes no tool result at all. The message is one line, and holds no key.
    """
    check_allow_model_requests()
    if not timeout > 0:
        raise UserError(f'A probe needs a timeout above 0 seconds, not {timeout}.')
    compatible = model_to_probe(model)
    async with compatible:
        return await _Probing(compatible, timeout).report()


def model_to_probe(model: Model | str) -> OpenAICompatibleModel:
    """Give the model whose requests a probe sends.

    Raises:
        UserError: As `probe()` does.
    """
    compatible = _compatible(infer_model(model))
    if not compatible.model_name.strip():
        raise UserError("There is no model name: write it behind the prefix, as in 'openai-chat:glm-5'.")
    if urlsplit(compatible.base_url).scheme not in ('http', 'https'):
        url = public_base_url(f'http://{compatible.base_url.rpartition("://")[2]}').removeprefix('http://')
        raise UserError(f"The base URL '{url}' does not begin with http:// or https://. Is it 'http://{url}'?")
    return compatible


def shown_url(model: OpenAICompatibleModel) -> str:
    """Give a model's base URL, as it may be shown."""
    return public_base_url(model.base_url).rstrip('/')


def _compatible(model: Model) -> OpenAICompatibleModel:
    while isinstance(model, WrapperModel):
        model = model.wrapped
    if isinstance(model, OpenAICompatibleModel):
        return model
    if isinstance(model, OpenAIChatModel):
        return OpenAICompatibleModel(
            model.model_name, provider=model._provider, profile=model._profile, settings=model.settings
        )
    raise UserError(f'Only models that speak Chat Completions can be probed; {type(model).__name__} does not.')


@dataclass
class _Probing:
    """One probe: the model, what its server shows, and the samples by what was sent, since two formats can be one."""

    model: OpenAICompatibleModel
    timeout: float
    server: Server | None = None
    samples: dict[str, Sample] = field(default_factory=dict[str, Sample])

    @property
    def own_settings(self) -> dict[str, Any]:
        """The settings that the model was given."""
        return {**(self.model.settings or {})}

    async def report(self) -> ProbeReport:
        """Send every format; a plain string goes first, and where it fails, the endpoint does."""
        with anyio.move_on_after(self.timeout):
            self.server = await find_server(self.model.client, self.model.model_name)
        baseline = await self.sample('text', _ITEMS, None)
        formats = [
            FormatReport(
                format,
                await self.sample(format, _ITEMS, baseline),
                await self.sample(format, _WITH_EMPTY_ITEM, baseline),
            )
            for format in _FORMATS
        ]
        default = _default_format(self.model)
        best = best_format(formats, default)
        seen = evidence(formats)
        return ProbeReport(
            base_url=shown_url(self.model),
            model_name=self.model.model_name,
            shown_by=self.server,
            evidence=seen,
            formats=formats,
            default=default,
            recommended=best.format,
            recommendation=recommendation(best, default, seen),
        )

    async def sample(self, format: WireFormat, items: list[str], baseline: Sample | None) -> Sample:
        """Send one list in one format; without a baseline to compare with it is the baseline itself."""
        settings, parameters = self.prepared(format)
        messages = await self.model._map_messages(_history(items), parameters, model_settings=settings)
        sent: Any = next(message['content'] for message in messages if message['role'] == 'tool')
        if (wire := json.dumps(sent)) in self.samples:
            return self.samples[wire]
        try:
            reply = await self.reply(_history(items), settings, parameters)
        except ProbeError:
            raise
        except AgentRunError as error:
            if baseline is None or _is_about_the_endpoint(error):
                raise ProbeError(self.complaint(error)) from error
            self.samples[wire] = Sample(sent, 'rejected', rejection=self.said(error))
            return self.samples[wire]
        request = {
            **cast('dict[str, Any]', settings.get('extra_body')),
            'model': self.model.model_name,
            'messages': messages,
            'tools': [_WIRE_TOOL],
        }
        prompt = await shown_prompt(self.model.client, self.server, request, reply)
        has_empty_item = items == _WITH_EMPTY_ITEM
        self.samples[wire] = read_sample(sent, reply, prompt, has_empty_item=has_empty_item, baseline=baseline)
        return self.samples[wire]

    def prepared(self, format: WireFormat) -> tuple[OpenAIChatModelSettings, ModelRequestParameters]:
        """Give the settings and parameters of a request in a format, the model's own settings under ours."""
        settings: dict[str, Any] = {
            'max_tokens': _MOST_TOKENS,
            'timeout': _CONNECT,
            'max_retries': 0,
            'extra_body': {**(self.own_settings.get('extra_body') or {}), **EXTRA_BODY[self.server]},
            TOOL_RETURN_FORMAT: format,
        }
        parameters = ModelRequestParameters(function_tools=[_TOOL])
        prepared = self.model.prepare_request(cast('OpenAIChatModelSettings', settings), parameters)
        return cast('OpenAIChatModelSettings', prepared[0]), prepared[1]

    async def reply(
        self, history: list[ModelMessage], settings: OpenAIChatModelSettings, parameters: ModelRequestParameters
    ) -> dict[str, Any]:
        """Send one request and give its raw reply; upstream's own reading of it raises for an error in a 200."""
        try:
            with anyio.fail_after(self.timeout):
                reply: object = await self.model._completions_create(history, False, settings, parameters)
        except TimeoutError as error:
            late = f'{shown_url(self.model)} did not answer within {self.timeout:g} s. Is the model still loading?'
            raise ProbeError(late) from error
        self.model._process_response(cast('ChatCompletion', reply))
        return reply.model_dump(warnings=False) if isinstance(reply, ChatCompletion) else {}

    def complaint(self, error: AgentRunError) -> str:
        """Say in one line why the endpoint cannot be probed."""
        url, name = shown_url(self.model), self.model.model_name
        status = _status(error)
        if isinstance(error, ModelConnectionError):
            return f'{url} cannot be reached: {self.said(error)}. Check that the server is running and the base URL.'
        if status in (401, 403) and {*self.secrets()} == {_NO_KEY}:
            return f'{url} wants a key and none is set: {_where_to_put_a_key(self.model)}.'
        if status in (401, 403):  # without the server's words: some repeat the key in them
            return f'{url} refuses the key (HTTP {status}). Check the key, and that it is one for this base URL.'
        if status == 404 or isinstance(error, ModelNotFoundError):
            return f'{url} does not know {name!r}: {self.said(error)}. Check the model name and the base URL.'
        return f'{url} does not answer for {name!r}: {self.said(error)}'

    def said(self, error: AgentRunError) -> str:
        """Give the server's own words, short, in one line, and without a key."""
        words = _words(getattr(error, 'body', None)) or _cause(error)
        for secret in self.secrets():
            words = words.replace(secret, '***')
        words = ' '.join(words.split()).removesuffix('.')
        if len(words) > _LONGEST_WORDS:
            words = words[:_LONGEST_WORDS] + '...'
        status = _status(error)
        return words if status is None else f'HTTP {status}: {words}'

    def secrets(self) -> Iterator[str]:
        """Give what must not be shown: the key, and what else a header may hold; a placeholder is no secret."""
        client = self.model.client
        headers: dict[str, object] = {
            **client.default_headers,
            **(self.own_settings.get('extra_headers') or {}),
            'key': client.api_key,
        }
        for name, value in headers.items():
            if isinstance(value, str) and _SECRET_HEADER.search(name) and len(value) >= _SHORTEST_SECRET:
                yield value.removeprefix('Bearer ')


def _default_format(model: OpenAICompatibleModel) -> WireFormat:
    format = checked_format(model._family_format or 'parts')
    return 'parts' if format == 'auto' else format


def _history(items: list[str]) -> list[ModelMessage]:
    return [
        ModelRequest([UserPromptPart(f'Search for {QUERY}, then repeat each result as it is.')]),
        ModelResponse([ToolCallPart(_TOOL.name, {'query': QUERY}, _CALL_ID)]),
        ModelRequest([ToolReturnPart(_TOOL.name, items, _CALL_ID)]),
    ]


def _where_to_put_a_key(model: OpenAICompatibleModel) -> str:
    service = getattr(model._provider, 'service', None)
    variables = service.api_key_variables if service else _KEY_VARIABLES.get(model.system, ())
    return f'set {" or ".join(variables)}' if variables else 'give one to the provider'


def _cause(error: AgentRunError) -> str:
    """Say what an error came of: the first cause that has words, since the SDK only says that there was an error."""
    chain: list[BaseException] = [error]
    while isinstance(error, ModelConnectionError) and (cause := chain[-1].__cause__ or chain[-1].__context__):
        chain.append(next(iter(getattr(cause, 'exceptions', [cause]))))
    first = next(cause for cause in reversed(chain) if isinstance(cause, Exception) and str(cause))
    if isinstance(first, socket.gaierror):
        return f'the host name is not known ({first.strerror})'
    return 'connection refused' if isinstance(first, ConnectionRefusedError) else str(first)


def _status(error: AgentRunError) -> int | None:
    return error.status_code if isinstance(error, ModelHTTPError) else None


def _is_about_the_endpoint(error: AgentRunError) -> bool:
    return isinstance(error, ModelConnectionError) or _status(error) in _NOT_ABOUT_A_FORMAT


def _words(body: object) -> str:
    """Find the message in an error's body, which each kind of server puts elsewhere."""
    if isinstance(body, dict):
        fields = cast('dict[str, object]', body)
        return _words(fields.get('message') or fields.get('detail') or fields.get('error')) or json.dumps(fields)
    return body if isinstance(body, str) else json.dumps(body, default=str) if body else ''
