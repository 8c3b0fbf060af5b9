"""Q4_0 rounding as llama.cpp does it, for training through it.

Owns the arithmetic of one weight format; knows nothing of networks or files.
"""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 32


def q4_0(weight: Tensor) -> Tensor:
    """`weight` (rows, columns) as it reads back after Q4_0; columns must be a multiple of 32.

    llama.cpp, ggml-quants.c, quantize_row_q4_0_ref: the scale is the value of largest magnitude
    divided by -8, stored as float16, the codes are rounded with the unrounded scale.
    """
    blocks = weight.reshape(-1, BLOCK)
    peak = blocks.gather(1, blocks.abs().argmax(dim=1, keepdim=True))
    scale = peak / -8.0
    inverse = torch.where(scale != 0, 1.0 / scale, torch.zeros_like(scale))
    codes = (blocks * inverse + 8.5).trunc().clamp_(0, 15)
    return ((codes - 8.0) * scale.half().float()).view_as(weight)


def fake_q4_0(weight: Tensor) -> Tensor:
    """Q4_0 forward, identity backward (straight-through estimator, arXiv 1308.3432)."""
    return weight + (q4_0(weight.detach().float()).to(weight.dtype) - weight).detach()
