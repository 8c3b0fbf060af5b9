"""Rows of passes of every shape are bit-identical where required; differences are detected elsewhere."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from app.core.paths import builtin_target
from engine.interfaces import Rows, TokenIds
from engine.llama.context import LlamaContext, PassPart
from engine.llama.model import LlamaModel
from engine.llama.pass_check import NUM_ROWS, compare_passes
from tests.engine.gguf_factory import GgufFile, tiny_windowed
from tests.engine.hybrid_factory import tiny_qwen35
from tests.exact import require_exact
from tests.shared_files import real_model

MODELS = ("built in", "smollm2-135m-instruct-q4_1.gguf", "gemma-3-270m-q4_k_m.gguf")


@pytest.mark.parametrize("name", MODELS)
def test_rows_do_not_depend_on_the_pass(name: str) -> None:
    """Not on its size, threads, parallel answers, or how the text before was split."""
    path = builtin_target() if name == "built in" else real_model(name)
    require_exact(str(path))
    with LlamaModel(path) as model:
        found = list(compare_passes(model))
    assert {one.shape.sizes for one in found} == {(1,), (2,), (4,), (8,), (3, 1, 5, 8, 2)}
    assert any(one.shape.is_shared for one in found)
    assert any(one.shape.chunk for one in found)
    assert [one for one in found if one.num_different] == []
    assert {one.num_rows for one in found} == {NUM_ROWS}


def test_one_bit_in_one_shape_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = LlamaContext.forward

    def forward(self: LlamaContext, ids: TokenIds, n_rows: int) -> Rows:
        rows = real(self, ids, n_rows).copy()
        if len(ids) == 4:
            rows[2, 7] = np.nextafter(rows[2, 7], np.float32(np.inf))
        return rows

    monkeypatch.setattr(LlamaContext, "forward", forward)
    with LlamaModel(builtin_target()) as model:
        found = list(compare_passes(model, num_before_values=(0,), threads=(1,)))
    of_four = next(one for one in found if one.shape.sizes == (4,))
    assert of_four.num_different >= NUM_ROWS // 4
    assert of_four.largest_difference > 0.0


def test_what_a_shared_pass_changes_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = LlamaContext.forward_joined

    def forward_joined(self: LlamaContext, parts: Sequence[PassPart]) -> list[Rows]:
        return [rows + np.float32(0.5) for rows in real(self, parts)]

    monkeypatch.setattr(LlamaContext, "forward_joined", forward_joined)
    with LlamaModel(builtin_target()) as model:
        found = list(compare_passes(model, num_before_values=(0,), threads=(1,)))
    assert [one.num_different for one in found if one.shape.is_shared] == [NUM_ROWS]


@pytest.mark.parametrize("make", [tiny_qwen35, lambda: tiny_windowed(32)])
def test_every_kind_of_memory_gives_the_same_rows(make: Callable[[], GgufFile], tmp_path: Path) -> None:
    path = make().write(tmp_path / "made.gguf")
    require_exact(str(path))
    with LlamaModel(path) as model:
        found = list(compare_passes(model, num_before_values=(0, 60)))
        assert any(one.shape.is_shared for one in found) is not model.is_recurrent
    assert [one for one in found if one.num_different] == []
    assert {one.num_before for one in found} == {0, 60}
