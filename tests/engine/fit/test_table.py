"""Whether a pair fits: the table, the verdict, and changes that really make it fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.fit.cache_size import CacheSetup
from engine.fit.fit import Verdict
from engine.fit.table import ChangeKind, FitTable, ModelPlan, PairPlan, Room, fit_table
from engine.gguf.header import GgufHeader, read_header
from tests.engine.geometries import GEOMETRIES

GB = 10**9
ALL = 999
PLENTY = Room(500 * GB, 200 * GB, 500 * GB)


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


def kinds(table: FitTable) -> dict[ChangeKind, str]:
    return {change.kind: change.value for change in table.changes}


def test_the_rows_add_up(pair: PairPlan) -> None:
    table = fit_table(pair, PLENTY)
    assert table.verdict is Verdict.FITS
    assert table.changes == ()
    assert [row.name.split(": ")[0] for row in table.rows] == ["Target"] * 4 + ["Draft"] * 4
    assert table.needed.main_bytes == sum(row.main_bytes for row in table.rows)
    assert table.needed.disk_bytes == pair.target.download_bytes + 5 * 10**8
    assert "of main memory (500.0 GB free)" in table.sentence
    assert "GPU" not in table.sentence


def test_short_main_memory_is_met_by_cache_context_or_draft(pair: PairPlan) -> None:
    needed = fit_table(pair, PLENTY).needed.main_bytes
    table = fit_table(pair, replace(PLENTY, main_bytes=needed - GB // 2))
    assert table.verdict is Verdict.TOO_LARGE
    assert kinds(table) == {ChangeKind.CACHE_TYPE: "q8_0", ChangeKind.CONTEXT: "16384", ChangeKind.NO_DRAFT: ""}
    smaller = replace(pair, target=replace(pair.target, setup=CacheSetup(16384)))
    assert fit_table(smaller, table.room).verdict is not Verdict.TOO_LARGE


def test_a_tight_fit_is_told_with_what_eases_it(pair: PairPlan) -> None:
    needed = fit_table(pair, PLENTY).needed.main_bytes
    table = fit_table(pair, replace(PLENTY, main_bytes=int(needed * 1.05)))
    assert table.verdict is Verdict.TIGHT
    assert ChangeKind.CACHE_TYPE in kinds(table)
    assert ChangeKind.OTHER_MODEL not in kinds(table)


def test_a_short_gpu_is_met_by_fewer_layers_or_the_draft_elsewhere(pair: PairPlan) -> None:
    whole = on_gpu(pair)
    assert whole.draft is not None
    needed = fit_table(whole, PLENTY).needed.gpu_bytes
    table = fit_table(whole, replace(PLENTY, gpu_bytes=needed - GB // 2))
    assert table.verdict is Verdict.TOO_LARGE
    found = kinds(table)
    assert found[ChangeKind.DRAFT_ON_CPU] == "0"
    layers = int(found[ChangeKind.GPU_LAYERS])
    assert 20 < layers < 33
    for fewer, fits in ((layers, True), (layers + 1, False)):
        changed = replace(whole, target=replace(whole.target, gpu_layers=fewer))
        assert (fit_table(changed, table.room).verdict is not Verdict.TOO_LARGE) == fits


def test_a_full_disk(pair: PairPlan) -> None:
    table = fit_table(pair, replace(PLENTY, disk_bytes=GB))
    assert table.verdict is Verdict.TOO_LARGE
    assert list(kinds(table)) == [ChangeKind.DISK]
    assert "of disk space (1.0 GB free)" in table.sentence


def test_where_nothing_helps_another_model_does(pair: PairPlan) -> None:
    table = fit_table(pair, Room(2 * GB))
    assert list(kinds(table)) == [ChangeKind.OTHER_MODEL]
