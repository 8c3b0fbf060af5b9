"""Computes small heads on one hidden row, as ggml graphs on the CPU.

A head is a chain of residual blocks and an output matrix. Let z be the row, followed by the embeddings of the tokens
that the head reads. The first block computes S z + s + silu(W z + b), or z + silu(W z + b) without S; each further
block computes x + silu(W x + b). (The residual blocks of arXiv 2401.10774 and 2402.05109.)
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ContextError, DecodeError
from engine.gguf.value_types import BLOCK_SIZES
from engine.llama import library
from engine.sentences import i18n

Row = NDArray[np.float32]
_POINTER, _SIZE, _INT, _I64 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int64
# Argument types and result type of each function.
_FUNCTIONS: dict[str, tuple[list[Any], Any]] = {
    "ggml_free": ([_POINTER], None),
    "ggml_new_tensor_1d": ([_POINTER, _INT, _I64], _POINTER),
    "ggml_new_tensor_2d": ([_POINTER, _INT, _I64, _I64], _POINTER),
    "ggml_reshape_1d": ([_POINTER, _POINTER, _I64], _POINTER),
    "ggml_mul_mat": ([_POINTER, _POINTER, _POINTER], _POINTER),
    "ggml_add": ([_POINTER, _POINTER, _POINTER], _POINTER),
    "ggml_silu": ([_POINTER, _POINTER], _POINTER),
    "ggml_concat": ([_POINTER, _POINTER, _POINTER, _INT], _POINTER),
    "ggml_get_rows": ([_POINTER, _POINTER, _POINTER], _POINTER),
    "ggml_tensor_overhead": ([], _SIZE),
    "ggml_graph_overhead_custom": ([_SIZE, ctypes.c_bool], _SIZE),
    "ggml_new_graph_custom": ([_POINTER, _SIZE, ctypes.c_bool], _POINTER),
    "ggml_build_forward_expand": ([_POINTER, _POINTER], None),
    "ggml_backend_alloc_ctx_tensors": ([_POINTER, _POINTER], _POINTER),
    "ggml_backend_buffer_get_size": ([_POINTER], _SIZE),
    "ggml_backend_buffer_free": ([_POINTER], None),
    "ggml_backend_tensor_set": ([_POINTER, _POINTER, _SIZE, _SIZE], None),
    "ggml_backend_tensor_get": ([_POINTER, _POINTER, _SIZE, _SIZE], None),
    "ggml_backend_graph_compute": ([_POINTER, _POINTER], _INT),
    "ggml_backend_init_by_type": ([_INT, ctypes.c_char_p], _POINTER),
    "ggml_backend_free": ([_POINTER], None),
    "ggml_backend_get_device": ([_POINTER], _POINTER),
    "ggml_backend_dev_backend_reg": ([_POINTER], _POINTER),
    "ggml_backend_reg_get_proc_address": ([_POINTER, ctypes.c_char_p], _POINTER),
}
_CPU = 0  # ggml-backend.h's enum ggml_backend_dev_type
_TYPE_NUMBERS = {block.name: number for number, block in BLOCK_SIZES.items()}
_F32, _I32 = _TYPE_NUMBERS["F32"], _TYPE_NUMBERS["I32"]
_TENSORS_PER_BLOCK, _TENSORS_PER_HEAD = 10, 16  # upper limits


class _InitParams(ctypes.Structure):
    _fields_ = (("mem_size", _SIZE), ("mem_buffer", _POINTER), ("no_alloc", ctypes.c_bool))


@dataclass(frozen=True, slots=True)
class Matrix:
    """Weights in GGUF layout: ``data`` [bytes] has ``rows`` rows of ``columns`` values of type ``kind``."""

    data: NDArray[np.uint8]
    kind: str
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class ResidualBlock:
    """One residual block. ``skip`` and ``skip_bias`` are S and s of a block with more inputs than outputs."""

    weight: Matrix
    bias: Row | None = None
    skip: Matrix | None = None
    skip_bias: Row | None = None


@dataclass(frozen=True, slots=True)
class HeadWeights:
    """One head, which reads the row and ``num_seen`` tokens. Several heads may share ``output``."""

    blocks: tuple[ResidualBlock, ...]
    output: Matrix
    output_bias: Row | None = None
    num_tokens: int = 0


@dataclass(frozen=True, slots=True)
class _Graph:
    """Handles of one head's graph, inputs and output."""

    handle: int
    row: int
    embeddings: int
    scores: int
    num_scores: int


