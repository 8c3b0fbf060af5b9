"""The helper process that tries the kernels for this processor on a small model: what crashes here harms nobody.

Runs passes of several sizes on weights laid out anew and on weights as they are in the file, and compares.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelFileError, ModelHeaderError, ModelLoadError
from engine.llama import library
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.llama.pass_check import compare_passes
from engine.sandbox.limits import limit_memory
from engine.sandbox.probe_child import answer_as_json
from engine.sentences import said

log = logging.getLogger(__name__)

N_CTX = 64  # tokens
SIZES = (1, 2, 5, 16, 33)  # tokens in a pass: kernels work on 4, 8, 16 or 32 of them at a time, and on what is left
_NUM_BEFORE = 90  # tokens, before those whose rows are compared bit for bit
_LEAST_LIKENESS = 0.98  # of two rows, as a correlation: they round differently; what is wrong is nowhere near


def main(arguments: list[str]) -> int:
    """Try the model that ``arguments`` name; an answer without an error says that the kernels work."""
    path = Path(arguments[0])
    return answer_as_json(lambda: try_kernels(path), path.name)


def try_kernels(path: Path) -> dict[str, Any]:
    """Run the passes.

    Raises:
        ModelHeaderError: the model cannot be used without those kernels either.
        EngineError: the numbers are wrong, or it cannot be used with them.
    """
    limit_memory(3 * path.stat().st_size)
    try:
        expected = _rows(path, repack=False)
    except ModelFileError as error:
        raise ModelHeaderError(error.message) from error
    found = _rows(path, repack=True)
    if not all(map(are_alike, expected, found)):
        raise ModelLoadError(said("The kernels for this processor give wrong numbers."))
    return {"works": True, "exact": library.has_every_kernel() and _is_exact(path)}


def _is_exact(path: Path) -> bool:
    """Whether rows have the same bits in passes of every shape."""
    with LlamaModel(path) as model:
        found = list(compare_passes(model, befores=(_NUM_BEFORE,)))
    for one in found:
        if one.num_different:
            log.warning("%s of %s rows differ by up to %.3g in %s", one.num_different, one.num_rows, one.largest, one)
    return not any(one.num_different for one in found)


def _rows(path: Path, *, repack: bool) -> list[NDArray[np.float32]]:
    with LlamaModel(path, repack=repack) as model:
        params = ContextParams(N_CTX, library.default_threads(model.num_params))
        with LlamaContext(model, params) as context:
            ids = [model.vocab.bos_id or 0, *(7 * i % model.vocab.n_vocab for i in range(1, max(SIZES)))]
            rows = []
            for size in SIZES:
                context.clear()
                rows.append(np.array(context.forward(ids[:size], 1)[0]))
    return rows


def are_alike(expected: NDArray[np.float32], found: NDArray[np.float32]) -> bool:
    """Whether two rows of logits differ by no more than rounding."""
    return bool(np.isfinite(found).all() and np.corrcoef(expected, found)[0, 1] > _LEAST_LIKENESS)
