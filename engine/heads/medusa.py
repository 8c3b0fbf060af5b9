"""Wraps Medusa and Hydra heads as a language model for `DraftModelDrafter`.

Head k, counted from 0, predicts the token k + 2 positions after the target's last token, since the target itself gives
the token in between. A head reads the target's hidden row of that last token; a Hydra head also reads the tokens since.
So reading costs nothing, and only computing scores does. There are no scores beyond the last head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DraftRefusedError
from engine.gguf.header import GgufHeader, TensorInfo, read_header
from engine.gguf.medusa import (
    EMBEDDING,
    MATRIX_TYPES,
    SHARED_OUTPUT,
    VOCAB_MAP,
    MedusaLayout,
    medusa_layout,
    tokenizer_sha256,
)
from engine.gguf.model_parts import all_parts, size_of_files
from engine.gguf.source import ReadAt, open_for_reading
from engine.heads.loaded import LoadedHead, UncachedModel
from engine.heads.tap import LastRowRecorder
from engine.interfaces import Candidates, Rows, TokenIds, likely_candidates
from engine.llama import library
from engine.llama.head_graph import HeadGraphs, HeadWeights, Matrix, ResidualBlock, Row
from engine.loading.loading import LoadedModel, LoadOptions
from engine.records import CacheType, MemoryUse, ModelInfo
from engine.sentences import i18n
from engine.sequence import CachedSequence

_BYTES_PER_THREAD = 16 * 2**20  # least weights of a head per thread; using a thread for less does not pay off
_NO_IDS, _NO_SCORES = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)


class TensorRows:
    """The rows of a memory-mapped tensor of type ``kind``, with ``row_bytes`` bytes each."""

    def __init__(self, path: Path, header: GgufHeader, tensor: TensorInfo) -> None:
        self.kind, self.columns, number = tensor.type_name, tensor.dims[0], tensor.num_values // tensor.dims[0]
        self.row_bytes = tensor.num_bytes // number
        offset = header.data_offset + tensor.offset
        self._rows = np.memmap(path, np.uint8, "r", offset, (number, self.row_bytes))

    def take(self, ids: Sequence[int] | NDArray[np.int32]) -> NDArray[np.uint8]:
        """Copy rows [len(ids), row_bytes]."""
        return np.ascontiguousarray(self._rows[np.asarray(ids, dtype=np.int64)])


@dataclass(frozen=True, slots=True)
class MedusaWeights:
    """``ids`` [num_outputs], ascending, are the scored tokens; ``embedding`` is set if heads read tokens."""

    layout: MedusaLayout
    heads: tuple[HeadWeights, ...]
    ids: NDArray[np.int64]
    embedding: TensorRows | None


def read_medusa(path: Path, target: Path) -> MedusaWeights:
    """Read heads that fit the target's header (`engine.gguf.medusa.medusa_reason`).

    Raises:
        DraftRefusedError: they belong to another tokenizer, or the target lacks a matrix that they use.
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
            shared = _target_output_rows(target, layout, ids)
        heads = tuple(reader.head(k, layout, shared) for k in range(layout.num_heads))
    sees = layout.num_tokens(0) > 0
    embedding = _target_rows(target, layout.width, layout.n_vocab, (EMBEDDING,)) if sees else None
    return MedusaWeights(layout, heads, ids, embedding)


def _check_tokenizer(layout: MedusaLayout, header: GgufHeader, target: Path) -> None:
    if header.arch_value("tokenizer_sha256") == tokenizer_sha256(target, read_header(target)):
        return
    name = layout.target_name or i18n("another model")
    raise DraftRefusedError(i18n("The heads were made for {name}, whose tokens differ from this model's.", name=name))


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

    def required_matrix(self, name: str) -> Matrix:
        return Matrix(self.data(self.tensors[name]), self.tensors[name].type_name, *self.tensors[name].dims)

    def vector(self, name: str) -> Row | None:
        tensor = self.tensors.get(name)
        return None if tensor is None else self.data(tensor, np.float32)

    def head(self, k: int, layout: MedusaLayout, shared: Matrix | None) -> HeadWeights:
        blocks = []
        for n in range(layout.num_blocks):
            weight, bias = self.required_matrix(f"head.{k}.block.{n}.weight"), self.vector(f"head.{k}.block.{n}.bias")
            skip = self.matrix(f"head.{k}.skip.weight") if n == 0 else None
            blocks.append(
                ResidualBlock(weight, bias, skip, self.vector(f"head.{k}.skip.bias") if skip is not None else None)
            )
        output = shared if shared is not None else self.required_matrix(f"head.{k}.output.weight")
        return HeadWeights(tuple(blocks), output, self.vector(f"head.{k}.output.bias"), layout.num_tokens(k))


def _vocabulary(reader: _Reader, layout: MedusaLayout) -> NDArray[np.int64]:
    tensor = reader.tensors.get(VOCAB_MAP)
    if tensor is None:
        return np.arange(layout.n_vocab, dtype=np.int64)
    ids = reader.data(tensor, np.int32).astype(np.int64)
    if ids[0] < 0 or ids[-1] >= layout.n_vocab or (np.diff(ids) <= 0).any():
        raise DraftRefusedError(
            i18n("The ids of its vocabulary map do not ascend, or are not in the target's vocabulary.")
        )
    return ids


def _target_output_rows(target: Path, layout: MedusaLayout, ids: NDArray[np.int64]) -> Matrix:
    """The rows of the target's output matrix for the tokens of the heads."""
    rows = _target_rows(target, layout.width, layout.n_vocab, (SHARED_OUTPUT, EMBEDDING))
    return Matrix(rows.take(ids.astype(np.int32)).ravel(), rows.kind, layout.width, len(ids))


