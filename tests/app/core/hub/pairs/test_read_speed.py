"""The memory's speed is measured with the given number of threads, at least twice, and not for long."""

import threading
from time import perf_counter

import pytest

from app.core.hub.pairs import read_speed
from app.core.hub.pairs.read_speed import measure_read_speed, memory_read_speed


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


def test_no_memory_for_a_measurement_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_threads: int) -> float:
        raise MemoryError

    monkeypatch.setattr(read_speed, "measure_read_speed", full)
    assert memory_read_speed() is None
