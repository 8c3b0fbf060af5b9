"""A llama-architecture target in PyTorch, with the weights of its GGUF: rows, logits, and answers in batches.

Rotary pairs are (2i, 2i+1), as llama.cpp turns them for the architecture "llama". The residual stream is float32,
matrices and cache are bfloat16.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812  (its customary name)
from gguf import GGUFReader, dequantize
from torch import Tensor

FINAL = -1  # in a list of rows: the normed output of the last layer, which the output matrix turns into logits


def rope_table(length: int, head_width: int, base: float) -> Tensor:
    """Cosines and sines, shape (2, length, head_width / 2), float32."""
    exponents = torch.arange(0, head_width, 2, dtype=torch.float32) / head_width
    angles = torch.outer(torch.arange(length, dtype=torch.float32), base**-exponents)
    return torch.stack((angles.cos(), angles.sin()))


def rotate(x: Tensor, table: Tensor) -> Tensor:
    """Rotate pairs (2i, 2i+1) of `x` (..., heads, head_width) by a table (2, ..., head_width / 2) of its positions."""
    cos, sin = table[0].unsqueeze(-2), table[1].unsqueeze(-2)
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2).to(x.dtype)


@dataclass
class Cache:
    """Keys and values of a batch, one pair a layer (batch, KV heads, length, head width)."""

    keys: list[Tensor]
    values: list[Tensor]

    def keep(self, rows: Tensor) -> None:
        """Only these conversations go on."""
        self.keys = [one[rows] for one in self.keys]
        self.values = [one[rows] for one in self.values]


@dataclass
class Layer:
    """The weights of one layer; query, key and value are one matrix, gate and up are another."""

    attn_norm: Tensor
    qkv: Tensor
    out: Tensor
    ffn_norm: Tensor
    gate_up: Tensor
    down: Tensor


@dataclass
class Target:
    """The target's hyper-parameters and weights."""

    width: int
    num_heads: int
    num_kv_heads: int
    norm_eps: float
    rope_base: float
    embedding: Tensor
    output_norm: Tensor
    output: Tensor
    layers: list[Layer] = field(default_factory=list)

    @property
    def head_width(self) -> int:
        """Width of one attention head."""
        return self.width // self.num_heads

    def norm(self, x: Tensor, gain: Tensor) -> Tensor:
        """RMS norm in float32, given out as bfloat16."""
        return (F.rms_norm(x, (x.shape[-1],), eps=self.norm_eps) * gain).bfloat16()

    def new_cache(self, batch: int, length: int) -> Cache:
        """Room for ``length`` tokens of ``batch`` conversations."""
        shape = (batch, self.num_kv_heads, length, self.head_width)
        empty = [torch.zeros(shape, dtype=torch.bfloat16) for _ in range(2 * len(self.layers))]
        return Cache(empty[::2], empty[1::2])

    @torch.inference_mode()
    def rows(self, ids: Tensor, taken: tuple[int, ...], cache: Cache, start: Tensor | None = None) -> Tensor:
        """What the layers named in ``taken`` read (`FINAL`: the normed output), side by side, bfloat16.

        ``ids`` (batch, time) are whole beginnings of conversations, padded behind, or, with ``start`` (batch), one
        token each at these positions.
        """
        time = ids.shape[1]
        table = self._table[:, start[:, None]] if start is not None else self._table[:, None, :time]
        mask = None
        if start is not None:
            reach = int(start.max()) + 1
            mask = (torch.arange(reach) <= start[:, None])[:, None, None, :]
        x = F.embedding(ids, self.embedding).float()
        kept: dict[int, Tensor] = {}
        for number, layer in enumerate(self.layers):
            if number in taken:
                kept[number] = x.bfloat16()
            x = x + self._attend(layer, x, table, (cache.keys[number], cache.values[number]), start, mask)
            gate, up = F.linear(self.norm(x, layer.ffn_norm), layer.gate_up).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, layer.down)
        kept[FINAL] = self.norm(x, self.output_norm)
        return torch.cat([kept[number] for number in taken], -1)

    def _attend(
        self,
        layer: Layer,
        x: Tensor,
        table: Tensor,
        cache: tuple[Tensor, Tensor],
        start: Tensor | None,
        mask: Tensor | None,
    ) -> Tensor:
        batch, time, _ = x.shape
        heads, kv_heads, size = self.num_heads, self.num_kv_heads, self.head_width
        qkv = F.linear(self.norm(x, layer.attn_norm), layer.qkv).view(batch, time, heads + 2 * kv_heads, size)
        turned = rotate(qkv[:, :, : heads + kv_heads], table)
        q, k, v = turned[:, :, :heads], turned[:, :, heads:], qkv[:, :, heads + kv_heads :]
        if start is None:
            cache[0][:, :, :time], cache[1][:, :, :time] = k.transpose(1, 2), v.transpose(1, 2)
            group = heads // kv_heads
            k, v = (one.transpose(1, 2).repeat_interleave(group, 1) for one in (k, v))
            mixed = F.scaled_dot_product_attention(q.transpose(1, 2), k, v, is_causal=True).transpose(1, 2)
        else:
            every = torch.arange(batch)
            cache[0][every, :, start], cache[1][every, :, start] = k[:, 0], v[:, 0]
            reach = mask.shape[-1] if mask is not None else 0
            asked = q.reshape(batch, kv_heads, heads // kv_heads, size)
            mixed = F.scaled_dot_product_attention(
                asked, cache[0][:, :, :reach], cache[1][:, :, :reach], attn_mask=mask
            )
        return F.linear(mixed.reshape(batch, time, self.width), layer.out)

    def logits(self, final: Tensor) -> Tensor:
        """Scores of all tokens, float32, for rows of `FINAL`."""
        return F.linear(final, self.output).float()

    def __post_init__(self) -> None:
        self._table = rope_table(4096, self.head_width, self.rope_base)


def load_target(path: Path) -> Target:
    """The weights of a GGUF, dequantized to bfloat16 (norms: float32).

    Raises:
        ValueError: the file is of another architecture.
    """
    reader = GGUFReader(path)
    found = {tensor.name: tensor for tensor in reader.tensors}

    def value(key: str) -> float:
        return reader.fields[key].contents()  # type: ignore[no-any-return]

    def matrix(*names: str) -> Tensor:
        parts = [torch.from_numpy(dequantize(found[name].data, found[name].tensor_type)) for name in names]
        return torch.cat(parts).bfloat16()

    def gain(name: str) -> Tensor:
        return torch.from_numpy(found[name].data.copy())

    if value("general.architecture") != "llama":
        raise ValueError(f"{path} is not of the architecture llama")
    embedding = matrix("token_embd.weight")
    target = Target(
        width=int(value("llama.embedding_length")),
        num_heads=int(value("llama.attention.head_count")),
        num_kv_heads=int(value("llama.attention.head_count_kv")),
        norm_eps=value("llama.attention.layer_norm_rms_epsilon"),
        rope_base=value("llama.rope.freq_base"),
        embedding=embedding,
        output_norm=gain("output_norm.weight"),
        output=matrix("output.weight") if "output.weight" in found else embedding,
    )
    for number in range(int(value("llama.block_count"))):
        block = f"blk.{number}."
        target.layers.append(
            Layer(
                gain(f"{block}attn_norm.weight"),
                matrix(*(f"{block}attn_{one}.weight" for one in "qkv")),
                matrix(f"{block}attn_output.weight"),
                gain(f"{block}ffn_norm.weight"),
                matrix(f"{block}ffn_gate.weight", f"{block}ffn_up.weight"),
                matrix(f"{block}ffn_down.weight"),
            )
        )
    return target
