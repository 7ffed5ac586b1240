"""A stream whose first event was looked at before the stream is handed on, so that an error in it can be acted upon."""

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

from openai import AsyncStream


class PeekedStream:
    """Upstream's view of an `AsyncStream`: iteration, `close()` and the context manager.

    Attributes:
        first: The first chunk, or `None` for a stream that failed before it.
        error: What was raised instead of a first chunk; iteration raises it again.
    """

    def __init__(self, stream: AsyncStream[Any], first: Any, error: Exception | None) -> None:
        self._stream = stream
        self.first = first
        self.error = error

    @classmethod
    async def peek(cls, stream: AsyncStream[Any]) -> Self:
        """Wait for the first event of a stream."""
        try:
            return cls(stream, await anext(stream), None)
        except Exception as error:  # noqa: BLE001  # it is raised again where upstream reads it
            return cls(stream, None, error)

    async def __aiter__(self) -> AsyncIterator[Any]:
        if self.error is not None:
            raise self.error
        yield self.first
        async for chunk in self._stream:
            yield chunk

    async def close(self) -> None:
        """Close the response and release its connection."""
        await self._stream.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
