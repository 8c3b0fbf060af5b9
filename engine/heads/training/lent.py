"""The target's own matrices that heads use: embeddings of the tokens that they see, and the output matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType
from gguf.quants import dequantize
from numpy.typing import NDArray

from engine.gguf.header import read_header
from engine.gguf.medusa import EMBEDDING, SHARED_OUTPUT, TOKENS
from engine.heads.medusa.weights import TensorRows, lent_rows
from engine.heads.training.samples import Ids

Values = NDArray[np.float32]


class TargetMatrices:
    """Reads rows of both from the target's file as they are needed.

    Raises:
        DraftRefusedError: the target has a matrix of another shape or kind.
        ModelFileError: it cannot be read.
    """

    def __init__(self, target: Path) -> None:
        header = read_header(target)
        width = header.own("embedding_length")
        self.width = width if isinstance(width, int) else 0
        self.n_vocab = header.arrays[TOKENS].length
        self._embedding = lent_rows(target, self.width, self.n_vocab, (EMBEDDING,))
        self._output = lent_rows(target, self.width, self.n_vocab, (SHARED_OUTPUT, EMBEDDING))

    def embedded(self, ids: Ids) -> Values:
        """Embeddings [..., width] of tokens."""
        every, places = np.unique(ids, return_inverse=True)
        return _dequantized(self._embedding, every)[places.reshape(ids.shape)]

    def output(self, ids: NDArray[np.int64]) -> Values:
        """Rows [len(ids), width] of the output matrix."""
        return _dequantized(self._output, ids.astype(np.int32))


def _dequantized(rows: TensorRows, ids: Ids) -> Values:
    kind = GGMLQuantizationType[rows.kind]
    raw = rows.take(ids)
    if kind in (GGMLQuantizationType.F32, GGMLQuantizationType.F16):
        raw = raw.view(np.float32 if kind is GGMLQuantizationType.F32 else np.float16)
    return np.ascontiguousarray(dequantize(raw, kind), dtype=np.float32)
