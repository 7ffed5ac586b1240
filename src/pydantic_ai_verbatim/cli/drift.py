"""Where another renderer drifts: the first token at which what it renders differs from what was sampled."""

import gzip
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic_ai.exceptions import UserError

from ..harmony.codec import TokenCodec
from ..harmony.encoding import o200k_harmony, ranks_file


@dataclass(frozen=True)
class Drift:
    """A drift, or a sample that could not be read at all.

    Args:
        at: The first token that differs.
        sampled: The ids that were sampled.
        rendered: The ids that were rendered.
        error: Why nothing was rendered.
    """

    at: int
    sampled: list[int]
    rendered: list[int]
    error: str | None = None


def ids_of(sampled: str | list[int]) -> list[int]:
    """Give the ids of a sample; of a text, those a model would have sampled, each marker as a special token."""
    return list(TokenCodec(o200k_harmony()).marked(sampled)) if isinstance(sampled, str) else sampled


def drift_of_openai_harmony(sampled: str | list[int]) -> Drift | None:
    """Let openai-harmony parse a sample and render what it parsed, as the history of a same turn.

    Raises:
        UserError: It is not installed.
    """
    harmony, encoding = load_openai_harmony()
    ids = ids_of(sampled)
    try:
        messages = encoding.parse_messages_from_completion_tokens(ids, harmony.Role.ASSISTANT, strict=False)
        conversation = harmony.Conversation.from_messages(messages)
        config = harmony.RenderConversationConfig(auto_drop_analysis=False)
        rendered = encoding.render_conversation_for_training(conversation, config)[2:]
    except harmony.HarmonyError as error:
        return Drift(0, ids, [], str(error))
    return first_difference(ids, rendered)


def first_difference(sampled: list[int], rendered: list[int]) -> Drift | None:
    """Find where two lists of ids part; `None` if they are the same."""
    for at, (one, other) in enumerate(zip_longest(sampled, rendered)):
        if one != other:
            return Drift(at, sampled, rendered)
    return None


@cache
def load_openai_harmony() -> tuple[Any, Any]:
    """Give openai-harmony and its encoding, loaded offline.

    oss-harmony installs a module of the same name that renders differently; it is not what is asked for.

    Raises:
        UserError: openai-harmony is not installed.
    """
    try:
        version('openai-harmony')
        import openai_harmony  # pyright: ignore[reportMissingTypeStubs]  # it has none
    except (PackageNotFoundError, ImportError):
        raise UserError('There is nothing to compare with: run `pip install openai-harmony`.') from None
    with offline_vocabulary():
        name = openai_harmony.HarmonyEncodingName.HARMONY_GPT_OSS
        return openai_harmony, openai_harmony.load_harmony_encoding(name)


@contextmanager
def offline_vocabulary() -> Generator[None]:
    """Put the vocabulary into a folder that the environment names, where openai-harmony looks before it downloads."""
    variable = 'TIKTOKEN_ENCODINGS_BASE'
    before = os.environ.get(variable)
    with TemporaryDirectory() as folder:
        (Path(folder) / 'o200k_base.tiktoken').write_bytes(gzip.decompress(ranks_file().read_bytes()))
        os.environ[variable] = folder
        try:
            yield
        finally:
            os.environ.pop(variable)
            if before is not None:
                os.environ[variable] = before
