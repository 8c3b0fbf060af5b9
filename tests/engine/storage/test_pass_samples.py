"""Samples of passes survive restarts and other processes; damaged files are ignored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.paths import builtin_target
from engine.gguf.header import read_header
from engine.gguf.token_weights import TokenWeights
from engine.storage.pass_samples import (
    FILE_NAME,
    MAX_SAMPLES,
    PassSample,
    SampleStore,
    weights_of_file,
    weights_of_head,
)
from tests.engine.gguf_factory import tiny_llama
from tests.engine.heads.head_factory import N_VOCAB, eagle3_for, qwen35_with_mtp

SAMPLE = PassSample("x.gguf", 1000, TokenWeights({"Q4_K": 900, "Q6_K": 100}, 28), 2, False, "f16", {1: 20.0, 4: 24.0})


def test_a_sample_is_there_at_the_next_start(tmp_path: Path) -> None:
    SampleStore(tmp_path).put(SAMPLE)
    assert SampleStore(tmp_path).samples == (SAMPLE,)


def test_a_model_that_drafts_and_answers_has_one_sample_with_both(tmp_path: Path) -> None:
    store = SampleStore(tmp_path)
    store.put(SAMPLE)
    store.put(replace(SAMPLE, points_ms={}, step_ms=13.0))
    assert SampleStore(tmp_path).samples == (replace(SAMPLE, step_ms=13.0),)
    store.put(replace(SAMPLE, points_ms={1: 21.0}))
    assert SampleStore(tmp_path).samples == (replace(SAMPLE, points_ms={1: 21.0}, step_ms=13.0),)


def test_threads_and_caches_have_samples_of_their_own(tmp_path: Path) -> None:
    store = SampleStore(tmp_path)
    for sample in (SAMPLE, replace(SAMPLE, threads=1), replace(SAMPLE, cache_type="q8_0")):
        store.put(sample)
    assert len(SampleStore(tmp_path).samples) == 3


def test_the_oldest_goes(tmp_path: Path) -> None:
    store = SampleStore(tmp_path)
    for number in range(MAX_SAMPLES + 2):
        store.put(replace(SAMPLE, name=f"{number}.gguf"))
    assert next(sample.name for sample in store.samples) == "2.gguf"


@pytest.mark.parametrize(
    "damage", [{"threads": 0}, {"points_ms": {"1": -2.0}}, {"points_ms": {}}, {"weights": {}}, {"size_bytes": None}]
)
def test_what_cannot_be_is_not_believed(damage: dict[str, object], tmp_path: Path) -> None:
    SampleStore(tmp_path).put(SAMPLE)
    file = tmp_path / FILE_NAME
    saved = json.loads(file.read_text())
    (entry,) = saved["samples"].values()
    entry.update(damage)
    file.write_text(json.dumps(saved))
    assert SampleStore(tmp_path).samples == ()


def test_a_file_says_what_a_token_reads(tmp_path: Path) -> None:
    found = weights_of_file(builtin_target())
    assert found is not None
    assert set(found.bytes_by_kind) == {"F32", "Q4_0", "Q8_0"}
    assert 0.9 * builtin_target().stat().st_size < found.num_bytes + 200_000 < 1.1 * builtin_target().stat().st_size
    assert weights_of_file(tmp_path / "none.gguf") is None


def test_a_file_says_what_a_token_of_its_head_reads(tmp_path: Path) -> None:
    own = qwen35_with_mtp().write(tmp_path / "own.gguf")
    target, head = tiny_llama().write(tmp_path / "target.gguf"), eagle3_for().write(tmp_path / "head.gguf")
    sizes = {tensor.name: tensor.num_bytes for tensor in read_header(own).tensors}
    layer = sum(size for name, size in sizes.items() if name.startswith("blk.4."))
    output = sizes.get("output.weight", sizes["token_embd.weight"])
    of_own, of_file = weights_of_head(own, None), weights_of_head(target, head)
    assert of_own is not None
    assert of_own.num_bytes == layer + output
    assert of_file is not None  # it samples with the target's output matrix
    assert of_file.bytes_by_kind == {"F32": read_header(head).weights_bytes, "F16": 64 * N_VOCAB * 2}
    head.write_bytes(b"no model")
    assert weights_of_head(target, head) is None
    assert weights_of_head(tmp_path / "none.gguf", None) is None
