"""L1: a sample that is loaded while it comes, block by block, and how long that takes."""

import pytest

from pydantic_ai_verbatim.harmony.codec import TextCodec
from pydantic_ai_verbatim.harmony.loading import Sample
from pydantic_ai_verbatim.harmony.rendering import Renderer
from tests.harmony.sampling import SAMPLES, TEXT, without_ids


@pytest.mark.parametrize('sampled', SAMPLES)
def test_fed_one_by_one(sampled: str) -> None:
    """A sample that comes letter by letter gives the response that it gives whole."""
    sample = Sample(Renderer(TextCodec()), None)
    for letter in sampled:
        sample.feed(letter)
    response, whole = sample.flush(), TEXT.load_response(sampled)
    assert without_ids(response.parts) == without_ids(whole.parts)
    assert response.provider_details == whole.provider_details
