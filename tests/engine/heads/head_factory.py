"""Writes small models with heads: next-token layers (MTP) within a target or in a separate file, and EAGLE-3 files."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.engine.gguf_factory import F32, GgufFile, Kind, Tensor, tiny_llama
from tests.engine.hybrid_factory import N_EMBD, N_FF, TOKENS, tiny_qwen35

N_VOCAB = len(TOKENS)
_ZEROED = ("attn_output.weight", "ffn_down.weight", "ssm_out.weight")


class Weights:
    """Random tensors from one seed."""

    def __init__(self, seed: int) -> None:
        self._dice = np.random.default_rng(seed)
        self.tensors: list[Tensor] = []

    def random(self, name: str, *dims: int, scale: float = 0.25) -> None:
        """Add a random tensor; ``dims``: fastest first, as in the file."""
        self.values(name, self._dice.normal(0.0, scale, dims[::-1]))

    def ones(self, name: str, size: int) -> None:
        self.values(name, np.ones(size))

    def values(self, name: str, values: NDArray[np.float64]) -> None:
        self.tensors.append(Tensor(name, values.shape[::-1], F32, values.astype(np.float32).tobytes()))


def qwen35_with_mtp(*, seed: int = 0, num_layers: int = 1) -> GgufFile:
    """The tiny Qwen3.5 with random next-token layers after its four layers."""
    base = tiny_qwen35(seed=seed)
    tensors = [one for i in range(num_layers) for one in _qwen35_layer(4 + i, seed + 100 + i)]
    return with_next_token_layers(base, tensors, num_layers)


def with_next_token_layers(base: GgufFile, tensors: list[Tensor], num_layers: int) -> GgufFile:
    """A Qwen3.5 of four layers with additional next-token layers."""
    return replace(base, tensors=(*base.tensors, *tensors)).with_metadata(
        qwen35__block_count=(Kind.UINT32, 4 + num_layers),
        qwen35__nextn_predict_layers=(Kind.UINT32, num_layers),
    )


def _qwen35_layer(number: int, seed: int) -> list[Tensor]:
    weights, block = Weights(seed), f"blk.{number}"
    weights.ones(f"{block}.attn_norm.weight", N_EMBD)
    weights.random(f"{block}.attn_q.weight", N_EMBD, 2 * N_EMBD)
    weights.random(f"{block}.attn_k.weight", N_EMBD, 32)
    weights.random(f"{block}.attn_v.weight", N_EMBD, 32)
    weights.random(f"{block}.attn_output.weight", N_EMBD, N_EMBD)
    weights.ones(f"{block}.attn_q_norm.weight", 16)
    weights.ones(f"{block}.attn_k_norm.weight", 16)
    weights.ones(f"{block}.post_attention_norm.weight", N_EMBD)
    weights.random(f"{block}.ffn_gate.weight", N_EMBD, N_FF)
    weights.random(f"{block}.ffn_up.weight", N_EMBD, N_FF)
    weights.random(f"{block}.ffn_down.weight", N_FF, N_EMBD)
    weights.random(f"{block}.nextn.eh_proj.weight", 2 * N_EMBD, N_EMBD)
    weights.ones(f"{block}.nextn.enorm.weight", N_EMBD)
    weights.ones(f"{block}.nextn.hnorm.weight", N_EMBD)
    return weights.tensors


def zeroed(file: GgufFile) -> GgufFile:
    """Zero the output of every block: the next token then depends on the current one only."""
    return replace(
        file,
        tensors=tuple(
            replace(one, data=bytes(len(one.data))) if one.name.endswith(_ZEROED) else one for one in file.tensors
        ),
    )


def markov_qwen35(noise: float, *, seed: int = 0) -> GgufFile:
    """A target whose next token depends on the current one only, and a head with the same output plus ``noise``.

    The head uses the embedding of its token and ignores the target's row (``eh_proj = [I|0]``). Its output layer is the
    target's plus normal noise, whose standard deviation is ``noise`` times that of the weights.
    """
    weights, base = Weights(seed + 7), zeroed(tiny_qwen35(seed=seed))
    layer = {one.name: one for one in _qwen35_layer(4, seed + 100)}
    dice = np.random.default_rng(seed + 8)
    output = dice.normal(0.0, 0.25, (N_VOCAB, N_EMBD))
    weights.values("output.weight", output)
    weights.values("blk.4.nextn.eh_proj.weight", np.hstack([np.eye(N_EMBD), np.zeros((N_EMBD, N_EMBD))]))
    weights.values("blk.4.nextn.shared_head_head.weight", output + dice.normal(0.0, noise * 0.25, output.shape))
    layer |= {one.name: one for one in weights.tensors}
    return zeroed(with_next_token_layers(base, list(layer.values()), 1))


def stripped(file: GgufFile) -> GgufFile:
    """A file whose metadata claims next-token layers that it lacks."""
    first = next(one.name for one in file.tensors if ".nextn." in one.name).split("nextn.")[0]
    return replace(file, tensors=tuple(one for one in file.tensors if not one.name.startswith(first)))


def head_only(file: GgufFile) -> GgufFile:
    """Keep the next-token layer and the tensors that it shares with the target, as in ``mtp-*.gguf`` files."""
    return replace(
        file,
        tensors=tuple(one for one in file.tensors if not one.name.startswith(("blk.0", "blk.1", "blk.2", "blk.3"))),
    )


def tiny_hy_v3(*, seed: int = 0, num_layers: int = 3) -> GgufFile:
    """A model with two dense layers and next-token layers; each drafts one step further ahead."""
    weights = Weights(seed)
    weights.random("token_embd.weight", N_EMBD, N_VOCAB)
    weights.ones("output_norm.weight", N_EMBD)
    for i in range(2 + num_layers):
        block = f"blk.{i}"
        for norm, size in (("attn_norm", N_EMBD), ("ffn_norm", N_EMBD), ("attn_q_norm", 16), ("attn_k_norm", 16)):
            weights.ones(f"{block}.{norm}.weight", size)
        for name, rows in (("attn_q", N_EMBD), ("attn_k", 32), ("attn_v", 32), ("attn_output", N_EMBD)):
            weights.random(f"{block}.{name}.weight", N_EMBD, rows)
        weights.random(f"{block}.ffn_gate.weight", N_EMBD, N_FF)
        weights.random(f"{block}.ffn_up.weight", N_EMBD, N_FF)
        weights.random(f"{block}.ffn_down.weight", N_FF, N_EMBD)
        if i >= 2:
            weights.random(f"{block}.nextn.eh_proj.weight", 2 * N_EMBD, N_EMBD)
            weights.ones(f"{block}.nextn.enorm.weight", N_EMBD)
            weights.ones(f"{block}.nextn.hnorm.weight", N_EMBD)
    base = _renamed(tiny_qwen35(), "qwen35", "hy_v3", ("ssm.", "rope.dimension_sections", "full_attention_interval"))
    own: dict[str, tuple[Kind, Any]] = {
        "hy_v3.block_count": (Kind.UINT32, 2 + num_layers),
        "hy_v3.nextn_predict_layers": (Kind.UINT32, num_layers),
        "hy_v3.expert_feed_forward_length": (Kind.UINT32, N_FF),
    }
    return GgufFile({**base.metadata, **own}, tuple(weights.tensors))


def eagle3_for(
    target: GgufFile | None = None,
    *,
    seed: int = 3,
    width: int = 64,
    layers: tuple[int, ...] = (0, 1, 1),
    own: bool = False,
) -> GgufFile:
    """A random EAGLE-3 head; ``own`` gives it embedding and output layers, for half of the tokens (``d2t``)."""
    target, n = target or tiny_llama(), 64
    weights = Weights(seed)
    weights.random("fc.weight", 3 * width, n, scale=0.12)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.attn_norm_2", "blk.0.ffn_norm"):
        weights.ones(f"{name}.weight", n)
    for name, rows in (("attn_q", n), ("attn_k", 32), ("attn_v", 32)):
        weights.random(f"blk.0.{name}.weight", 2 * n, rows, scale=0.12)
    weights.random("blk.0.attn_output.weight", n, n, scale=0.12)
    weights.random("blk.0.ffn_gate.weight", n, 96, scale=0.12)
    weights.random("blk.0.ffn_up.weight", n, 96, scale=0.12)
    weights.random("blk.0.ffn_down.weight", 96, n, scale=0.12)
    if own:
        half = N_VOCAB // 2
        weights.random("token_embd.weight", n, N_VOCAB, scale=0.12)
        weights.random("output.weight", n, half, scale=0.12)
        ids = np.arange(half, dtype=np.int64) * 2
        weights.tensors.append(Tensor("d2t", (half,), 27, ids.tobytes()))
    base = _renamed(target, str(target.metadata["general.architecture"][1]), "eagle3", ())
    entries: dict[str, tuple[Kind, Any]] = {
        "eagle3.block_count": (Kind.UINT32, 1),
        "eagle3.embedding_length": (Kind.UINT32, n),
        "eagle3.target_layers": (Kind.ARRAY, (Kind.INT32, list(layers))),
        "eagle3.target_hidden_size": (Kind.UINT32, width),
    }
    return GgufFile({**base.metadata, **entries}, tuple(weights.tensors))


def dflash_for(
    target: GgufFile | None = None,
    *,
    seed: int = 3,
    layers: tuple[int, ...] = (0, 1),
    size: int = 5,
    markov_rank: int = 0,
    num_candidates: int = 0,
    own: bool = False,
    **entries: tuple[Kind, Any],
) -> GgufFile:
    """A random DFlash head; with a ``markov_rank`` it is a DSpark head, with ``num_candidates`` a DFlash2 head.

    ``own`` gives it an output layer for half of the tokens (``d2t``).
    """
    target, n = target or tiny_llama(), 64
    weights, half = Weights(seed), N_VOCAB // 2
    weights.random("fc.weight", len(layers) * n, n, scale=0.12)
    for name, count in (("enc.output_norm", n), ("output_norm", n), ("blk.0.attn_norm", n), ("blk.0.ffn_norm", n)):
        weights.ones(f"{name}.weight", count)
    for name, rows in (("attn_q", n), ("attn_k", 32), ("attn_v", 32), ("attn_output", n)):
        weights.random(f"blk.0.{name}.weight", n, rows, scale=0.12)
    for name in ("attn_q_norm", "attn_k_norm"):
        weights.ones(f"blk.0.{name}.weight", 16)
    weights.random("blk.0.ffn_gate.weight", n, 96, scale=0.12)
    weights.random("blk.0.ffn_up.weight", n, 96, scale=0.12)
    weights.random("blk.0.ffn_down.weight", 96, n, scale=0.12)
    if own:
        weights.random("output.weight", n, half, scale=0.12)
        weights.tensors.append(Tensor("d2t", (half,), 27, (np.arange(half, dtype=np.int64) * 2).tobytes()))
    if markov_rank:
        weights.random("markov_w1.weight", markov_rank, N_VOCAB)
        weights.random("markov_w2.weight", markov_rank, half if own else N_VOCAB)
        weights.random("conf_proj.weight", n + markov_rank, 1)
    own_entries: dict[str, tuple[Kind, Any]] = {
        "dflash.block_count": (Kind.UINT32, 1),
        "dflash.embedding_length": (Kind.UINT32, n),
        "dflash.block_size": (Kind.UINT32, size),
        "dflash.target_layers": (Kind.ARRAY, (Kind.INT32, list(layers))),
        "tokenizer.ggml.mask_token_id": (Kind.UINT32, 0),
    }
    if num_candidates:
        _add_selector(weights, n, num_candidates)
        own_entries |= {
            "dflash.selector_rank": (Kind.UINT32, 8),
            "dflash.selector_top_k": (Kind.UINT32, num_candidates),
            "dflash.conv_kernel_size": (Kind.UINT32, 2),
            "dflash.conv_group_size": (Kind.UINT32, 16),
        }
    base = _renamed(target, str(target.metadata["general.architecture"][1]), "dflash", ())
    made = GgufFile({**base.metadata, **own_entries}, tuple(weights.tensors))
    return made.with_metadata(**entries)


def _add_selector(weights: Weights, n: int, num_candidates: int) -> None:
    """DFlash2's selector and convolutions over the block."""
    assert num_candidates * (num_candidates + 1) <= n
    weights.random("selector_predecessor.weight", 8, N_VOCAB)
    weights.random("selector_successor.weight", 8, N_VOCAB)
    weights.random("selector_hidden.weight", n, 8)
    for part in ("attn", "ffn"):
        weights.random(f"blk.0.{part}_conv_base", n, 2, 2)
        weights.random(f"blk.0.{part}_conv_proj.weight", n, 2 * 2 * (n // 16), scale=0.12)


def tiny_gemma4(*, seed: int = 0, window: int = 64) -> GgufFile:
    """A Gemma 4 with two random layers: the first sees ``window`` tokens, the second sees all."""
    weights, n = Weights(seed), 64
    weights.random("token_embd.weight", n, N_VOCAB)
    weights.ones("output_norm.weight", n)
    weights.ones("rope_freqs.weight", 8)
    for i in range(2):
        _gemma4_layer(weights, i, n)
        weights.random(f"blk.{i}.attn_k.weight", n, 32)
        weights.random(f"blk.{i}.attn_v.weight", n, 32)
        weights.ones(f"blk.{i}.attn_k_norm.weight", 16)
    base = _renamed(tiny_llama(), "llama", "gemma4", ())
    return GgufFile({**base.metadata, **_of_gemma4("gemma4", 2, window)}, tuple(weights.tensors))


def assistant_for(*, seed: int = 5, window: int = 64, num_layers: int = 2, **entries: tuple[Kind, Any]) -> GgufFile:
    """A random assistant of `tiny_gemma4`, half as wide."""
    weights, n = Weights(seed), 32
    weights.random("token_embd.weight", n, N_VOCAB)
    weights.ones("output_norm.weight", n)
    weights.ones("rope_freqs.weight", 8)
    weights.random("nextn.pre_projection.weight", 2 * 64, n)
    weights.random("nextn.post_projection.weight", n, 64)
    for i in range(num_layers):
        _gemma4_layer(weights, i, n)
    base = _renamed(tiny_llama(), "llama", "gemma4-assistant", ())
    own: dict[str, tuple[Kind, Any]] = {
        **_of_gemma4("gemma4-assistant", num_layers, window),
        "gemma4-assistant.embedding_length": (Kind.UINT32, n),
        "gemma4-assistant.embedding_length_out": (Kind.UINT32, 64),
        "gemma4-assistant.nextn_predict_layers": (Kind.UINT32, num_layers),
    }
    made = GgufFile({**base.metadata, **own}, tuple(weights.tensors))
    return replace(made, metadata={**made.metadata, **{key.replace("__", "."): one for key, one in entries.items()}})


def _gemma4_layer(weights: Weights, number: int, n: int) -> None:
    """Add the tensors that the target's and the assistant's layers share."""
    block = f"blk.{number}"
    for norm in ("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"):
        weights.ones(f"{block}.{norm}.weight", n)
    weights.random(f"{block}.attn_q.weight", n, 64)
    weights.random(f"{block}.attn_output.weight", 64, n)
    weights.ones(f"{block}.attn_q_norm.weight", 16)
    weights.ones(f"{block}.layer_output_scale.weight", 1)
    weights.random(f"{block}.ffn_gate.weight", n, 96)
    weights.random(f"{block}.ffn_up.weight", n, 96)
    weights.random(f"{block}.ffn_down.weight", 96, n)


def _of_gemma4(architecture: str, num_layers: int, window: int) -> dict[str, tuple[Kind, Any]]:
    sees = [i % 2 == 0 for i in range(num_layers)]
    return {
        f"{architecture}.block_count": (Kind.UINT32, num_layers),
        f"{architecture}.context_length": (Kind.UINT32, 1024),
        f"{architecture}.attention.sliding_window": (Kind.UINT32, window),
        f"{architecture}.attention.sliding_window_pattern": (Kind.ARRAY, (Kind.BOOL, sees)),
        **{
            f"{architecture}.attention.{name}": (Kind.UINT32, 16)
            for name in ("key_length", "value_length", "key_length_swa", "value_length_swa")
        },
        f"{architecture}.rope.dimension_count": (Kind.UINT32, 16),
        f"{architecture}.rope.dimension_count_swa": (Kind.UINT32, 16),
        f"{architecture}.rope.freq_base_swa": (Kind.FLOAT32, 10000.0),
        f"{architecture}.embedding_length_per_layer_input": (Kind.UINT32, 0),
    }


def _renamed(file: GgufFile, old: str, new: str, without: tuple[str, ...]) -> GgufFile:
    """The metadata of a file, renamed for another architecture."""
    entries = {
        (f"{new}.{key.removeprefix(f'{old}.')}" if key.startswith(f"{old}.") else key): value
        for key, value in file.metadata.items()
        if not key.startswith(tuple(f"{old}.{prefix}" for prefix in without) if without else ("\0",))
    }
    return GgufFile({**entries, "general.architecture": (Kind.STRING, new)})
