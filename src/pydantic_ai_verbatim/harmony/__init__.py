"""gpt-oss's Harmony format: between what was sampled, as text or token ids, and pydantic-ai's messages, without loss."""

from .adapter import HarmonyAdapter
from .encoding import Encoding, o200k_harmony
from .header import Header, read_header
from .prompt import PromptOptions
from .streaming import HarmonyStream
from .training import Tokens

__all__ = [
    'Encoding',
    'HarmonyAdapter',
    'HarmonyStream',
    'Header',
    'PromptOptions',
    'Tokens',
    'o200k_harmony',
    'read_header',
]
