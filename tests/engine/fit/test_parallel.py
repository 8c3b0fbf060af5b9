"""Tests how many parallel answers fit: with a context each, or with a shared one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.fit.cache_size import CacheSetup, layer_cache_bytes
from engine.fit.parallel import MAX_PARALLEL, Parallel, choose_parallel, parallel_obstacle
from engine.fit.table import FreeMemory, ModelPlan, PairPlan, fit_table
from engine.gguf.header import GgufHeader, read_header
from tests.engine.geometries import GEOMETRIES
from tests.engine.gguf_factory import GgufFile
from tests.engine.hybrid_factory import tiny_qwen35

GB = 10**9
ALL = 999
PLENTY = FreeMemory(500 * GB, machine_bytes=500 * GB)


@pytest.fixture(name="header", scope="module")
def fixture_header(tmp_path_factory: pytest.TempPathFactory) -> GgufHeader:
    path: Path = tmp_path_factory.mktemp("models") / "model.gguf"
    return read_header(GEOMETRIES["Llama 3.1 8B"].write(path))


@pytest.fixture(name="pair")
def fixture_pair(header: GgufHeader) -> PairPlan:
    return PairPlan(ModelPlan(header, CacheSetup(8192)))


def cache_bytes(pair: PairPlan) -> int:
    return fit_table(pair, PLENTY).cache_bytes


def test_four_where_memory_is_no_matter(pair: PairPlan) -> None:
    assert choose_parallel(pair, PLENTY) == Parallel(4)


def test_the_cells_of_all_answers_are_counted(pair: PairPlan) -> None:
    one = cache_bytes(pair)
    assert one == 8192 * 32 * 2 * 1024 * 2, "32 layers, keys and values of 8 heads of 128 numbers of 2 bytes"
    assert cache_bytes(pair.answering(4)) == 4 * one
    assert cache_bytes(pair.answering(4, shared=True)) == one
    assert fit_table(pair.answering(4), PLENTY).needed.main_bytes > fit_table(pair, PLENTY).needed.main_bytes + 3 * one


def test_a_draft_has_as_many_contexts(pair: PairPlan, header: GgufHeader) -> None:
    both = replace(pair, draft=ModelPlan(header, CacheSetup(8192)))
    assert cache_bytes(both.answering(3)) == 6 * cache_bytes(pair)


def test_automatic_takes_no_more_than_a_tenth_of_the_machine(pair: PairPlan) -> None:
    one = cache_bytes(pair)
    for number, machine_bytes in ((4, 30 * one), (3, 29 * one), (2, 10 * one), (1, 9 * one)):
        found = choose_parallel(pair, FreeMemory(500 * GB, machine_bytes=machine_bytes))
        assert found.number == number
    assert found.reason.startswith("The memory has room for one answer at a time: a second one takes 1.")


def test_automatic_leaves_room_to_spare_and_a_number_does_not(pair: PairPlan) -> None:
    needed = fit_table(pair.answering(4), PLENTY).needed.main_bytes
    tight = FreeMemory(round(needed / 0.95), machine_bytes=500 * GB)
    assert choose_parallel(pair, tight).number == 3
    assert choose_parallel(pair, tight, 4) == Parallel(4)


def test_fewer_than_asked_for_where_more_do_not_fit(pair: PairPlan) -> None:
    room = FreeMemory(fit_table(pair.answering(3), PLENTY).needed.main_bytes, machine_bytes=500 * GB)
    assert choose_parallel(pair, room, 8) == Parallel(3, "The memory has room for 3 answers at once.")
    alone = FreeMemory(fit_table(pair, PLENTY).needed.main_bytes, machine_bytes=500 * GB)
    assert choose_parallel(pair, alone, 8).number == 1


def test_what_is_asked_for_has_a_bound(pair: PairPlan) -> None:
    assert choose_parallel(pair, PLENTY, 10_000, shared=True).number == MAX_PARALLEL


def test_in_one_context_all_of_them_have_room(pair: PairPlan) -> None:
    little = FreeMemory(round(fit_table(pair, PLENTY).needed.main_bytes / 0.8), machine_bytes=2 * GB)
    assert choose_parallel(pair, little).number == 1
    assert choose_parallel(pair, little, shared=True) == Parallel(4)


def test_no_layer_leaves_the_gpu_for_it(pair: PairPlan) -> None:
    there = replace(pair, target=replace(pair.target, gpu_layers=ALL))
    needed = fit_table(there.answering(2), PLENTY).needed.gpu_bytes
    for gpu_bytes, number in ((round(needed / 0.84), 2), (round(needed / 0.9), 1)):
        room = FreeMemory(500 * GB, gpu_bytes, machine_bytes=500 * GB)
        assert choose_parallel(there, room).number == number
    crowded = FreeMemory(500 * GB, fit_table(there, PLENTY).needed.gpu_bytes // 2, machine_bytes=500 * GB)
    assert choose_parallel(there, crowded).number == 1, "part of it lies in main memory already"


def test_an_obstacle_is_the_reason(pair: PairPlan) -> None:
    assert choose_parallel(pair, PLENTY, 4, obstacle="It cannot.") == Parallel(1, "It cannot.")


def test_a_recurrent_state_and_two_kinds_of_positions_are_obstacles(header: GgufHeader, tmp_path: Path) -> None:
    assert parallel_obstacle(header) == ""
    assert "recurrent state" in parallel_obstacle(read_header(tiny_qwen35().write(tmp_path / "hybrid.gguf")))
    key = f"{header.architecture}.rope.scaling.original_context_length"
    long = replace(header, metadata={**header.metadata, key: 4096})
    assert "differently" in parallel_obstacle(long)
    assert parallel_obstacle(long, shared=True) == ""


def test_one_needs_no_reason(pair: PairPlan) -> None:
    assert choose_parallel(pair, FreeMemory(1), 1) == Parallel(1)


def test_a_full_disk_is_of_no_account(pair: PairPlan) -> None:
    full = replace(PLENTY, disk_bytes=0)
    assert choose_parallel(replace(pair, target=replace(pair.target, download_bytes=GB)), full).number == 4


def test_each_answer_has_a_recurrent_state_of_its_own(tmp_path: Path) -> None:
    file: GgufFile = tiny_qwen35()
    header = read_header(file.write(tmp_path / "hybrid.gguf"))
    alone, four = (layer_cache_bytes(header, CacheSetup(256, num_answers=number)) for number in (1, 4))
    assert four == [4 * size for size in alone]
    shared = layer_cache_bytes(header, CacheSetup(256, num_answers=4, shared=True))
    assert any(one == 4 * other for one, other in zip(shared, alone, strict=True)), "a state"
    assert any(one == other for one, other in zip(shared, alone, strict=True)), "keys and values"
