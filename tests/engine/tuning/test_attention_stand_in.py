"""One layer with the heads of a model: read from real headers, and run by llama.cpp."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.paths import builtin_target
from engine.gguf.header import read_header
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.records import FlashAttention
from engine.tuning.attention_stand_in import N_VOCAB, AttentionShape, shape_of, write_stand_in
from tests.engine.gguf_factory import Kind, tiny_llama


def shape_with(folder: Path, **entries: int) -> AttentionShape | None:
    """The shape of a tiny model whose header has these entries besides."""
    path = folder / "model.gguf"
    more = {f"llama__{key}": (Kind.UINT32, value) for key, value in entries.items()}
    path.write_bytes(tiny_llama().with_metadata(**more).to_bytes())
    return shape_of(read_header(path))


def test_the_shape_of_the_built_in_target() -> None:
    assert shape_of(read_header(builtin_target())) == AttentionShape(6, 4, 4, 64)


def test_heads_may_be_longer_than_the_width_says(tmp_path: Path) -> None:
    assert shape_with(tmp_path) == AttentionShape(2, 4, 2, 16)
    assert shape_with(tmp_path, attention__key_length=48, attention__value_length=48) == AttentionShape(2, 4, 2, 48)


@pytest.mark.parametrize(
    "entries",
    [
        {"attention__sliding_window": 512},
        {"attention__kv_lora_rank": 64},
        {"ssm__state_size": 16},
        {"attention__head_count": 0},
        {"attention__head_count_kv": 3},
        {"block_count": 0},
        {"attention__key_length": 0, "attention__value_length": 0},
        {"attention__key_length": 48},
    ],
)
def test_other_kinds_of_attention_have_no_shape(tmp_path: Path, entries: dict[str, int]) -> None:
    assert shape_with(tmp_path, **entries) is None


def test_a_window_of_nothing_is_none(tmp_path: Path) -> None:
    assert shape_with(tmp_path, attention__sliding_window=0) is not None


def test_scores_grow_with_heads_context_and_pass() -> None:
    assert AttentionShape(28, 16, 8, 128).scores_bytes(4096, 128) == 16 * 4096 * 128 * 4


@pytest.mark.parametrize("shape", [AttentionShape(1, 4, 2, 32), AttentionShape(9, 3, 3, 64)])
def test_a_stand_in_says_the_same_fused_and_in_separate_steps(tmp_path: Path, shape: AttentionShape) -> None:
    path = tmp_path / "layer.gguf"
    write_stand_in(path, shape)
    rows = []
    with LlamaModel(path) as model:
        assert model.n_layer == 1
        for kind in (FlashAttention.ON, FlashAttention.OFF):
            with LlamaContext(model, ContextParams(256, 1, flash_attention=kind)) as context:
                rows.append(context.forward(np.arange(100, dtype=np.int32) % N_VOCAB, 8).copy())
    assert rows[0].shape == (8, N_VOCAB)
    assert np.ptp(rows[0]) > 0
    np.testing.assert_allclose(rows[0], rows[1], atol=0.01 * np.ptp(rows[0]))
