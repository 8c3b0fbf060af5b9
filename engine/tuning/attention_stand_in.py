"""A model of one layer of random weights with the heads of another model: it measures attention without the rest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.gguf.header import GgufHeader

N_CTX_TRAIN = 4096
N_VOCAB = 32
_WIDTH = 64  # of everything but the heads: next to nothing beside them
_SPREAD = 0.05
# With a window, attention in separate steps would go through what the fused kernel leaves out; latent attention and
# recurrent layers are shaped otherwise.
_OTHERWISE = ("attention.sliding_window", "attention.kv_lora_rank", "attention.key_length_mla", "ssm.state_size")


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """Heads of queries, heads of keys and values, and how many figures a head has, in every one of ``num_layers``."""

    num_layers: int
    num_heads: int
    num_heads_kv: int
    head_length: int

    def scores_bytes(self, n_ctx: int, num_tokens: int) -> int:
        """What the scores of one layer take, where they are held at once."""
        return self.num_heads * n_ctx * num_tokens * 4


def shape_of(header: GgufHeader) -> AttentionShape | None:
    """The shape that a model's header tells; None where its layers differ, or look back in another way."""

    def number(key: str, otherwise: int = 0) -> int:
        value = header.own(key)
        return value if type(value) is int else otherwise

    if any(header.own(key) not in (None, 0) for key in _OTHERWISE):
        return None
    layers, heads, width = (number(key) for key in ("block_count", "attention.head_count", "embedding_length"))
    heads_kv = heads if header.own("attention.head_count_kv") is None else number("attention.head_count_kv")
    if not (layers > 0 and heads > 0 and heads_kv > 0 and heads % heads_kv == 0):
        return None
    keys, values = (number(f"attention.{kind}_length", width // heads) for kind in ("key", "value"))
    return AttentionShape(layers, heads, heads_kv, keys) if keys == values > 0 else None


def write_stand_in(path: Path, shape: AttentionShape) -> None:
    """Write one layer of this shape, in llama's layout.

    Raises:
        OSError: it cannot be written.
    """
    import gguf  # noqa: PLC0415  (takes a while, and is needed once for a shape)

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(N_CTX_TRAIN)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_WIDTH)
    writer.add_head_count(shape.num_heads)
    writer.add_head_count_kv(shape.num_heads_kv)
    writer.add_key_length(shape.head_length)
    writer.add_value_length(shape.head_length)
    writer.add_rope_dimension_count(shape.head_length)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("no_vocab")
    writer.add_vocab_size(N_VOCAB)
    random = np.random.default_rng(0)
    for name, dims in _tensors(shape).items():
        writer.add_tensor(f"{name}.weight", (random.standard_normal(dims) * _SPREAD).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensors(shape: AttentionShape) -> dict[str, tuple[int, ...]]:
    """Shapes by name, slowest dimension first."""
    return {
        "token_embd": (N_VOCAB, _WIDTH),
        "output_norm": (_WIDTH,),
        "blk.0.attn_norm": (_WIDTH,),
        "blk.0.attn_q": (shape.num_heads * shape.head_length, _WIDTH),
        "blk.0.attn_k": (shape.num_heads_kv * shape.head_length, _WIDTH),
        "blk.0.attn_v": (shape.num_heads_kv * shape.head_length, _WIDTH),
        "blk.0.attn_output": (_WIDTH, shape.num_heads * shape.head_length),
        "blk.0.ffn_norm": (_WIDTH,),
        "blk.0.ffn_gate": (_WIDTH, _WIDTH),
        "blk.0.ffn_up": (_WIDTH, _WIDTH),
        "blk.0.ffn_down": (_WIDTH, _WIDTH),
    }
