"""Tests the runner: all contestants in turn, round after round, until the result is certain or the time is over."""

from collections.abc import Iterator, Sequence
from itertools import count

import pytest

from app.core.benchmark.prompts import BenchmarkPrompt
from app.core.benchmark.runner import Runner, interleaved, rotated
from app.core.benchmark.runs import AUTO, PLAIN, BenchmarkPlan, MeasuredAnswer, Question, Variant
from engine.records import Message, RunStats, SamplingParams
from tests.app.core.benchmark.made_runs import DRAFT

PEER = Variant("plain", None, "llama-server")


def prompt(name: str, category: str = "a") -> BenchmarkPrompt:
    return BenchmarkPrompt(name, category, (Message("user", name),))


class Scripted:
    """A contestant whose answers take the given seconds."""

    def __init__(self, variants: Sequence[Variant], seconds: Iterator[float]) -> None:
        self.variants = variants
        self.asked: list[tuple[Variant, Question]] = []
        self.rounds = 0
        self._seconds = seconds

    def prompt_ids(self, asked: BenchmarkPrompt) -> tuple[int, ...]:
        return (len(asked.id),)

    def begin_round(self) -> None:
        self.rounds += 1

    def prepare(self, question: Question) -> None:
        """Do nothing."""

    def answer(self, variant: Variant, question: Question) -> MeasuredAnswer:
        self.asked.append((variant, question))
        seconds = next(self._seconds)
        return RunStats(tokens=100, passes=100, decode_s=seconds), (1,)


def runner_of(
    plan: BenchmarkPlan,
    *,
    own: Scripted,
    peers: Sequence[Scripted] = (),
    prompts: Sequence[BenchmarkPrompt] = (),
    clock: Iterator[float],
) -> Runner:
    return Runner(own, peers, prompts or [prompt("x"), prompt("y")], plan, clock=lambda: next(clock))


def steady() -> Iterator[float]:
    while True:
        yield 1.0


def test_everybody_answers_the_same_question_in_every_round() -> None:
    own, peer = Scripted((PLAIN, DRAFT), steady()), Scripted((PEER,), steady())
    plan = BenchmarkPlan((0.0, 0.8), SamplingParams(seed=5), 64, repeat=2, ignore_eos=True)
    runner = runner_of(plan, own=own, peers=[peer], clock=count())
    runner.run()
    assert runner.rounds == 2
    assert peer.rounds == 4  # once per round and temperature
    assert len(runner.runs) == runner.runs_per_round * 2 == 24
    for variant, question in peer.asked:
        assert variant == PEER
        assert (question.max_tokens, question.ignore_eos) == (64, True)
        assert any(question == mine for _, mine in own.asked)
    assert {question.sampling.seed for _, question in peer.asked} == {5, 6}


def test_time_ends_it_between_two_prompts() -> None:
    own = Scripted((PLAIN, AUTO), steady())
    clock = iter([0.0, 10.0, 50.0, 70.0])  # at the start, then before each prompt
    plan = BenchmarkPlan((0.0,), SamplingParams(), 8, repeat=9, max_minutes=1.0)
    runner = runner_of(plan, own=own, prompts=[prompt("x"), prompt("y"), prompt("z")], clock=clock)
    runner.run()
    assert runner.out_of_time
    assert runner.rounds == 0
    assert [run.prompt_id for run in runner.runs] == ["x", "x", "y", "y"]


@pytest.mark.parametrize(
    ("place", "round_number", "order"), [(0, 0, "abc"), (1, 0, "bca"), (4, 0, "bca"), (0, 1, "cba"), (1, 1, "acb")]
)
def test_nobody_always_follows_the_same_neighbour(place: int, round_number: int, order: str) -> None:
    assert "".join(rotated("abc", place, round_number)) == order


def test_prompts_alternate_between_the_workloads() -> None:
    prompts = [prompt("1"), prompt("2"), prompt("3"), prompt("4", "b")]
    assert [one.id for one in interleaved(prompts)] == ["1", "4", "2", "3"]
