"""Typed errors: one read again by the error types of the service that sent it, and one made of a broken transport."""

import sys
from collections.abc import Generator
from contextlib import contextmanager

import httpx2
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError, ModelTimeoutError

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


@contextmanager
def typing_transport_errors(model_name: str) -> Generator[None]:
    """Raise upstream's typed error for a transport that breaks where the SDK reads the body of an error status."""
    libraries = [
        library for library in (httpx2, sys.modules.get('httpx')) if library
    ]  # the legacy one, where it is used
    try:
        yield
    except tuple(library.HTTPError for library in libraries) as error:
        is_late = isinstance(error, tuple(library.TimeoutException for library in libraries))
        kind = ModelTimeoutError if is_late else ModelConnectionError
        raise kind(model_name, f'{type(error).__name__}: {error}', phase='read') from error
