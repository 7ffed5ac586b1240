"""What every telling of a story must have come to: what was sent, what the prompt held, what was answered, and usage."""

import json
from typing import Any

from pydantic_ai.messages import ModelResponse, PartDeltaEvent, TextPartDelta, ThinkingPart, ToolCallPart

from tests.servers.families import (
    FAILURE,
    GLUED,
    ITEMS,
    READ_BOTH,
    READ_FAILURE,
    READ_GLUED,
    READ_NOTHING,
    TOOL,
    TOPIC,
    Family,
)
from tests.servers.recipe import Recipe
from tests.servers.stories import Format, Story, Told


def check(told: Told, recipe: Recipe, family: Family) -> None:
    """Check one telling against all that is known of its server and family."""
    format = _format(told.story, recipe, family)
    assert told.wire.tool_message['content'] == _content(told.story, format)
    assert told.answer.strip() == _answer(told.story, format, recipe, family)
    _check_call(told)
    _check_usage(told)
    _check_prompt(told, format, recipe, family)
    if told.story.streamed:
        _check_events(told)


def _format(story: Story, recipe: Recipe, family: Family) -> Format:
    """Give the format that a story's list is sent in: by word, by family, or by what the server was found to spoil."""
    if story.format != 'auto':
        return story.format
    return 'text' if family.harmony or family.name in recipe.healed else 'parts'


def _content(story: Story, format: Format) -> Any:
    if story.returns == 'failure':
        return json.dumps({'error': FAILURE}, separators=(',', ':'))
    if not story.returns:
        return '[]'
    if format == 'json':
        return json.dumps(story.returns, separators=(',', ':'))
    texts = [item if isinstance(item, str) else json.dumps(item, separators=(',', ':')) for item in story.returns]
    return '\n'.join(texts) if format == 'text' else [{'type': 'text', 'text': text} for text in texts]


def _answer(story: Story, format: Format, recipe: Recipe, family: Family) -> str:
    """Give the answer, which depends on what reached the model: with `parts` that is the server's doing."""
    if story.returns == 'failure':
        return READ_FAILURE
    if not story.returns:
        return READ_NOTHING
    misread = recipe.misreads.get(family.name, READ_BOTH) if format == 'parts' else READ_BOTH
    glued_apart = misread != READ_NOTHING and len(story.returns) > len(ITEMS)  # other items stand between the two words
    return READ_BOTH if glued_apart else misread


def _check_call(told: Told) -> None:
    responses = [message for message in told.messages if isinstance(message, ModelResponse)]
    assert len(responses) == 2
    [call] = [part for part in responses[0].parts if isinstance(part, ToolCallPart)]
    assert (call.tool_name, call.args_as_dict()) == (TOOL, {'topic': TOPIC})
    assert told.wire.tool_message['tool_call_id'] == call.tool_call_id
    assert all(part.has_content() for part in responses[0].parts if isinstance(part, ThinkingPart))


def _check_usage(told: Told) -> None:
    assert told.usage.requests == 2
    assert told.usage.tool_calls == (0 if told.story.returns == 'failure' else 1)  # those that succeeded
    assert told.usage.input_tokens > 2 * told.usage.output_tokens > 0


def _check_prompt(told: Told, format: Format, recipe: Recipe, family: Family) -> None:
    """Where the prompt is known, the items stand in it, in order and apart, or they are lost as the answer says."""
    if told.prompt is None or not isinstance(told.story.returns, list) or not told.story.returns:
        return
    first, second = (told.prompt.find(item) for item in ITEMS)
    answer = _answer(told.story, format, recipe, family)
    if answer == READ_NOTHING:
        assert (first, second) == (-1, -1)
    elif answer == READ_GLUED:
        assert GLUED in told.prompt
    else:
        assert 0 <= first < first + len(ITEMS[0]) < second


def _check_events(told: Told) -> None:
    """The answer came in pieces."""
    deltas = [
        event.delta.content_delta
        for event in told.events
        if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta)
    ]
    assert deltas
    assert told.answer.endswith(''.join(deltas[-2:]))
