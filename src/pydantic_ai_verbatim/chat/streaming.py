"""A stream of events that strays from OpenAI's shape -> chunks in that shape: a state machine without I/O.

It is fed one parsed event at a time and gives the chunks to read instead, the very event where nothing is wrong with
it. The repairs are those of whole replies.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..surrogates import is_storable, joined_halves, storable
from . import fields
from .dialect import Dialect
from .faults import error_in, foreign_shape, is_remark, raise_foreign, raise_unreadable, typed_error
from .fields import changed
from .json_value import JsonObject, is_list, is_object, list_of, objects
from .replies import (
    envelope,
    explains_itself,
    message_fields,
    message_in,
    reason_and_logprobs,
    text_field,
    unwrapped,
    with_what_is_beside,
)
from .streamed_calls import CallAssembler
from .thinking_tags import ThinkingTags
from .tool_calls import calls_in

KIND = 'chat.completion.chunk'

KEEP_ALIVES = ('ping', 'heartbeat', 'keepalive', 'keep-alive')

_RECAP = 16
_TELLS_OF_FAILURE = re.compile(
    'abort|denied|error|exceed|exception|fail|fault|refus|timeout|unavailable', re.IGNORECASE
)
_CHUNK_KEYS = frozenset({'choices', 'usage', 'object', 'x_groq'})
_PLAIN_TEXTS = ('system_fingerprint', 'service_tier', 'provider', 'obfuscation')
_PLAIN_KEYS = frozenset({'id', 'object', 'created', 'model', 'choices', 'usage', *_PLAIN_TEXTS})
_PLAIN_CHOICE_KEYS = frozenset({'index', 'delta', 'finish_reason', 'logprobs', 'native_finish_reason'})


@dataclass
class StreamRepair:
    """Repairs one stream.

    Args:
        dialect: What is known of the endpoint.
    """

    dialect: Dialect
    calls: CallAssembler = field(init=False)
    tags: ThinkingTags = field(init=False)
    is_finished: bool = False
    """Whether a finish reason came."""
    _failed: bool = False
    """Whether the finish reason was a failure's."""
    _began: bool = False
    """Whether there was a delta that holds anything, be it a role."""
    _answered: bool = False
    """Whether something was said, or why there is nothing."""
    _envelope: JsonObject = field(default_factory=dict[str, Any], repr=False)
    _usage: JsonObject | None = None
    _number: int = 0
    _numbers: dict[int, None] = field(default_factory=dict[int, None], repr=False)
    """The numbers of the choices, in the order in which they came."""
    _ended: set[int] = field(default_factory=set[int], repr=False)
    """The numbers of the choices that a finish reason came for."""
    _texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]], repr=False)
    _halves: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    """Of each field, the half of a character that its text ended with."""
    _reasons_in_field: bool = False
    _is_alone: bool = False
    """Whether a choice is the only one of its event, and no other was asked for."""
    _is_numbered: bool = False
    """Whether a choice came again under its number, so that another number is another choice."""
    _owners: dict[str, int] = field(default_factory=dict[str, int], repr=False)
    """The number of the choice that each field is taken from."""
    _first_owners: dict[str, int] = field(default_factory=dict[str, int], repr=False)
    """The first owner of each field, for when its number returns after others seemed to be mere counts of the events."""
    _empty: JsonObject | None = field(default=None, repr=False)
    """The latest event without a choice."""
    _noise: list[str] = field(default_factory=list[str], repr=False)
    """Words in place of events, and objects that tell of a failure."""
    _remarks: list[str] = field(default_factory=list[str], repr=False)
    """Other objects in place of chunks, which harm no answer that the server has ended."""

    def __post_init__(self) -> None:
        self.calls = CallAssembler(self.dialect)
        self.tags = ThinkingTags(self.dialect.thinking_tags)

    def feed(self, event: object, name: str | None = None) -> Iterable[JsonObject]:
        """Take one event.

        Args:
            event: The event's data as it was parsed.
            name: The name of the server-sent event, if it has one.

        Returns:
            The chunks to read instead: mostly the event itself.

        Raises:
            UnexpectedModelBehavior: For an event in another API's shape.
            ModelAPIError: For an error, and for a tool call that is none.
        """
        if is_object(event):
            chunk = event
            return [chunk] if self._took_plain(chunk) else self._chunks(chunk, name)
        if name == 'error':
            return self._chunks({'error': event}, name)
        if is_list(event):
            self._noise += [fields.as_text(item) for item in event if item and not is_object(item)]
            return [chunk for item in objects(event) for chunk in self.feed(item)]
        self.note(fields.as_text(event))
        return []

    def note(self, text: str) -> None:
        """Take data that is no event; it is skipped, and said should the stream hold no answer.

        Raises:
            ModelAPIError: For an event that is broken, unless the answer is complete already.
        """
        if text[:1] in ('{', '[') and not self.is_finished:
            raise_unreadable(f'{self.dialect.system} streamed an event that is broken', text, self.dialect)
        if text.strip():
            self._noise.append(text)

    def close(self, *, is_done: bool) -> list[JsonObject]:
        """End the stream.

        Args:
            is_done: Whether the server said so (`[DONE]`).

        Returns:
            The chunks with what was held back.

        Raises:
            ModelAPIError: Where the stream broke off inside a tool call, and where it held no answer.
        """
        chunks = self._released()
        self.calls.check_names()
        ended = is_done or self._owners.get('tool_calls') in self._ended
        cut = [call.arguments.text for call in self.calls.calls if not call.arguments.are_whole]
        if (cut and not ended) or (self._failed and any(cut)):
            raise_unreadable(f'{self.dialect.system} broke off inside a tool call', ''.join(cut), self.dialect)
        words = self._noise if is_done and self._answered else [*self._noise, *self._remarks]
        if words and not self.is_finished:
            raise_unreadable(f'{self.dialect.system} broke off', '\n'.join(words), self.dialect)
        if not self._answered:
            said = '\n'.join(words) or self._empty
            raise_unreadable(f'{self.dialect.system} streamed no answer', said, self.dialect)
        return chunks

    # The events that nearly all are -----------------------------------------------------------------------------------

    def _took_plain(self, event: JsonObject) -> bool:
        """Take an event that is more text, reasoning or arguments, and nothing else, without a closer look; say whether."""
        choices = event.get('choices')
        if not is_list(choices) or len(choices) != 1 or not self._envelope:
            return False
        if not event.keys() <= _PLAIN_KEYS or event.get('usage') is not None:
            return False
        if type(event.get('id')) is not str or type(event.get('model')) is not str:
            return False
        created = event.get('created')
        if type(created) is not int or not 0 <= created <= fields.LATEST or event.get('object') != KIND:
            return False
        if len(event) > 5 and any(not isinstance(event.get(name, ''), str | None) for name in _PLAIN_TEXTS):
            return False
        choice = choices[0]
        return is_object(choice) and self._took_plain_choice(choice)

    def _took_plain_choice(self, choice: JsonObject) -> bool:
        delta = choice.get('delta')
        if not is_object(delta) or not choice.keys() <= _PLAIN_CHOICE_KEYS:
            return False
        if choice.get('finish_reason') is not None or choice.get('logprobs') is not None:
            return False
        if not isinstance(choice.get('native_finish_reason', ''), str | None):
            return False
        number, said = choice.get('index'), None
        if type(number) is not int:
            return False
        for name, value in delta.items():
            if name == 'tool_calls' and is_list(value):
                return len(delta) == 1 and self._took_plain_calls(value, number)
            if type(value) is str and said is None and self._owners.get(name) == number and name in self._texts:
                said = name
            elif value is not None and (name, value) != ('role', 'assistant'):
                return False
        if said is not None:
            return self._took_plain_text(said, delta[said])
        self._began = self._began or delta.get('role') is not None
        return number == self._number

    def _took_plain_text(self, name: str, text: str) -> bool:
        if name == 'content' and (self.tags.where != 'text' or text == self.tags.tags[0]):
            return False
        if self._halves or not is_storable(text):
            return False
        self._texts[name].append(text)
        self._is_numbered = True
        return True

    def _took_plain_calls(self, calls: list[Any], number: int) -> bool:
        is_own = len(calls) == 1 and self._owners.get('tool_calls') == number
        return is_own and is_object(calls[0]) and self.calls.took_plain(calls[0], number)

    # All others -------------------------------------------------------------------------------------------------------

    def _chunks(self, event: JsonObject, name: str | None) -> Iterator[JsonObject]:
        body = unwrapped(event)
        if (error := error_in(body, name)) and not is_remark(body, name):
            yield from self._released()
            raise typed_error(error, self.dialect, in_stream=True)
        choices = [choice for choice in objects(body.get('choices')) if _says_something(choice)]
        if not choices and (shape := foreign_shape(body)):
            raise_foreign(shape, body, self.dialect)
        chunk = changed(body, **self._own(body))
        if not choices:
            self._empty = body
            if _says_words(body):
                said = fields.as_text(body)
                (self._noise if _TELLS_OF_FAILURE.search(said) else self._remarks).append(said)
            yield chunk if chunk.get('choices') == [] else {**chunk, 'choices': []}
            return
        self._empty = body
        yield from self._answer(chunk, choices)

    def _own(self, body: JsonObject) -> JsonObject:
        """Give the event's own fields; what a later event leaves out is as it was."""
        own = envelope(body, KIND, self.dialect)
        before = self._envelope
        model = body.get('model')
        own['model'] = model if isinstance(model, str) and model else before.get('model', '')
        own['id'] = own['id'] or before.get('id', '')
        own['created'] = own['created'] or before.get('created', 0)
        self._envelope = {key: own[key] for key in ('id', 'object', 'created', 'model')}
        if own.get('usage') is not None:
            own['usage'] = self._usage = fields.later_usage(self._usage, own['usage']) if self._usage else own['usage']
        for field_name in self.dialect.fields:
            if field_name in body and not isinstance(body[field_name], str):
                own[field_name] = None
        return own

    def _answer(self, chunk: JsonObject, choices: list[JsonObject]) -> Iterator[JsonObject]:
        """Give the chunks for what an event's choices say, as one choice."""
        reasons = [reason_and_logprobs(choice, self.dialect) for choice in choices]
        closes = any(reason['finish_reason'] for reason in reasons)
        self._is_alone = len(choices) == 1 and not self.dialect.alternatives
        numbers: list[int] = []
        deltas: list[JsonObject] = []
        for choice, own in zip(choices, reasons, strict=True):
            numbers.append(self._number_of(choice, own['finish_reason']))
            deltas.append(self._delta(choice, numbers[-1], closes=closes))
        delta = deltas[0] if len(deltas) == 1 else _joined(deltas)
        self._began = self._began or any(value is not None for value in delta.values())
        ends = closes and (self._began or any(map(explains_itself, choices)))
        self._answered = self._answered or ends or any(delta[name] for name in delta if name != 'role')
        reason = self._reason(reasons, numbers)
        self._ended.update(number for number, own in zip(numbers, reasons, strict=True) if own['finish_reason'])
        closes = reason['finish_reason'] is not None
        delta = {**delta, **self._held_halves(delta)} if closes and self._halves else delta
        text = fields.joined_text(delta.get('content'))
        pieces = self.tags.feed(text) if text else []
        if delta.get('tool_calls'):  # text that seemed to begin a tag stands before them
            pieces += self._held_text()
        if closes:
            self.is_finished = True
            self._failed = fields.meaning_of(str(reason['finish_reason'])) == 'error'
            pieces += self._held_text()
            if calls := self.calls.flush():
                delta = {**delta, 'tool_calls': [*list_of(delta.get('tool_calls')), *calls]}
        index = fields.position(choices[0].get('index'))
        choice = changed(choices[0], index=0 if index is None else index, delta=delta, **reason)
        yield from _cut(chunk, choice, pieces if pieces != [text] else None)

    def _reason(self, reasons: list[JsonObject], numbers: list[int]) -> JsonObject:
        """Give why this reply ends; a choice that nothing is taken from is an alternative, and does not end it."""
        if self._counts_up():
            return reasons[0]
        owners = self._owners.values()
        own = [reason for reason, number in zip(reasons, numbers, strict=True) if not owners or number in owners]
        none = dict.fromkeys(reasons[0])
        return next((reason for reason in own if reason['finish_reason']), own[0] if own else none)

    def _held_text(self) -> list[str]:
        held = self.tags.flush()
        return [held] if held else []

    def _delta(self, choice: JsonObject, number: int, *, closes: bool) -> JsonObject:
        """Give what a choice says, as far as it is this reply's: each field is the first choice's that has it."""
        delta = _delta_in(choice)
        is_whole = delta is choice.get('message') and (closes or is_object(choice.get('delta')))
        delta = with_what_is_beside(delta, choice)
        own = message_fields(delta, self.dialect, is_delta=True)
        if is_list(content := own.get('content', delta.get('content'))) and not is_storable(content):
            own['content'] = fields.joined_text(content) or None
        self._drop_echo(own, delta)
        if delta.get('role') not in (None, 'assistant'):
            own['role'] = 'assistant'
        for name in ('content', 'refusal', *self.dialect.reasoning_fields):
            text = own.get(name, delta.get(name))
            if isinstance(text, str) and text:
                own[name] = self._own_text(
                    name, text, number, is_whole=is_whole or (closes and self._is_recap(name, text))
                )
        calls = calls_in(delta)
        if calls or delta.get('tool_calls') is not None:
            own['tool_calls'] = self._own_calls(calls, number, closes=closes) or None
        for channel, text in self.calls.texts:
            name = text_field(self._texts, channel, self.dialect)
            own[name] = (own.get(name) or '') + text
        self.calls.texts.clear()
        return changed(delta, **own)

    def _drop_echo(self, own: JsonObject, delta: JsonObject) -> None:
        """Leave out reasoning that stands elsewhere in a stream that has it in its own field."""
        if any(delta.get(name) for name in self.dialect.reasoning_fields):
            self._reasons_in_field = True
        elif self._reasons_in_field:
            own.pop(self.dialect.reasoning_fields[0], None)

    def _number_of(self, choice: JsonObject, reason: str | None) -> int:
        """Give a choice's number.

        One that has none goes on with the choice before it; one that ends for calls but has none goes with theirs.
        """
        number = fields.position(choice.get('index'))
        if number is not None:
            if number != self._number and number in self._numbers and not self._owners:
                self._is_numbered = True
            self._numbers[number] = None
            self._number = number
        if reason == 'tool_calls' and not self.dialect.alternatives and not calls_in(_delta_in(choice)):
            return self._owners.get('tool_calls', self._number)
        return self._number

    def _own_text(self, name: str, text: str, number: int, *, is_whole: bool) -> str | None:
        if not self._owns(name, number):
            return None
        said = self._texts.setdefault(name, [])
        if is_whole:  # a closing event may say the whole message once more
            text = text.removeprefix(''.join(said))
        text, half = joined_halves(self._halves.pop(name, ''), text)
        if half:
            self._halves[name] = half
        said.append(text)
        return text

    def _is_recap(self, name: str, text: str) -> bool:
        """Whether a closing text says all the pieces before it once more; a short one may just be a repetition."""
        return len(text) >= _RECAP and len(self._texts.get(name, ())) > 1 and text == ''.join(self._texts[name])

    def _owns(self, name: str, number: int) -> bool:
        """Whether a field is taken from the choice with this number: the first one that has it, or that calls tools.

        A refusal beside the text of another choice is that of an alternative; where alternatives were asked for, all is
        taken from one choice.
        """
        owner = self._owners.get(name, self._owners.get('content' if name == 'refusal' else 'tool_calls'))
        if self.dialect.alternatives:
            owner = next(iter(self._numbers), None)
        if self._owners.get(name) == number:
            self._is_numbered = True
        elif number == self._first_owners.get(name):  # which other numbers seemed to follow
            self._is_numbered = True
            self._owners[name] = number
        elif owner in (None, number) or self._counts_up():
            self._owners[name] = number
            self._first_owners.setdefault(name, number)
        return self._owners.get(name) == number

    def _counts_up(self) -> bool:
        """Whether a choice's number may be its event's: some servers count the events there, and send one choice."""
        return self._is_alone and not self._is_numbered and self._ended.isdisjoint(self._owners.values())

    def _held_halves(self, delta: JsonObject) -> JsonObject:
        """Give the fields that a half of a character is still to be added to: the other half did not come."""
        halves, self._halves = self._halves, {}
        return {name: (delta.get(name) or '') + storable(half) for name, half in halves.items()}

    def _own_calls(self, calls: list[Any], number: int, *, closes: bool) -> list[JsonObject]:
        if not self._owns('tool_calls', number) and (self.dialect.alternatives or self._owners['tool_calls'] == 0):
            return []
        if closes and self.calls.repeats(calls):
            return self.calls.late_content_types(calls)
        several = len(calls) > 1
        sent = [
            self.calls.feed(call, number, place if several else None)
            for place, call in enumerate(calls)
            if call is not None
        ]
        fragments = [fragment for fragment in sent if fragment is not None]
        return fields.same_if_equal(calls, fragments)

    def _released(self) -> list[JsonObject]:
        """Give a chunk with what was held back."""
        held, calls, halves = self.tags.flush(), self.calls.flush(), self._held_halves({})
        if not held and not calls and not halves:
            return []
        delta = {**halves, 'content': held + halves.get('content', '') or None, 'tool_calls': calls or None}
        return [{**self._envelope, 'choices': [{'index': 0, 'delta': delta, 'finish_reason': None}]}]


