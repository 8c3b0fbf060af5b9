"""Reads the weights of Medusa and Hydra heads from their file, and what they borrow from their target's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DraftRefusedError
from engine.gguf.header import GgufHeader, TensorInfo, read_header
from engine.gguf.medusa import (
    EMBEDDING,
    MULTIPLIED,
    SHARED_OUTPUT,
    VOCAB_MAP,
    MedusaLayout,
    medusa_layout,
    tokenizer_sha256,
)
from engine.gguf.model_parts import all_parts
from engine.gguf.source import ReadAt, open_for_reading
from engine.llama.head_graph import HeadWeights, Matrix, ResidualBlock, Row
from engine.sentences import said


class TensorRows:
    """The rows of one tensor of a file, left there: ``row_bytes`` bytes each, of weights of a ``kind``."""

    def __init__(self, path: Path, header: GgufHeader, tensor: TensorInfo) -> None:
        self.kind, self.columns, number = tensor.type_name, tensor.dims[0], tensor.num_values // tensor.dims[0]
        self.row_bytes = tensor.num_bytes // number
        place = header.data_offset + tensor.offset
        self._rows = np.memmap(path, np.uint8, "r", place, (number, self.row_bytes))

    def take(self, ids: Sequence[int] | NDArray[np.int32]) -> NDArray[np.uint8]:
        """Copy some of the rows [len(ids), row_bytes]."""
        return np.ascontiguousarray(self._rows[np.asarray(ids, dtype=np.int64)])


@dataclass(frozen=True, slots=True)
class MedusaWeights:
    """``ids`` [num_outputs], ascending, are the tokens of the scores; ``embedding`` is there where heads see tokens."""

    layout: MedusaLayout
    heads: tuple[HeadWeights, ...]
    ids: NDArray[np.int64]
    embedding: TensorRows | None


def read_medusa(path: Path, target: Path) -> MedusaWeights:
    """Read heads for a target whose header they fit (`engine.gguf.medusa.medusa_reason`).

    Raises:
        DraftRefusedError: they belong to another tokenizer, or lack what the target cannot lend.
        ModelFileError: a file cannot be read.
    """
    header = read_header(path)
    layout = medusa_layout(header)
    _check_tokenizer(layout, header, target)
    tensors = {tensor.name: tensor for tensor in header.tensors}
    with open_for_reading(path) as (read_at, _size):
        reader = _Reader(read_at, header, tensors)
        ids = _vocabulary(reader, layout)
        shared = reader.matrix(SHARED_OUTPUT)
        if shared is None and "head.0.output.weight" not in tensors:
            shared = _lent_output(target, layout, ids)
        heads = tuple(reader.head(k, layout, shared) for k in range(layout.num_heads))
    sees = layout.num_seen(0) > 0
    embedding = _lent_rows(target, layout.width, layout.n_vocab, (EMBEDDING,)) if sees else None
    return MedusaWeights(layout, heads, ids, embedding)


def _check_tokenizer(layout: MedusaLayout, header: GgufHeader, target: Path) -> None:
    if header.own("tokenizer_sha256") == tokenizer_sha256(target, read_header(target)):
        return
    name = layout.target_name or said("another model")
    raise DraftRefusedError(
        said("The heads were made for {name}, whose tokens are others than this model's.", name=name)
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    read_at: ReadAt
    header: GgufHeader
    tensors: dict[str, TensorInfo]

    def data(self, tensor: TensorInfo, kind: type[Any] = np.uint8) -> NDArray[Any]:
        return np.frombuffer(self.read_at(self.header.data_offset + tensor.offset, tensor.num_bytes), dtype=kind)

    def matrix(self, name: str) -> Matrix | None:
        tensor = self.tensors.get(name)
        return None if tensor is None else Matrix(self.data(tensor), tensor.type_name, *tensor.dims)

    def needed(self, name: str) -> Matrix:
        return Matrix(self.data(self.tensors[name]), self.tensors[name].type_name, *self.tensors[name].dims)

    def vector(self, name: str) -> Row | None:
        tensor = self.tensors.get(name)
        return None if tensor is None else self.data(tensor, np.float32)

    def head(self, k: int, layout: MedusaLayout, shared: Matrix | None) -> HeadWeights:
        blocks = []
        for n in range(layout.num_blocks):
            weight, bias = self.needed(f"head.{k}.block.{n}.weight"), self.vector(f"head.{k}.block.{n}.bias")
            skip = self.matrix(f"head.{k}.skip.weight") if n == 0 else None
            blocks.append(
                ResidualBlock(weight, bias, skip, self.vector(f"head.{k}.skip.bias") if skip is not None else None)
            )
        output = shared if shared is not None else self.needed(f"head.{k}.output.weight")
        return HeadWeights(tuple(blocks), output, self.vector(f"head.{k}.output.bias"), layout.num_seen(k))


def _vocabulary(reader: _Reader, layout: MedusaLayout) -> NDArray[np.int64]:
    tensor = reader.tensors.get(VOCAB_MAP)
    if tensor is None:
        return np.arange(layout.n_vocab, dtype=np.int64)
    ids = reader.data(tensor, np.int32).astype(np.int64)
    if ids[0] < 0 or ids[-1] >= layout.n_vocab or (np.diff(ids) <= 0).any():
        raise DraftRefusedError(said("The ids of its vocabulary map do not ascend, or are none of the target's."))
    return ids


def _lent_output(target: Path, layout: MedusaLayout, ids: NDArray[np.int64]) -> Matrix:
    """The rows of the target's output matrix that the heads use."""
    rows = _lent_rows(target, layout.width, layout.n_vocab, (SHARED_OUTPUT, EMBEDDING))
    return Matrix(rows.take(ids.astype(np.int32)).ravel(), rows.kind, layout.width, len(ids))


def _lent_rows(target: Path, width: int, n_vocab: int, names: Sequence[str]) -> TensorRows:
    """The first of these matrices that the target's files have, a row [width] for each token.

    Raises:
        DraftRefusedError: it has another shape or kind.
        ModelFileError: a file cannot be read.
    """
    parts = [(part, read_header(part)) for part in all_parts(target)]
    for name in names:
        for part, header in parts:
            for tensor in header.tensors:
                if tensor.name == name and tensor.dims == (width, n_vocab) and tensor.type_name in MULTIPLIED:
                    return TensorRows(part, header, tensor)
    raise DraftRefusedError(said("The heads use the target's {name}, which has another shape or kind.", name=names[-1]))
