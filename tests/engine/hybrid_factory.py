"""Writes small random models with partly or wholly recurrent memory, of the shapes of LFM2 and Qwen3.5."""

from typing import Any

import numpy as np

from tests.engine.gguf_factory import F32, GgufFile, Kind, Tensor

N_EMBD, N_HEAD, N_KV_HEADS, N_FF = 64, 4, 2, 96
HEAD = N_EMBD // N_HEAD
TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b", "▁a"]


class _Weights:
    """Random tensors of one model from one seed. ``noise``: share of other values, for a similar model."""

    def __init__(self, seed: int, noise: float) -> None:
        self._dice = np.random.default_rng(seed)
        self._other_dice = np.random.default_rng(seed + 1000)
        self._noise = noise
        self.tensors: list[Tensor] = []

    def random(self, name: str, *dims: int, scale: float = 0.25) -> None:
        """Add a random tensor; ``dims``: fastest first, as in the file."""
        values = self._dice.normal(0.0, scale, dims[::-1])
        values += self._other_dice.normal(0.0, scale * self._noise, values.shape)
        self.tensors.append(Tensor(name, dims, F32, values.astype(np.float32).tobytes()))

    def constant(self, name: str, size: int, value: float = 1.0) -> None:
        self.tensors.append(Tensor(name, (size,), F32, np.full(size, value, np.float32).tobytes()))

    def feed_forward(self, block: str, norm: str) -> None:
        self.constant(f"{block}.{norm}.weight", N_EMBD)
        self.random(f"{block}.ffn_gate.weight", N_EMBD, N_FF)
        self.random(f"{block}.ffn_up.weight", N_EMBD, N_FF)
        self.random(f"{block}.ffn_down.weight", N_FF, N_EMBD)

    def attention(self, block: str, query_width: int) -> None:
        self.random(f"{block}.attn_q.weight", N_EMBD, query_width)
        self.random(f"{block}.attn_k.weight", N_EMBD, N_KV_HEADS * HEAD)
        self.random(f"{block}.attn_v.weight", N_EMBD, N_KV_HEADS * HEAD)
        self.random(f"{block}.attn_output.weight", N_EMBD, N_EMBD)
        self.constant(f"{block}.attn_q_norm.weight", HEAD)
        self.constant(f"{block}.attn_k_norm.weight", HEAD)


def tiny_lfm2(*, seed: int = 0, noise: float = 0.0) -> GgufFile:
    """A model of four blocks: the third is attention, the others are short convolutions."""
    weights = _Weights(seed, noise)
    weights.random("token_embd.weight", N_EMBD, len(TOKENS))
    weights.constant("token_embd_norm.weight", N_EMBD)
    for i in range(4):
        block = f"blk.{i}"
        weights.constant(f"{block}.attn_norm.weight", N_EMBD)
        if i == 2:
            weights.attention(block, N_EMBD)
        else:
            weights.random(f"{block}.shortconv.conv.weight", 3, N_EMBD, scale=0.6)
            weights.random(f"{block}.shortconv.in_proj.weight", N_EMBD, 3 * N_EMBD)
            weights.random(f"{block}.shortconv.out_proj.weight", N_EMBD, N_EMBD)
        weights.feed_forward(block, "ffn_norm")
    own: dict[str, tuple[Kind, Any]] = {
        "attention.head_count_kv": (Kind.ARRAY, (Kind.INT32, [0, 0, N_KV_HEADS, 0])),
        "shortconv.l_cache": (Kind.UINT32, 3),
    }
    return GgufFile(_metadata("lfm2", 4, own), tuple(weights.tensors))


