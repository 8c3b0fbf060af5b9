"""How a draft on the processor attends: a rule of its heads.

Attention is fused wherever llama.cpp can, which keeps an answer's bits (`engine.loading.exactness`). A draft's numbers
only decide what is proposed, so one with short heads has keys of q8_0 in separate steps: a step of the built-in draft
then takes two fifths at 200 tokens of context, an eighth at 1,900 (docs/placement.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from engine.gguf.header import GgufHeader, read_header
from engine.llama.context import CPU_UBATCH
from engine.loading.loading import LoadOptions, has_room
from engine.records import CacheType, FlashAttention

MOST_SCORES_BYTES = 64 * 2**20  # that separate steps may hold at once
SHORT_HEAD = 32  # figures: a block of q8_0, and fewer than the fused kernel's vectors hold
# With a window, separate steps would go through what the fused kernel leaves out; latent attention and recurrent layers
# are shaped otherwise.
_OTHERWISE = ("attention.sliding_window", "attention.kv_lora_rank", "attention.key_length_mla", "ssm.state_size")


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """Heads of queries, and how many figures a head has, in every one of ``num_layers``."""

    num_layers: int
    num_heads: int
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
    return AttentionShape(layers, heads, keys) if keys == values > 0 else None


def with_small_keys(path: str, options: LoadOptions) -> LoadOptions:
    """A draft's ``options``, whose context is settled, with keys of q8_0 in separate steps where its heads are short.

    Raises:
        ModelFileError: the header cannot be read.
    """
    if not _is_open(options):
        return options
    shape, small = shape_of(read_header(Path(path))), replace(options, key_type=CacheType.Q8_0)
    if shape is None or shape.head_length != SHORT_HEAD:
        return options
    fits = shape.scores_bytes(options.n_ctx or 0, CPU_UBATCH) <= MOST_SCORES_BYTES
    return small if fits and has_room(path, small) else options


def _is_open(options: LoadOptions) -> bool:
    """Whether the model stays on the processor, and nobody asked for a kind of cache or of attention."""
    as_usual = options.cache_type is CacheType.F16 and options.flash_attention is FlashAttention.AUTO
    return as_usual and options.key_type is None and not options.may_leave_main_memory
