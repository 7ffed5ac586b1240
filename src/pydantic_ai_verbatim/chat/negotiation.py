"""Which format an endpoint takes for list-typed tool returns, and what it taught us: no I/O here.

A `Decision` is made once a request. It heals itself only where nobody asked for `parts` by name: a rejection of native
parts, or a chat template that loses them, is remembered for the endpoint as long as the process lives.
"""

import ipaddress
import logging
import re
import threading
import warnings
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

import anyio
from anyio.lowlevel import RunVar
from opentelemetry.trace import get_current_span
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelRequestRejectedError,
    UserError,
)

from ..errors import ToolReturnFormatWarning
from .profile import ToolReturnFormat

TOOL_RETURN_FORMAT = 'openai_compatible_tool_return_format'
"""The key of the format in the model settings and in the model profile."""

WireFormat = Literal['parts', 'text', 'json']
Reason = Literal[
    'setting',
    'constructor',
    'profile',
    'rejected',
    'llama.cpp template',
    'family',
    'default',
]

EXPLICIT: frozenset[Reason] = frozenset({'setting', 'constructor', 'profile'})
"""Reasons that are somebody's own word, which is obeyed and never healed."""

logger = logging.getLogger('pydantic_ai_verbatim')


class Endpoint(NamedTuple):
    """A base URL together with a model name: what a format is learned for."""

    base_url: str
    model_name: str


class Decision(NamedTuple):
    """A wire format and why it was chosen."""

    format: WireFormat
    reason: Reason

    @property
    def heals(self) -> bool:
        """Whether native parts may be given up for text when the endpoint does not take them."""
        return self.format == 'parts' and self.reason not in EXPLICIT


@dataclass
class Attempt:
    """One request on its way out: its decision, whether it carries list returns and native parts, and is a second try."""

    decision: Decision
    carries_lists: bool = False
    carries_parts: bool = False
    is_second: bool = False
    may_ask: bool = False
    """Whether the endpoint may be asked: mapping messages without sending them makes no request."""

    @property
    def is_watched(self) -> bool:
        """Whether its success or failure decides on something."""
        return self.is_second or (self.carries_parts and self.decision.heals)

    def is_refused_by(self, error: ModelAPIError) -> bool:
        """Whether an error may be about the native parts that this attempt carried and may give up."""
        return self.carries_parts and self.decision.heals and is_rejection(error)

    def report(self) -> None:
        """Put the format and its reason on the request's span and into the debug log, without any content."""
        if not self.carries_lists:
            return
        format, reason = self.decision
        span = get_current_span()
        span.set_attribute('pydantic_ai_verbatim.tool_return_format', format)
        span.set_attribute('pydantic_ai_verbatim.tool_return_format.reason', reason)
        logger.debug('list-typed tool returns are sent as %s (%s)', format, reason)


def checked_format(value: object) -> ToolReturnFormat:
    """Return `value` if it is a tool return format.

    Raises:
        UserError: For anything else; the message lists the formats.
    """
    for known in get_args(ToolReturnFormat):
        if value == known:
            return known
    raise UserError(
        f'{value!r} is no tool return format. Use one of {", ".join(map(repr, get_args(ToolReturnFormat)))}.'
    )


def decide(choices: Mapping[Reason, object], endpoint: Endpoint, family: object) -> Decision:
    """Take the first choice that is not `'auto'`: somebody's word, then what was learned, then the model family's."""
    for reason, value in choices.items():
        if value is not None and (chosen := checked_format(value)) != 'auto':
            return Decision(chosen, reason)
    if known := learned(endpoint):
        return known
    if family is not None and (chosen := checked_format(family)) != 'auto':
        return Decision(chosen, 'family')
    return Decision('parts', 'default')


# What was learned ----------------------------------------------------------------------------------------------------

_learned: dict[Endpoint, Decision] = {}
_learning = threading.Lock()


def learned(endpoint: Endpoint) -> Decision | None:
    """Give what was learned for an endpoint."""
    return _learned.get(endpoint)


def learn(endpoint: Endpoint, decision: Decision) -> bool:
    """Remember a format for an endpoint; return whether that is news."""
    with _learning:
        if endpoint in _learned:
            return False
        _learned[endpoint] = decision
        return True


def learn_rejection(endpoint: Endpoint, error: ModelAPIError) -> None:
    """Remember that an endpoint takes text only, and say so once."""
    if not learn(endpoint, Decision('text', 'rejected')):
        return
    said = f'HTTP {error.status_code}' if isinstance(error, ModelHTTPError) else 'an error'
    warnings.warn(
        f'{endpoint.base_url} answered {said} to a tool result of {endpoint.model_name!r} sent as a list of text parts, '
        f'and took it as one text. List-typed tool results go to it as text from now on; set {TOOL_RETURN_FORMAT!r} to '
        "'text' in the model settings or the profile to make that permanent.",
        ToolReturnFormatWarning,
        stacklevel=2,
    )


def learned_formats() -> dict[Endpoint, WireFormat]:
    """Give the format of each endpoint that was learned in this process, from a rejection or from its template."""
    return {endpoint: decision.format for endpoint, decision in _learned.items()}


