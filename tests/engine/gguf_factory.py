"""Writes small GGUF files for tests, well-formed or deliberately malformed: every number in the file can be set."""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from numpy.typing import NDArray

from engine.gguf.source import ReadAt


class Kind(IntEnum):
    """GGUF's value types."""

    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12


_FORMAT = {Kind(i): c for i, c in enumerate("BbHhIif?")} | {Kind.UINT64: "Q", Kind.INT64: "q", Kind.FLOAT64: "d"}
F32, F16, Q4_0 = 0, 1, 2


@dataclass(frozen=True)
class Tensor:
    """``dims`` as in the file: fastest first. ``offset`` None: the correct offset."""

    name: str
    dims: tuple[int, ...]
    kind: int
    data: bytes
    offset: int | None = None


@dataclass(frozen=True)
class GgufFile:
    """A GGUF file to write. ``metadata``: key -> type and value; for arrays the value is (item type, values)."""

    metadata: dict[str, tuple[Kind, Any]] = field(default_factory=dict)
    tensors: tuple[Tensor, ...] = ()
    magic: bytes = b"GGUF"
    version: int = 3
    num_tensors: int | None = None
    num_entries: int | None = None
    alignment: int = 32
    extra_entries: bytes = b""

    def with_metadata(self, **changes: tuple[Kind, Any] | None) -> GgufFile:
        """A copy with entries changed, added or (None) removed; ``__`` in a name stands for a dot."""
        entries = dict(self.metadata)
        for name, entry in changes.items():
            key = name.replace("__", ".")
            if entry is None:
                entries.pop(key)
            else:
                entries[key] = entry
        return replace(self, metadata=entries)

    def with_tensor(self, name: str, **changes: Any) -> GgufFile:  # noqa: ANN401
        """A copy with one tensor changed."""
        changed = tuple(replace(t, **changes) if t.name == name else t for t in self.tensors)
        assert changed != self.tensors
        return replace(self, tensors=changed)

    def header(self) -> bytes:
        """All bytes before the tensor data, without the alignment padding."""
        num_tensors = len(self.tensors) if self.num_tensors is None else self.num_tensors
        num_entries = len(self.metadata) if self.num_entries is None else self.num_entries
        parts = [self.magic, struct.pack("<IQQ", self.version, num_tensors, num_entries)]
        parts += [string(key) + entry(*value) for key, value in self.metadata.items()]
        parts.append(self.extra_entries)
        offset = 0
        for tensor in self.tensors:
            place = offset if tensor.offset is None else tensor.offset
            dims = struct.pack(f"<I{len(tensor.dims)}Q", len(tensor.dims), *tensor.dims)
            parts.append(string(tensor.name) + dims + struct.pack("<IQ", tensor.kind, place))
            offset += len(tensor.data) + -len(tensor.data) % self.alignment
        return b"".join(parts)

    def to_bytes(self) -> bytes:
        """The whole file."""
        header = self.header()
        parts = [header, bytes(-len(header) % self.alignment)]
        for tensor in self.tensors:
            parts += [tensor.data, bytes(-len(tensor.data) % self.alignment)]
        return b"".join(parts)

    def write(self, path: Path) -> Path:
        """Write the file."""
        path.write_bytes(self.to_bytes())
        return path


def string(text: str | bytes) -> bytes:
    """A GGUF string: length and bytes."""
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def entry(kind: Kind, value: Any) -> bytes:  # noqa: ANN401
    """A GGUF value: type and value."""
    if kind is not Kind.ARRAY:
        return struct.pack("<I", kind) + _plain(kind, value)
    item_kind, items = value
    if item_kind in _FORMAT:
        packed = struct.pack(f"<{len(items)}{_FORMAT[item_kind]}", *items)
    else:
        packed = b"".join(_plain(item_kind, item) for item in items)
    return struct.pack("<IIQ", kind, item_kind, len(items)) + packed


def _plain(kind: Kind, value: Any) -> bytes:  # noqa: ANN401
    return string(value) if kind is Kind.STRING else struct.pack("<" + _FORMAT[kind], value)


def tiny_llama(
    *, feed_forward_kind: int = Q4_0, seed: int = 0, n_ff: int = 96, n_layer: int = 2, idle: Collection[int] = ()
) -> GgufFile:
    """A llama with 2 layers of width 64, random weights and a byte vocabulary: about 0.1 M parameters.

    Layers in ``idle`` change nothing: their output is 0.
    """
    made = _tiny_llama(feed_forward_kind, seed, n_ff, n_layer, frozenset(idle))
    return replace(made, metadata=dict(made.metadata))