def _says_words(body: JsonObject) -> bool:
    """Whether an event is no chunk, and may be what a server says in place of an answer."""
    return bool(body) and body.keys().isdisjoint(_CHUNK_KEYS) and body.get('type') not in KEEP_ALIVES


def _says_something(choice: JsonObject) -> bool:
    return message_in(choice) is not None or bool(choice.get('finish_reason'))


def _delta_in(choice: JsonObject) -> JsonObject:
    delta, message = choice.get('delta'), choice.get('message')
    if is_object(delta) and is_object(message) and not any(value for name, value in delta.items() if name != 'role'):
        return message
    return delta if is_object(delta) else message_in(choice) or {}


def _joined(deltas: list[JsonObject]) -> JsonObject:
    """Give what the choices of one event say as one delta."""
    joined: JsonObject = {}
    for delta in deltas:
        joined.update({name: value for name, value in delta.items() if value and not joined.get(name)})
    calls = [call for delta in deltas for call in list_of(delta.get('tool_calls'))]
    return {**joined, 'tool_calls': calls} if calls else joined


def _cut(chunk: JsonObject, choice: JsonObject, pieces: list[str] | None) -> Iterator[JsonObject]:
    """Give a chunk for each piece of the text; the last one has the tool calls and the finish reason."""
    if pieces is None or (not pieces and not choice['delta'].get('content')):
        yield _with_choice(chunk, choice)
        return
    delta = choice['delta']
    *first, last = pieces or [None]
    later = {name: value for name, value in delta.items() if name == 'tool_calls'}
    before = {name: value for name, value in delta.items() if name != 'tool_calls'}
    for piece in first:
        yield {**chunk, 'choices': [{**choice, 'delta': {**before, 'content': piece}, 'finish_reason': None}]}
        before = {}
        chunk = {name: value for name, value in chunk.items() if name != 'usage'}
        choice = {name: value for name, value in choice.items() if name != 'logprobs'}
    yield {**chunk, 'choices': [{**choice, 'delta': {**before, 'content': last, **later}}]}


def _with_choice(chunk: JsonObject, choice: JsonObject) -> JsonObject:
    choices = chunk['choices']
    is_same = is_list(choices) and len(choices) == 1 and choices[0] is choice
    return chunk if is_same else {**chunk, 'choices': [choice]}
