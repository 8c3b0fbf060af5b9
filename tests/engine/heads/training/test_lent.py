"""The target's own matrices: rows by their ids, as the file's tensors have them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.errors import DraftRefusedError
from engine.heads.training.lent import TargetMatrices
from tests.engine.gguf_factory import tiny_llama


def test_rows_are_those_of_the_files_tensors(tmp_path: Path) -> None:
    target = tiny_llama(seed=4)
    lent = TargetMatrices(target.write(tmp_path / "target.gguf"))
    values = {
        one.name: np.frombuffer(one.data, np.float16).reshape(-1, lent.width).astype(np.float32)
        for one in target.tensors
        if one.name in ("token_embd.weight", "output.weight")
    }
    ids = np.array([[5, 2], [5, 9]], dtype=np.int32)
    assert np.array_equal(lent.embedded(ids), values["token_embd.weight"][ids])
    assert np.array_equal(lent.output(np.array([7, 1])), values["output.weight"][[7, 1]])
    assert lent.n_vocab == len(values["token_embd.weight"])


def test_a_target_without_such_a_matrix_is_refused(tmp_path: Path) -> None:
    target = tiny_llama(seed=4)
    kept = tuple(one for one in target.tensors if one.name not in ("token_embd.weight", "output.weight"))
    path = type(target)(target.metadata, kept).write(tmp_path / "target.gguf")
    with pytest.raises(DraftRefusedError):
        TargetMatrices(path)
