"""Tests the number of threads: chosen by cost, reduced in a collapse, retried patiently, with reasons."""

import pytest

from engine.tuning.threads import PATIENCE, ThreadControl, candidates, choose, measure

UNDISTURBED = {2: {1: 7.0, 4: 11.0}, 1: {1: 12.0, 4: 21.0}}
COLLAPSE = {2: {1: 60.0, 4: 70.0}, 1: {1: 20.0, 4: 35.0}}
FAIR = {2: {1: 21.0, 4: 33.0}, 1: {1: 36.0, 4: 63.0}}  # three times as slow, and fewer threads are slower still


class Machine:
    """Passes at scripted costs, which advance the clock."""

    def __init__(self, costs: dict[int, dict[int, float]], most: int = 2) -> None:
        self.now_s = 0.0
        self.costs = costs
        self.control = ThreadControl(most, most, lambda: self.now_s)
        self.used: list[int] = []
        self.passes = 0

    def run(self, seconds: float) -> float:
        """Run passes of changing size for this time; returns milliseconds per token-sized pass."""
        ends = self.now_s + seconds
        first = self.passes
        while self.now_s < ends:
            size = 4 if self.passes % 3 == 0 else 1
            threads = self.control.threads
            cost_ms = self.costs[threads][size]
            self.now_s += cost_ms / 1000.0
            self.used.append(threads)
            self.control.observe(size, cost_ms)
            self.passes += 1
        return (self.passes - first) / seconds


def test_an_undisturbed_machine_is_left_alone() -> None:
    machine = Machine(UNDISTURBED)
    machine.run(20.0)
    assert set(machine.used) == {2}
    assert machine.control.reason == ""


def test_a_collapse_is_answered_within_a_few_passes_and_reported() -> None:
    machine = Machine(UNDISTURBED)
    machine.run(3.0)
    machine.costs = COLLAPSE
    machine.used.clear()
    machine.run(1.0)
    assert machine.used.index(1) == PATIENCE
    assert machine.control.threads == 1
    assert machine.control.reason == "threads from 2 to 1: another program uses the cores"


def test_in_a_long_collapse_trials_become_rare_and_cost_little() -> None:
    machine = Machine(UNDISTURBED)
    machine.run(3.0)
    machine.costs = COLLAPSE
    machine.run(60.0)
    machine.used.clear()
    speed = machine.run(200.0)
    always_one = 1000.0 / ((2 * 20.0 + 35.0) / 3)
    assert speed > 0.99 * always_one
    assert 0 < machine.used.count(2) < 30


@pytest.mark.parametrize(("disturbed_s", "longest_s"), [(3.0, 3.0), (20.0, 9.0), (600.0, 9.0)])
def test_a_trial_detects_free_cores(disturbed_s: float, longest_s: float) -> None:
    machine = Machine(UNDISTURBED)
    machine.run(3.0)
    machine.costs = COLLAPSE
    machine.run(disturbed_s)
    assert machine.control.threads == 1
    machine.costs = UNDISTURBED
    machine.run(longest_s)
    assert machine.control.threads == 2
    assert machine.control.reason == "threads from 1 to 2: the cores are free again"


def test_fewer_threads_that_are_no_better_are_given_up_again() -> None:
    machine = Machine(UNDISTURBED)
    machine.run(3.0)
    machine.costs = FAIR
    machine.run(60.0)
    assert machine.control.threads == 2
    assert machine.used[-500:].count(1) < 25
    assert machine.control.reason == ""


@pytest.mark.parametrize(("most", "expected"), [(1, [1]), (2, [2, 1]), (6, [6, 3, 1]), (16, [16, 8, 4, 2, 1])])
def test_candidates(most: int, expected: list[int]) -> None:
    assert candidates(most) == expected


def test_the_cheapest_number_is_chosen_and_of_equal_ones_the_least() -> None:
    assert choose({2: (7.0, 19.0), 1: (12.0, 36.0)}) == 2
    assert choose({2: (0.50, 1.9), 1: (0.30, 2.0)}) == 1
    assert choose({8: (5.0, 9.0), 4: (5.05, 9.1), 2: (8.0, 15.0)}) == 4
    assert choose({3: (1.0,)}) == 3


def test_measuring_tries_the_best_two_on_all_sizes() -> None:
    asked: list[tuple[int, int]] = []
    now = [1]

    def set_threads(count: int) -> None:
        now[0] = count

    def run_pass(num_tokens: int) -> None:
        asked.append((now[0], num_tokens))

    assert set(measure(run_pass, set_threads, [2, 1], (1, 8), 5.0)) == {2, 1}
    assert {size for threads, size in asked if threads == 1} == {1, 8}


def test_a_number_that_was_found_best_in_a_disturbance_does_not_stay() -> None:
    machine = Machine(COLLAPSE)
    machine.control = ThreadControl(1, 2, lambda: machine.now_s)
    machine.run(5.0)
    assert machine.control.threads == 1
    machine.costs = UNDISTURBED
    machine.run(20.0)
    assert machine.control.threads == 2
    assert machine.control.best == 2
    assert machine.control.reason == "threads from 1 to 2: that is faster here"


def test_an_initial_collapse_is_detected_by_the_expected_cost() -> None:
    machine = Machine(COLLAPSE)
    machine.control.expect(UNDISTURBED[2])
    machine.run(3.0)
    assert machine.control.threads == 1


def test_a_number_that_was_measured_in_a_collapse_is_doubted() -> None:
    machine = Machine(COLLAPSE)
    machine.control = ThreadControl(2, 2, lambda: machine.now_s, doubts=True)
    machine.control.expect(COLLAPSE[2])
    machine.run(10.0)
    assert machine.control.threads == 1
