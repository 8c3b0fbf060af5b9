"""Read a GGUF that `export.py` wrote: its network, with the weights as they ship, and its vocabulary.

So a draft can learn on from what ships, of exactly the target that ships.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import tokenizers
import torch
from bpe import CONTROL, Tokenizer, empty
from export import tensor_name
from gguf import GGUFReader
from gguf.quants import dequantize
from network import Network, Shape


def read_network(path: Path) -> Network:
    """The network of a GGUF, quantized matrices as the values that they stand for."""
    reader = GGUFReader(path)

    def number(key: str) -> float:
        field = reader.get_field(f"llama.{key}")
        if field is None:
            raise SystemExit(f"{path} has no llama.{key}.")
        return field.contents()  # type: ignore[no-any-return]

    shape = Shape(
        num_layers=int(number("block_count")),
        width=int(number("embedding_length")),
        num_heads=int(number("attention.head_count")),
        ffn_width=int(number("feed_forward_length")),
        vocab_size=int(number("vocab_size")),
        context=int(number("context_length")),
        rope_base=number("rope.freq_base"),
        norm_eps=float(f"{number('attention.layer_norm_rms_epsilon'):.6g}"),  # stored as float32
    )
    network = Network(shape)
    stored = {tensor.name: tensor for tensor in reader.tensors}
    for name, parameter in network.named_parameters():
        tensor = stored[tensor_name(name)]
        values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        parameter.data = torch.from_numpy(values.reshape(parameter.shape).copy())
    return network


def read_tokenizer(path: Path) -> Tokenizer:
    """The vocabulary of a GGUF."""
    reader = GGUFReader(path)
    tokens, merges = (reader.get_field(f"tokenizer.ggml.{key}") for key in ("tokens", "merges"))
    if tokens is None or merges is None:
        raise SystemExit(f"{path} has no vocabulary.")
    inner = empty()
    state = json.loads(inner.to_str())
    state["model"]["vocab"] = {token: at for at, token in enumerate(tokens.contents())}
    state["model"]["merges"] = [rule.split(" ", 1) for rule in merges.contents()]
    inner = tokenizers.Tokenizer.from_str(json.dumps(state))
    inner.add_special_tokens(list(CONTROL))
    return Tokenizer(inner)
