"""Publicly reported requests as the histories that they stand for."""

import json
from typing import Any, cast

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from .conftest import CASES

REPORTED: dict[str, Any] = {
    case['id']: case for case in map(json.loads, (CASES / 'requests.jsonl').read_text().splitlines())
}
PNG = BinaryContent(b'\x89PNG', media_type='image/png', identifier='img')


def history(case: str) -> list[ModelMessage]:
    """Give a reported request as the history it stands for: parts of a tool message are what the tool returned."""
    return [_message(message) for message in REPORTED[case]['messages']]


def _message(message: dict[str, Any]) -> ModelMessage:
    content = _content(message['content'])
    if message['role'] == 'assistant':
        calls = [
            ToolCallPart(call['function']['name'], call['function']['arguments'], call['id'])
            for call in message['tool_calls']
        ]
        return ModelResponse(parts=[*([TextPart(content)] if content else []), *calls])
    if message['role'] == 'tool':
        return ModelRequest(parts=[ToolReturnPart('get_weather', content, message['tool_call_id'])])
    part = SystemPromptPart(content) if message['role'] == 'system' else UserPromptPart(content)
    return ModelRequest(parts=[part])


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [{'text': item.get('text'), 'image_url': PNG}.get(item.get('type'), item) for item in cast('Any', content)]
