"""Write a model as a Hugging Face folder: config, safetensors, tokenizer.json and chat template."""

import json
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.servers.families import Family
from tests.servers.matrix import DType, Matrix
from tests.servers.vocabulary import Vocabulary
from tests.servers.weights import HEAD, Weights

CONTEXT = 16384
EXPERTS = 2
CLAMP = 7.0  # gpt-oss clamps an open unit to this


def write(folder: Path, family: Family, vocabulary: Vocabulary, weights: Weights, template: str) -> None:
    """Write the folder; gpt-oss as the mixture of experts that it is, in bfloat16."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors, dtype = _tensors(family, weights)
    (folder / 'model.safetensors').write_bytes(_safetensors(tensors, dtype))
    (folder / 'chat_template.jinja').write_text(template)
    ends = [vocabulary.find(token) for token in family.ends]
    tokens = {
        'bos_token_id': vocabulary.find(family.begin) if family.begin else None,
        'eos_token_id': ends,
        'pad_token_id': vocabulary.find(family.pad),
    }
    _write_json(folder / 'config.json', {**_config(family, weights), **tokens})
    _write_json(folder / 'generation_config.json', {**tokens, 'do_sample': False})
    _write_json(folder / 'tokenizer.json', _tokenizer(vocabulary))
    _write_json(folder / 'tokenizer_config.json', _tokenizer_config(family, vocabulary))


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False))


def _safetensors(tensors: Mapping[str, tuple[Matrix, list[int]]], dtype: DType) -> bytes:
    """Lay tensors out as safetensors does: the length of a JSON header, the header, the data."""
    header: dict[str, Any] = {'__metadata__': {'format': 'pt'}}
    data = bytearray()
    for name, (matrix, shape) in tensors.items():
        start = len(data)
        data += matrix.data(dtype)
        header[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [start, len(data)]}
    raw = json.dumps(header).encode()
    raw += b' ' * (-len(raw) % 8)
    return struct.pack('<Q', len(raw)) + raw + bytes(data)


Tensors = dict[str, tuple[Matrix, list[int]]]


def _tensors(family: Family, weights: Weights) -> tuple[Tensors, DType]:
    tensors: Tensors = {
        'model.embed_tokens.weight': _square(weights.embedding),
        'lm_head.weight': _square(weights.output),
        'model.norm.weight': _ones(weights.width),
        'model.layers.0.input_layernorm.weight': _ones(weights.width),
        'model.layers.0.post_attention_layernorm.weight': _ones(weights.width),
    }
    for name, matrix in (('q', weights.query), ('k', weights.key), ('v', weights.value), ('o', weights.mix)):
        tensors[f'model.layers.0.self_attn.{name}_proj.weight'] = _square(matrix)
    if family.architecture == 'GptOssForCausalLM':
        return {**tensors, **dict(_gpt_oss(weights))}, 'BF16'
    for name, matrix in (('gate', weights.gate), ('up', weights.up), ('down', weights.down)):
        tensors[f'model.layers.0.mlp.{name}_proj.weight'] = _square(matrix)
    if family.architecture == 'Qwen3ForCausalLM':
        # The heads are normalized there: a lone 1 becomes 8, and 8 * 8 / sqrt(64) is too soft a logit.
        for name in ('q', 'k'):
            tensors[f'model.layers.0.self_attn.{name}_norm.weight'] = (Matrix.filled(1, HEAD, 3), [HEAD])
    return tensors, 'F32'


def _square(matrix: Matrix) -> tuple[Matrix, list[int]]:
    return matrix, [matrix.rows, matrix.columns]


def _ones(width: int) -> tuple[Matrix, list[int]]:
    return Matrix.filled(1, width, 1), [width]


def _zeros(*shape: int) -> tuple[Matrix, list[int]]:
    rows = 1
    for size in shape[:-1]:
        rows *= size
    return Matrix(rows, shape[-1]), list(shape)


def _gpt_oss(weights: Weights) -> Iterable[tuple[str, tuple[Matrix, list[int]]]]:
    """Give what gpt-oss has of its own: biases, attention sinks (switched off), and experts, all of them alike.

    Gate and up are interleaved columns there, inputs are rows, and an open unit gives `gate * (up + 1)`.
    """
    layer, width, units = 'model.layers.0.', weights.width, weights.units
    for name, size in (('q', weights.query.rows), ('k', weights.key.rows), ('v', weights.value.rows), ('o', width)):
        yield f'{layer}self_attn.{name}_proj.bias', _zeros(size)
    yield f'{layer}self_attn.sinks', (Matrix.filled(1, weights.heads, -1e4), [weights.heads])
    yield f'{layer}mlp.router.weight', _zeros(EXPERTS, width)
    yield f'{layer}mlp.router.bias', _zeros(EXPERTS)
    gates, gates_shape = _zeros(EXPERTS, width, 2 * units)
    downs, downs_shape = _zeros(EXPERTS, units, width)
    for expert in range(EXPERTS):
        for (unit, place), value in weights.gate.cells.items():
            gates[expert * width + place, 2 * unit] = value
        for place, unit in weights.down.cells:
            downs[expert * units + unit, place] = 1 / CLAMP
    yield f'{layer}mlp.experts.gate_up_proj', (gates, gates_shape)
    yield f'{layer}mlp.experts.gate_up_proj_bias', _zeros(EXPERTS, 2 * units)
    yield f'{layer}mlp.experts.down_proj', (downs, downs_shape)
    yield f'{layer}mlp.experts.down_proj_bias', _zeros(EXPERTS, width)


MODEL_TYPES = {'LlamaForCausalLM': 'llama', 'Qwen3ForCausalLM': 'qwen3', 'GptOssForCausalLM': 'gpt_oss'}


def _config(family: Family, weights: Weights) -> dict[str, Any]:
    dtype = 'bfloat16' if family.harmony else 'float32'
    config: dict[str, Any] = {
        'architectures': [family.architecture],
        'model_type': MODEL_TYPES[family.architecture],
        'hidden_size': weights.width,
        'intermediate_size': weights.units,
        'num_hidden_layers': 1,
        'num_attention_heads': weights.heads,
        'num_key_value_heads': weights.heads,
        'head_dim': HEAD,
        'vocab_size': weights.embedding.rows,
        'rms_norm_eps': 1e-6,
        'hidden_act': 'silu',
        'rope_theta': 1e6,
        'max_position_embeddings': CONTEXT,
        'tie_word_embeddings': False,
        'attention_bias': False,
        'mlp_bias': False,
        'torch_dtype': dtype,
        'dtype': dtype,
    }
    return {**config, **GPT_OSS} if family.harmony else config


GPT_OSS: Mapping[str, Any] = {
    'num_local_experts': EXPERTS,
    'num_experts_per_tok': EXPERTS,
    'sliding_window': CONTEXT,
    'layer_types': ['full_attention'],
    'attention_bias': True,
    'attention_dropout': 0.0,
    'swiglu_limit': CLAMP,
    'router_aux_loss_coef': 0.9,
    'initial_context_length': 4096,
    'rope_scaling': {
        'rope_type': 'yarn',
        'factor': 4.0,
        'beta_fast': 32.0,
        'beta_slow': 1.0,
        'truncate': False,
        'original_max_position_embeddings': 4096,
    },
}


def _added_tokens(vocabulary: Vocabulary) -> list[dict[str, Any]]:
    flags = {'single_word': False, 'lstrip': False, 'rstrip': False, 'normalized': False}
    return [
        {'id': identity, 'content': token, **flags, 'special': kind != 'added'}
        for identity, (token, kind) in enumerate(zip(vocabulary.tokens, vocabulary.kinds, strict=True))
        if kind != 'normal'
    ]


def _tokenizer(vocabulary: Vocabulary) -> dict[str, Any]:
    byte_level = {'type': 'ByteLevel', 'add_prefix_space': False, 'trim_offsets': False, 'use_regex': True}
    split = byte_level
    if vocabulary.pattern:
        pieces = {'type': 'Split', 'pattern': {'Regex': vocabulary.pattern}, 'behavior': 'Isolated', 'invert': False}
        split = {'type': 'Sequence', 'pretokenizers': [pieces, {**byte_level, 'use_regex': False}]}
    return {
        'version': '1.0',
        'truncation': None,
        'padding': None,
        'added_tokens': _added_tokens(vocabulary),
        'normalizer': None,
        'pre_tokenizer': split,
        'post_processor': None,
        'decoder': byte_level,
        'model': {
            'type': 'BPE',
            'dropout': None,
            'unk_token': None,
            'continuing_subword_prefix': None,
            'end_of_word_suffix': None,
            'fuse_unk': False,
            'byte_fallback': False,
            'ignore_merges': False,
            'vocab': {token: identity for identity, token in enumerate(vocabulary.tokens)},
            'merges': [list(merge) for merge in vocabulary.merges],
        },
    }


def _tokenizer_config(family: Family, vocabulary: Vocabulary) -> dict[str, Any]:
    return {
        'tokenizer_class': 'PreTrainedTokenizerFast',
        'model_max_length': CONTEXT,
        'clean_up_tokenization_spaces': False,
        'bos_token': family.begin,
        'eos_token': family.ends[0],
        'pad_token': family.pad,
        'added_tokens_decoder': {str(token.pop('id')): token for token in _added_tokens(vocabulary)},
    }
