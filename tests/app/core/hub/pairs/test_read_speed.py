"""The memory's speed is measured once, with the given number of threads, at least twice, and not for long."""

import threading
from pathlib import Path
from time import perf_counter

import pytest

from app.core.hub.pairs import read_speed
from app.core.hub.pairs.read_speed import ReadSpeed, measure_read_speed


def test_it_is_quick_and_gives_bytes_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_speed, "_BLOCK_BYTES", 8 << 20)
    monkeypatch.setattr(read_speed, "_BUDGET_S", 0.05)
    began, num_threads = perf_counter(), threading.active_count()
    assert 1e8 < measure_read_speed(2) < 1e13
    assert perf_counter() - began < 60.0
    assert threading.active_count() <= num_threads


def test_the_quickest_try_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_speed, "_BLOCK_BYTES", 8000)
    times = iter([0.0, 0.0, 1.0, 1.0, 1.5, 9.0])
    monkeypatch.setattr(read_speed, "perf_counter", lambda: next(times))
    assert measure_read_speed(1) == pytest.approx(8000 / 0.5)


@pytest.mark.parametrize("quiet", [True, False])
def test_it_is_stored_unless_other_programs_disturbed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(read_speed.ForeignCpuLoad, "is_low", quiet)
    monkeypatch.setattr(read_speed, "measure_read_speed", lambda threads: asked.append(threads) or 40e9)
    for _start in range(2):
        speed = ReadSpeed(tmp_path)
        assert speed.bytes_per_s() == speed.bytes_per_s() == 40e9
    assert len(asked) == (1 if quiet else 2)


def test_no_memory_for_a_measurement_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_threads: int) -> float:
        raise MemoryError

    monkeypatch.setattr(read_speed, "measure_read_speed", full)
    assert ReadSpeed(tmp_path).bytes_per_s() is None
