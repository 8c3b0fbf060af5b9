"""Makes a model of random weights, of any shape and type, to measure the cost of passes.

    python packaging/measure/random_model.py VOCAB.gguf OUT.gguf --width 2048 --feed-forward 5632 --heads 32 \
        --layers 5 --weights Q6_K

VOCAB.gguf gives the vocabulary. The shape above has more weights than the processor's caches hold, laid out as in a
model of a billion parameters.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import gguf
import llama_cpp
import numpy as np
from numpy.typing import NDArray

SPREAD = 3.0  # approximate standard deviation of the logits


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a model without grouped heads."""

    width: int = 64
    feed_forward: int = 128
    heads: int = 2
    layers: int = 2
    alike: bool = False  # all layers have the same weights, which is faster to make; passes cost the same


TINY = Shape()


def make_model(vocab: Path, destination: Path, spread: float, seed: int = 0, shape: Shape = TINY) -> Path:
    """Write a model of random F16 weights; ``spread`` is the approximate standard deviation of its logits."""
    reader = gguf.GGUFReader(vocab)
    writer = gguf.GGUFWriter(destination, "qwen2")
    for field in reader.fields.values():
        if field.name.startswith("tokenizer."):
            kind = field.types[0]
            items = field.types[-1] if kind is gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(field.name, field.contents(), kind, items)
    writer.add_context_length(4096)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_layer_norm_rms_eps(1e-6)
    num_tokens = len(reader.fields["tokenizer.ggml.tokens"].data)
    for name, values in _tensors(num_tokens, spread, shape, np.random.default_rng(seed)).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return destination


def _tensors(num_tokens: int, spread: float, shape: Shape, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
    """All weights, [rows, columns] by name."""
    width, feed_forward = shape.width, shape.feed_forward

    def matrix(rows: int, columns: int, scale: float = 1.0) -> NDArray[np.float16]:
        values: NDArray[np.float32] = rng.standard_normal((rows, columns), dtype=np.float32)
        return (values * np.float32(scale / columns**0.5)).astype(np.float16)

    weights: dict[str, NDArray[np.generic]] = {
        "token_embd.weight": matrix(num_tokens, width),
        "output.weight": matrix(num_tokens, width, spread),
        "output_norm.weight": np.ones(width, np.float32),
    }
    for i in range(shape.layers):
        if shape.alike and i:
            first = [name for name in weights if name.startswith("blk.0.")]
            weights |= {name.replace("blk.0.", f"blk.{i}."): weights[name] for name in first}
            continue
        for name in ("attn_q", "attn_k", "attn_v"):
            weights[f"blk.{i}.{name}.weight"] = matrix(width, width)
            weights[f"blk.{i}.{name}.bias"] = np.zeros(width, np.float32)
        weights[f"blk.{i}.attn_output.weight"] = matrix(width, width)
        weights[f"blk.{i}.ffn_gate.weight"] = matrix(feed_forward, width)
        weights[f"blk.{i}.ffn_up.weight"] = matrix(feed_forward, width)
        weights[f"blk.{i}.ffn_down.weight"] = matrix(width, feed_forward)
        weights[f"blk.{i}.attn_norm.weight"] = np.ones(width, np.float32)
        weights[f"blk.{i}.ffn_norm.weight"] = np.ones(width, np.float32)
    return weights


def convert(source: Path, destination: Path, weights: str) -> Path:
    """Let llama.cpp convert every matrix of ``source`` to one type of ``weights``, such as "Q6_K".

    Raises:
        ValueError: llama.cpp does not know the type, or could not convert the model.
    """
    kind = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{weights}", None) or getattr(
        llama_cpp, f"LLAMA_FTYPE_MOSTLY_{weights}_M", None
    )
    if kind is None:
        raise ValueError(f"llama.cpp knows no weights of the kind {weights}")
    wanted = llama_cpp.llama_model_quantize_default_params()
    wanted.ftype, wanted.pure = kind, True
    if llama_cpp.llama_model_quantize(str(source).encode(), str(destination).encode(), ctypes.byref(wanted)):
        raise ValueError(f"llama.cpp could not convert the model to {weights}")
    return destination


def main() -> int:
    """Make a model."""
    parser = argparse.ArgumentParser(description="A model of random weights.")
    parser.add_argument("vocab", type=Path)
    parser.add_argument("destination", type=Path)
    for name in ("width", "feed-forward", "heads", "layers"):
        parser.add_argument(f"--{name}", type=int, default=getattr(TINY, name.replace("-", "_")))
    parser.add_argument("--weights", default="F16")
    parser.add_argument("--alike", action="store_true", help="the same weights in all layers")
    options = parser.parse_args()
    shape = Shape(options.width, options.feed_forward, options.heads, options.layers, options.alike)
    if options.weights == "F16":
        make_model(options.vocab, options.destination, SPREAD, shape=shape)
        return 0
    with tempfile.TemporaryDirectory(dir=options.destination.parent) as folder:
        plain = make_model(options.vocab, Path(folder) / "f16.gguf", SPREAD, shape=shape)
        try:
            convert(plain, options.destination, options.weights)
        except ValueError as error:
            parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