def missing_functions() -> tuple[str, ...]:
    """The required functions that this build of ggml does not export."""
    return tuple(name for name in ("ggml_init", *_FUNCTIONS) if _find(name) is None)


def _find(name: str) -> Any:  # noqa: ANN401  (the binding ships no types)
    for owner in (library.start()._lib, library.ggml()):  # noqa: SLF001  (the binding's own extensions take it as well)
        found = getattr(owner, name, None)
        if found is not None:
            return found
    return None


@cache
def _function(name: str) -> Any:  # noqa: ANN401  (the binding ships no types)
    found = _find(name)
    found.argtypes, found.restype = _FUNCTIONS.get(name, ([_InitParams], _POINTER))
    return found


class HeadGraphs:
    """The graphs of several heads of the same width, computed by ``threads`` threads.

    Raises:
        ContextError: memory for their weights is short.
    """

    num_snapshots: int | None = 0  # 0 keeps `Interrupt` from attaching: passes are too short to be interrupted
    n_ubatch = 512  # tokens per prefill chunk; the tokens are only recorded

    def __init__(self, heads: Sequence[HeadWeights], width: int, embedding_kind: str, n_ctx: int) -> None:
        """``embedding_kind`` is the type of the embedding rows passed to `scores`; ``n_ctx`` is only reported."""
        self._heads, self.width, self.n_ctx, self.threads = tuple(heads), width, n_ctx, 1
        self._embedding_kind = embedding_kind
        self._graph_of: dict[int, int] = {}  # tensor of each matrix, by the address of its data
        self._waiting: list[tuple[int, NDArray[Any]]] = []  # tensors and the values to copy to them
        self._backend = self._context = self._buffer = 0
        self._backend = _function("ggml_backend_init_by_type")(_CPU, None) or 0
        blocks = sum(len(head.blocks) for head in self._heads)
        tensors = _TENSORS_PER_BLOCK * blocks + _TENSORS_PER_HEAD * len(self._heads)
        graphs = len(self._heads) * int(_function("ggml_graph_overhead_custom")(self._graph_size, False))
        size = tensors * int(_function("ggml_tensor_overhead")()) + graphs
        self._context = int(_function("ggml_init")(_InitParams(size, None, True)) or 0)
        self._graphs = [self._make(head) for head in self._heads]
        self._buffer = _function("ggml_backend_alloc_ctx_tensors")(self._context, self._backend) or 0
        if not self._buffer:
            self.close()
            raise ContextError(i18n("There is no memory for the weights of the heads."))
        for tensor, values in self._waiting:
            _function("ggml_backend_tensor_set")(tensor, values.ctypes.data, 0, values.nbytes)
        self._waiting.clear()
        self._compute, self._set = _function("ggml_backend_graph_compute"), _function("ggml_backend_tensor_set")
        self._get, self._set_n_threads = _function("ggml_backend_tensor_get"), self._find_set_n_threads()
        self.set_threads(self.threads)

    @property
    def num_bytes(self) -> int:
        return int(_function("ggml_backend_buffer_get_size")(self._buffer)) if self._buffer else 0

    def close(self) -> None:
        for name, handle in (
            ("ggml_backend_buffer_free", self._buffer),
            ("ggml_free", self._context),
            ("ggml_backend_free", self._backend),
        ):
            if handle:
                _function(name)(handle)
        self._buffer = self._context = self._backend = 0

    def set_threads(self, threads: int) -> None:
        self.threads = threads
        if self._set_n_threads is not None and self._backend:
            self._set_n_threads(self._backend, threads)

    def set_abort_callback(self, asks: Any, data: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        """Does nothing, since a pass is too short to be interrupted."""

    def scores(self, number: int, row: Row, embeddings: NDArray[np.uint8]) -> Row:
        """Compute the scores [rows of the output] of head ``number``; returns a copy.

        ``row`` [width] is the target's; ``embeddings`` [bytes] are the rows of the tokens that the head reads.

        Raises:
            DecodeError: ggml failed.
        """
        graph = self._graphs[number]
        self._set(graph.row, row.ctypes.data, 0, row.nbytes)
        if graph.embeddings:
            self._set(graph.embeddings, embeddings.ctypes.data, 0, embeddings.nbytes)
        code = self._compute(self._backend, graph.handle)
        if code != 0:
            raise DecodeError(i18n("ggml could not compute a head (code {code}).", code=code))
        found = np.empty(graph.num_scores, dtype=np.float32)
        self._get(graph.scores, found.ctypes.data, 0, found.nbytes)
        return found

    # ---- making -----------------------------------------------------------------------------------------------------

    @property
    def _graph_size(self) -> int:
        return max(_TENSORS_PER_BLOCK * len(head.blocks) for head in self._heads) + _TENSORS_PER_HEAD

    def _make(self, head: HeadWeights) -> _Graph:
        row = embeddings = x = self._vector(self.width)
        embeddings = 0
        if head.num_tokens:
            kind = _TYPE_NUMBERS[self._embedding_kind]
            embeddings = _function("ggml_new_tensor_2d")(self._context, kind, self.width, head.num_tokens)
            indices = _function("ggml_new_tensor_1d")(self._context, _I32, head.num_tokens)
            self._waiting.append((indices, np.arange(head.num_tokens, dtype=np.int32)))
            embedded = self._op("ggml_get_rows", embeddings, indices)
            embedded = _function("ggml_reshape_1d")(self._context, embedded, self.width * head.num_tokens)
            x = _function("ggml_concat")(self._context, row, embedded, 0)
        for block in head.blocks:
            inner = self._op("ggml_silu", self._product(block.weight, block.bias, x))
            kept = x if block.skip is None else self._product(block.skip, block.skip_bias, x)
            x = self._op("ggml_add", kept, inner)
        scores = self._product(head.output, head.output_bias, x)
        graph = _function("ggml_new_graph_custom")(self._context, self._graph_size, False)
        _function("ggml_build_forward_expand")(graph, scores)
        return _Graph(graph, row, embeddings, scores, head.output.rows)

    def _op(self, name: str, *tensors: int) -> int:
        return int(_function(name)(self._context, *tensors))

    def _vector(self, size: int) -> int:
        return int(_function("ggml_new_tensor_1d")(self._context, _F32, size))

    def _product(self, matrix: Matrix, bias: Row | None, x: int) -> int:
        found = self._op("ggml_mul_mat", self._weights(matrix), x)
        if bias is None:
            return found
        tensor = self._vector(len(bias))
        self._waiting.append((tensor, np.ascontiguousarray(bias, dtype=np.float32)))
        return self._op("ggml_add", found, tensor)

    def _weights(self, matrix: Matrix) -> int:
        address = matrix.data.ctypes.data
        if address not in self._graph_of:
            kind = _TYPE_NUMBERS[matrix.kind]
            tensor = _function("ggml_new_tensor_2d")(self._context, kind, matrix.columns, matrix.rows)
            self._graph_of[address] = tensor
            self._waiting.append((tensor, matrix.data))
        return self._graph_of[address]

    def _find_set_n_threads(self) -> Any:  # noqa: ANN401  (the binding ships no types)
        registry = _function("ggml_backend_dev_backend_reg")(_function("ggml_backend_get_device")(self._backend))
        address = _function("ggml_backend_reg_get_proc_address")(registry, b"ggml_backend_set_n_threads")
        return ctypes.CFUNCTYPE(None, _POINTER, _INT)(address) if address else None
