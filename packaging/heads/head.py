"""An EAGLE-3 head (arXiv 2503.01840) in PyTorch: exactly the graph of llama.cpp's src/models/eagle3.cpp.

Position p reads the token p + 1 beside the target's row p, and says what token p + 2 is. Ahead of the target its own
output stands in for the row; `Head.unrolled` computes such steps for all positions at once, as they are at work
(training-time test).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F  # noqa: N812  (its customary name)
from target import Target, rope_table, rotate
from torch import Tensor, nn

NUM_ROWS = 3  # layers of the target that a head reads


@dataclass(frozen=True)
class HeadShape:
    """The hyper-parameters of a head; widths are multiples of 32 (a block of Q8_0 and Q4_1)."""

    width: int = 576
    num_heads: int = 9
    ffn_width: int = 2048
    vocab_size: int = 8192
    context: int = 1024
    rope_base: float = 100_000.0
    norm_eps: float = 1e-5

    @property
    def head_width(self) -> int:
        """Width of one attention head."""
        return self.width // self.num_heads

    def as_dict(self) -> dict[str, float]:
        """Plain numbers, for a checkpoint."""
        return asdict(self)


class Head(nn.Module):
    """Rows and embeddings in, hidden rows and scores of the reduced vocabulary out."""

    table: Tensor
    spread: Tensor

    def __init__(self, shape: HeadShape) -> None:
        super().__init__()
        self.shape = shape
        width, hidden = shape.width, shape.ffn_width
        self.fc = nn.Linear(NUM_ROWS * width, width, bias=False)
        self.attn_norm = nn.Parameter(torch.ones(width))
        self.attn_norm_2 = nn.Parameter(torch.ones(width))
        self.attn_q, self.attn_k, self.attn_v = (nn.Linear(2 * width, width, bias=False) for _ in range(3))
        self.attn_output = nn.Linear(width, width, bias=False)
        self.ffn_norm = nn.Parameter(torch.ones(width))
        self.ffn_gate, self.ffn_up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.ffn_down = nn.Linear(hidden, width, bias=False)
        self.output_norm = nn.Parameter(torch.ones(width))
        self.output = nn.Linear(width, shape.vocab_size, bias=False)
        self.register_buffer("table", rope_table(shape.context, shape.head_width, shape.rope_base), persistent=False)
        self.register_buffer(
            "spread", torch.ones(NUM_ROWS * width)
        )  # of the rows; divided out, and folded in `fc` last

    @torch.no_grad()
    def begin_as(self, target: Target, kept: Tensor, rows: Tensor) -> None:
        """Start as the target's last layer on the last of the ``rows`` (tokens, 3 * width), blind for the new token.

        ``kept`` are the ids of the reduced vocabulary. Units are such that the last of the rows has size 1.
        """
        last, width = target.layers[-1], self.shape.width
        self.spread.copy_(rows.float().abs().median(0).values * 1.4826 + 1e-6)
        unit = float(self.spread[2 * width :].square().mean().sqrt())
        self.fc.weight.zero_()
        self.fc.weight[:, 2 * width :] = torch.diag(self.spread[2 * width :] / unit)
        q, k, v = last.qkv.float().split((width, *2 * (target.num_kv_heads * target.head_width,)))
        for linear, weight in ((self.attn_q, q), (self.attn_k, k), (self.attn_v, v)):
            wide = weight.view(-1, target.head_width, width)
            wide = wide.repeat_interleave(self.shape.num_heads // len(wide), 0).reshape(width, width)
            nn.init.normal_(linear.weight, std=0.02)
            linear.weight[:, width:] = wide
        self.attn_norm_2.copy_(last.attn_norm)
        self.attn_norm.fill_(float(last.attn_norm.square().mean().sqrt()))
        self.attn_output.weight.copy_(last.out.float() / unit)
        self.ffn_norm.copy_(last.ffn_norm)
        gate, up = last.gate_up.float().chunk(2)
        for linear, weight in ((self.ffn_gate, gate), (self.ffn_up, up)):
            nn.init.normal_(linear.weight, std=0.03)
            linear.weight[: len(weight)] = weight
        self.ffn_down.weight.zero_()
        self.ffn_down.weight[:, : last.down.shape[1]] = last.down.float() / unit
        self.output_norm.copy_(target.output_norm)
        self.output.weight.copy_(target.output[kept].float())

    def _norm(self, x: Tensor, gain: Tensor) -> Tensor:
        return (F.rms_norm(x.float(), (x.shape[-1],), eps=self.shape.norm_eps) * gain).to(torch.bfloat16)

    def encode(self, rows: Tensor) -> Tensor:
        """The target's rows (..., 3 * width) as rows of the head (..., width), float32."""
        return _linear(self.fc, rows / self.spread).float()

    def scores(self, own: Tensor) -> Tensor:
        """Scores (..., vocab_size) behind rows of the head (..., width), bfloat16."""
        return _linear(self.output, self._norm(own, self.output_norm))

    def unrolled(self, embedded: Tensor, rows: Tensor, depth: int) -> list[Tensor]:
        """The head's rows at every position, of the first step to the ``depth``-th (batch, time, width).

        ``embedded`` (batch, time, width) are the embeddings of the tokens, ``rows`` (batch, time, width) what the
        target's rows before them are encoded to. At step n the rows of the last n - 1 positions are the head's own.
        """
        time = embedded.shape[1]
        token = self._norm(embedded, self.attn_norm)
        distance = torch.arange(time)[:, None] - torch.arange(time)[None, :]
        keys: list[Tensor] = []
        values: list[Tensor] = []
        steps: list[Tensor] = []
        row = rows
        for step in range(depth):
            if step:
                row = F.pad(steps[-1][:, :-1], (0, 0, 1, 0))
            q, k, v = self._read(token, row)
            keys.append(k)
            values.append(v)
            mixed = self._attend(q, keys, values, distance < step)
            x = row + _linear(self.attn_output, mixed).float()
            y = self._norm(x, self.ffn_norm)
            inner = F.silu(_linear(self.ffn_gate, y)) * _linear(self.ffn_up, y)
            steps.append(x + _linear(self.ffn_down, inner).float())
        return steps

    def _read(self, token: Tensor, row: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch, time, _ = row.shape
        both = torch.cat((token, self._norm(row, self.attn_norm_2)), -1)
        shape = (batch, time, self.shape.num_heads, self.shape.head_width)
        q, k, v = (_linear(one, both).view(shape) for one in (self.attn_q, self.attn_k, self.attn_v))
        table = self.table[:, :time]
        return tuple(one.transpose(1, 2) for one in (rotate(q, table), rotate(k, table), v))  # type: ignore[return-value]

    def _attend(self, q: Tensor, keys: list[Tensor], values: list[Tensor], hidden: Tensor) -> Tensor:
        """Attention of the last step: over the first step's positions but the last few, and one of each later step."""
        scale, later = self.shape.head_width**-0.5, len(keys) - 1
        scores = (q @ keys[0].mT).float().masked_fill(hidden, -torch.inf)
        if later:
            near = [(q * _delayed(k, later - 1 - i)).float().sum(-1, keepdim=True) for i, k in enumerate(keys[1:])]
            scores = torch.cat((scores, *near), -1)
        weights = torch.softmax(scores * scale, -1).to(q.dtype)
        time = q.shape[2]
        mixed = weights[..., :time] @ values[0]
        for i, v in enumerate(values[1:]):
            mixed = mixed + weights[..., time + i, None] * _delayed(v, later - 1 - i)
        return mixed.transpose(1, 2).flatten(2)


def _delayed(x: Tensor, by: int) -> Tensor:
    """The values (batch, heads, time, width) of so many positions before, zeros at the beginning."""
    return F.pad(x[:, :, : x.shape[2] - by], (0, 0, by, 0)) if by else x


def _linear(linear: nn.Linear, x: Tensor) -> Tensor:
    return F.linear(x.to(torch.bfloat16), linear.weight.to(torch.bfloat16))
