"""The pacer against simulated drafts: it finds what pays, gives up what does not, comes back, and says why."""

from __future__ import annotations

import re

import numpy as np
import pytest

from engine.acceptance import Part
from engine.choice import Choice
from engine.cost_curve import CostCurve
from engine.pacer import Pacer
from engine.records import Source

STAIRCASE = {1: 7.0, 2: 11.5, 3: 15.7, 4: 11.0, 5: 15.7, 6: 20.0, 8: 19.0, 12: 26.7, 16: 26.1, 32: 55.0}
FLAT = {1: 20.0, 16: 21.0, 32: 22.0}


class Simulation:
    """Text whose tokens a draft gets right with a given chance, at a given cost, confidence saying nothing."""

    def __init__(self, curve: dict[int, float], acceptance: float, step_ms: float, text: float = 0.0) -> None:
        self.pacer = Pacer(CostCurve(curve), step_ms)
        self.acceptance, self.step_ms, self.text = acceptance, step_ms, text
        self.rng = np.random.default_rng(1)
        self.depths: list[int] = []
        self.choices: list[Choice] = []

    def kept(self, depth: int, chance: float) -> int:
        misses = np.flatnonzero(self.rng.random(depth) >= chance)
        return int(misses[0]) if len(misses) else depth

    def run(self, passes: int) -> float:
        """Speed-up over plain decoding, in the curve's own milliseconds."""
        tokens = spent_ms = 0.0
        for _ in range(passes):
            text = [0.9] * 8 if self.text and self.rng.random() < 0.5 else []
            choice, limit = self.pacer.choose(text, has_model=self.step_ms > 0, limit=32)
            depth, accepted, draft_ms = 0, 0, 0.0
            if choice is Choice.MODEL:
                depth, draft_ms = self.draft(limit)
                accepted = self.kept(depth, self.acceptance)
                self.pacer.observe([Part(Source.DRAFT, [0.9] * depth)], accepted, draft_ms)
            elif choice is Choice.TEXT:
                depth = limit
                accepted = self.kept(depth, self.text)
                self.pacer.observe([Part(Source.NGRAM, [0.9] * depth)], accepted)
            else:
                self.pacer.observe_plain()
            tokens += accepted + 1
            spent_ms += self.pacer.curve.cost_ms(depth + 1) + self.pacer.overhead_ms + draft_ms
            self.depths.append(depth)
            self.choices.append(choice)
        return tokens / spent_ms * self.pacer.plain_ms

    def draft(self, limit: int) -> tuple[int, float]:
        drawn, alive, draft_ms = 0, 1.0, self.step_ms
        while self.pacer.worth_drawing(drawn, alive, 0.9, limit - drawn):
            alive *= self.pacer.chance(0.9)
            drawn += 1
            if drawn == limit or self.pacer.gain_of_running(drawn, alive, limit - drawn) <= 0.0:
                break
            draft_ms += self.step_ms
        return drawn, draft_ms


def best_fixed(curve: dict[int, float], acceptance: float, step_ms: float) -> float:
    """Speed-up of the best constant depth, in expectation."""
    costs = CostCurve(curve)
    speeds = [1.0]
    for depth in range(1, 32):
        expected = sum(acceptance**i for i in range(depth + 1))
        speeds.append(expected * (costs.cost_ms(1) + 0.05) / (costs.cost_ms(depth + 1) + 0.05 + depth * step_ms))
    return max(speeds)


@pytest.mark.parametrize("curve", [STAIRCASE, FLAT], ids=["staircase", "flat"])
@pytest.mark.parametrize("acceptance", [0.0, 0.3, 0.6, 0.8, 0.95])
@pytest.mark.parametrize("step_ms", [0.3, 3.0])
def test_it_comes_close_to_the_best_fixed_depth_and_never_below_plain(
    curve: dict[int, float], acceptance: float, step_ms: float
) -> None:
    simulation = Simulation(curve, acceptance, step_ms)
    simulation.run(300)  # learning
    speed = simulation.run(3000)
    assert speed > 0.98
    assert speed > 0.93 * best_fixed(curve, acceptance, step_ms)


