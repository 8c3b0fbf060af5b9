"""Tests whether a pair fits: the verdict, advice, and the number of parallel answers."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.fit.cache_size import CacheSetup, layer_cache_bytes
from engine.fit.estimate import ENCODER_BYTES, DeviceSplit
from engine.fit.fit import (
    MAX_PARALLEL,
    FreeMemory,
    ModelPlan,
    PairPlan,
    advice,
    choose_parallel,
    experts_to_leave,
    memory_fit,
)
from engine.gguf.header import GgufHeader, read_header
from engine.records import FitLevel
from tests.engine.geometries import GEOMETRIES
from tests.engine.gguf_factory import GgufFile
from tests.engine.hybrid_factory import tiny_qwen35
from tests.engine.vision_factory import side_file

GB = 10**9
ALL = 999
PLENTY = FreeMemory(500 * GB, 200 * GB, 500 * GB)


@pytest.fixture(name="headers", scope="module")
def fixture_headers(tmp_path_factory: pytest.TempPathFactory) -> tuple[GgufHeader, GgufHeader]:
    folder: Path = tmp_path_factory.mktemp("models")
    names = ("Llama 3.1 8B", "Qwen2.5 0.5B")
    one, two = (read_header(GEOMETRIES[name].write(folder / f"{name}.gguf")) for name in names)
    return one, two


@pytest.fixture(name="pair")
def fixture_pair(headers: tuple[GgufHeader, GgufHeader]) -> PairPlan:
    target, draft = headers
    setup = CacheSetup(32768)
    return PairPlan(
        ModelPlan(target, setup, download_bytes=target.file_size), ModelPlan(draft, setup, download_bytes=5 * 10**8)
    )


def on_gpu(pair: PairPlan) -> PairPlan:
    assert pair.draft is not None
    return PairPlan(replace(pair.target, gpu_layers=ALL), replace(pair.draft, gpu_layers=ALL))


def test_target_and_draft_add_up(pair: PairPlan) -> None:
    both, alone = memory_fit(pair, PLENTY), memory_fit(replace(pair, draft=None), PLENTY)
    assert both.verdict is FitLevel.FITS
    assert advice(pair, PLENTY) == ""
    assert both.needed.main_bytes > alone.needed.main_bytes
    assert both.disk_bytes == pair.target.download_bytes + 5 * 10**8
    assert both.needed.gpu_bytes == 0


@pytest.mark.parametrize("gpu_layers", [0, ALL])
def test_a_side_file_is_priced_where_the_target_lies(pair: PairPlan, gpu_layers: int, tmp_path: Path) -> None:
    side = read_header(side_file("gemma3").write(tmp_path / "mmproj.gguf"))
    plain = PairPlan(replace(pair.target, gpu_layers=gpu_layers))
    room = FreeMemory(500 * GB, 200 * GB, devices=(("CUDA0", 100 * GB), ("CUDA1", 100 * GB)))
    if gpu_layers:
        plain = replace(plain, target=replace(plain.target, spread=DeviceSplit((1.0, 1.0))))
    seeing = replace(plain, target=replace(plain.target, side=side))
    before, after = memory_fit(plain, room), memory_fit(seeing, room)
    extra = side.weights_bytes + ENCODER_BYTES
    assert after.needed.all_bytes == before.needed.all_bytes + extra
    assert after.needed.gpu_bytes == before.needed.gpu_bytes + (extra if gpu_layers else 0)
    if gpu_layers:
        assert after.needed.devices_bytes[0] == before.needed.devices_bytes[0] + extra


def test_a_smaller_context_is_advised_where_it_helps(pair: PairPlan) -> None:
    needed = memory_fit(pair, PLENTY).needed.main_bytes
    for room, verdict in ((needed - GB // 2, FitLevel.TOO_LARGE), (int(needed * 1.05), FitLevel.TIGHT)):
        free = replace(PLENTY, main_bytes=room)
        assert memory_fit(pair, free).verdict is verdict
        assert advice(pair, free) == "Choose a context of 16,384 tokens."
        assert memory_fit(pair.with_setup(n_ctx=16384), free).verdict is not FitLevel.TOO_LARGE
    assert advice(pair, FreeMemory(2 * GB)).startswith("Choose a smaller model")


def test_a_full_disk(pair: PairPlan) -> None:
    free = replace(PLENTY, disk_bytes=GB)
    assert memory_fit(pair, free).verdict is FitLevel.TOO_LARGE
    assert advice(pair, free).startswith("Free ")


@pytest.fixture(name="moe", scope="module")
def fixture_moe(tmp_path_factory: pytest.TempPathFactory) -> ModelPlan:
    path = GEOMETRIES["Qwen3 30B-A3B"].write(tmp_path_factory.mktemp("moe") / "moe.gguf")
    return ModelPlan(read_header(path), CacheSetup(8192), ALL)


def test_experts_that_do_not_fit_the_gpu_are_left_out_before_layers_are(moe: ModelPlan) -> None:
    free = FreeMemory(64 * GB, 12 * GB)
    number = experts_to_leave(PairPlan(moe), free)
    assert 0 < number < 48
    changed = memory_fit(PairPlan(moe.with_experts_on_cpu(number)), free)
    assert changed.verdict is not FitLevel.TOO_LARGE
    fewer = memory_fit(PairPlan(moe.with_experts_on_cpu(number - 1)), free)
    assert fewer.needed.gpu_bytes > 0.95 * 12 * GB
    assert changed.needed.main_bytes > 48 / number  # they take some memory
    assert experts_to_leave(PairPlan(replace(moe, gpu_layers=0)), free) == 0


def test_each_device_has_to_have_room(pair: PairPlan) -> None:
    whole = on_gpu(pair)
    assert whole.draft is not None
    target = replace(whole.target, spread=DeviceSplit((1.0, 1.0)))
    draft = replace(whole.draft, spread=DeviceSplit((0.0, 1.0)))
    table = memory_fit(PairPlan(target, draft), PLENTY)
    one, two = table.needed.devices_bytes
    assert one + two == table.needed.gpu_bytes
    roomy = FreeMemory(64 * GB, 200 * GB, None, (("CUDA0", 100 * GB), ("CUDA1", 100 * GB)))
    assert memory_fit(PairPlan(target, draft), roomy).verdict is FitLevel.FITS
    for devices in ((("CUDA0", one - GB), ("CUDA1", 100 * GB)), (("CUDA0", 100 * GB), ("CUDA1", two - GB))):
        short = memory_fit(PairPlan(target, draft), replace(roomy, devices=devices))
        assert short.verdict is short.gpu_verdict is FitLevel.TOO_LARGE


MAIN_ONLY = FreeMemory(500 * GB, machine_bytes=500 * GB)


@pytest.fixture(name="header", scope="module")
def fixture_header(tmp_path_factory: pytest.TempPathFactory) -> GgufHeader:
    path: Path = tmp_path_factory.mktemp("models") / "model.gguf"
    return read_header(GEOMETRIES["Llama 3.1 8B"].write(path))


@pytest.fixture(name="single")
def fixture_single(header: GgufHeader) -> PairPlan:
    return PairPlan(ModelPlan(header, CacheSetup(8192)))


def cache_bytes(single: PairPlan) -> int:
    return memory_fit(single, MAIN_ONLY).cache_bytes


def test_four_where_memory_is_no_matter(single: PairPlan) -> None:
    assert choose_parallel(single, MAIN_ONLY) == 4
    assert choose_parallel(single, FreeMemory(10**15), 10_000) == MAX_PARALLEL


def test_the_cells_of_all_answers_are_counted(single: PairPlan) -> None:
    one = cache_bytes(single)
    assert one == 8192 * 32 * 2 * 1024 * 2, "32 layers, keys and values of 8 heads of 128 numbers of 2 bytes"
    assert cache_bytes(single.answering(4)) == 4 * one
    assert (
        memory_fit(single.answering(4), MAIN_ONLY).needed.main_bytes
        > memory_fit(single, MAIN_ONLY).needed.main_bytes + 3 * one
    )


def test_a_draft_has_as_many_contexts(single: PairPlan, header: GgufHeader) -> None:
    both = replace(single, draft=ModelPlan(header, CacheSetup(8192)))
    assert cache_bytes(both.answering(3)) == 6 * cache_bytes(single)


def test_automatic_takes_no_more_than_a_tenth_of_the_machine(single: PairPlan) -> None:
    one = cache_bytes(single)
    for number, machine_bytes in ((4, 30 * one), (3, 29 * one), (2, 10 * one), (1, 9 * one)):
        found = choose_parallel(single, FreeMemory(500 * GB, machine_bytes=machine_bytes))
        assert found == number


def test_automatic_leaves_room_to_spare_and_a_number_does_not(single: PairPlan) -> None:
    needed = memory_fit(single.answering(4), MAIN_ONLY).needed.main_bytes
    tight = FreeMemory(round(needed / 0.95), machine_bytes=500 * GB)
    assert choose_parallel(single, tight) == 3
    assert choose_parallel(single, tight, 4) == 4


def test_fewer_than_asked_for_where_more_do_not_fit(single: PairPlan) -> None:
    room = FreeMemory(memory_fit(single.answering(3), MAIN_ONLY).needed.main_bytes, machine_bytes=500 * GB)
    assert choose_parallel(single, room, 8) == 3
    alone = FreeMemory(memory_fit(single, MAIN_ONLY).needed.main_bytes, machine_bytes=500 * GB)
    assert choose_parallel(single, alone, 8) == 1


def test_no_layer_leaves_the_gpu_for_it(single: PairPlan) -> None:
    there = replace(single, target=replace(single.target, gpu_layers=ALL))
    needed = memory_fit(there.answering(2), MAIN_ONLY).needed.gpu_bytes
    for gpu_bytes, number in ((round(needed / 0.84), 2), (round(needed / 0.9), 1)):
        room = FreeMemory(500 * GB, gpu_bytes, machine_bytes=500 * GB)
        assert choose_parallel(there, room) == number
    crowded = FreeMemory(500 * GB, memory_fit(there, MAIN_ONLY).needed.gpu_bytes // 2, machine_bytes=500 * GB)
    assert choose_parallel(there, crowded) == 1, "part of it lies in main memory already"


def test_a_recurrent_state_and_two_kinds_of_positions_allow_one_answer(
    single: PairPlan, header: GgufHeader, tmp_path: Path
) -> None:
    hybrid = read_header(tiny_qwen35().write(tmp_path / "hybrid.gguf"))
    assert choose_parallel(replace(single, target=replace(single.target, header=hybrid)), MAIN_ONLY, 4) == 1
    key = f"{header.architecture}.rope.scaling.original_context_length"
    long = replace(header, metadata={**header.metadata, key: 4096})
    two_kinds = replace(single, target=replace(single.target, header=long))
    assert choose_parallel(two_kinds, MAIN_ONLY, 4) == 1


def test_each_answer_has_a_recurrent_state_of_its_own(tmp_path: Path) -> None:
    file: GgufFile = tiny_qwen35()
    header = read_header(file.write(tmp_path / "hybrid.gguf"))
    alone, four = (layer_cache_bytes(header, CacheSetup(256, num_answers=number)) for number in (1, 4))
    assert four == [4 * size for size in alone]
