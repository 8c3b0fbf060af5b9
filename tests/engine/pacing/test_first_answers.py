"""Without measurements, depth grows within the first answer if that pays; otherwise it stays at a few tries."""

from dataclasses import replace
from statistics import mean

import numpy as np
import pytest

from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.pacing.constants import DEFAULT_COST_CURVE, FOREGROUND_BUDGET_S, MAX_PASS
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter
from engine.pacing.measuring import measure
from engine.pacing.pacer import Pacer
from engine.records import Mode, SamplingParams
from engine.sequence import CachedSequence
from tests.engine.pacing.scripted import Clock, TimedModel
from tests.scripted_pair import unseeded

N_VOCAB = 24
OPEN = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=4)
# Cost of a pass of n tokens relative to a plain pass: AMX, measured on a padded target; a GPU; no gain.
STAIRCASE = {1: 1.0, 2: 1.8, 3: 2.0, 4: 1.95, 8: 2.5, 16: 3.7, 17: 4.6, 32: 8.0, 33: 11.0}
FLAT = {1: 1.0, 2: 1.02, 33: 1.2}
STEEP = {1: 1.0, 33: 33.0}
PLAIN_MS = [15.0, 340.0]  # the padded target; about ten billion parameters on a CPU
STEP_SHARE = 0.04  # time of a drafted token relative to a plain pass


def logits_of(seed: int) -> np.ndarray:
    """Sharp rows: each has one likely token."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0.0, 0.5, (N_VOCAB, N_VOCAB)).astype(np.float32)
    logits[np.arange(N_VOCAB), rng.permutation(N_VOCAB)] += 6.0
    return logits


TRUTH = logits_of(1)
DRAFTS = {"good": TRUTH + np.random.default_rng(2).normal(0, 0.3, TRUTH.shape).astype(np.float32), "bad": logits_of(3)}


class Home:
    """A new computer: costs are known from a short measurement of a slow target; then come answers."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        shares: dict[int, float],
        plain_ms: float,
        draft: str = "good",
        sampling: SamplingParams = OPEN,
    ) -> None:
        self.sampling = sampling
        self.clock, self.plain_ms = Clock(monkeypatch), plain_ms
        true_ms = plain_ms * np.interp(np.arange(MAX_PASS + 1), list(shares), list(shares.values()))
        self.target = TimedModel(TRUTH, self.clock, lambda n: float(true_ms[min(n, MAX_PASS)]))
        measured = measure(lambda n: void(self.target.forward([0] * n, 0)), FOREGROUND_BUDGET_S / 3, clock=self.clock)
        assert max(measured) <= 3  # otherwise there is nothing to find out
        self.target.clear()
        self.target.sizes.clear()
        step_ms = STEP_SHARE * plain_ms
        self.pacer = Pacer(CostCurve(measured), step_ms)
        self.model = DraftModelDrafter(
            CachedSequence(TimedModel(DRAFTS[draft], self.clock, lambda _n: step_ms)), N_VOCAB, frozenset()
        )

    def answer(self, num_tokens: int, mode: Mode = Mode.DRAFT) -> float:
        """The speedup over plain decoding of an answer with this many tokens."""
        target, ids = CachedSequence(self.target), np.array([3, 1], dtype=np.int32)
        target.clear()
        target.forward(ids[:-1], 0)
        self.target.sizes.clear()
        drafter = self.drafter(mode)
        stats = StatsRecorder(mode, 2048)
        speculation = Speculation(
            target,
            drafter,
            unseeded(self.sampling),
            stats,
            ids,
            LoopConfig(self.pacer, (self.pacer,)),
        )
        started, given = self.clock.now, 0
        while given < num_tokens:
            if rest := drafter.pause_length(speculation.history):
                given += len(speculation.run_plain(min(rest, num_tokens - given), 60.0, drafter.ends_pause).ids)
            else:
                given += len(speculation.step(32, num_tokens - given).ids)
        return num_tokens * self.plain_ms / 1000.0 / (self.clock.now - started)

    def drafter(self, mode: Mode) -> PacedDrafter:
        if mode is Mode.SUFFIX:
            return PacedDrafter(self.pacer, SuffixDrafter(), None, may_pause=False)
        return PacedDrafter(self.pacer, None, self.model, may_pause=mode is Mode.AUTO)


def void(_rows: object) -> None:
    """The callback that `measure` expects."""


@pytest.mark.parametrize("mode", [Mode.DRAFT, Mode.AUTO])
@pytest.mark.parametrize("plain_ms", PLAIN_MS)
@pytest.mark.parametrize(("shares", "at_least"), [(STAIRCASE, 1.7), (FLAT, 3.0)], ids=["staircase", "flat"])
def test_depth_grows_within_the_first_answer_where_that_pays(
    monkeypatch: pytest.MonkeyPatch, shares: dict[int, float], at_least: float, plain_ms: float, mode: Mode
) -> None:
    speeds, largest = list[float](), list[int]()
    for seed in range(6):
        home = Home(monkeypatch, shares, plain_ms, sampling=replace(OPEN, seed=seed))
        for _ in range(3):
            speeds.append(home.answer(100, mode))
            largest.append(max(home.target.sizes))
    for nth in range(3):
        assert mean(speeds[nth::3]) > at_least
        assert mean(largest[nth::3]) >= 14


