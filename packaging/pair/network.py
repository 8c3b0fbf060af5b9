"""The llama-architecture network in PyTorch: RMSNorm, interleaved RoPE, SwiGLU, tied embeddings.

Rotary pairs are (2i, 2i+1), the layout llama.cpp uses for the architecture "llama", so no weight is permuted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F  # noqa: N812  (its customary name)
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """The hyper-parameters of one network; all widths are multiples of 32 (one Q4_0 block)."""

    num_layers: int = 6
    width: int = 256
    num_heads: int = 4
    ffn_width: int = 768
    vocab_size: int = 4096
    context: int = 2048
    rope_base: float = 1_000_000.0
    norm_eps: float = 1e-5

    @property
    def head_width(self) -> int:
        """Width of one attention head."""
        return self.width // self.num_heads

    def as_dict(self) -> dict[str, float]:
        """Plain numbers, for a checkpoint."""
        return asdict(self)


TARGET_SHAPE = Shape()
DRAFT_SHAPE = Shape(num_layers=4, width=96, num_heads=3, ffn_width=192)


EMBEDDING_STD = 0.7


def rope_table(shape: Shape) -> Tensor:
    """Cosines and sines, shape (2, context, head_width / 2), float32."""
    half = torch.arange(0, shape.head_width, 2, dtype=torch.float32) / shape.head_width
    angles = torch.outer(torch.arange(shape.context, dtype=torch.float32), shape.rope_base**-half)
    return torch.stack((angles.cos(), angles.sin()))


def rotate(x: Tensor, table: Tensor) -> Tensor:
    """Rotate pairs (2i, 2i+1) of `x` (batch, time, heads, head_width) by position (RoFormer, arXiv 2104.09864)."""
    cos, sin = table[0, : x.shape[1], None, :], table[1, : x.shape[1], None, :]
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)


class Norm(nn.Module):
    """Root-mean-square norm with a learned gain."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last axis; (..., width) to (..., width)."""
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), self.eps)


class Block(nn.Module):
    """One transformer layer: causal attention, then a gated feed-forward part."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, hidden = shape.width, shape.ffn_width
        self.num_heads = shape.num_heads
        self.attn_norm = Norm(width, shape.norm_eps)
        self.attn_q = nn.Linear(width, width, bias=False)
        self.attn_k = nn.Linear(width, width, bias=False)
        self.attn_v = nn.Linear(width, width, bias=False)
        self.attn_output = nn.Linear(width, width, bias=False)
        self.ffn_norm = Norm(width, shape.norm_eps)
        self.ffn_gate = nn.Linear(width, hidden, bias=False)
        self.ffn_up = nn.Linear(width, hidden, bias=False)
        self.ffn_down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor, table: Tensor) -> Tensor:
        """(batch, time, width) to the same shape."""
        x = x + self.attend(self.attn_norm(x), table)
        return x + self.feed(self.ffn_norm(x))

    def attend(self, x: Tensor, table: Tensor) -> Tensor:
        """Causal self-attention over the time axis."""
        batch, time, width = x.shape
        heads = (batch, time, self.num_heads, width // self.num_heads)
        q = rotate(self.attn_q(x).view(heads), table).transpose(1, 2)
        k = rotate(self.attn_k(x).view(heads), table).transpose(1, 2)
        v = self.attn_v(x).view(heads).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.attn_output(mixed.transpose(1, 2).reshape(batch, time, width))  # type: ignore[no-any-return]

    def feed(self, x: Tensor) -> Tensor:
        """SwiGLU (arXiv 2002.05202)."""
        return self.ffn_down(F.silu(self.ffn_gate(x)) * self.ffn_up(x))  # type: ignore[no-any-return]


class Network(nn.Module):
    """Token ids in, hidden states or logits out. Input and output embedding are one matrix."""

    table: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.token_embd = nn.Embedding(shape.vocab_size, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.num_layers))
        self.output_norm = Norm(shape.width, shape.norm_eps)
        self.register_buffer("table", rope_table(shape), persistent=False)
        self.reset(shape)

    def reset(self, shape: Shape) -> None:
        """Fresh weights; what writes into the residual stream starts at zero.

        Embeddings are large, so that a token stays recognisable beside what the layers add to it; the
        last norm's small gain makes up for that where the same matrix gives the logits.
        """
        nn.init.normal_(self.token_embd.weight, std=EMBEDDING_STD)
        nn.init.constant_(self.output_norm.weight, shape.width**-0.5 / EMBEDDING_STD)
        for name, parameter in self.blocks.named_parameters():
            if parameter.ndim < 2:
                continue
            if name.endswith(("attn_output.weight", "ffn_down.weight")):
                nn.init.zeros_(parameter)
            else:
                nn.init.normal_(parameter, std=shape.width**-0.5)

    def feed_forward(self) -> list[nn.Parameter]:
        """The feed-forward matrices, those that ship as Q4_0."""
        return [parameter for name, parameter in self.named_parameters() if ".ffn_" in name and parameter.ndim == 2]

    def hidden(self, ids: Tensor) -> Tensor:
        """Normalised last hidden states (batch, time, width) for int64 `ids` (batch, time)."""
        x = self.token_embd(ids)
        for block in self.blocks:
            x = block(x, self.table)
        return self.output_norm(x)  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores (..., vocab_size) for hidden states (..., width)."""
        return F.linear(hidden, self.token_embd.weight)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (batch, time, vocab_size) for `ids` (batch, time)."""
        return self.logits(self.hidden(ids))

    def num_parameters(self) -> int:
        """How many weights there are, the shared embedding counted once."""
        return sum(parameter.numel() for parameter in self.parameters())
