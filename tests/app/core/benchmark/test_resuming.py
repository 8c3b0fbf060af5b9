"""A stopped measurement continues where it was: no question is repeated, no result is lost."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from app.core.benchmark.journal import Journal
from app.core.benchmark.runner import Runner
from app.core.benchmark.runs import AUTO, PLAIN, BenchmarkPlan, MeasuredAnswer, Question, Variant
from engine.records import SamplingParams
from tests.app.core.benchmark.made_runs import DRAFT
from tests.app.core.benchmark.test_runner import PEER, Scripted, prompt, steady

PLAN = BenchmarkPlan((0.0, 0.8), SamplingParams(seed=5), 64, repeat=2)
PROMPTS = [prompt("x"), prompt("y"), prompt("z", "b")]


class Stopping(Scripted):
    """Ends like Ctrl+C after this number of answers."""

    def __init__(self, variants: tuple[Variant, ...], after: int) -> None:
        super().__init__(variants, (0.1 * number for number in count(1)))
        self._after = after

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        if len(self.asked) == self._after:
            raise KeyboardInterrupt
        return super().answer(variant, question)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.jsonl"


def run_once(
    path: Path, own: Scripted, peer: Scripted, plan: BenchmarkPlan = PLAN, clock: Iterator[float] | None = None
) -> Runner:
    journal = Journal(path, {})
    ticks = clock or (0.0 for _ in count())
    runner = Runner(own, [peer], PROMPTS, plan, journal=journal, clock=lambda: next(ticks))
    try:
        runner.run()
    except KeyboardInterrupt:
        pass
    finally:
        journal.close()
    return runner


@pytest.mark.parametrize("after", [1, 2, 7, 12, 23])
def test_every_question_is_asked_exactly_once_over_all_starts(path: Path, after: int) -> None:
    own, peer = Stopping((PLAIN, AUTO), after), Scripted((PEER,), steady())
    first = run_once(path, own, peer)
    again, peer_again = Scripted((PLAIN, AUTO), steady()), Scripted((PEER,), steady())
    second = run_once(path, again, peer_again)
    assert len(second.runs) == second.runs_per_round * 2 == 36
    assert second.runs[: len(first.runs)] == first.runs
    assert len(own.asked) + len(again.asked) == 24
    assert len(peer.asked) + len(peer_again.asked) == 12
    assert second.rounds == 2


def test_the_order_is_that_of_a_measurement_that_was_not_stopped(path: Path, tmp_path: Path) -> None:
    run_once(path, Stopping((PLAIN, AUTO, DRAFT), 10), Scripted((PEER,), steady()))
    resumed = run_once(path, Scripted((PLAIN, AUTO, DRAFT), steady()), Scripted((PEER,), steady()))
    whole = run_once(tmp_path / "whole.jsonl", Scripted((PLAIN, AUTO, DRAFT), steady()), Scripted((PEER,), steady()))
    told = [[(run.prompt_id, run.temperature, run.round, run.variant) for run in one.runs] for one in (resumed, whole)]
    assert told[0] == told[1]


def test_what_is_whole_asks_nobody_anything(path: Path) -> None:
    run_once(path, Scripted((PLAIN, AUTO), steady()), Scripted((PEER,), steady()))
    own, peer = Scripted((PLAIN, AUTO), steady()), Scripted((PEER,), steady())
    assert len(run_once(path, own, peer).runs) == 36
    assert own.asked == peer.asked == []
    assert own.rounds == peer.rounds == 0


def test_time_ends_it_after_any_answer_but_what_is_kept_is_reported(path: Path) -> None:
    ticks = iter([0.0, 0.0, 0.0, 0.0, 0.0, 100.0])  # at the start, then before each answer
    first = run_once(path, Scripted((PLAIN, AUTO), steady()), Scripted((PEER,), steady()), timed(1.0), ticks)
    assert first.out_of_time
    assert len(first.runs) == 4  # one more than the three of a prompt
    own = Scripted((PLAIN, AUTO), steady())
    second = run_once(path, own, Scripted((PEER,), steady()), timed(0.0))
    assert second.out_of_time
    assert second.runs == first.runs
    assert own.asked == []


def timed(minutes: float) -> BenchmarkPlan:
    return replace(PLAN, max_minutes=minutes)


def test_each_round_has_its_own_seed(path: Path) -> None:
    own = Scripted((PLAIN,), steady())
    runner = run_once(path, own, Scripted((), steady()), replace(PLAN, repeat=2))
    assert {run.round for run in runner.runs} == {0, 1}
    assert len({question.sampling.seed for _, question in own.asked}) == 2