@pytest.mark.parametrize("plain_ms", PLAIN_MS)
def test_where_every_token_costs_as_much_as_the_first_a_few_tries_are_all(
    monkeypatch: pytest.MonkeyPatch, plain_ms: float
) -> None:
    """Although drafting was requested, so that at least one token is proposed each time."""
    home = Home(monkeypatch, STEEP, plain_ms)
    assert home.answer(100) > 0.85
    assert sum(size > 2 for size in home.target.sizes) <= 10
    assert home.answer(200) > 0.95
    assert sum(size > 2 for size in home.target.sizes) <= 2


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("shares", [STAIRCASE, STEEP], ids=["staircase", "steep"])
@pytest.mark.parametrize("plain_ms", PLAIN_MS)
def test_auto_is_no_slower_than_plain_decoding(
    monkeypatch: pytest.MonkeyPatch, shares: dict[int, float], plain_ms: float, draft: str
) -> None:
    home = Home(monkeypatch, shares, plain_ms, draft)
    assert home.answer(300, Mode.AUTO) > 0.95
    assert home.answer(300, Mode.AUTO) > 0.97


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("shares", [STAIRCASE, STEEP, FLAT], ids=["staircase", "steep", "flat"])
@pytest.mark.parametrize("known", [{1: 1.0}, {1: 1.0, 2: 1.8}], ids=["one", "two"])
@pytest.mark.parametrize("times", [3.0, 6.0])
def test_a_disturbed_hurried_measurement_does_not_make_auto_lose(
    monkeypatch: pytest.MonkeyPatch, times: float, known: dict[int, float], shares: dict[int, float], draft: str
) -> None:
    home = Home(monkeypatch, shares, 15.0, draft)
    home.pacer.use_curve(CostCurve({n: times * share * 15.0 for n, share in known.items()}))
    home.answer(150, Mode.AUTO)
    assert min(home.answer(150, Mode.AUTO) for _ in range(2)) > 0.95


def test_repeated_text_is_proposed_further_and_further(monkeypatch: pytest.MonkeyPatch) -> None:
    speeds, largest = list[float](), list[int]()
    for seed in range(12):
        home = Home(monkeypatch, STAIRCASE, 340.0, sampling=replace(OPEN, seed=seed))
        speeds.append(home.answer(200, Mode.SUFFIX))
        largest.append(max(home.target.sizes))
    assert mean(speeds) > 1.5
    assert mean(largest) > 14


def test_one_pass_that_met_another_program_is_not_believed_at_once() -> None:
    curve = CostCurve({1: 10.0, 2: 18.0})
    curve.observe(4, 90.0)
    assert curve.cost_ms(4) < 0.45 * 90.0
    curve.observe(4, 19.5)
    curve.observe(4, 21.0)
    assert curve.cost_ms(4) == pytest.approx(19.5)


def test_one_pass_that_is_cheaper_than_hoped_is_believed_at_once() -> None:
    curve = CostCurve({1: 10.0, 2: 18.0})
    before = curve.cost_ms(8)
    curve.observe(8, 12.0)
    assert before > 18.0
    assert curve.cost_ms(8) == pytest.approx(12.0)


def test_what_a_try_says_of_a_size_says_something_of_larger_ones() -> None:
    curve = CostCurve({1: 10.0})
    before = curve.points_ms[16]
    assert before == pytest.approx(10.0 * DEFAULT_COST_CURVE[16])
    for _ in range(3):
        curve.observe(4, 12.0)
    assert curve.points_ms[16] < 0.9 * before


def test_what_is_only_hoped_is_not_kept_and_what_was_learnt_is() -> None:
    curve = CostCurve({1: 10.0, 2: 18.0})
    assert curve.known_ms == {1: 10.0, 2: 18.0}
    for _ in range(2):
        curve.observe(4, 20.0)
    assert set(curve.known_ms) == {1, 2}
    curve.observe(4, 20.0)
    assert curve.known_ms == pytest.approx({1: 10.0, 2: 18.0, 4: 20.0})


def test_what_was_learnt_outlives_a_measurement_that_is_no_longer() -> None:
    curve = CostCurve({1: 10.0})
    for _ in range(3):
        curve.observe(8, 30.0)
    curve.replace({1: 5.0, 2: 9.0})
    assert curve.points_ms[8] == pytest.approx(15.0)
    curve.replace({1: 5.0, 8: 20.0, 16: 40.0})
    assert curve.points_ms[8] == pytest.approx(20.0)
