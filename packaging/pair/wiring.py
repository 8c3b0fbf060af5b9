"""Starting weights that already copy: previous-token heads in one layer, induction heads in later ones.

Compare "In-context Learning and Induction Heads", Olsson et al. 2022, arXiv 2209.11895). Training starts from it and
may change everything; without it, copying forms only after millions of tokens.
"""

from __future__ import annotations

import torch
from network import Network
from torch import Tensor

LOUDNESS = 6.0  # of the constant first column of the embedding, in standard deviations
LOCAL_SHARE = 0.25  # of a head's rotary pairs that turn fast enough to tell neighbours apart
STEADY_FROM = 0.375  # from this share of the pairs on, rotation over a few hundred tokens is small


def orthogonal(width: int) -> Tensor:
    """A random orthogonal matrix whose first column is cleared: the constant column carries no identity."""
    matrix = torch.linalg.qr(torch.randn(width, width)).Q
    matrix[:, 0] = 0.0
    return matrix


@torch.no_grad()
def wire(network: Network, induction_layers: tuple[int, ...], match: float = 2.0) -> None:
    """Set the attention weights of layer 0 (attend to the token before, write it rotated) and of `induction_layers`."""
    shape = network.shape
    embedding = network.token_embd.weight
    embedding[:, 0] = LOUDNESS * embedding[:, 1:].std()
    rotation = wire_previous_token(network)
    for layer in induction_layers:
        block = network.blocks[layer]
        reader = steady_rows(shape.width, shape.num_heads)
        block.attn_q.weight.copy_(reader * match)
        block.attn_k.weight.copy_(reader @ rotation.T * match)
        value = orthogonal(shape.width)
        block.attn_v.weight.copy_(value)
        block.attn_output.weight.copy_(value.T)


@torch.no_grad()
def wire_previous_token(network: Network) -> Tensor:
    """Make all heads of layer 0 attend one token back; returns how they rotate what they write, (width, width)."""
    shape, block = network.shape, network.blocks[0]
    half = shape.head_width // 2
    cos, sin = network.table[0, 1], network.table[1, 1]
    local = torch.arange(half) < LOCAL_SHARE * half
    query, key = torch.zeros(half, 2), torch.zeros(half, 2)
    query[local, 0] = 1.0
    key[local, 0], key[local, 1] = cos[local], sin[local]
    block.attn_q.weight.mul_(0.1)[:, 0] = 1.7 * query.flatten().repeat(shape.num_heads)
    block.attn_k.weight.mul_(0.1)[:, 0] = 1.7 * key.flatten().repeat(shape.num_heads)
    value, output = orthogonal(shape.width), torch.linalg.qr(torch.randn(shape.width, shape.width)).Q
    block.attn_v.weight.copy_(value)
    block.attn_output.weight.copy_(0.7 * output)
    return output @ value


def steady_rows(width: int, num_heads: int) -> Tensor:
    """Rows (width, width) that read identity into the slowly turning pairs of each head; zero elsewhere."""
    head = width // num_heads
    rows = orthogonal(width)
    first = 2 * round(STEADY_FROM * head / 2)
    rows.view(num_heads, head, width)[:, :first] = 0.0
    return rows
