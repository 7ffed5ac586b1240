"""Streamed tool calls: fragments that stray -> fragments in OpenAI's shape, with state for one stream: no I/O.

Each call that comes out has an index and an id of its own, its name once, and its arguments as they came.
"""

from dataclasses import dataclass, field
from typing import Any

from ..json_text import is_json_object, parsed
from .content_types import CONTENT_TYPE
from .dialect import Dialect
from .faults import raise_unreadable
from .fields import WORDS_FOR_NOTHING, identifier, position
from .json_value import JsonObject, is_object
from .streamed_arguments import Arguments
from .tool_calls import (
    HEADER_CONTENT_TYPE,
    Leak,
    argument_text,
    decoded_once,
    distinct,
    is_blank,
    name_in,
    read_name,
    unflattened,
)


@dataclass(slots=True)
class Fragment:
    """One streamed piece of a tool call, as it came."""

    raw: JsonObject
    function: JsonObject
    choice: object
    index: int | None
    id: str
    name: str
    arguments: str

    @property
    def opens(self) -> bool:
        """Whether the arguments look like the beginning of a call's, or there are none yet."""
        text = self.arguments.lstrip()
        return not text or text.startswith(('{', '"{'))


@dataclass(slots=True)
class Call:
    """One tool call of the stream, so far."""

    out: int
    choice: object
    index: int | None
    id: str = ''
    sent_id: str = ''
    name: str = ''
    sent_name: str = ''
    arguments: Arguments = field(default_factory=Arguments)
    is_sent: bool = False
    leak: Leak | None = None
    sent_type: str | None = None
    twins: 'list[Call]' = field(default_factory=list['Call'])
    """Earlier calls of the same id and name, which this one says again so far."""
    early: JsonObject = field(default_factory=dict[str, Any])
    """The content type, in its place, that came before the name."""

    @property
    def is_addressed(self) -> bool:
        """Whether the call is to a tool; a leaked header may say that it is a message to nobody."""
        return self.leak is None or self.leak.name is not None

    @property
    def repeats(self) -> bool:
        """Whether the call says what an earlier one said, and all of it."""
        return any(twin.arguments.size == self.arguments.size for twin in self.twins)

    def add_arguments(self, text: str) -> str:
        """Add a piece of the arguments; a piece that no twin said makes this another call."""
        text = self.arguments.add(text)
        at = self.arguments.size - len(text)
        self.twins = [twin for twin in self.twins if twin.arguments.text.startswith(text, at)]
        return text

    @property
    def tool_name(self) -> str:
        """The tool's name, as far as it is known."""
        return (self.leak.name or '') if self.leak else ''


