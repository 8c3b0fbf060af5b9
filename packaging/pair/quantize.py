"""Q4_0 rounding as llama.cpp does it, and training through it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

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


@contextmanager
def rounded(parameters: list[nn.Parameter]) -> Iterator[None]:
    """Within, `parameters` hold their Q4_0 values; afterwards their own again.

    Gradients taken within are those of the rounded weights and apply to the unrounded ones:
    the straight-through estimator (arXiv 1308.3432).
    """
    masters = [parameter.data for parameter in parameters]
    for parameter, master in zip(parameters, masters, strict=True):
        parameter.data = q4_0(master)
    try:
        yield
    finally:
        for parameter, master in zip(parameters, masters, strict=True):
            parameter.data = master