def test_learning_that_a_draft_is_useless_costs_little() -> None:
    assert Simulation(STAIRCASE, 0.0, 0.3).run(300) > 0.95


def test_a_useless_draft_is_paused_with_the_reason() -> None:
    simulation = Simulation(STAIRCASE, 0.05, 1.0)
    simulation.run(400)
    assert simulation.choices[-50:].count(Choice.PLAIN) > 45
    assert "draft paused" in simulation.pacer.reason
    assert "needs" in simulation.pacer.reason


def test_a_probe_that_may_look_far_ahead_draws_no_further_than_another() -> None:
    """Where another token was drawn than was looked at, it went on to the end, for 33 tokens in a pass."""
    simulation = Simulation(STAIRCASE, 0.05, 1.0)
    simulation.run(400)
    choices = (simulation.pacer.choose([], has_model=True, limit=32, looks=True) for _ in range(600))
    assert (Choice.MODEL, 32) in choices
    assert simulation.draft(32)[0] <= 3


def test_a_draft_that_gets_better_is_taken_up_again() -> None:
    simulation = Simulation(STAIRCASE, 0.0, 0.3)
    simulation.run(500)
    simulation.acceptance = 0.9
    simulation.run(3000)
    assert simulation.choices[-200:].count(Choice.MODEL) > 150
    assert simulation.pacer.reason.startswith("draft on")


def test_probes_back_off() -> None:
    simulation = Simulation(STAIRCASE, 0.0, 0.3)
    simulation.run(4000)
    probes = [i for i, choice in enumerate(simulation.choices) if choice is Choice.MODEL]
    gaps = np.diff(probes[-3:])
    assert (gaps > 500).all()


def test_depths_follow_the_stairs() -> None:
    simulation = Simulation(STAIRCASE, 0.8, 0.3)
    simulation.run(1500)
    padded = {simulation.pacer.curve.padded(depth + 1) for depth in simulation.depths[-500:] if depth}
    assert padded <= {4, 8, 12, 16}


def test_repeating_text_is_taken_and_other_text_left() -> None:
    good, bad = Simulation(STAIRCASE, 0.0, 0.0, text=0.95), Simulation(STAIRCASE, 0.0, 0.0, text=0.05)
    assert good.run(2000) > 1.5
    assert bad.run(2000) > 0.97
    assert Choice.TEXT in good.choices[-20:]


def test_break_even_is_where_it_pays() -> None:
    pacer = Pacer(CostCurve({1: 10.0, 2: 15.0, 32: 450.0}), 1.0)
    assert pacer.break_even() == pytest.approx(0.6, abs=0.02)
    assert Pacer(CostCurve({1: 10.0, 2: 30.0, 32: 900.0}), 1.0).break_even() is None


def test_what_one_kind_of_answer_teaches_is_kept_apart() -> None:
    simulation = Simulation(STAIRCASE, 0.9, 0.3)
    pacer = simulation.pacer
    pacer.begin("good")
    simulation.run(200)
    known = pacer.chance(0.9)
    pacer.begin("bad")  # begins with what is known
    assert pacer.chance(0.9) == known
    simulation.acceptance = 0.05
    simulation.run(200)
    assert pacer.chance(0.9) < known - 0.1
    pacer.begin("good")
    assert pacer.chance(0.9) == known


def test_all_that_was_learnt_is_scaled_to_another_curve() -> None:
    simulation = Simulation(STAIRCASE, 0.9, 0.3)
    pacer = simulation.pacer
    pacer.begin("first")
    simulation.run(200)
    pacer.begin("second")
    rate = pacer.rate
    pacer.use(CostCurve({size: 2.0 * ms for size, ms in STAIRCASE.items()}))
    assert pacer.rate == pytest.approx(rate / 2.0, rel=0.02)
    pacer.begin("first")
    assert pacer.rate == pytest.approx(rate / 2.0, rel=0.02)