@dataclass
class CallAssembler:
    """Sorts the fragments of one stream into calls.

    Args:
        dialect: What is known of the endpoint.
    """

    dialect: Dialect
    calls: list[Call] = field(default_factory=list[Call])
    texts: list[tuple[str | None, str]] = field(default_factory=list[tuple[str | None, str]])
    """Texts of calls to nobody, with their channels, for the caller to take."""
    _taken: set[str] = field(default_factory=set[str], repr=False)

    def feed(self, raw: object, choice: object, place: int | None = None) -> JsonObject | None:
        """Take one fragment.

        Args:
            raw: The fragment as it came.
            choice: The number of the choice it stood in.
            place: Its place among several in one event, which counts where it has no index.

        Returns:
            The fragment to send on (the same object where nothing is wrong with it), `None` for one that says nothing.
        """
        if is_object(raw) and self.took_plain(raw, choice):
            return raw
        fragment = self._read(raw, choice, place)
        call = self._call_of(fragment)
        if call is None and is_blank(raw):
            return None
        if call is None:
            call = Call(self._free_index(fragment.index), choice, fragment.index, twins=self._twins_of(fragment))
            self.calls.append(call)
        elif _says_again(call, fragment):
            if (call.id or not fragment.id) and not _content_type_in(fragment.raw):
                return None
            fragment.name = fragment.arguments = ''  # but for its id, which comes late
        return self._sent(call, fragment)

    def took_plain(self, fragment: JsonObject, choice: object) -> bool:
        """Take the fragment that nearly all are, more arguments of the latest call, without a closer look; say whether."""
        if not self.calls:
            return False
        call = self.calls[-1]
        function = fragment.get('function')
        if not is_object(function) or call.leak is None or call.leak.name != call.name:
            return False
        if function.get('name') or fragment.get('id') not in (None, '') or fragment.get('index') != call.out:
            return False
        if call.index != call.out or call.choice != choice or fragment.get('type', 'function') != 'function':
            return False
        arguments = function.get('arguments')
        return type(arguments) is str and call.arguments.took_more(arguments)

    def flush(self) -> list[JsonObject]:
        """Give what was withheld: arguments that could still have changed, and names without arguments."""
        return [
            self._released(call)
            for call in self.calls
            if call.tool_name and (call.arguments.is_held or not call.is_sent) and not call.repeats
        ]

    def check_names(self) -> None:
        """Raise for a call that never got a name."""
        for call in self.calls:
            if not call.name and (call.id or call.arguments.text):
                said = {'id': call.id, 'arguments': call.arguments.text}
                raise_unreadable(f'{self.dialect.system} streamed a tool call without a name', said, self.dialect)

    def repeats(self, fragments: list[Any]) -> bool:
        """Whether the fragments of a closing event say all calls once more, whole."""
        said = [self._read(raw, None, None) for raw in fragments if not is_blank(raw)]
        return len(said) == len(self.calls) > 0 and all(map(_is_recap, said, self.calls))

    def late_content_types(self, fragments: list[Any]) -> list[JsonObject]:
        """Give the content types in fragments that say all calls once more."""
        said = [_content_type_in(self._read(raw, None, None).raw) for raw in fragments if not is_blank(raw)]
        return [
            {**own, 'index': call.out, 'id': None, 'type': 'function', 'function': _nothing(own.get('function', {}))}
            for call, own in zip(self.calls, said, strict=True)
            if own
        ]

    def _read(self, raw: object, choice: object, place: int | None) -> Fragment:
        if not is_object(raw):
            raise_unreadable(f'{self.dialect.system} streamed a tool call that is no object', raw, self.dialect)
        call = unflattened(raw)
        function = call['function']
        index = position(call.get('index'))
        return Fragment(
            raw=call,
            function=function,
            choice=choice,
            index=place if index is None else index,
            id=identifier(call.get('id')),
            name=self._name_in(function),
            arguments=argument_text(function.get('arguments')),
        )

    def _name_in(self, function: JsonObject) -> str:
        """Give the name in a piece; behind a first one, a word for nothing is none, unless a tool has it."""
        name = name_in(function)
        is_nothing = name in WORDS_FOR_NOTHING and name not in self.dialect.tools
        return '' if is_nothing and self.calls else name

    def _twins_of(self, fragment: Fragment) -> list[Call]:
        """Give the calls that a new one may say again; an id that is no more than the tool's name tells nothing."""
        if fragment.id in ('', fragment.name):
            return []
        return [call for call in self.calls if (call.id, call.name) == (fragment.id, fragment.name)]

    def _free_index(self, wanted: int | None) -> int:
        taken = {call.out for call in self.calls}
        return wanted if wanted is not None and wanted not in taken else max(taken, default=-1) + 1

    # Which call a fragment belongs to ---------------------------------------------------------------------------------

    def _call_of(self, fragment: Fragment) -> Call | None:
        """Find the call that a fragment goes on with; `None` if it begins one."""
        here = self._latest_at(fragment)
        if fragment.id and (named := self._latest_named(fragment)) is not None:
            return named if self._goes_on(named, fragment) else None
        if here is None:
            return self._opened_last(fragment)
        if self._is_for_the_last(fragment, here):
            return self.calls[-1]
        if fragment.id and here.id:
            return here if _changes_its_id(here, fragment) else None
        if fragment.id and not fragment.name and not here.arguments.are_whole:
            return here  # the id comes late
        return here if self._goes_on(here, fragment) else None

    def _latest_at(self, fragment: Fragment) -> Call | None:
        for call in reversed(self.calls):
            if call.choice == fragment.choice and fragment.index in (None, call.index):
                return call
        return None

    def _opened_last(self, fragment: Fragment) -> Call | None:
        """Find the call of arguments that say nothing else, at an index of their own: the last one, if it lacks them."""
        if fragment.id or fragment.name or not self.calls:
            return None
        last = self.calls[-1]
        return None if last.arguments.are_whole or not last.name else last

    def _is_for_the_last(self, fragment: Fragment, here: Call) -> bool:
        """Whether arguments at the index of a call that has its own begin those of the last call, which has none yet."""
        last = self.calls[-1]
        return (
            last is not here
            and not (last.arguments.size or fragment.id or fragment.name)
            and fragment.arguments.lstrip().startswith('{')
            and fragment.arguments != here.arguments.text
            and here.arguments.are_settled
        )

    def _latest_named(self, fragment: Fragment) -> Call | None:
        for call in reversed(self.calls):
            if call.id == fragment.id and (None in (call.index, fragment.index) or call.index == fragment.index):
                return call
        if fragment.name:
            return None
        return next((call for call in reversed(self.calls) if call.id == fragment.id), None)

    def _goes_on(self, call: Call, fragment: Fragment) -> bool:
        """Whether a fragment at a call's index, or with its id, belongs to it."""
        if not fragment.name:
            return True
        if not call.name or self._completes_name(call, fragment):
            return True
        if not call.arguments.size:
            return bool(fragment.id and call.id) or self._goes_on_by_name(call, fragment)
        if call.arguments.are_whole:
            if fragment.name != call.name and fragment.name in self.dialect.tools:
                return False
            return not fragment.arguments or (
                fragment.name == call.name
                and (not fragment.arguments.strip() or _same_arguments(call, fragment) or _outgrows(call, fragment))
                and (fragment.index is not None or bool(fragment.id))
            )
        if fragment.id and call.id:
            return True
        return fragment.name == call.name and (fragment.index is not None or fragment.arguments[:1] != '{')

    def _completes_name(self, call: Call, fragment: Fragment) -> bool:
        """Whether a piece of a name makes that of a declared tool; behind arguments, only what is none needs it."""
        tools = self.dialect.tools
        is_open = not call.arguments.size or call.name not in tools
        return is_open and bool(fragment.name) and call.name + fragment.name in tools

    def _goes_on_by_name(self, call: Call, fragment: Fragment) -> bool:
        """Whether a name after a name without arguments is said again, or a piece of one, and not another call's."""
        if fragment.index is None:
            return False
        tools = self.dialect.tools
        another = call.name in tools and fragment.name in tools and fragment.name != call.name
        return not another

    # What is sent on --------------------------------------------------------------------------------------------------

    def _sent(self, call: Call, fragment: Fragment) -> JsonObject | None:
        call.name = self._full_name(call, fragment)
        new_id = ''
        if fragment.id and not call.id:
            call.id = fragment.id
            new_id = call.sent_id = distinct(fragment.id, self._taken)
        call.leak = read_name(call.name, self.dialect) if call.name else None
        self._add_arguments(call, fragment)
        name = '' if call.twins else self._new_name(call)
        if not call.is_sent:
            if not name:
                call.early.update(_content_type_in(fragment.raw))
                return None  # upstream loses count of its parts where a call has no name yet
            call.is_sent, new_id = True, call.sent_id
        arguments = call.arguments.take()
        named, function = fragment.function.get('name'), fragment.function
        if (named != name if name else named not in (None, '')) or function.get('arguments') != arguments:
            function = {**function, 'name': name or None, 'arguments': arguments}
        return self._typed(call, _same_or_new(fragment.raw, call.out, new_id, function))

    def _typed(self, call: Call, sent: JsonObject) -> JsonObject:
        """Add the content type that came before the name, or that a leaked header says by now."""
        if call.early:
            sent = {**sent, **call.early, 'function': {**sent['function'], **call.early.get('function', {})}}
            call.early = {}
        content_type = call.leak.content_type if call.leak is not None else None
        if content_type == call.sent_type:
            return sent
        call.sent_type = content_type
        return {**sent, HEADER_CONTENT_TYPE: content_type}

    def _full_name(self, call: Call, fragment: Fragment) -> str:
        """Put a name's pieces together; a name said again, in whole or from its beginning, is no piece."""
        said, more = call.name, fragment.name
        if self._completes_name(call, fragment):
            return said + more
        if not more or call.arguments.size:
            return said or more
        if more.startswith(said):
            return more
        return said if said in self.dialect.tools and more in self.dialect.tools else said + more

    def _new_name(self, call: Call) -> str:
        """Give the part of the name that was not sent yet; a header may be cut anywhere before the arguments begin."""
        if self.dialect.leaks_harmony and not call.arguments.size:
            return ''
        name = call.tool_name
        unsent = name[len(call.sent_name) :] if name.startswith(call.sent_name) else ''
        call.sent_name += unsent
        return unsent

    def _add_arguments(self, call: Call, fragment: Fragment) -> None:
        text = call.add_arguments(fragment.arguments)
        if not call.is_addressed:
            self.texts.append((call.leak.channel if call.leak else None, text))

    def _released(self, call: Call) -> JsonObject:
        name, new_id = ('', '') if call.is_sent else (call.tool_name, call.sent_id)
        call.is_sent = True
        function = {'name': name or None, 'arguments': call.arguments.rest()}
        return self._typed(call, {'index': call.out, 'id': new_id or None, 'type': 'function', 'function': function})


