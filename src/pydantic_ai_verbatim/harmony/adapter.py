"""`HarmonyAdapter`: between what gpt-oss sampled, as text or token ids, and pydantic-ai's messages.

The law: `dump_response(load_response(sampled)) == sampled` for every sample, well formed or not, however it was
delivered, and after the response went through JSON.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Unpack, overload

from pydantic_ai._parts_manager import ModelResponsePartsManager
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import ModelRequestParameters

from .codec import TextCodec, TokenCodec
from .encoding import Encoding
from .given import (
    chunk_given,
    chunks_given,
    encoding_given,
    logprobs_given,
    messages_given,
    parameters_given,
    response_given,
    sample_given,
)
from .loading import load_sample
from .parser import S
from .prompt import Prompter, PromptOptions
from .rendering import Renderer
from .streaming import HarmonyStream
from .training import Tokens, tokens_of, with_logprobs
from .transcript import Transcript


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
        self._tokens = None if encoding is None else Renderer(TokenCodec(encoding_given(encoding)))
        self._renderer: Renderer[Any] = self._tokens or self._text
        self._prompter = Prompter(self._renderer)

    def load_response(
        self,
        sampled: str | Sequence[int],
        parameters: ModelRequestParameters | None = None,
        *,
        logprobs: Sequence[float | None] | None = None,
    ) -> ModelResponse:
        """Load a sampled completion.

        Args:
            sampled: What was sampled after `<|start|>assistant`, stop token included: text, or token ids.
            parameters: The request's parameters; a tool's name is repaired only into one of the tools they declare.
            logprobs: The log-probability of each sampled id, kept for `tokens`.

        Raises:
            UserError: It is neither text nor token ids; token ids were given, and the adapter has no encoding, or the
                encoding has no such id; or there are not as many log-probabilities as ids, or what is no number.
        """
        sample = sample_given(sampled)
        response = load_sample(sample, self._renderer_of(sample), parameters_given(parameters))
        if logprobs is None:
            return response
        return with_logprobs(response, logprobs_given(logprobs), self._token_renderer())

    def load_messages(
        self, conversation: str | Sequence[int], parameters: ModelRequestParameters | None = None
    ) -> list[ModelMessage]:
        """Load a whole transcript, as `dump_messages` renders it.

        Of its system message nothing is kept, and of its developer message the instructions: they are rendered anew
        from parameters and settings.

        Args:
            conversation: The transcript, from its first `<|start|>`: text, or token ids.
            parameters: As for `load_response`; the tools and the output schema that follow the instructions are theirs.
                Without them, the instructions end where those sections seem to begin.

        Raises:
            UserError: It does not start with `<|start|>`: it is a sample, which `load_response` loads.
        """
        transcript = sample_given(conversation)
        return Transcript(self._renderer_of(transcript), parameters_given(parameters)).load(transcript)

    def stream(
        self, chunks: Iterable[str | Sequence[int]], parameters: ModelRequestParameters | None = None
    ) -> Iterator[ModelResponseStreamEvent]:
        """Load a completion while it is being sampled.

        Args:
            chunks: The completion in pieces, cut anywhere: all text, or all token ids.
            parameters: As for `load_response`.

        Yields:
            The events of a model's stream; the parts they build are those of `load_response`.

        Raises:
            UserError: A chunk is neither text nor a list of token ids, or not what the first one was.
        """
        stream: HarmonyStream[Any] | None = None
        for chunk in chunks_given(chunks):
            sample = chunk_given(chunk)
            stream = stream or HarmonyStream(self._renderer_of(sample), parameters_given(parameters))
            yield from stream.feed(sample)
        if stream:
            yield from stream.flush()

    def begin_stream(
        self, parameters: ModelRequestParameters | None = None, parts: ModelResponsePartsManager | None = None
    ) -> HarmonyStream[S]:
        """Give what `stream` is made of, for those who are fed: a model's `StreamedResponse`, say.

        Args:
            parameters: As for `load_response`.
            parts: The parts manager of the `StreamedResponse`.
        """
        return HarmonyStream(self._renderer, parameters_given(parameters), parts)

    def dump_response(self, response: ModelResponse) -> S:
        """Render a response as what was sampled: text, or token ids if the adapter has an encoding."""
        return self._renderer.render_response(response_given(response))

    def dump_messages(
        self,
        messages: Sequence[ModelMessage],
        parameters: ModelRequestParameters | None = None,
        **options: Unpack[PromptOptions],
    ) -> S:
        """Render a history as the prompt of the next turn, which ends with `<|start|>assistant`.

        Within a user turn everything sampled stays as it was. Once a next user turn has begun, the analysis before a
        finished final answer is left out, and a `<|return|>` is rendered as `<|end|>`.

        Args:
            messages: The history.
            parameters: The tools, the output schema and the instructions.
            **options: See `PromptOptions`.

        Raises:
            UserError: A user or a tool says something that is not text; or an argument is not what it should be.
        """
        spans = self._prompter.spans(messages, parameters, options)
        return self._renderer.codec.join([*(span.data for span in spans), self._renderer.codec.opening])

    def tokens(
        self,
        messages: Sequence[ModelMessage],
        parameters: ModelRequestParameters | None = None,
        **options: Unpack[PromptOptions],
    ) -> Tokens:
        """Render a whole conversation to train on; the arguments are those of `dump_messages`."""
        prompter = self._token_prompter()
        return tokens_of(prompter.spans(messages, parameters, options), prompter.renderer.codec)

    def tokens_by_turn(
        self,
        messages: Sequence[ModelMessage],
        parameters: ModelRequestParameters | None = None,
        **options: Unpack[PromptOptions],
    ) -> list[Tokens]:
        """Render each response behind the prompt that it answered; only that response's own tokens are in the mask.

        The arguments are those of `dump_messages`.
        """
        prompter = self._token_prompter()
        responses = [at for at, message in enumerate(messages_given(messages)) if isinstance(message, ModelResponse)]
        codec = prompter.renderer.codec
        return [tokens_of(prompter.spans(messages[: at + 1], parameters, options), codec, at) for at in responses]

    def _token_prompter(self) -> Prompter[list[int]]:
        self._token_renderer()
        return self._prompter

    def _token_renderer(self) -> Renderer[list[int]]:
        if self._tokens is None:
            raise UserError('Token ids need a vocabulary: use `HarmonyAdapter(encoding=o200k_harmony())`.')
        return self._tokens

    def _renderer_of(self, sampled: str | Sequence[int]) -> Renderer[Any]:
        return self._text if isinstance(sampled, str) else self._token_renderer()
