"""Tests when cores count as free: by scripted idle time, own CPU time, and a scripted clock."""

import pytest

from engine.llama import library
from engine.tuning.free_cores import FreeCores

NEVER = float("inf")


class System:
    """Two cores: other programs use some of them, and we the rest up to our threads."""

    def __init__(self, cores: int = 2) -> None:
        self.now_s = self.idle_s = self.own_s = 0.0
        self.cores = cores
        self.num_reads = 0
        self.free = FreeCores(self.read_idle, lambda: self.own_s, lambda: self.now_s)

    def read_idle(self) -> float:
        self.num_reads += 1
        return self.idle_s

    def run(self, seconds: float, *, others: float, threads: int = 1, own: float = 1.0, wanted: int = 2) -> float:
        """Query every hundredth of a second; returns the time until the cores were available."""
        for step in range(round(seconds * 100)):
            taken = min(threads * own, self.cores - others)
            self.now_s += 0.01
            self.idle_s += 0.01 * (self.cores - others - taken)
            self.own_s += 0.01 * taken / threads
            if self.free.are_free(wanted, threads):
                return (step + 1) / 100
        return NEVER


@pytest.mark.parametrize("others", [1.0, 1.9, 0.5])
def test_cores_that_are_taken_are_not_free(others: float) -> None:
    assert System().run(60.0, others=others) == NEVER


@pytest.mark.parametrize("others", [0.0, 0.2])
def test_cores_are_free_a_moment_after_the_other_program_has_ended(others: float) -> None:
    system = System()
    assert system.run(10.0, others=2.0) == NEVER
    assert system.run(10.0, others=others) == pytest.approx(0.3, abs=0.25)


def test_one_free_core_of_eight_is_told_from_all() -> None:
    system = System(8)
    assert system.run(10.0, others=1.0, threads=4, wanted=8) == NEVER
    assert system.run(10.0, others=0.1, threads=4, wanted=8) < NEVER


def test_what_was_believed_in_vain_is_believed_later_and_later() -> None:
    system = System()
    waits = []
    for _ in range(10):
        system.free.begin(taken=True)
        waits.append(system.run(60.0, others=0.0))
        system.free.adjust_interval(were_back=False)
    assert waits == pytest.approx([0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 16.0, 16.0, 16.0], abs=0.3)
    system.free.adjust_interval(were_back=True)
    system.free.begin(taken=True)
    assert system.run(60.0, others=0.0) == pytest.approx(0.3, abs=0.1)


def test_cores_that_nobody_took_are_not_back() -> None:
    system = System()
    assert system.run(60.0, others=0.0) == NEVER
    assert system.run(5.0, others=2.0) == NEVER
    assert system.run(5.0, others=0.0) < NEVER
    system.free.adjust_interval(were_back=False)
    assert system.run(60.0, others=0.0) == NEVER


def test_idle_time_of_this_machine_grows_and_is_none_where_it_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    first = library.idle_seconds()
    assert 0.0 < first <= library.idle_seconds()

    def hidden(**_options: object) -> object:
        raise PermissionError

    monkeypatch.setattr("psutil.cpu_times", hidden)
    assert library.idle_seconds() == 0.0
