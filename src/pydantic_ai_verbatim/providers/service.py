"""What the providers of this package share: where a service is, which variables name it, and whose key it gets.

Built on upstream's public `OpenAICompatibleProvider`, which never sends `OPENAI_API_KEY` to another service.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.exceptions import UserError
from pydantic_ai.providers import missing_api_key_error
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

if TYPE_CHECKING:
    import httpx  # legacy; pydantic-ai takes its client where it is installed


@dataclass(frozen=True, kw_only=True)
class Service:
    """An OpenAI-compatible service, as its provider needs to know it.

    Args:
        name: The provider name that histories record; never to be changed.
        base_url: The service's address.
        base_url_variables: The environment variables that name another address, in order.
        api_key_variables: The environment variables that may hold the key, in order.
        needs_api_key: Whether it is an error to have no key.
    """

    name: str
    base_url: str
    base_url_variables: Sequence[str]
    api_key_variables: Sequence[str]
    needs_api_key: bool = True


class ServiceProvider(OpenAICompatibleProvider):
    """A provider of one service; a subclass states the service and gives the profiles of its models."""

    service: ClassVar[Service]

    @overload
    def __init__(self, *, openai_client: AsyncOpenAI) -> None: ...

    @overload
    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        openai_client: None = None,
        http_client: 'httpx2.AsyncClient | httpx.AsyncClient | None' = None,
    ) -> None: ...

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        openai_client: AsyncOpenAI | None = None,
        http_client: 'httpx2.AsyncClient | httpx.AsyncClient | None' = None,
    ) -> None:
        """Create the provider.

        Args:
            api_key: The key; by default that of the first of the service's variables that is set.
            base_url: The address; by default that of the first of the service's variables that is set, then its own.
            openai_client: An existing client, used as it is; no other argument goes with it.
            http_client: An existing `httpx2.AsyncClient`, or a legacy `httpx.AsyncClient`, to make requests with.

        Raises:
            UserError: There is no key and the service needs one, or there is another argument beside `openai_client`.
        """
        given: dict[str, Any] = {'api_key': api_key, 'base_url': base_url, 'http_client': http_client}
        if openai_client is None:
            given |= {'api_key': self._found_api_key(api_key), 'base_url': self._found_base_url(base_url)}
        else:
            given['openai_client'] = openai_client
        super().__init__(self.service.name, **given)
        if openai_client is None:
            without_openais_own(self.client)

    def _found_base_url(self, given: str | None) -> str:
        return given or first_variable(self.service.base_url_variables) or self.service.base_url

    def _found_api_key(self, given: str | None) -> str | None:
        api_key = given or first_variable(self.service.api_key_variables)
        if self.service.needs_api_key and not api_key:
            raise missing_key_error(self.service.api_key_variables, type(self).__name__, self.service.name)
        return api_key


def without_openais_own(client: AsyncOpenAI) -> None:
    """Take from a client of another service what the SDK found in OpenAI's own variables.

    They are `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS`, whose lines would even replace the
    service's key.
    """
    client.organization = client.project = None
    for line in os.environ.get('OPENAI_CUSTOM_HEADERS', '').split('\n'):
        name, _, value = line.partition(':')
        if client._custom_headers.get(name.strip()) == value.strip():
            client._custom_headers = {k: v for k, v in client._custom_headers.items() if k != name.strip()}


def first_variable(names: Sequence[str]) -> str | None:
    """Give the value of the first of these environment variables that is set and not empty.

    White space round it is dropped: a line break in a key would be an invalid header, and an error that shows the key.
    """
    return next((value for name in names if (value := os.getenv(name, '').strip())), None)


def missing_key_error(variables: Sequence[str], provider: str, prefix: str) -> UserError:
    """Say which variables may hold the key, and how to do without one."""
    *most, last = [f'`{name}`' for name in variables]
    names = f'{", ".join(most)} or {last}' if most else last
    return missing_api_key_error(
        f"Set the {names} environment variable, or pass `provider={provider}(api_key=...)`, to use '{prefix}:'."
    )
