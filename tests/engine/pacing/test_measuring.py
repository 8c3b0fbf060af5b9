"""Measures the minimum of a few tries within a budget, stops for waiting requests, and leaves caches unchanged."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count
from time import process_time

import numpy as np
import pytest

from app.core.paths import builtin_draft
from engine.drafters.draft_model import DraftModelDrafter
from engine.errors import DecodeError
from engine.interfaces import Rows, TokenIds
from engine.llama import library
from engine.loading.loading import LoadOptions, open_model
from engine.pacing import measuring
from engine.pacing.constants import MAX_PASS, MEASURED_SIZES, STEADY_RATIO
from engine.pacing.measuring import (
    ForeignCpuLoad,
    Interrupted,
    few_passes_ms,
    make_room,
    measure,
    measure_drafting,
    measure_passes,
    measure_rollback,
)
from engine.sandbox.helper import WINDOW_PID
from engine.sequence import CachedSequence
from tests.engine.decoding.test_loop import N_VOCAB, P_LOGITS
from tests.fake_model import MarkovModel, RecurrentModel

READ = np.array([3, 1, 4, 1, 5, 2, 6], dtype=np.int32)
KINDS: list[type[MarkovModel]] = [MarkovModel, RecurrentModel]


def test_measuring_takes_minima_of_all_points() -> None:
    calls: list[int] = []
    assert set(measure(calls.append, 1.0)) == set(MEASURED_SIZES)
    assert len(calls) == 3 * (len(MEASURED_SIZES) + 1) + 1


def test_the_least_of_the_tries_counts() -> None:
    now, tries = [0.0], count()

    def disturbed_at_first(num_tokens: int) -> None:
        slow = next(tries) < len(MEASURED_SIZES) + 2
        now[0] += (3.0 if slow else 1.0) * num_tokens / 1000.0

    assert measure(disturbed_at_first, 10.0, clock=lambda: now[0]) == pytest.approx(
        {n: float(n) for n in MEASURED_SIZES}
    )


def test_measuring_ends_with_its_budget_and_knows_one_token_at_least() -> None:
    def slow(_num_tokens: int) -> None:
        time.sleep(0.02)

    points = measure(slow, 0.1)  # all tries would take more than a second
    assert 1 in points
    assert len(points) < len(MEASURED_SIZES)


def test_a_big_models_steps_are_found_within_the_budget() -> None:
    """Passes of 100 ms and more: extrapolating from one token would skip sizes that are affordable."""
    now = [0.0]

    def run_pass(num_tokens: int) -> None:
        now[0] += 0.1 + 0.01 * num_tokens if num_tokens > 1 else 0.1

    points = measure(run_pass, 2.0, clock=lambda: now[0])
    assert {1, 2, 3, 4, 5, 6, 7, 8, 16} <= set(points)
    assert now[0] <= 2.2


def test_interrupted_measuring_gives_a_whole_curve() -> None:
    calls: list[int] = []
    assert set(measure(calls.append, 5.0, lambda: True)) == set(MEASURED_SIZES)
    assert calls == [1, 1, *MEASURED_SIZES]

    def run_pass(num_tokens: int) -> None:
        if num_tokens == 4:
            raise Interrupted

    with pytest.raises(Interrupted):
        measure(run_pass, 5.0, lambda: True)


MEASUREMENTS: dict[str, Callable[[CachedSequence], object]] = {
    "passes": lambda sequence: measure_passes(sequence, 0.02),
    "few passes": lambda sequence: few_passes_ms(sequence, [1, 8]),
    "drafting": lambda sequence: measure_drafting(sequence, N_VOCAB),
    "rollback": measure_rollback,
}


@pytest.mark.parametrize("num_read", [0, len(READ)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MEASUREMENTS)
def test_the_cache_is_left_as_it_was(name: str, kind: type[MarkovModel], num_read: int) -> None:
    """A state that can be restored to one position only has no second one for the measurement."""
    model = kind(P_LOGITS)
    sequence = CachedSequence(model)
    if num_read:
        sequence.forward(READ[:num_read], 0)
    MEASUREMENTS[name](sequence)
    assert sequence.num_past == model.num_past == num_read
    assert sequence.num_reusable(np.append(READ[:num_read], np.int32(7))) == num_read
    assert model._ids == READ[:num_read].tolist()


class Failing(RecurrentModel):
    """Its passes start to fail."""

    fails_from = 1 << 30

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        if self.num_forwards >= self.fails_from:
            raise DecodeError("No pass.")
        return super().forward(ids, n_rows)


@pytest.mark.parametrize("name", ["passes", "few passes", "drafting"])
def test_a_pass_that_fails_leaves_it_as_it_was_too(name: str) -> None:
    model = Failing(P_LOGITS)
    sequence = CachedSequence(model)
    sequence.forward(READ, 0)
    model.fails_from = 5
    with pytest.raises(DecodeError):
        MEASUREMENTS[name](sequence)
    assert model._ids == READ.tolist()
    assert sequence.num_past == len(READ)
    model.fails_from = 1 << 30
    assert MEASUREMENTS[name](sequence)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stops_after", [0, 1, 3])
def test_measuring_drafting_ends_before_the_next_try_for_an_answer(kind: type[MarkovModel], stops_after: int) -> None:
    model, asked = kind(P_LOGITS), count()
    sequence = CachedSequence(model)
    sequence.forward(READ, 0)
    with pytest.raises(Interrupted):
        measure_drafting(sequence, N_VOCAB, lambda: next(asked) >= stops_after)
    assert next(asked) == stops_after + 1
    assert model._ids == READ.tolist()


def drafting_times(
    monkeypatch: pytest.MonkeyPatch, tries_ms: Sequence[float], read_ms: float, *, is_quiet: bool = True
) -> tuple[float, float, bool]:
    """Step, read and steadiness of a draft whose later tries take these times, on a clock that counts only them."""
    now = [0.0]
    milliseconds = iter([100.0, *tries_ms])
    propose, forward = DraftModelDrafter.propose, CachedSequence.forward

    def timed(self: DraftModelDrafter, *of: object) -> object:
        now[0] += next(milliseconds) / 1000.0
        return propose(self, *of)  # type: ignore[arg-type]

    def read(self: CachedSequence, ids: TokenIds, n_rows: int) -> Rows:
        now[0] += read_ms / 1000.0 if len(ids) == MAX_PASS else 0.0
        return forward(self, ids, n_rows)

    monkeypatch.setattr(DraftModelDrafter, "propose", timed)
    monkeypatch.setattr(CachedSequence, "forward", read)
    monkeypatch.setattr(measuring, "perf_counter", lambda: now[0])
    monkeypatch.setattr(measuring.ForeignCpuLoad, "is_low", is_quiet)
    times = measure_drafting(CachedSequence(MarkovModel(P_LOGITS)), N_VOCAB)
    return round(times.step_ms, 6), round(times.read_ms, 6), times.is_steady


def test_the_first_try_of_drafting_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    times = drafting_times(monkeypatch, [8.0, 8.4, 8.0, 9.0, 8.2], 33.0)
    assert times == (2.0, 1.0, True)


def test_what_most_tries_take_far_longer_than_the_least_for_was_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = 8.0 * STEADY_RATIO * 1.1
    times = drafting_times(monkeypatch, [slow, 8.0, slow, slow, 8.1], 33.0)
    assert times == (2.0, 1.0, False)


def test_what_was_measured_beside_another_program_is_not_steady(monkeypatch: pytest.MonkeyPatch) -> None:
    times = drafting_times(monkeypatch, [8.0, 8.0, 8.0, 8.0, 8.0], 33.0, is_quiet=False)
    assert times == (2.0, 1.0, False)


@pytest.mark.parametrize(
    ("idle_s", "own_s", "is_quiet"),
    [
        (40.0, 0.0, True),  # idle
        (20.0, 20.0, True),  # this process with two of its cores
        (0.0, 40.0, True),  # this process with all its cores
        (30.0, 0.0, False),  # another process with one core
        (0.0, 20.0, False),  # both
        (19.5, 20.0, True),  # there is always some noise
    ],
)
def test_what_other_programs_took_is_what_is_neither_idle_nor_ones_own(
    idle_s: float, own_s: float, is_quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, idle, own = [5.0], [100.0], [7.0]
    monkeypatch.setattr(measuring, "perf_counter", lambda: now[0])
    monkeypatch.setattr(measuring, "process_cpu_seconds", lambda: own[0])
    monkeypatch.setattr(library, "idle_seconds", lambda: idle[0])
    monkeypatch.setattr(library, "physical_cores", lambda: 4)
    others = measuring.ForeignCpuLoad()
    now[0], idle[0], own[0] = now[0] + 10.0, idle[0] + idle_s, own[0] + own_s
    assert others.is_low is is_quiet


@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_that_is_too_full_to_measure_in_forgets_its_end(kind: type[MarkovModel]) -> None:
    sequence = CachedSequence(kind(P_LOGITS, 64))
    sequence.forward(np.arange(60, dtype=np.int32) % N_VOCAB, 0)
    past = make_room(sequence, MAX_PASS)
    assert past == sequence.num_past <= 64 - MAX_PASS
    assert max(measure_passes(sequence, 0.05)) == MAX_PASS


def test_the_processor_time_of_the_window_is_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = measuring.process_cpu_seconds()
    child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        monkeypatch.setenv(WINDOW_PID, str(child.pid))
        end_s = time.monotonic() + 30.0
        while measuring.process_cpu_seconds() < process_time() + 0.2:
            assert time.monotonic() < end_s
            time.sleep(0.02)
    finally:
        child.kill()
        child.wait()
    assert alone <= measuring.process_cpu_seconds() <= process_time(), "it is gone"
    monkeypatch.setenv(WINDOW_PID, "nonsense")
    assert measuring.process_cpu_seconds() <= process_time()


def test_where_a_sandbox_hides_what_idles_steady_times_have_to_be_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "idle_seconds", lambda: 0.0)
    others = ForeignCpuLoad()
    monkeypatch.setattr(measuring, "perf_counter", lambda: 1e9)
    assert others.is_low


def test_of_slow_passes_each_size_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    sequence = CachedSequence(MarkovModel(P_LOGITS))
    forward = sequence._forward

    def slow(ids: TokenIds, n_rows: int) -> Rows:
        sizes.append(len(ids))
        return forward(ids, n_rows)

    sequence._forward = slow
    assert set(few_passes_ms(sequence, (1, 4), budget_s=0.0)) == {1, 4}
    assert sizes == [1, 1, 4]


@pytest.mark.parametrize("reason", [DecodeError("The pass failed."), Interrupted()])
def test_what_ends_it_leaves_the_number_that_was_in_force(reason: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring.library, "physical_cores", lambda: 2)
    loaded = open_model(builtin_draft(), LoadOptions(512, 1, 0))
    forward = loaded.context.forward

    def fails_on_two(*of: object) -> object:
        if loaded.context.threads == 2:
            raise reason
        return forward(*of)  # type: ignore[arg-type]

    monkeypatch.setattr(loaded.sequence, "_forward", fails_on_two)
    with pytest.raises(type(reason)):
        measuring.choose_threads(loaded, None, (1,), 0.1)
    assert loaded.context.threads == 1
    loaded.close()