def _target_rows(target: Path, width: int, n_vocab: int, names: Sequence[str]) -> TensorRows:
    """Find the first of these matrices [n_vocab, width] in the target's files."""
    parts = [(part, read_header(part)) for part in all_parts(target)]
    for name in names:
        for part, header in parts:
            for tensor in header.tensors:
                if tensor.name == name and tensor.dims == (width, n_vocab) and tensor.type_name in MATRIX_TYPES:
                    return TensorRows(part, header, tensor)
    raise DraftRefusedError(i18n("The heads use the target's {name}, which has another shape or kind.", name=names[-1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedMedusa(LoadedHead):
    """Loaded Medusa or Hydra heads; ``model`` is the target's."""

    context: HeadGraphs
    weights: MedusaWeights
    tap: LastRowRecorder

    def open_for(self, target: LoadedModel) -> LoadedMedusa:
        return _loaded(target, self.weights, self.info, self.context.threads)


def open_medusa(path: Path, target: LoadedModel, options: LoadOptions) -> LoadedMedusa:
    """Open heads that fit the target's header.

    Raises:
        DraftRefusedError: they belong to another tokenizer, or the target lacks a matrix that they use.
        ContextError: memory is short.
        ModelFileError: a file cannot be read.
    """
    header = read_header(path)
    weights = read_medusa(path, target.model.path)
    info = replace(
        target.info,
        path=str(path),
        name=str(header.metadata.get("general.name") or path.stem),
        architecture=header.architecture,
        num_params=header.num_params,
        size_bytes=size_of_files(path),
        gpu_layers=0,
        cache_type=CacheType.F16,
        recommended=(),
        head_method=weights.layout.method,
    )
    largest = max(
        sum(block.weight.data.nbytes for block in one.blocks) + one.output.data.nbytes for one in weights.heads
    )
    threads = min(library.physical_cores(), 1 + largest // _BYTES_PER_THREAD)
    return _loaded(target, weights, info, options.threads or threads)


def _loaded(target: LoadedModel, weights: MedusaWeights, info: ModelInfo, threads: int) -> LoadedMedusa:
    layout, embedding = weights.layout, weights.embedding
    kind = embedding.kind if embedding is not None else "F32"
    graphs = HeadGraphs(weights.heads, layout.width, kind, target.context.n_ctx)
    graphs.set_threads(threads)
    memory = MemoryUse(weights_bytes=graphs.num_bytes, cache_bytes=0, compute_bytes=0)
    tap = LastRowRecorder(target.context, layout.width)
    return LoadedMedusa(
        model=target.model,
        context=graphs,
        sequence=CachedSequence(MedusaModel(weights, graphs, tap)),
        info=replace(info, memory=memory, n_ctx=graphs.n_ctx, threads=threads),
        can_rollback=True,
        owns_weights=False,
        target=target.sequence,
        is_own=False,
        max_depth=layout.num_heads,
        weights=weights,
        tap=tap,
    )


class MedusaModel(UncachedModel):
    """Implements `engine.interfaces.LanguageModel`."""

    def __init__(self, weights: MedusaWeights, graphs: HeadGraphs, tap: LastRowRecorder) -> None:
        super().__init__(graphs.n_ctx)
        layout = weights.layout
        self._weights, self._graphs, self._tap = weights, graphs, tap
        self.n_vocab, self.n_ctx, self.n_ubatch = layout.n_vocab, graphs.n_ctx, graphs.n_ubatch
        self.num_candidates = layout.num_outputs
        self._zeros: Row = np.zeros(layout.width, dtype=np.float32)

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        """See `LanguageModel.forward`; tokens that the heads cannot propose are at -inf.

        Raises:
            DecodeError: ggml failed.
        """
        self._append(ids)
        end = self.num_past - num_padding
        rows = np.full((n_rows, self.n_vocab), -np.inf, dtype=np.float32)
        for i in range(n_rows):
            scores = self._scores(end - n_rows + i + 1)
            if scores is not None:
                rows[i, self._weights.ids] = scores
        return rows

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`; empty beyond the last head, or without a hidden row.

        Raises:
            DecodeError: ggml failed.
        """
        self._append(ids)
        scores = self._scores(self.num_past)
        if scores is None:
            return Candidates(_NO_IDS, _NO_SCORES)
        found = likely_candidates(scores)
        return Candidates(self._weights.ids[found.ids], found.logits)

    def _scores(self, count: int) -> Row | None:
        """Scores of the head for the token after the first ``count`` tokens; None beyond the last head.

        Also None if the target gave no row, as after prefill, since the first pass reads the prompt's last token. While
        speed is measured, every position gets a head, which reads zeros if there is no row.
        """
        tap, layout = self._tap, self._weights.layout
        ahead = count - tap.num_past
        row = tap.row() if tap.is_on else None
        if not tap.is_on or ahead < 1:
            ahead = min(max(ahead, 1), layout.num_heads)
            row = self._zeros if row is None else row
        if ahead > layout.num_heads or row is None:
            return None
        return self._graphs.scores(ahead - 1, row, self._embeddings(count, layout.num_tokens(ahead - 1)))

    def _embeddings(self, end: int, count: int) -> NDArray[np.uint8]:
        """The embeddings of the ``count`` tokens before index ``end``, in the type of the target's file."""
        embedding = self._weights.embedding
        if embedding is None:
            return np.empty(0, dtype=np.uint8)
        seen = self._ids[max(end - count, 0) : end]
        return embedding.take(seen if len(seen) == count else np.resize(seen, count))