def tiny_qwen35(*, seed: int = 0, noise: float = 0.0) -> GgufFile:
    """A model of four blocks: the last is gated attention, the others are gated delta nets."""
    state, key_heads, value_heads, kernel = 32, 2, 2, 4
    keys, values = state * key_heads, state * value_heads
    weights = _Weights(seed, noise)
    weights.random("token_embd.weight", N_EMBD, len(TOKENS))
    weights.constant("output_norm.weight", N_EMBD)
    for i in range(4):
        block = f"blk.{i}"
        weights.constant(f"{block}.attn_norm.weight", N_EMBD)
        if i == 3:
            weights.attention(block, 2 * N_EMBD)
        else:
            weights.random(f"{block}.attn_qkv.weight", N_EMBD, 2 * keys + values)
            weights.random(f"{block}.attn_gate.weight", N_EMBD, values)
            weights.random(f"{block}.ssm_conv1d.weight", kernel, 2 * keys + values, scale=0.6)
            weights.constant(f"{block}.ssm_dt.bias", value_heads, 0.1)
            weights.constant(f"{block}.ssm_a", value_heads, -0.5)
            weights.random(f"{block}.ssm_beta.weight", N_EMBD, value_heads)
            weights.random(f"{block}.ssm_alpha.weight", N_EMBD, value_heads)
            weights.constant(f"{block}.ssm_norm.weight", state)
            weights.random(f"{block}.ssm_out.weight", values, N_EMBD)
        weights.feed_forward(block, "post_attention_norm")
    own: dict[str, tuple[Kind, Any]] = {
        "attention.head_count_kv": (Kind.UINT32, N_KV_HEADS),
        "attention.key_length": (Kind.UINT32, HEAD),
        "attention.value_length": (Kind.UINT32, HEAD),
        "rope.dimension_sections": (Kind.ARRAY, (Kind.INT32, [4, 2, 2, 0])),
        "full_attention_interval": (Kind.UINT32, 4),
        "ssm.conv_kernel": (Kind.UINT32, kernel),
        "ssm.inner_size": (Kind.UINT32, values),
        "ssm.state_size": (Kind.UINT32, state),
        "ssm.time_step_rank": (Kind.UINT32, value_heads),
        "ssm.group_count": (Kind.UINT32, key_heads),
    }
    return GgufFile(_metadata("qwen35", 4, own), tuple(weights.tensors))


def _metadata(architecture: str, num_blocks: int, own: dict[str, tuple[Kind, Any]]) -> dict[str, tuple[Kind, Any]]:
    common: dict[str, tuple[Kind, Any]] = {
        "context_length": (Kind.UINT32, 1024),
        "embedding_length": (Kind.UINT32, N_EMBD),
        "block_count": (Kind.UINT32, num_blocks),
        "feed_forward_length": (Kind.UINT32, N_FF),
        "attention.head_count": (Kind.UINT32, N_HEAD),
        "attention.layer_norm_rms_epsilon": (Kind.FLOAT32, 1e-5),
        "rope.dimension_count": (Kind.UINT32, HEAD),
        "rope.freq_base": (Kind.FLOAT32, 10000.0),
        "vocab_size": (Kind.UINT32, len(TOKENS)),
    }
    num_words = len(TOKENS) - 259
    return {
        "general.architecture": (Kind.STRING, architecture),
        "general.name": (Kind.STRING, f"tiny {architecture}"),
        **{f"{architecture}.{key}": entry for key, entry in (common | own).items()},
        "tokenizer.ggml.model": (Kind.STRING, "llama"),
        "tokenizer.ggml.pre": (Kind.STRING, "default"),
        "tokenizer.ggml.tokens": (Kind.ARRAY, (Kind.STRING, TOKENS)),
        "tokenizer.ggml.scores": (Kind.ARRAY, (Kind.FLOAT32, [0.0] * 259 + [-float(i) for i in range(num_words)])),
        "tokenizer.ggml.token_type": (Kind.ARRAY, (Kind.INT32, [2, 3, 3, *[6] * 256, *[1] * num_words])),
        "tokenizer.ggml.bos_token_id": (Kind.UINT32, 1),
        "tokenizer.ggml.eos_token_id": (Kind.UINT32, 2),
        "tokenizer.ggml.unknown_token_id": (Kind.UINT32, 0),
        "tokenizer.ggml.add_bos_token": (Kind.BOOL, True),
    }
