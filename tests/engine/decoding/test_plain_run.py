"""Several plain passes at once give the same tokens, numbers and endings as single ones."""

import numpy as np
import pytest

from engine.decoding import loop
from engine.decoding.loop import LoopConfig
from engine.decoding.pass_report import PassReport, PlainRunReport
from engine.drafters.base import NoDrafter
from engine.errors import DecodeError
from engine.interfaces import Rows, TokenIds
from engine.records import SamplingParams, Source
from engine.sampling.sampler import History
from tests.engine.decoding.test_loop import OPEN, Run
from tests.fake_model import MarkovModel

GREEDY = SamplingParams(temperature=0.0)
PENALIZED = SamplingParams(temperature=0.7, repeat_penalty=1.3, seed=11)


class Told:
    """A `PassObserver` that records reports."""

    def __init__(self) -> None:
        self.passes: list[PassReport] = []
        self.runs: list[PlainRunReport] = []

    def on_pass(self, report: PassReport) -> None:
        self.passes.append(report)

    def on_plain_run(self, report: PlainRunReport) -> None:
        self.runs.append(report)


def never(_history: History) -> bool:
    return False


@pytest.mark.parametrize("sampling", [GREEDY, OPEN, PENALIZED])
def test_it_gives_the_tokens_that_single_steps_give(sampling: SamplingParams) -> None:
    single, several = Run(NoDrafter(), sampling, [3, 1, 4, 1]), Run(NoDrafter(), sampling, [3, 1, 4, 1])
    expected = single.tokens(40, 0)
    block = several.speculation.run_plain(40, 60.0, never)
    several.stats.count_tokens(block.sources, block.num_passes)
    assert block.ids == expected
    assert block.num_passes == 40
    assert set(block.sources) == {Source.TARGET}
    assert several.model._ids == several.speculation.history[:-1].tolist()
    now, before = several.stats.snapshot(), single.stats.snapshot()
    assert (now.tokens, now.passes, now.proposed, now.provenance) == (40, 40, 0, before.provenance)
    assert now.tokens_per_pass == 1.0
    assert now.verify_s > 0.0
    assert now.sample_s > 0.0


def test_no_time_is_one_pass() -> None:
    run = Run(NoDrafter(), GREEDY, [3, 1])
    assert len(run.speculation.run_plain(40, 0.0, never).ids) == 1


def test_it_ends_with_the_token_that_ends_and_at_the_context() -> None:
    run = Run(NoDrafter(), OPEN, [3, 1], n_ctx=32)
    ids = run.speculation.run_plain(100, 60.0, lambda history: int(history[-1]) == 5).ids
    assert ids[-1] == 5
    assert 5 not in ids[:-1]
    rest = run.speculation.run_plain(100, 60.0, never).ids
    assert len(ids) + len(rest) == 31
    assert run.speculation.free_tokens == 0


@pytest.mark.parametrize("pass_s", [0.001, 0.02, 0.03, 5.0])
def test_a_run_may_end_after_every_token_whatever_a_pass_takes(pass_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after the last token of a run: a job may be waiting for this token."""
    run = Run(NoDrafter(), GREEDY, [3, 1, 4, 1])
    now, forward = [0.0], run.target._forward

    def slow(*of: object) -> Rows:
        now[0] += pass_s
        return forward(*of)  # type: ignore[arg-type]

    monkeypatch.setattr(run.target, "_forward", slow)
    monkeypatch.setattr(loop, "perf_counter", lambda: now[0])
    heard: list[list[int]] = []

    def note(history: History) -> bool:
        heard.append(history.tolist())
        return False

    num_runs = 0
    while len(run.speculation.history) < 44:
        run.speculation.run_plain(44 - len(run.speculation.history), 0.03, note)
        num_runs += 1
    whole = run.speculation.history.tolist()
    assert heard == [whole[:length] for length in range(5, 45)]
    assert num_runs == (2 if pass_s == 0.001 else 20 if pass_s == 0.02 else 40)


@pytest.mark.parametrize("budget_s", [0.0, 60.0])
def test_who_is_asked_ends_it_also_where_the_time_is_over(budget_s: float) -> None:
    run = Run(NoDrafter(), GREEDY, [3, 1])
    asked: list[int] = []

    def end(history: History) -> bool:
        asked.append(len(history))
        return len(history) == 3

    assert len(run.speculation.run_plain(40, budget_s, end).ids) == 1
    assert asked == [3]


def test_every_pass_is_reported() -> None:
    told = Told()
    run = Run(NoDrafter(), GREEDY, [3, 1], config=LoopConfig(observers=(told,)))
    run.speculation.run_plain(7, 60.0, never)
    run.speculation.step(4, 10)
    assert [(report.num_history, len(report.forward_ms), len(report.passes_ms)) for report in told.runs] == [(2, 7, 7)]
    assert told.runs[0].total_ms == pytest.approx(sum(told.runs[0].passes_ms))
    assert [(report.num_history, report.num_decoded, report.num_proposed) for report in told.passes] == [(9, 1, 0)]


class _Failing(MarkovModel):
    """Computes NaN from a given pass on."""

    passes_left = 3

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        rows = super().forward(ids, n_rows)
        if n_rows:
            self.passes_left -= 1
        if self.passes_left < 0:
            rows[:] = np.nan
        return rows


def test_what_came_before_a_failure_is_given_and_then_the_failure() -> None:
    run = Run(NoDrafter(), GREEDY, [3, 1])
    run.target._forward = _Failing(run.model._logits).forward
    assert len(run.speculation.run_plain(40, 60.0, never).ids) == 3
    for _ in range(2):
        with pytest.raises(DecodeError, match="not numbers"):
            run.speculation.run_plain(40, 60.0, never)
    with pytest.raises(DecodeError, match="not numbers"):
        run.speculation.step(3, 40)  # other modes report the error, too
