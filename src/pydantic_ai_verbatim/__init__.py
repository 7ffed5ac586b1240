"""Your model reads exactly what your tools returned, and re-reads exactly what it wrote."""

from typing import TYPE_CHECKING, Any

from .activation import Verbatim, install, uninstall
from .registry import infer_model

if TYPE_CHECKING:
    from .chat.model import OpenAICompatibleModel
    from .chat.negotiation import forget, learned_formats
    from .chat.probe import probe
    from .chat.profile import OpenAICompatibleModelProfile, OpenAICompatibleModelSettings, ToolReturnFormat
    from .chat.readings import ProbeReport

__all__ = (
    'OpenAICompatibleModel',
    'OpenAICompatibleModelProfile',
    'OpenAICompatibleModelSettings',
    'ProbeReport',
    'ToolReturnFormat',
    'Verbatim',
    'forget',
    'infer_model',
    'install',
    'learned_formats',
    'probe',
    'uninstall',
)

_LAZY = {
    'OpenAICompatibleModel': 'chat.model',
    'OpenAICompatibleModelProfile': 'chat.profile',
    'OpenAICompatibleModelSettings': 'chat.profile',
    'ToolReturnFormat': 'chat.profile',
    'forget': 'chat.negotiation',
    'learned_formats': 'chat.negotiation',
    'probe': 'chat.probe',
    'ProbeReport': 'chat.readings',
}
"""Names whose modules import the OpenAI SDK, which stays out until one of them is used."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from importlib import import_module

    return getattr(import_module(f'.{_LAZY[name]}', __name__), name)
