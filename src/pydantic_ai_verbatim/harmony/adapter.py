"""`HarmonyAdapter`: between what gpt-oss sampled, as text or token ids, and pydantic-ai's messages.

The law: `dump_response(load_response(sampled)) == sampled` for every sample, well formed or not, however it was
delivered, and after the response went through JSON.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, overload

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import ModelRequestParameters

from .codec import TextCodec, TokenCodec
from .encoding import Encoding
from .loading import load_sample
from .parser import S
from .rendering import Renderer
from .streaming import HarmonyStream


class HarmonyAdapter(Generic[S]):
    """Loads sampled completions into messages, and renders messages as the model has to read them.

    As token ids, bodies are encoded as ordinary text, so that no tool result and no user can write a special token.
    As text there is no such protection: what a body spells is what a server will read.

    Args:
        encoding: The vocabulary, as `o200k_harmony()` gives it, to render to token ids; without one, to text.
    """

    @overload
    def __init__(self: 'HarmonyAdapter[str]', *, encoding: None = None) -> None: ...

    @overload
    def __init__(self: 'HarmonyAdapter[list[int]]', *, encoding: Encoding) -> None: ...

    def __init__(self, *, encoding: Encoding | None = None) -> None:
        self._text = Renderer(TextCodec())
        self._tokens = None if encoding is None else Renderer(TokenCodec(encoding))
        self._renderer: Renderer[Any] = self._tokens or self._text

    def load_response(
        self, sampled: str | Sequence[int], parameters: ModelRequestParameters | None = None
    ) -> ModelResponse:
        """Load a sampled completion.

        Args:
            sampled: What was sampled after `<|start|>assistant`, stop token included: text, or token ids.
            parameters: The request's parameters; a tool's name is repaired only into one of the tools they declare.

        Raises:
            UserError: Token ids were given, and the adapter has no encoding, or the encoding has no such id.
        """
        renderer = self._renderer_of(sampled)
        sample: Any = sampled if isinstance(sampled, str | list) else list(map(int, sampled))
        return load_sample(sample, renderer, parameters)

    def stream(
        self, chunks: Iterable[str | Sequence[int]], parameters: ModelRequestParameters | None = None
    ) -> Iterator[ModelResponseStreamEvent]:
        """Load a completion while it is being sampled.

        Args:
            chunks: The completion in pieces, cut anywhere: all text, or all token ids.
            parameters: As for `load_response`.

        Yields:
            The events of a model's stream; the parts they build are those of `load_response`.
        """
        stream: HarmonyStream[Any] | None = None
        for chunk in chunks:
            stream = stream or HarmonyStream(self._renderer_of(chunk), parameters)
            yield from stream.feed(chunk)
        if stream:
            yield from stream.flush()

    def dump_response(self, response: ModelResponse) -> S:
        """Render a response as what was sampled: text, or token ids if the adapter has an encoding."""
        return self._renderer.render_response(response)

    def _renderer_of(self, sampled: str | Sequence[int]) -> Renderer[Any]:
        if isinstance(sampled, str):
            return self._text
        if self._tokens is None:
            raise UserError('Token ids need a vocabulary: use `HarmonyAdapter(encoding=o200k_harmony())`.')
        return self._tokens
