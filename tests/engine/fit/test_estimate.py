"""Compares the memory estimate with llama.cpp's plans for well-known models, and with real loads."""

import logging
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import NotEnoughMemoryError
from engine.fit.cache_size import CacheSetup, layer_cache_bytes
from engine.fit.estimate import (
    BATCH,
    HEAD_BATCH,
    HEAD_ROWS,
    NUM_ROWS,
    TAP_ROWS,
    DeviceSplit,
    MemoryBytes,
    estimate_memory,
    experts_pattern,
    head_memory,
)
from engine.fit.fit import FreeMemory, ModelPlan, PairPlan, estimate, memory_fit, report_of
from engine.gguf.header import GgufHeader, read_header
from engine.heads import tap
from engine.heads.loading import open_head_file, open_own_heads
from engine.llama import context, head_context
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.loading.loading import LoadOptions, open_model
from engine.records import FlashAttention, SplitMode
from tests.engine.geometries import GEOMETRIES, LOG, MIB, plan, planned_model
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import dflash_for, eagle3_for, head_only, qwen35_with_mtp, tiny_hy_v3
from tests.engine.hybrid_factory import tiny_lfm2, tiny_qwen35
from tests.shared_files import shared_model

SETUPS = ((512, "f16"), (8192, "f16"), (8192, "q8_0"), (32768, "q4_0"))


@pytest.mark.parametrize("name", GEOMETRIES)
def test_the_estimate_is_what_llama_cpp_plans(name: str, tmp_path: Path) -> None:
    path = GEOMETRIES[name].write(tmp_path / "model.gguf")
    header = read_header(path)
    with planned_model(path) as model:
        for n_ctx, cache_type in SETUPS:
            told = plan(model, n_ctx, cache_type)
            memory = estimate_memory(header, CacheSetup(n_ctx, cache_type, cache_type))
            assert memory.cache.main_bytes == pytest.approx(told.cache_bytes, abs=0.02 * MIB)
            outputs = NUM_ROWS * header.arrays["tokenizer.ggml.tokens"].length * 4
            assert memory.compute.main_bytes - outputs == pytest.approx(told.compute_bytes, rel=0.15)
            llama_cpps = header.weights_bytes + told.cache_bytes + told.compute_bytes + outputs
            assert (memory.weights + memory.cache + memory.compute).all_bytes == pytest.approx(llama_cpps, rel=0.02)


@pytest.mark.parametrize("name", ["Llama 3.1 8B", "Qwen2.5 0.5B"])
def test_attention_that_is_not_fused_holds_all_scores(name: str, tmp_path: Path) -> None:
    path = GEOMETRIES[name].write(tmp_path / "model.gguf")
    header = read_header(path)
    with planned_model(path) as model:
        told = plan(model, 16384, "f16", fused=False)
    memory = estimate_memory(header, CacheSetup(16384, fused=False))
    outputs = NUM_ROWS * header.arrays["tokenizer.ggml.tokens"].length * 4
    assert memory.compute.main_bytes - outputs == pytest.approx(told.compute_bytes, rel=0.05)


def test_a_recurrent_models_state(caplog: pytest.LogCaptureFixture) -> None:
    path = shared_model("tiny-rwkv7-834K-f32.gguf")
    caplog.set_level(logging.DEBUG, LOG)
    with LlamaModel(path) as model, LlamaContext(model, ContextParams(256, 1)):
        pass
    (told,) = re.findall(r"RS buffer size = +([\d.]+) MiB", caplog.text)
    state = sum(layer_cache_bytes(read_header(Path(path)), CacheSetup(256)))
    assert state / MIB == pytest.approx(float(told), abs=0.01)


