"""What the repairs have to know of an endpoint: one small value, so that they stay pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DEFAULT_THINKING_TAGS = ('<think>', '</think>')


@dataclass(frozen=True)
class Dialect:
    """How one endpoint speaks, for one request.

    Attributes:
        model_name: The model that was asked for; errors name it, and a reply that names none gets it.
        system: The provider's name, for error texts.
        tools: The names of the declared tools; they settle how the pieces of a streamed tool name belong together.
        thinking_tags: The tags around reasoning inside the content.
        finish_reasons: Where upstream's class admits only some finish reasons, the word to use for each other one.
        fields: Top-level fields that upstream's class requires, with what to fill in where one is missing.
        reasoning_fields: The fields that hold reasoning; upstream reads the first that is not empty.
        annotation_types: The types of annotations that upstream's class reads.
        joins_content: Whether the text parts of a content are to be joined here, since upstream's class does not.
        alternatives: Whether several answers were asked for (`n`), so that a choice of another number is another one.
        leaks_harmony: Whether the model is a gpt-oss, whose message headers leak into tool names.
    """

    model_name: str
    system: str = 'openai'
    tools: frozenset[str] = frozenset()
    thinking_tags: tuple[str, str] = DEFAULT_THINKING_TAGS
    finish_reasons: Mapping[str, str] | None = None
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reasoning_fields: tuple[str, ...] = ('reasoning', 'reasoning_content')
    annotation_types: frozenset[str] = frozenset({'url_citation'})
    joins_content: bool = False
    alternatives: bool = False
    leaks_harmony: bool = False

    @property
    def is_strict(self) -> bool:
        """Whether upstream's class admits less than its plain one does."""
        return self.finish_reasons is not None
