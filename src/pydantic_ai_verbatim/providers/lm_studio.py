"""LM Studio, on this machine or another, by whichever of its addresses a user has at hand.

The reference: lmstudio.ai/docs/developer/openai-compat; its REST API (`/api/v0`) and its SDK use the same port.
"""

import re
from urllib.parse import SplitResult, urlsplit

from pydantic_ai.exceptions import UserError
from pydantic_ai.profiles import ModelProfile, merge_profile

from ..chat.profile import OpenAICompatibleModelProfile, family_profile
from .service import Service, ServiceProvider

_LM_STUDIO = OpenAICompatibleModelProfile(
    # "'content' field must be a string or an array of objects" (lmstudio-bug-tracker#261)
    openai_compatible_empty_content=True,
    # "Supported string values: none, auto, required" (lmstudio-bug-tracker#670)
    openai_compatible_string_tool_choice=True,
    # "'response_format.type' must be 'json_schema' or 'text'" (lmstudio-bug-tracker#189)
    supports_json_object_output=False,
)
_SCHEMES = {'ws': 'http', 'wss': 'https'}
"""LM Studio's own SDK is given web socket addresses of the same server."""

_API_PATH = re.compile(r'(?:/api)?/v\d+(?:/.*)?$|/chat/completions$|/api$')


class LMStudioProvider(ServiceProvider):
    """Provider of a local LM Studio server.

    The address is taken from `LM_STUDIO_BASE_URL`, `LMSTUDIO_BASE_URL` or `LM_STUDIO_API_BASE`, and any address of the
    server will do. A key is not needed; `LM_API_TOKEN`, `LMSTUDIO_API_KEY` and `LM_STUDIO_API_KEY` may hold one.
    """

    service = Service(
        name='lm-studio',
        base_url='http://127.0.0.1:1234/v1',
        base_url_variables=('LM_STUDIO_BASE_URL', 'LMSTUDIO_BASE_URL', 'LM_STUDIO_API_BASE'),
        api_key_variables=('LM_API_TOKEN', 'LMSTUDIO_API_KEY', 'LM_STUDIO_API_KEY'),
        needs_api_key=False,
    )

    @staticmethod
    def model_profile(model_name: str) -> ModelProfile | None:
        """Give the profile of a local model: its family's, and what LM Studio's server takes."""
        # lmstudio.ai/docs/developer/api-changelog: gpt-oss reasons in `reasoning`
        gpt_oss = OpenAICompatibleModelProfile(openai_chat_thinking_field='reasoning')
        is_gpt_oss = 'gpt-oss' in model_name.lower()
        return merge_profile(family_profile(model_name), _LM_STUDIO, gpt_oss if is_gpt_oss else None)

    def _found_base_url(self, given: str | None) -> str:
        return base_url_of(super()._found_base_url(given))


def base_url_of(address: str) -> str:
    """Give the base URL of the server that an address belongs to.

    Args:
        address: `localhost:1234`, `http://host:1234/v1/chat/completions`, `http://host/api/v0`, `ws://host:1234`, ...

    Raises:
        UserError: The address names no host.
    """
    url = _split(address.strip())
    path = _API_PATH.sub('', re.sub('/+', '/', url.path).rstrip('/'))
    return f'{_SCHEMES.get(url.scheme, url.scheme)}://{url.netloc}{path}/v1'


def _split(address: str) -> SplitResult:
    try:
        url = urlsplit(address if '://' in address else f'http://{address.lstrip("/")}')
        named = url.hostname and url.port != 0
    except ValueError:
        named = False
    else:
        if named:
            return url
    shown = address.rpartition('@')[2]
    raise UserError(
        f"{shown!r} is no address of an LM Studio server. Give one like 'http://127.0.0.1:1234/v1' as `base_url=` "
        'or in the `LM_STUDIO_BASE_URL` environment variable.'
    )