def forget(base_url: str | None = None, model_name: str | None = None) -> None:
    """Forget what was learned, about one base URL, one model, both, or (without arguments) about every endpoint."""
    if base_url is not None:
        base_url = public_base_url(base_url)
    with _learning:
        for endpoint in [*_learned, *_questioned, *_suspected]:
            if base_url in (None, endpoint.base_url) and model_name in (None, endpoint.model_name):
                _learned.pop(endpoint, None)
                _questioned.discard(endpoint)
                _suspected.discard(endpoint)


# What a rejection is -------------------------------------------------------------------------------------------------

_MOST_WORDS = 10_000
_A_LIST, _A_STRING = r'\b(?:list|array|sequence)\b', r'\bstr(?:ing)?\b'
_SPEAKS_OF_PARTS = re.compile(
    rf"""template
    | {_A_LIST} .{{0,80}} \b(?:expected|into|of\ type|must\ be)\b .{{0,80}} {_A_STRING}
    | \b(?:expected|must\ be|of\ type|concatenate)\b .{{0,20}} {_A_STRING} .{{0,40}} {_A_LIST}
    | \bcontent\b .{{0,40}} \b(?:expected|must\ be|should\ be)\b .{{0,20}} {_A_STRING}
    | 'list'\ object\ has\ no\ attribute | must\ be\ of\ type\ 'str'""",
    re.IGNORECASE | re.VERBOSE,
)
"""What an error says that is about content parts, as templates and JSON libraries put it (`type must be string, but is array`)."""

_NOT_ABOUT_CONTENT = (ModelAuthenticationError, ModelContextWindowExceededError, ModelNotFoundError)


def is_rejection(error: ModelAPIError) -> bool:
    """Whether an error may be the endpoint's way of saying that it does not take native parts.

    A 400 or 422 is, unless it is about something else by its kind; so is a 5xx that names the chat template or speaks
    of a list where a string belongs. Without a status, an error inside a stream is if it is of no known kind, and one
    inside a whole 200 if it says so. Statuses decide, since upstream's 401 is a kind of rejected request, too.
    """
    if isinstance(error, _NOT_ABOUT_CONTENT):
        return False
    if isinstance(error, ModelHTTPError):
        if error.status_code in (400, 422):
            return isinstance(error, ModelRequestRejectedError)
        return error.status_code >= 500 and _speaks_of_parts(error)
    return type(error) is ModelAPIError and (error.in_stream or _speaks_of_parts(error))


def _speaks_of_parts(error: ModelAPIError) -> bool:
    return _SPEAKS_OF_PARTS.search(str(error.body)[:_MOST_WORDS]) is not None


# Who is asked --------------------------------------------------------------------------------------------------------

_questioned: set[Endpoint] = set()
_suspected: set[Endpoint] = set()
_loop_locks: RunVar[dict[Endpoint, anyio.Lock]] = RunVar('question_locks')
_LLAMA_CPP_FINGERPRINT = re.compile(r'b\d+-(?:[0-9a-f]+|unknown)')
_PRIVATE_NAMES = ('.localhost', '.local', '.lan', '.internal', '.home.arpa')


def should_ask(endpoint: Endpoint, attempt: Attempt) -> bool:
    """Whether to find out if the endpoint is a llama.cpp whose template loses parts, before parts first go there."""
    if not (attempt.may_ask and attempt.decision.heals) or endpoint in _questioned:
        return False
    return endpoint in _suspected or is_private(endpoint.base_url)


@asynccontextmanager
async def questioning(endpoint: Endpoint) -> AsyncGenerator[bool]:
    """Let one run at a time put the question; give whether it is still open. It is put once, whatever the answer."""
    async with _locks().setdefault(endpoint, anyio.Lock()):
        yield endpoint not in _questioned
        _questioned.add(endpoint)


def _locks() -> dict[Endpoint, anyio.Lock]:
    """Give this event loop's locks: one cannot be shared between loops."""
    try:
        return _loop_locks.get()
    except LookupError:
        _loop_locks.set(locks := {})
        return locks


def is_of_llama_cpp(reply: Any) -> bool:
    """Whether a reply, whole or the first chunk of one, was written by llama.cpp.

    Its server sets `system_fingerprint` to `b<build>-<commit>` and adds `timings`.
    """
    fingerprint = getattr(reply, 'system_fingerprint', None)
    named = isinstance(fingerprint, str) and _LLAMA_CPP_FINGERPRINT.fullmatch(fingerprint) is not None
    return named or isinstance(getattr(reply, 'timings', None), dict)


def suspect(endpoint: Endpoint) -> None:
    """Mark an endpoint that was seen to be llama.cpp, wherever it stands, so that it is asked."""
    _suspected.add(endpoint)


def is_private(base_url: str) -> bool:
    """Whether a base URL's host is on this machine or in a private network, as far as its name tells."""
    host = (urlsplit(base_url).hostname or '').rstrip('.')
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return '.' not in host or host.endswith(_PRIVATE_NAMES)
    return address.is_private or address.is_loopback or address.is_link_local


@lru_cache(maxsize=64)
def public_base_url(url: str) -> str:
    """Give a base URL in its one form, without user info, query and fragment, which may hold a key."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition('@')[2].lower()
    return parts._replace(netloc=host, path=parts.path.rstrip('/'), query='', fragment='').geturl()