def tiny_windowed(window: int, n_ctx: int = 1024) -> GgufFile:
    """A Cohere model with 4 random layers: three see ``window`` tokens, the last one sees all."""
    plain = tiny_llama(n_layer=4, feed_forward_kind=F16)
    unknown = ("output.weight", *(f"blk.{i}.ffn_norm.weight" for i in range(4)))
    entries = {key.replace("llama.", "cohere2.", 1): entry for key, entry in plain.metadata.items()}
    made = replace(plain, tensors=tuple(one for one in plain.tensors if one.name not in unknown))
    return replace(made, metadata=entries).with_metadata(
        general__architecture=(Kind.STRING, "cohere2"),
        cohere2__context_length=(Kind.UINT32, n_ctx),
        cohere2__attention__layer_norm_epsilon=(Kind.FLOAT32, 1e-5),
        cohere2__attention__layer_norm_rms_epsilon=None,
        cohere2__attention__sliding_window=(Kind.UINT32, window),
        cohere2__logit_scale=(Kind.FLOAT32, 1.0),
    )


@lru_cache(maxsize=64)
def _tiny_llama(feed_forward_kind: int, seed: int, n_ff: int, n_layer: int, idle: frozenset[int]) -> GgufFile:
    dice = np.random.default_rng(seed)
    n_embd, n_kv = 64, 32
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b", "▁a"]

    def weights(name: str, rows: int, columns: int, kind: int, works: bool = True) -> Tensor:
        values = dice.normal(0.0, 0.12, (rows, columns)).astype(np.float32) * np.float32(works)
        return Tensor(name, (columns, rows), kind, _pack(values, kind))

    def ones(name: str) -> Tensor:
        return Tensor(name, (n_embd,), F32, np.ones(n_embd, np.float32).tobytes())

    tensors = [
        weights("token_embd.weight", len(tokens), n_embd, F16),
        ones("output_norm.weight"),
        weights("output.weight", len(tokens), n_embd, F16),
    ]
    for i in range(n_layer):
        tensors += [
            ones(f"blk.{i}.attn_norm.weight"),
            weights(f"blk.{i}.attn_q.weight", n_embd, n_embd, F16),
            weights(f"blk.{i}.attn_k.weight", n_kv, n_embd, F16),
            weights(f"blk.{i}.attn_v.weight", n_kv, n_embd, F16),
            weights(f"blk.{i}.attn_output.weight", n_embd, n_embd, F16, i not in idle),
            ones(f"blk.{i}.ffn_norm.weight"),
            weights(f"blk.{i}.ffn_gate.weight", n_ff, n_embd, feed_forward_kind),
            weights(f"blk.{i}.ffn_up.weight", n_ff, n_embd, feed_forward_kind),
            weights(f"blk.{i}.ffn_down.weight", n_embd, n_ff, feed_forward_kind, i not in idle),
        ]
    return GgufFile(_metadata(tokens, n_embd, n_layer, n_ff), tuple(tensors))


def _metadata(tokens: list[str], n_embd: int, n_layer: int, n_ff: int) -> dict[str, tuple[Kind, Any]]:
    types = [2, 3, 3, *[6] * 256, *[1] * (len(tokens) - 259)]
    scores = [0.0] * 259 + [-float(i) for i in range(len(tokens) - 259)]
    return {
        "general.architecture": (Kind.STRING, "llama"),
        "general.name": (Kind.STRING, "tiny"),
        "llama.context_length": (Kind.UINT32, 256),
        "llama.embedding_length": (Kind.UINT32, n_embd),
        "llama.block_count": (Kind.UINT32, n_layer),
        "llama.feed_forward_length": (Kind.UINT32, n_ff),
        "llama.attention.head_count": (Kind.UINT32, 4),
        "llama.attention.head_count_kv": (Kind.UINT32, 2),
        "llama.attention.layer_norm_rms_epsilon": (Kind.FLOAT32, 1e-5),
        "llama.rope.dimension_count": (Kind.UINT32, 16),
        "llama.rope.freq_base": (Kind.FLOAT32, 10000.0),
        "llama.vocab_size": (Kind.UINT32, len(tokens)),
        "tokenizer.ggml.model": (Kind.STRING, "llama"),
        "tokenizer.ggml.pre": (Kind.STRING, "default"),
        "tokenizer.ggml.tokens": (Kind.ARRAY, (Kind.STRING, tokens)),
        "tokenizer.ggml.scores": (Kind.ARRAY, (Kind.FLOAT32, scores)),
        "tokenizer.ggml.token_type": (Kind.ARRAY, (Kind.INT32, types)),
        "tokenizer.ggml.bos_token_id": (Kind.UINT32, 1),
        "tokenizer.ggml.eos_token_id": (Kind.UINT32, 2),
        "tokenizer.ggml.unknown_token_id": (Kind.UINT32, 0),
        "tokenizer.ggml.add_bos_token": (Kind.BOOL, True),
    }


def _pack(values: NDArray[np.float32], kind: int) -> bytes:
    if kind == F32:
        return values.tobytes()
    if kind == F16:
        return values.astype(np.float16).tobytes()
    packed: NDArray[np.uint8] = gguf.quantize(values, gguf.GGMLQuantizationType(kind))
    return packed.tobytes()


def prefix_reader(prefix: bytes) -> ReadAt:
    """A source with only the first bytes of a file."""
    return lambda offset, num_bytes: prefix[offset : offset + num_bytes]
