"""Write a model as a GGUF file, version 3, as https://github.com/ggml-org/ggml/blob/master/docs/gguf.md lays it out."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.servers.families import Family
from tests.servers.matrix import DType, Matrix
from tests.servers.vocabulary import Kind, Vocabulary
from tests.servers.weights import HEAD, Weights

ALIGNMENT = 32
CONTEXT = 16384
TENSOR_TYPES: Mapping[DType, int] = {'F32': 0, 'F16': 1, 'BF16': 30}
TOKEN_TYPES: Mapping[Kind, int] = {'normal': 1, 'unused': 1, 'special': 3, 'added': 4}

Value = int | float | bool | str | Sequence[str] | Sequence[int]


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack('<Q', len(raw)) + raw


def _value(value: Value) -> bytes:
    """Encode a metadata value behind its type: uint32 4, float32 6, bool 7, string 8, array 9 (of int32 5 or string)."""
    match value:
        case bool():
            return struct.pack('<I?', 7, value)
        case int():
            return struct.pack('<II', 4, value)
        case float():
            return struct.pack('<If', 6, value)
        case str():
            return struct.pack('<I', 8) + _string(value)
        case _:
            return _array(value)


def _array(values: Sequence[str] | Sequence[int]) -> bytes:
    kind = 8 if isinstance(values[0], str) else 5
    items = (_string(item) if isinstance(item, str) else struct.pack('<i', item) for item in values)
    return struct.pack('<IIQ', 9, kind, len(values)) + b''.join(items)


@dataclass(frozen=True)
class Tensor:
    """A named matrix with the type it is stored in; vectors are always float32."""

    name: str
    matrix: Matrix
    dtype: DType

    def described(self, offset: int) -> bytes:
        """Give the entry in the table of tensors; GGUF names the fastest dimension first."""
        shape = [self.matrix.columns, self.matrix.rows] if self.matrix.rows > 1 else [self.matrix.columns]
        head = _string(self.name) + struct.pack(f'<I{len(shape)}Q', len(shape), *shape)
        return head + struct.pack('<IQ', TENSOR_TYPES[self.dtype], offset)


def _tensors(weights: Weights, dtype: DType) -> Iterable[Tensor]:
    layer = 'blk.0.'
    matrices = {
        'token_embd': weights.embedding,
        f'{layer}attn_q': weights.query,
        f'{layer}attn_k': weights.key,
        f'{layer}attn_v': weights.value,
        f'{layer}attn_output': weights.mix,
        f'{layer}ffn_gate': weights.gate,
        f'{layer}ffn_up': weights.up,
        f'{layer}ffn_down': weights.down,
        'output': weights.output,
    }
    for name, matrix in matrices.items():
        yield Tensor(f'{name}.weight', matrix, dtype)
    for name in (f'{layer}attn_norm', f'{layer}ffn_norm', 'output_norm'):
        yield Tensor(f'{name}.weight', Matrix.filled(1, weights.width, 1), 'F32')


def _hyperparameters(family: Family, weights: Weights) -> dict[str, Value]:
    return {
        'general.architecture': 'llama',
        'general.alignment': ALIGNMENT,
        'general.name': f'scripted {family.name}',
        'llama.context_length': CONTEXT,
        'llama.embedding_length': weights.width,
        'llama.block_count': 1,
        'llama.feed_forward_length': weights.units,
        'llama.attention.head_count': weights.heads,
        'llama.attention.head_count_kv': weights.heads,
        'llama.attention.key_length': HEAD,
        'llama.attention.value_length': HEAD,
        'llama.attention.layer_norm_rms_epsilon': 1e-6,
        'llama.rope.dimension_count': HEAD,
        'llama.vocab_size': weights.embedding.rows,
    }


def _tokenizer(family: Family, vocabulary: Vocabulary, template: str) -> dict[str, Value]:
    end, *further_ends = (vocabulary.find(token) for token in family.ends)
    metadata: dict[str, Value] = {
        'tokenizer.ggml.model': 'gpt2',
        'tokenizer.ggml.pre': vocabulary.pre,
        'tokenizer.ggml.tokens': vocabulary.tokens,
        'tokenizer.ggml.token_type': [TOKEN_TYPES[kind] for kind in vocabulary.kinds],
        'tokenizer.ggml.merges': [' '.join(merge) for merge in vocabulary.merges],
        'tokenizer.ggml.eos_token_id': end,
        'tokenizer.ggml.padding_token_id': vocabulary.find(family.pad),
        'tokenizer.ggml.add_bos_token': False,
        'tokenizer.chat_template': template,
    }
    if family.begin:
        metadata['tokenizer.ggml.bos_token_id'] = vocabulary.find(family.begin)
    for key, token in zip(('eot', 'eom'), further_ends, strict=False):
        metadata[f'tokenizer.ggml.{key}_token_id'] = token
    return metadata


def write(path: Path, family: Family, vocabulary: Vocabulary, weights: Weights, template: str) -> None:
    """Write the model with its vocabulary and chat template; a large vocabulary is stored in half precision."""
    metadata = {**_hyperparameters(family, weights), **_tokenizer(family, vocabulary, template)}
    tensors = list(_tensors(weights, 'F16' if family.harmony else 'F32'))
    head, data = bytearray(struct.pack('<4sIQQ', b'GGUF', 3, len(tensors), len(metadata))), bytearray()
    for key, value in metadata.items():
        head += _string(key) + _value(value)
    for tensor in tensors:
        head += tensor.described(len(data))
        data += _aligned(tensor.matrix.data(tensor.dtype))
    path.write_bytes(_aligned(head) + data)


def _aligned(data: bytes | bytearray) -> bytes:
    return bytes(data) + bytes(-len(data) % ALIGNMENT)
