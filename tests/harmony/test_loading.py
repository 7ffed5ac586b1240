"""L1: a sample that is loaded while it comes, block by block, and how long that takes."""

import time
from typing import Any

import pytest

from pydantic_ai_verbatim.harmony.codec import Codec, TextCodec, TokenCodec
from pydantic_ai_verbatim.harmony.encoding import o200k_harmony
from pydantic_ai_verbatim.harmony.loading import Sample
from pydantic_ai_verbatim.harmony.rendering import Renderer
from tests.harmony.sampling import SAMPLES, TEXT, ids_of, without_ids


@pytest.mark.parametrize('sampled', SAMPLES)
def test_fed_one_by_one(sampled: str) -> None:
    """A sample that comes letter by letter gives the response that it gives whole."""
    sample = Sample(Renderer(TextCodec()), None)
    for letter in sampled:
        sample.feed(letter)
    response, whole = sample.flush(), TEXT.load_response(sampled)
    assert without_ids(response.parts) == without_ids(whole.parts)
    assert response.provider_details == whole.provider_details


@pytest.mark.parametrize('codec', [TextCodec(), TokenCodec(o200k_harmony())], ids=['text', 'ids'])
@pytest.mark.parametrize('header', ['', '<|channel|>final<|message|>'], ids=['header', 'body'])
def test_time_is_linear(codec: Codec[Any], header: str) -> None:
    """Ten times as long a header or body, fed one by one, takes about ten times as long, and not a hundred times."""

    def seconds(times: int) -> float:
        text = header + 'a word<' * times
        chunks: Any = text if isinstance(codec, TextCodec) else [[token] for token in ids_of(text)]
        sample = Sample(Renderer(codec), None)
        begin = time.process_time()
        for chunk in chunks:
            sample.feed(chunk)
        sample.flush()
        return time.process_time() - begin

    seconds(500)
    assert seconds(5_000) < 40 * min(seconds(500) for _ in range(3))