def _content_type_in(raw: JsonObject) -> JsonObject:
    """Give nothing of a fragment but its content type, in the place it stands in."""
    own = _only_content_type(raw)
    function = _only_content_type(raw['function'])
    return {**own, 'function': function} if function else own


def _nothing(function: JsonObject) -> JsonObject:
    return {**function, 'name': None, 'arguments': ''}


def _only_content_type(source: JsonObject) -> JsonObject:
    value = source.get(CONTENT_TYPE)
    return {CONTENT_TYPE: value} if isinstance(value, str) and value else {}


def _is_recap(fragment: Fragment, call: Call) -> bool:
    is_here = fragment.id == call.id if fragment.id and call.id else fragment.index in (None, call.index)
    return is_here and (fragment.name, fragment.arguments) == (call.name, call.arguments.text)


def _says_again(call: Call, fragment: Fragment) -> bool:
    if len(fragment.arguments) != call.arguments.size and not (
        fragment.name and fragment.id and fragment.id == call.id
    ):
        return False
    return bool(fragment.arguments.strip() and call.arguments.are_whole and _same_arguments(call, fragment))


def _same_arguments(call: Call, fragment: Fragment) -> bool:
    """Whether a fragment says a call's arguments again: in the same words or, under the same id, as the same JSON."""
    if fragment.arguments == call.arguments.text:
        return True
    said = decoded_once(fragment.arguments) or fragment.arguments
    if not fragment.id or fragment.id != call.id or not is_json_object(said):
        return False
    return parsed(said) == parsed(call.arguments.whole or '{}')


def _outgrows(call: Call, fragment: Fragment) -> bool:
    """Whether a call's arguments are said again under its own id, as an object that has grown."""
    said = call.arguments.text.rstrip('"}] \n')
    return bool(fragment.id) and fragment.id == call.id and fragment.arguments.startswith(said)


def _changes_its_id(call: Call, fragment: Fragment) -> bool:
    """Whether a fragment with another id goes on with a call whose server makes up an id for each fragment."""
    if call.arguments.are_whole:
        return not fragment.name and not fragment.arguments.strip()
    if not fragment.name:
        return True
    is_here = fragment.index is not None and bool(call.arguments.size)
    return fragment.name == call.name and (is_here or not fragment.opens)


def _same_or_new(raw: JsonObject, index: int, new_id: str, function: JsonObject) -> JsonObject:
    """Give the fragment as it came where it is what has to be sent, else a new one."""
    has_id = raw.get('id')
    same = (
        raw.get('index') == index
        and type(raw.get('index')) is int
        and (has_id == new_id if new_id else has_id is None)
        and raw.get('type', 'function') in ('function', None)
        and function is raw['function']
    )
    return raw if same else {**raw, 'index': index, 'id': new_id or None, 'type': 'function', 'function': function}
