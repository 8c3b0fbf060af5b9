"""Memory is read with the given number of threads, at least twice, and not for long."""

import threading
from time import perf_counter

import pytest

from engine import forecast


def test_it_is_quick_and_gives_bytes_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast, "_BLOCK_BYTES", 8 << 20)
    monkeypatch.setattr(forecast, "_BUDGET_S", 0.05)
    began, num_threads = perf_counter(), threading.active_count()
    assert 1e8 < forecast.measure_read_speed(2) < 1e13
    assert perf_counter() - began < 60.0
    assert threading.active_count() <= num_threads


def test_the_quickest_try_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast, "_BLOCK_BYTES", 8000)
    times = iter([0.0, 0.0, 1.0, 1.0, 1.5, 9.0])
    monkeypatch.setattr(forecast, "perf_counter", lambda: next(times))
    assert forecast.measure_read_speed(1) == pytest.approx(8000 / 0.5)
