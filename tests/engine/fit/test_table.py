"""Tests whether a pair fits: the table, the verdict, and changes that make it fit."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from engine.fit.cache_size import CacheSetup, layer_cache_bytes
from engine.fit.estimate import ENCODER_BYTES, DeviceSplit
from engine.fit.table import (
    MAX_PARALLEL,
    FitTable,
    FreeMemory,
    ModelPlan,
    PairPlan,
    choose_parallel,
    experts_to_leave,
    fit_table,
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


CACHE, CONTEXT, EXPERTS, LAYERS = "Use the cache", "Choose a context", "Keep the experts", "Put "


def found(table: FitTable, *beginnings: str) -> list[str]:
    """Check that the remedies begin with these words; returns the first number in each."""
    assert len(table.changes) == len(beginnings)
    assert all(change.startswith(words) for change, words in zip(table.changes, beginnings, strict=True))
    return [re.sub(r"\D*([\d,]*).*", r"\1", change).replace(",", "") for change in table.changes]


def test_the_rows_add_up(pair: PairPlan) -> None:
    table = fit_table(pair, PLENTY)
    assert table.verdict is FitLevel.FITS
    assert table.changes == ()
    assert [row.role for row in table.rows] == ["Target"] * 4 + ["Draft"] * 4
    assert table.disk_bytes == pair.target.download_bytes + 5 * 10**8
    assert table.needed.gpu_bytes == 0


@pytest.mark.parametrize("gpu_layers", [0, ALL])
def test_a_side_file_is_priced_where_the_target_lies(pair: PairPlan, gpu_layers: int, tmp_path: Path) -> None:
    side = read_header(side_file("gemma3").write(tmp_path / "mmproj.gguf"))
    plain = PairPlan(replace(pair.target, gpu_layers=gpu_layers))
    room = FreeMemory(500 * GB, 200 * GB, devices=(("CUDA0", 100 * GB), ("CUDA1", 100 * GB)))
    if gpu_layers:
        plain = replace(plain, target=replace(plain.target, spread=DeviceSplit((1.0, 1.0))))
    seeing = replace(plain, target=replace(plain.target, side=side))
    before, after = fit_table(plain, room), fit_table(seeing, room)
    row = after.rows[-1]
    assert (row.role, row.part) == ("Target", "encoder for pictures")
    assert row.memory.all_bytes == side.weights_bytes + ENCODER_BYTES
    assert after.rows[:-1] == before.rows
    assert bool(row.memory.gpu_bytes) is bool(gpu_layers)
    if gpu_layers:
        assert row.memory.devices_bytes == (row.memory.gpu_bytes,)


def test_short_main_memory_is_met_by_cache_context_or_draft(pair: PairPlan) -> None:
    needed = fit_table(pair, PLENTY).needed.main_bytes
    table = fit_table(pair, replace(PLENTY, main_bytes=needed - GB // 2))
    assert table.verdict is FitLevel.TOO_LARGE
    assert found(table, "Use the cache type q8_0", CONTEXT, "Do without")[1] == "16384"
    smaller = replace(pair, target=replace(pair.target, setup=CacheSetup(16384)))
    assert fit_table(smaller, table.free).verdict is not FitLevel.TOO_LARGE


def test_a_tight_fit_is_reported_with_what_eases_it(pair: PairPlan) -> None:
    needed = fit_table(pair, PLENTY).needed.main_bytes
    table = fit_table(pair, replace(PLENTY, main_bytes=int(needed * 1.05)))
    assert table.verdict is FitLevel.TIGHT
    found(table, CACHE, CONTEXT)


def test_a_short_gpu_is_met_by_fewer_layers_or_the_draft_elsewhere(pair: PairPlan) -> None:
    whole = on_gpu(pair)
    assert whole.draft is not None
    needed = fit_table(whole, PLENTY).needed.gpu_bytes
    table = fit_table(whole, replace(PLENTY, gpu_bytes=needed - GB // 2))
    assert table.verdict is FitLevel.TOO_LARGE
    layers = int(found(table, CACHE, CONTEXT, "Run the draft on the CPU", LAYERS, "Do without")[3])
    assert 20 < layers < 33
    for fewer, fits in ((layers, True), (layers + 1, False)):
        changed = replace(whole, target=replace(whole.target, gpu_layers=fewer))
        assert (fit_table(changed, table.free).verdict is not FitLevel.TOO_LARGE) == fits


def test_a_full_disk(pair: PairPlan) -> None:
    table = fit_table(pair, replace(PLENTY, disk_bytes=GB))
    assert table.verdict is FitLevel.TOO_LARGE
    found(table, "Free ")


def test_where_nothing_helps_another_model_does(pair: PairPlan) -> None:
    table = fit_table(pair, FreeMemory(2 * GB))
    found(table, "Choose a smaller model")


@pytest.fixture(name="moe", scope="module")
def fixture_moe(tmp_path_factory: pytest.TempPathFactory) -> ModelPlan:
    path = GEOMETRIES["Qwen3 30B-A3B"].write(tmp_path_factory.mktemp("moe") / "moe.gguf")
    return ModelPlan(read_header(path), CacheSetup(8192), ALL)


def test_experts_that_do_not_fit_the_gpu_are_left_out_before_layers_are(moe: ModelPlan) -> None:
    table = fit_table(PairPlan(moe), FreeMemory(64 * GB, 12 * GB))
    number = int(found(table, EXPERTS, LAYERS)[0])
    assert 0 < number < 48
    changed = fit_table(PairPlan(moe.with_experts_on_cpu(number)), table.free)
    assert changed.verdict is not FitLevel.TOO_LARGE
    fewer = fit_table(PairPlan(moe.with_experts_on_cpu(number - 1)), table.free)
    assert fewer.needed.gpu_bytes > 0.95 * 12 * GB
    assert changed.needed.main_bytes > 48 / number  # they take some memory


def test_experts_are_left_nowhere_without_layers_on_a_gpu(moe: ModelPlan) -> None:
    assert experts_to_leave(PairPlan(replace(moe, gpu_layers=0)), FreeMemory(64 * GB, GB)) == 0


def test_each_device_has_to_have_room(pair: PairPlan) -> None:
    whole = on_gpu(pair)
    assert whole.draft is not None
    target = replace(whole.target, spread=DeviceSplit((1.0, 1.0)))
    draft = replace(whole.draft, spread=DeviceSplit((0.0, 1.0)))
    table = fit_table(PairPlan(target, draft), PLENTY)
    one, two = table.needed.devices_bytes
    assert one + two == table.needed.gpu_bytes
    roomy = FreeMemory(64 * GB, 200 * GB, None, (("CUDA0", 100 * GB), ("CUDA1", 100 * GB)))
    assert fit_table(PairPlan(target, draft), roomy).verdict is FitLevel.FITS
    for devices in ((("CUDA0", one - GB), ("CUDA1", 100 * GB)), (("CUDA0", 100 * GB), ("CUDA1", two - GB))):
        short = fit_table(PairPlan(target, draft), replace(roomy, devices=devices))
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
    return fit_table(single, MAIN_ONLY).cache_bytes


def test_four_where_memory_is_no_matter(single: PairPlan) -> None:
    assert choose_parallel(single, MAIN_ONLY) == 4


def test_the_cells_of_all_answers_are_counted(single: PairPlan) -> None:
    one = cache_bytes(single)
    assert one == 8192 * 32 * 2 * 1024 * 2, "32 layers, keys and values of 8 heads of 128 numbers of 2 bytes"
    assert cache_bytes(single.answering(4)) == 4 * one
    assert (
        fit_table(single.answering(4), MAIN_ONLY).needed.main_bytes
        > fit_table(single, MAIN_ONLY).needed.main_bytes + 3 * one
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
    needed = fit_table(single.answering(4), MAIN_ONLY).needed.main_bytes
    tight = FreeMemory(round(needed / 0.95), machine_bytes=500 * GB)
    assert choose_parallel(single, tight) == 3
    assert choose_parallel(single, tight, 4) == 4


def test_fewer_than_asked_for_where_more_do_not_fit(single: PairPlan) -> None:
    room = FreeMemory(fit_table(single.answering(3), MAIN_ONLY).needed.main_bytes, machine_bytes=500 * GB)
    assert choose_parallel(single, room, 8) == 3
    alone = FreeMemory(fit_table(single, MAIN_ONLY).needed.main_bytes, machine_bytes=500 * GB)
    assert choose_parallel(single, alone, 8) == 1


def test_what_is_asked_for_has_a_bound(single: PairPlan) -> None:
    assert choose_parallel(single, FreeMemory(10**15), 10_000) == MAX_PARALLEL


def test_no_layer_leaves_the_gpu_for_it(single: PairPlan) -> None:
    there = replace(single, target=replace(single.target, gpu_layers=ALL))
    needed = fit_table(there.answering(2), MAIN_ONLY).needed.gpu_bytes
    for gpu_bytes, number in ((round(needed / 0.84), 2), (round(needed / 0.9), 1)):
        room = FreeMemory(500 * GB, gpu_bytes, machine_bytes=500 * GB)
        assert choose_parallel(there, room) == number
    crowded = FreeMemory(500 * GB, fit_table(there, MAIN_ONLY).needed.gpu_bytes // 2, machine_bytes=500 * GB)
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
