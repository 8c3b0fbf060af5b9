"""Compares the estimate for heads with llama.cpp's report of real loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import NotEnoughMemoryError
from engine.fit.cache_size import CacheSetup
from engine.fit.fit import check_head_fit, estimate
from engine.fit.heads import BATCH, HEAD_BATCH, HEAD_ROWS, TAP_ROWS, head_memory
from engine.fit.table import FreeMemory, ModelPlan, PairPlan, fit_table
from engine.gguf.header import read_header
from engine.heads import tap
from engine.heads.loading import open_head_file, open_own_heads
from engine.llama import context, head_context
from engine.loading.loading import LoadOptions, open_model
from engine.records import CacheType, FlashAttention
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import dflash_for, eagle3_for, head_only, qwen35_with_mtp, tiny_hy_v3
from tests.engine.hybrid_factory import tiny_qwen35

MOST_N_CTX = 16384
ROUNDING = 40_000  # llama.cpp reports about four buffers in hundredths of a MiB
KINDS = {
    "mtp": (qwen35_with_mtp(), None),
    "three layers": (tiny_hy_v3(), None),
    "mtp file": (tiny_qwen35(), head_only(qwen35_with_mtp())),
    "eagle3": (tiny_llama(), eagle3_for()),
    "eagle3 with its own tokens": (tiny_llama(), eagle3_for(own=True)),
    "dflash": (tiny_llama(), dflash_for()),
    "dspark": (tiny_llama(), dflash_for(markov_rank=4, own=True)),
}


def written(file: GgufFile, path: Path) -> Path:
    key = f"{file.metadata['general.architecture'][1]}.context_length"
    return file.with_metadata(**{key.replace(".", "__"): (Kind.UINT32, MOST_N_CTX)}).write(path)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("n_ctx", [512, MOST_N_CTX])
def test_the_estimate_is_what_a_load_takes(name: str, n_ctx: int, tmp_path: Path) -> None:
    target, head = KINDS[name]
    paths = [written(target, tmp_path / "target.gguf"), written(head, tmp_path / "head.gguf") if head else None]
    loaded = open_model(paths[0], LoadOptions(n_ctx=n_ctx, threads=1, heads=head is None))
    options = LoadOptions(threads=1)
    opened = open_head_file(str(paths[1]), loaded, options) if head else open_own_heads(loaded, options)
    told = opened.info.memory
    opened.close()
    loaded.close()
    expected = head_memory(read_header(paths[0]), CacheSetup(n_ctx), read_header(paths[1]) if paths[1] else None)
    assert told is not None
    assert told.measured
    assert expected.cache.all_bytes == pytest.approx(told.cache_bytes, abs=ROUNDING)
    assert expected.compute.all_bytes == pytest.approx(told.compute_bytes, rel=0.05, abs=ROUNDING * 2)
    if head is not None:
        assert expected.weights.all_bytes == pytest.approx(told.weights_bytes, rel=0.05)


@pytest.mark.parametrize("name", KINDS)
def test_attention_that_is_not_fused_holds_all_scores(name: str, tmp_path: Path) -> None:
    target, head = KINDS[name]
    paths = [written(target, tmp_path / "target.gguf"), written(head, tmp_path / "head.gguf") if head else None]
    loaded = open_model(paths[0], LoadOptions(n_ctx=MOST_N_CTX, threads=1, heads=head is None))
    options = LoadOptions(threads=1, flash_attention=FlashAttention.OFF)
    opened = open_head_file(str(paths[1]), loaded, options) if head else open_own_heads(loaded, options)
    told = opened.info.memory
    opened.close()
    loaded.close()
    headers = read_header(paths[0]), read_header(paths[1]) if paths[1] else None
    fused, stepwise = (head_memory(headers[0], CacheSetup(MOST_N_CTX, fused=one), headers[1]) for one in (True, False))
    assert told is not None
    assert stepwise.compute.all_bytes > 2 * fused.compute.all_bytes
    assert stepwise.compute.all_bytes == pytest.approx(told.compute_bytes, rel=0.15)


def test_a_targets_own_heads_count_only_where_they_are_used(tmp_path: Path) -> None:
    header = read_header(qwen35_with_mtp().write(tmp_path / "target.gguf"))
    plain = read_header(tiny_qwen35().write(tmp_path / "plain.gguf"))
    without, with_heads = (estimate([header], 512, heads=heads) for heads in (False, True))
    assert without.weights_bytes == estimate([plain], CacheSetup(512)).weights_bytes
    heads = head_memory(header, CacheSetup(512))
    assert with_heads.weights_bytes - without.weights_bytes == heads.weights.all_bytes
    assert with_heads.needed_bytes - without.needed_bytes == (heads.weights + heads.cache + heads.compute).all_bytes


def test_a_head_that_does_not_fit_beside_its_target_is_refused(tmp_path: Path) -> None:
    target = read_header(tiny_llama().write(tmp_path / "target.gguf"))
    head = read_header(eagle3_for().write(tmp_path / "head.gguf"))
    check_head_fit(target, head, CacheSetup(512), available_bytes=1 << 24)
    with pytest.raises(NotEnoughMemoryError, match="are free"):
        check_head_fit(target, head, CacheSetup(512), available_bytes=1 << 20)


def test_the_table_counts_heads_with_who_brings_them(tmp_path: Path) -> None:
    header = read_header(qwen35_with_mtp().write(tmp_path / "target.gguf"))
    plain = read_header(tiny_qwen35().write(tmp_path / "plain.gguf"))
    file = read_header(head_only(qwen35_with_mtp()).write(tmp_path / "head.gguf"))
    room, setup = FreeMemory(1 << 30), CacheSetup(512)
    bare = fit_table(PairPlan(ModelPlan(plain, setup)), room).needed.main_bytes
    own = fit_table(PairPlan(ModelPlan(header, setup)), room).needed.main_bytes
    beside = fit_table(PairPlan(ModelPlan(plain, setup), ModelPlan(file, setup)), room).needed.main_bytes
    heads = [head_memory(header, setup), head_memory(plain, setup, file)]
    sums = [(one.weights + one.cache + one.compute).all_bytes for one in heads]
    assert (own - bare, beside - bare) == tuple(sums)
    on_gpu = fit_table(PairPlan(ModelPlan(header, setup, gpu_layers=99)), FreeMemory(1 << 30, 1 << 30)).needed
    assert on_gpu.gpu_bytes > heads[0].weights.all_bytes


def test_a_quantized_cache_of_heads_is_smaller(tmp_path: Path) -> None:
    header = read_header(eagle3_for().write(tmp_path / "head.gguf"))
    target = read_header(tiny_llama().write(tmp_path / "target.gguf"))
    kinds = [CacheSetup(512, kind.value, kind.value) for kind in (CacheType.F16, CacheType.Q8_0)]
    full, small = (head_memory(target, setup, header).cache.all_bytes for setup in kinds)
    assert small == pytest.approx(full * 34 / 64)


def test_the_figures_are_those_of_the_engine() -> None:
    assert (TAP_ROWS, BATCH) == (tap.CAPACITY, context.N_BATCH)
    assert (HEAD_ROWS, HEAD_BATCH) == (head_context.MAX_HEAD_ROWS, head_context.HEAD_UBATCH)