class TextOnly:
    """Looks for text without a draft model: each time some is found that is kept with so much chance."""

    def __init__(self, chance: float) -> None:
        self.pacer = Pacer(CostCurve(STAIRCASE))
        self.chance, self.rng = chance, np.random.default_rng(3)

    def run(self, passes: int) -> None:
        for _ in range(passes):
            choice, depth = self.pacer.choose([0.9] * 8, has_model=False, limit=32)
            kept = int(np.argmin(np.append(self.rng.random(8) < self.chance, False)))
            if choice is Choice.TEXT:
                self.pacer.observe([Part(Source.NGRAM, [0.9] * depth)], min(kept, depth))
            else:
                self.pacer.observe_plain()
                self.pacer.observe_unsent(Source.NGRAM, [0.9] * 8, kept)


def test_what_was_never_seen_is_told_as_expected() -> None:
    pacer = Pacer(CostCurve(STAIRCASE), draft_step_ms=2.0 * STAIRCASE[1])
    for _ in range(3):
        pacer.choose([], has_model=True, limit=32)
        pacer.observe_plain()
    assert "expected at depth 1" in pacer.reason
    assert "accepted" not in pacer.reason
    pacer.learnt.by_depth.observe(4, 1)
    pacer.explanation.reason = ""
    for _ in range(3):
        pacer.choose([], has_model=True, limit=32)
        pacer.observe_plain()
    assert "accepted at depth 1" in pacer.reason


def test_text_that_does_not_pay_is_told_where_there_is_no_draft_model() -> None:
    text = TextOnly(0.2)
    text.run(60)
    found = re.fullmatch(r"text lookup paused: (\d+) % accepted, needs (\d+) % here", text.pacer.reason)
    assert found is not None
    accepted, needed = map(int, found.groups())
    assert accepted < needed < 80
    text.chance = 0.95
    text.run(200)
    assert text.pacer.reason == "n-gram on: the text repeats"
    text.chance = 0.1
    text.run(200)
    assert text.pacer.reason.startswith("text lookup paused")


def test_one_text_that_does_not_pay_says_nothing() -> None:
    pacer = Pacer(CostCurve(STAIRCASE))
    pacer.choose([0.01], has_model=False, limit=32)
    for _ in range(50):
        pacer.choose([], has_model=False, limit=32)
    assert pacer.reason == ""


def test_text_that_cannot_pay_at_any_acceptance_is_told_so() -> None:
    pacer = Pacer(CostCurve({1: 1.0, 2: 40.0, 33: 80.0}))
    for _ in range(5):
        pacer.choose([0.9] * 4, has_model=False, limit=32)
    assert pacer.reason.endswith("and cannot pay here at any acceptance")


def test_beside_a_draft_model_the_reason_is_the_drafts() -> None:
    simulation = Simulation(STAIRCASE, 0.2, 3.0, text=0.05)
    simulation.run(400)
    assert "draft paused" in simulation.pacer.reason


def test_after_a_hurried_look_auto_begins_with_plain_passes_and_only_auto() -> None:
    pacer = Pacer(CostCurve({1: 60.0, 2: 70.0}), draft_step_ms=1.0)
    tried = []
    for _ in range(3):
        tried.append(pacer.choose([0.9] * 4, has_model=True, limit=8)[0])
        pacer.observe_plain()
        pacer.observe_pass(1, 15.0)
    assert tried[:2] == [Choice.PLAIN, Choice.PLAIN]
    assert tried[2] is not Choice.PLAIN
    assert pacer.plain_ms == pytest.approx(15.0, abs=0.2)
    assert pacer.learnt.model.cost_ms < 45.0  # what drafting is hoped to take went down with it
    asked = Pacer(CostCurve({1: 60.0, 2: 70.0}), draft_step_ms=1.0)
    assert asked.choose([], has_model=True, limit=8, may_rest=False)[0] is Choice.MODEL