@pytest.mark.parametrize("make", [tiny_lfm2, tiny_qwen35])
@pytest.mark.parametrize("n_ctx", [256, 1000])
def test_a_hybrids_cache_and_kept_states(
    make: Callable[[], GgufFile], n_ctx: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = make().write(tmp_path / "hybrid.gguf")
    caplog.set_level(logging.DEBUG, LOG)
    open_model(path, LoadOptions(n_ctx=n_ctx)).close()
    told = sum(float(size) for size in re.findall(r"(?:KV|RS) buffer size = +([\d.]+) MiB", caplog.text))
    assert sum(layer_cache_bytes(read_header(path), CacheSetup(n_ctx))) / MIB == pytest.approx(told, abs=0.02)


def header_with(architecture: str, **own: Any) -> GgufHeader:  # noqa: ANN401
    named = {f"{architecture}.{key.replace('__', '.')}": value for key, value in own.items()}
    return GgufHeader(3, {"general.architecture": architecture, **named}, {}, (), 0, 0)


def test_layers_of_every_kind() -> None:
    cells = 1024
    common = {"embedding_length": 1024, "attention__head_count": 8}
    setup = CacheSetup(1000)  # rounded up to 1024
    grouped = header_with("llama", block_count=2, attention__head_count_kv=2, **common)
    assert layer_cache_bytes(grouped, setup) == [cells * 2 * (128 + 128) * 2] * 2

    hybrid = {"ssm__conv_kernel": 4, "ssm__inner_size": 2048, "ssm__group_count": 16, "ssm__state_size": 128}
    qwen = header_with(
        "qwen35", block_count=5, nextn_predict_layers=1, full_attention_interval=4,
        attention__head_count_kv=2, attention__key_length=256, attention__value_length=256, **common, **hybrid,
    )  # fmt: skip
    state = (3 * (2048 + 2 * 16 * 128) + 128 * 2048) * 4
    assert layer_cache_bytes(qwen, setup) == [16 * state] * 3 + [cells * 2 * 512 * 2]  # 15 snapshots for rollback

    lfm = header_with("lfm2", block_count=2, attention__head_count_kv=(0, 4), shortconv__l_cache=3, **common)
    assert layer_cache_bytes(lfm, setup) == [16 * 1024 * 2 * 4, cells * 4 * 256 * 2]

    named = header_with(
        "jamba", block_count=3, attention__head_count_kv=2, attention__recurrent_layers=(1, 0, 1), **common, **hybrid
    )
    assert layer_cache_bytes(named, setup) == [state, cells * 2 * 256 * 2, state]

    falcon = header_with("falcon-h1", block_count=2, attention__head_count_kv=2, **common, **hybrid)
    assert layer_cache_bytes(falcon, setup) == [state + cells * 2 * 256 * 2] * 2  # both in each layer

    kimi = {"kda__head_dim": 64, "attention__recurrent_layers": (1, 0), "attention__head_count_kv": 2, **common}
    of_heads = (3 * 3 * 8 * 64 + 64 * 8 * 64) * 4
    assert layer_cache_bytes(header_with("kimi-linear", block_count=2, **kimi), setup)[0] == of_heads
    wider = header_with("kimi-linear", block_count=2, ssm__conv_kernel=6, **kimi)
    assert layer_cache_bytes(wider, setup)[0] == of_heads + 3 * 2 * 8 * 64 * 4

    mamba = header_with("mamba", block_count=1, embedding_length=1024, attention__head_count=0, **hybrid)
    assert layer_cache_bytes(mamba, setup) == [state]

    latent = {"attention__kv_lora_rank": 512, "rope__dimension_count": 64, "attention__head_count_kv": 1}
    lengths = {"attention__key_length": 576, "attention__value_length": 512, "attention__key_length_mla": 192}
    for more in ({}, lengths):
        deepseek = header_with("deepseek2", block_count=1, **common, **latent, **more)
        assert layer_cache_bytes(deepseek, setup) == [cells * 576 * 2]

    gemma = header_with(
        "gemma4", block_count=3, attention__head_count_kv=1, attention__key_length=512, attention__value_length=512,
        attention__key_length_swa=256, attention__value_length_swa=256, attention__sliding_window_pattern=(1, 0, 1),
        attention__shared_kv_layers=1, **common,
    )  # fmt: skip
    assert layer_cache_bytes(gemma, setup) == [cells * 512 * 2, cells * 1024 * 2, 0]


def test_layers_on_the_gpu_leave_main_memory(tmp_path: Path) -> None:
    header = read_header(GEOMETRIES["Llama 3.1 8B"].write(tmp_path / "m.gguf"))
    none, some, all_of_them = (estimate_memory(header, CacheSetup(4096), layers) for layers in (0, 17, 99))
    assert none.total.gpu_bytes == 0
    assert some.cache == MemoryBytes(none.cache.main_bytes // 2, (none.cache.main_bytes // 2,))
    embedding = next(tensor.num_bytes for tensor in header.tensors if tensor.name == "token_embd.weight")
    assert all_of_them.weights == MemoryBytes(embedding, (header.weights_bytes - embedding,))
    assert all_of_them.cache.main_bytes == 0
    for memory in (some, all_of_them):
        assert memory.weights.all_bytes == header.weights_bytes


def test_a_shared_embedding_is_counted_twice_on_a_gpu(tmp_path: Path) -> None:
    header = read_header(GEOMETRIES["Qwen2.5 0.5B"].write(tmp_path / "m.gguf"))
    embedding = header.tensors[0].num_bytes
    assert estimate_memory(header, CacheSetup(512)).weights.all_bytes == header.weights_bytes
    assert estimate_memory(header, CacheSetup(512), 99).weights.all_bytes == header.weights_bytes + embedding


@pytest.mark.parametrize(
    ("name", "key", "spreads"),
    [
        ("Llama 3.1 8B", "llama.block_count", [(0, DeviceSplit()), (10, DeviceSplit()), (99, DeviceSplit())]),
        (
            "Qwen3 30B-A3B",
            "qwen3moe.block_count",
            [(99, DeviceSplit(moved=((experts_pattern(number), None),))) for number in (0, 20, 48)],
        ),
    ],
)
def test_the_first_of_several_parts_stands_for_all(
    name: str, key: str, spreads: list[tuple[int, DeviceSplit]], tmp_path: Path
) -> None:
    geometry = GEOMETRIES[name]
    whole = read_header(geometry.write(tmp_path / "whole.gguf"))
    part = read_header(replace(geometry, n_layer=3).write(tmp_path / "part.gguf"))
    part = replace(part, metadata={**part.metadata, key: geometry.n_layer})
    for gpu_layers, spread in spreads:
        told = estimate_memory(part, CacheSetup(4096), gpu_layers, whole.weights_bytes, spread)
        real = estimate_memory(whole, CacheSetup(4096), gpu_layers, spread=spread)
        assert told.total.main_bytes == pytest.approx(real.total.main_bytes, rel=0.01)
        assert told.total.gpu_bytes == pytest.approx(real.total.gpu_bytes, rel=0.02)


def test_devices_share_layers_as_llama_cpp_assigns_them() -> None:
    assert DeviceSplit((1.0, 1.0)).devices(4, 99) == [0, 0, 0, 1, 1]
    assert DeviceSplit((1.0, 3.0)).devices(4, 99) == [0, 0, 1, 1, 1]
    assert DeviceSplit((1.0, 0.0, 1.0)).devices(4, 3) == [None, None, 0, 0, 2]
    assert DeviceSplit((0.0, 1.0)).devices(4, 2) == [None, None, None, 1, 1]
    assert DeviceSplit().devices(4, 0) == [None] * 5
    with pytest.raises(ValueError, match="no device"):
        DeviceSplit((0.0, 0.0)).devices(4, 2)


@pytest.mark.parametrize("shares", [(1.0, 1.0), (1.0, 3.0), (2.0, 0.0, 1.0)])
@pytest.mark.parametrize("mode", [SplitMode.LAYER, SplitMode.ROW, SplitMode.TENSOR])
def test_what_several_devices_take_is_what_all_take(shares: tuple[float, ...], mode: SplitMode, tmp_path: Path) -> None:
    header = read_header(GEOMETRIES["Llama 3.1 8B"].write(tmp_path / "m.gguf"))
    one = estimate_memory(header, CacheSetup(4096), 99)
    several = estimate_memory(header, CacheSetup(4096), 99, spread=DeviceSplit(shares, mode=mode))
    for part in ("weights", "cache"):
        assert getattr(several, part).gpu_bytes == pytest.approx(getattr(one, part).gpu_bytes, abs=2)
        assert getattr(several, part).main_bytes == getattr(one, part).main_bytes
    devices = several.total.devices_bytes
    kept = [devices[number] / sum(devices) for number in range(len(shares))]
    assert kept == pytest.approx([share / sum(shares) for share in shares], abs=0.08)  # the output is on the last one


def test_experts_in_main_memory_are_there_and_nowhere_else(tmp_path: Path) -> None:
    header = read_header(GEOMETRIES["Qwen3 30B-A3B"].write(tmp_path / "m.gguf"))
    layer = sum(tensor.num_bytes for tensor in header.tensors if re.match(r"blk\.0\..*_exps", tensor.name))
    whole, part = (
        estimate_memory(header, CacheSetup(4096), 99, spread=DeviceSplit(moved=moved))
        for moved in ((), ((experts_pattern(20), None),))
    )
    assert part.weights == MemoryBytes(whole.weights.main_bytes + 20 * layer, (whole.weights.gpu_bytes - 20 * layer,))
    assert part.cache == whole.cache
    lent = max(tensor.num_bytes for tensor in header.tensors if "_exps" in tensor.name)
    assert part.compute.gpu_bytes == whole.compute.gpu_bytes + lent  # copied to a GPU for large batches
    assert part.compute.main_bytes > whole.compute.main_bytes


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
@pytest.mark.parametrize(("n_ctx", "fused"), [(512, True), (MOST_N_CTX, True), (MOST_N_CTX, False)])
def test_the_estimate_is_what_a_load_takes(name: str, n_ctx: int, fused: bool, tmp_path: Path) -> None:
    target, head = KINDS[name]
    paths = [written(target, tmp_path / "target.gguf"), written(head, tmp_path / "head.gguf") if head else None]
    loaded = open_model(paths[0], LoadOptions(n_ctx=n_ctx, threads=1, heads=head is None))
    options = LoadOptions(threads=1) if fused else LoadOptions(threads=1, flash_attention=FlashAttention.OFF)
    opened = open_head_file(str(paths[1]), loaded, options) if head else open_own_heads(loaded, options)
    told = opened.info.memory
    opened.close()
    loaded.close()
    setup = CacheSetup(n_ctx, fused=fused)
    expected = head_memory(read_header(paths[0]), setup, read_header(paths[1]) if paths[1] else None)
    assert told is not None
    assert expected.cache.all_bytes == pytest.approx(told.cache_bytes, abs=ROUNDING)
    near = 0.05 if fused else 0.15
    assert expected.compute.all_bytes == pytest.approx(told.compute_bytes, rel=near, abs=ROUNDING * 2)
    if head is not None:
        assert expected.weights.all_bytes == pytest.approx(told.weights_bytes, rel=0.05)


def test_a_targets_own_heads_count_only_where_they_are_used(tmp_path: Path) -> None:
    path = qwen35_with_mtp().write(tmp_path / "target.gguf")
    plain = tiny_qwen35().write(tmp_path / "plain.gguf")
    without, with_heads = (estimate([path], 512, heads=heads) for heads in (False, True))
    assert without.weights_bytes == estimate([plain], 512).weights_bytes
    heads = head_memory(read_header(path), CacheSetup(512))
    assert with_heads.needed_bytes - without.needed_bytes == heads.total.all_bytes


def test_a_head_that_does_not_fit_beside_its_target_is_refused(tmp_path: Path) -> None:
    target = read_header(tiny_llama().write(tmp_path / "target.gguf"))
    head = read_header(eagle3_for().write(tmp_path / "head.gguf"))
    needed = head_memory(target, CacheSetup(512), head)
    report_of([needed], 1 << 24).check()
    with pytest.raises(NotEnoughMemoryError, match="are free"):
        report_of([needed], 1 << 20).check()


def test_the_table_counts_heads_with_who_brings_them(tmp_path: Path) -> None:
    header = read_header(qwen35_with_mtp().write(tmp_path / "target.gguf"))
    plain = read_header(tiny_qwen35().write(tmp_path / "plain.gguf"))
    file = read_header(head_only(qwen35_with_mtp()).write(tmp_path / "head.gguf"))
    room, setup = FreeMemory(1 << 30), CacheSetup(512)
    bare = memory_fit(PairPlan(ModelPlan(plain, setup)), room).needed.main_bytes
    own = memory_fit(PairPlan(ModelPlan(header, setup)), room).needed.main_bytes
    beside = memory_fit(PairPlan(ModelPlan(plain, setup), ModelPlan(file, setup)), room).needed.main_bytes
    heads = [head_memory(header, setup), head_memory(plain, setup, file)]
    sums = [(one.weights + one.cache + one.compute).all_bytes for one in heads]
    assert (own - bare, beside - bare) == tuple(sums)
    on_gpu = memory_fit(PairPlan(ModelPlan(header, setup, gpu_layers=99)), FreeMemory(1 << 30, 1 << 30)).needed
    assert on_gpu.gpu_bytes > heads[0].weights.all_bytes


def test_the_figures_are_those_of_the_engine() -> None:
    assert (TAP_ROWS, BATCH) == (tap.CAPACITY, context.N_BATCH)
    assert (HEAD_ROWS, HEAD_BATCH) == (head_context.MAX_HEAD_ROWS, head_context.HEAD_UBATCH)
