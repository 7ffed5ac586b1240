"""A typed error, read again by the error types of the service that sent it."""

from collections.abc import Generator
from contextlib import contextmanager

from pydantic_ai.exceptions import ModelHTTPError

from .profile import OpenAICompatibleModelProfile


@contextmanager
def rereading_errors(profile: OpenAICompatibleModelProfile) -> Generator[None]:
    """Raise the error that a server meant in place of the one that its status says."""
    try:
        yield
    except ModelHTTPError as error:
        meant = reread(error, profile)
        if meant is error:
            raise
        raise meant from error.__cause__


def reread(error: ModelHTTPError, profile: OpenAICompatibleModelProfile) -> ModelHTTPError:
    """Give the error that a server meant, where the HTTP status alone misleads.

    Args:
        error: As upstream reads it, from the status.
        profile: Says what the service's own error types mean.

    Returns:
        The same error where its type has no meaning of its own, else one of the kind that it has, with the same
        evidence and a hint in its message.
    """
    reading = profile.get('openai_compatible_error_types', {}).get(error.provider_error_type or '')
    if reading is None:
        return error
    return ModelHTTPError.for_category(
        reading.category,
        status_code=error.status_code,
        model_name=error.model_name,
        body=error.body,
        headers=error.headers,
        hint=reading.hint,
        provider_error_code=error.provider_error_code,
        provider_error_type=error.provider_error_type,
        in_stream=error.in_stream,
    )
