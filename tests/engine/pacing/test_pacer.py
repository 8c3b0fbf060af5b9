"""Tests the pacer with simulated drafts: it finds what pays, stops what does not, retries, and gives reasons."""

from statistics import mean

import numpy as np
import pytest

from engine.drafters.base import Draft
from engine.pacing.acceptance import draft_kind, text_kinds
from engine.pacing.constants import LOOK_AHEAD, MAX_DEPTH
from engine.pacing.cost_curve import CostCurve
from engine.pacing.pacer import Choice, Pacer
from engine.records import Source
from tests.long_form import rounds

STAIRCASE = {1: 7.0, 2: 11.5, 3: 15.7, 4: 11.0, 5: 15.7, 6: 20.0, 8: 19.0, 12: 26.7, 16: 26.1, 32: 55.0}
FLAT = {1: 20.0, 16: 21.0, 32: 22.0}
CONFIDENCE = 0.91


def text(count: int, match_length: int = 4) -> list[int]:
    """The classes of n-gram tokens with a single known continuation."""
    return text_kinds(Draft([1] * count, Source.NGRAM, match_length=match_length))


class Simulation:
    """Text whose tokens a draft predicts with a given chance and cost; its confidence has no meaning."""

    def __init__(self, curve: dict[int, float], acceptance: float, step_ms: float, repeats: float = 0.0) -> None:
        self.pacer = Pacer(CostCurve(curve), step_ms)
        self.acceptance, self.step_ms, self.repeats = acceptance, step_ms, repeats
        self.rng = np.random.default_rng(1)
        self.depths: list[int] = []
        self.choices: list[Choice] = []

    def kept(self, depth: int, chance: float) -> int:
        misses = np.flatnonzero(self.rng.random(depth) >= chance)
        return int(misses[0]) if len(misses) else depth

    def run(self, passes: int) -> float:
        """The speedup over plain decoding, in the curve's milliseconds."""
        tokens = spent_ms = 0.0
        for _ in range(passes):
            kinds = text(8) if self.repeats and self.rng.random() < 0.5 else []
            depth, accepted, elapsed_ms = self.one_pass(kinds)
            tokens += accepted + 1
            spent_ms += elapsed_ms
            self.depths.append(depth)
            self.choices.append(self.pacer.decision.choice)
        return tokens / spent_ms * self.pacer.prices.plain_ms

    def one_pass(self, kinds: list[int]) -> tuple[int, int, float]:
        """Proposed and accepted tokens and the time of a pass; reported as the loop does."""
        pacer = self.pacer
        decision = pacer.decide(kinds, has_model=self.step_ms > 0, limit=MAX_DEPTH)
        depth, accepted, draft_ms = 0, 0, 0.0
        if decision.choice is Choice.DRAFT:
            depth, draft_ms = self.draft(decision.depth)
            accepted = self.kept(depth, self.acceptance)
        elif decision.choice is Choice.TEXT:
            depth = decision.depth
            accepted = self.kept(depth, self.repeats)
            pacer.observe_text(kinds[:depth], accepted)
        elif kinds:
            pacer.observe_text(kinds, self.kept(len(kinds), self.repeats))  # the outcome was observed
        other_ms = pacer.prices.overhead_ms + depth * pacer.prices.row_ms
        elapsed_ms = pacer.curve.cost_ms(depth + 1) + draft_ms + other_ms
        pacer.observe_step(elapsed_ms, other_ms, depth, accepted)
        if decision.choice is Choice.DRAFT:
            pacer.observe_draft([CONFIDENCE] * depth, accepted, elapsed_ms)
        return depth, accepted, elapsed_ms

    def draft(self, limit: int) -> tuple[int, float]:
        drawn, alive, draft_ms = 0, 1.0, self.step_ms
        while self.pacer.should_sample(drawn, alive, CONFIDENCE, limit - drawn):
            alive *= self.pacer.acceptance.draft.probability(draft_kind(CONFIDENCE))
            drawn += 1
            if drawn == limit or not self.pacer.should_run_model(drawn, alive, limit - drawn):
                break
            draft_ms += self.step_ms
        return drawn, draft_ms


def best_fixed(curve: dict[int, float], acceptance: float, step_ms: float) -> float:
    """The expected speedup of the best constant depth."""
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
    speeds = []
    for seed in range(3):
        simulation = Simulation(curve, acceptance, step_ms)
        simulation.rng = np.random.default_rng(seed)
        simulation.run(300)  # learning
        speeds.append(simulation.run(rounds(800, 2000)))
    assert min(speeds) > 0.98
    assert mean(speeds) > 0.93 * best_fixed(curve, acceptance, step_ms)


def test_a_useless_draft_is_paused_with_the_reason() -> None:
    simulation = Simulation(STAIRCASE, 0.05, 1.0)
    simulation.run(400)
    assert simulation.choices[-50:].count(Choice.PLAIN) > 45
    assert "draft paused" in simulation.pacer.reason
    assert "of its first tokens are accepted" in simulation.pacer.reason


def test_a_draft_that_gets_better_is_taken_up_again() -> None:
    simulation = Simulation(STAIRCASE, 0.0, 0.3)
    simulation.run(500)
    simulation.acceptance = 0.9
    simulation.run(3000)
    assert simulation.choices[-200:].count(Choice.DRAFT) > 150
    assert simulation.pacer.reason.startswith("draft on")


def test_a_stall_in_a_drafting_pass_does_not_end_drafting() -> None:
    """The process was suspended, or another program had all cores: such a pass took as long as 40 plain ones."""
    simulation = Simulation(FLAT, acceptance=0.8, step_ms=1.0)
    pacer = simulation.pacer
    pacer.begin()
    pacer.decide([], has_model=True, limit=MAX_DEPTH)
    pacer.observe_draft([CONFIDENCE] * 8, 8, 40.0 * pacer.prices.plain_ms)
    pacer.begin()
    simulation.run(20)
    assert simulation.choices.count(Choice.DRAFT) >= 18


def test_depths_follow_the_stairs() -> None:
    simulation = Simulation(STAIRCASE, 0.8, 0.3)
    simulation.run(1500)
    sizes = [depth + 1 for depth in simulation.depths[-500:] if depth]
    assert sum(size in {4, 8, 12, 16} for size in sizes) > 0.9 * len(sizes)


def test_repeating_text_is_taken_and_other_text_left() -> None:
    good, bad = Simulation(STAIRCASE, 0.0, 0.0, repeats=0.95), Simulation(STAIRCASE, 0.0, 0.0, repeats=0.05)
    assert good.run(2000) > 1.5
    assert bad.run(2000) > 0.97
    assert Choice.TEXT in good.choices[-20:]
    assert Choice.TEXT not in bad.choices[-200:]


def test_what_is_worth_more_is_chosen_of_text_and_a_draft() -> None:
    sure, unsure = Simulation(STAIRCASE, 0.95, 0.3, repeats=0.05), Simulation(STAIRCASE, 0.05, 0.3, repeats=0.95)
    for simulation in (sure, unsure):
        simulation.run(1000)
    assert sure.choices[-200:].count(Choice.DRAFT) > 190
    assert unsure.choices[-200:].count(Choice.TEXT) > 80
    assert unsure.choices[-200:].count(Choice.DRAFT) < 10


def test_what_one_kind_of_answer_teaches_is_kept_apart() -> None:
    simulation = Simulation(STAIRCASE, 0.9, 0.3)
    pacer, kind = simulation.pacer, draft_kind(CONFIDENCE)
    pacer.begin("good")
    simulation.run(200)
    known = pacer.acceptance.draft.probability(kind)
    pacer.begin("bad")
    simulation.acceptance = 0.05
    simulation.run(200)
    assert pacer.acceptance.draft.probability(kind) < known - 0.1
    pacer.begin("good")
    assert pacer.acceptance.draft.probability(kind) == known


def test_all_that_was_learnt_goes_on_with_another_curve() -> None:
    """It was learnt relative to plain passes; the cost of a drafted token is measured again."""
    simulation = Simulation(STAIRCASE, 0.9, 0.3)
    pacer = simulation.pacer
    simulation.run(200)
    before = pacer.decide([], has_model=True, limit=32)
    pacer.use_curve(CostCurve({size: 2.0 * ms for size, ms in STAIRCASE.items()}))
    after = pacer.decide([], has_model=True, limit=32)
    assert after.draft_gain_ms == pytest.approx(2.0 * (before.draft_gain_ms or 0.0), rel=0.02)
    assert after.expected_ms == pytest.approx(2.0 * before.expected_ms, rel=0.02)
    assert after.expected_tokens == before.expected_tokens


def test_no_token_beyond_the_cheapest_pass_is_looked_for_whatever_is_asked() -> None:
    pacer = Pacer(CostCurve({**STAIRCASE, 17: 32.0, 33: 57.0}), 0.3)
    assert pacer.prices.max_proposed == 15
    assert pacer.decide(text(3, 32), has_model=False, limit=2).depth <= 2
    assert pacer.decide(text(3, 32), has_model=False, limit=0).choice is Choice.PLAIN
    assert pacer.decide([], has_model=True, limit=0).choice is Choice.PLAIN
    assert LOOK_AHEAD <= MAX_DEPTH


class TextOnly:
    """Proposes n-grams without a draft model; each is accepted with this chance."""

    def __init__(self, chance: float, curve: dict[int, float] | None = None) -> None:
        self.pacer = Pacer(CostCurve(curve or STAIRCASE))
        self.chance, self.rng = chance, np.random.default_rng(3)

    def run(self, passes: int) -> None:
        for _ in range(passes):
            kinds = text(8)
            decision = self.pacer.decide(kinds, has_model=False, limit=32)
            kept = int(np.argmin(np.append(self.rng.random(8) < self.chance, False)))
            depth = decision.depth if decision.choice is Choice.TEXT else 8
            self.pacer.observe_text(kinds[:depth], min(kept, depth))


def test_a_share_is_reported_once_it_was_observed() -> None:
    pacer = Pacer(CostCurve(STAIRCASE), draft_step_ms=2.0 * STAIRCASE[1])
    for _ in range(3):
        pacer.decide([], has_model=True, limit=32)
    assert pacer.reason == "draft paused, since it would not pay off"
    pacer.acceptance.drafted.observe([0] * 4, 1)
    pacer.explanation.state = ""
    for _ in range(3):
        pacer.decide([], has_model=True, limit=32)
    assert "of its first tokens are accepted" in pacer.reason


def test_text_that_does_not_pay_is_reported_where_there_is_no_draft_model() -> None:
    looked_up = TextOnly(0.2)
    looked_up.run(60)
    assert looked_up.pacer.reason == "repeated text paused, since it would not pay off"
    looked_up.chance = 0.95
    looked_up.run(200)
    assert looked_up.pacer.reason == "using repeated text (n-gram)"
    looked_up.chance = 0.1
    looked_up.run(200)
    assert looked_up.pacer.reason.startswith("repeated text paused")


def test_a_draft_that_is_left_out_beside_text_is_named() -> None:
    pacer = Pacer(CostCurve(STAIRCASE), draft_step_ms=0.62 * STAIRCASE[1])
    pacer.acceptance.drafted.observe([0] * 40, 1)
    for _ in range(60):
        decision = pacer.decide(text(8, 3), has_model=True, limit=32)
        if decision.choice is Choice.TEXT:
            pacer.observe_text(text(8, 3)[: decision.depth], decision.depth)
    assert pacer.reason.startswith("the draft is not used: it would slow this model down here")


def test_that_drafting_was_asked_for_is_not_said_of_the_next_answer() -> None:
    pacer = Pacer(CostCurve(STAIRCASE), draft_step_ms=2.0 * STAIRCASE[1])
    pacer.acceptance.drafted.observe([0] * 4, 1)
    for _ in range(3):
        pacer.decide([], has_model=True, limit=32, may_pause=False)
    assert pacer.reason.startswith("draft on as chosen")
    pacer.begin()
    assert pacer.reason == ""
    for _ in range(3):
        pacer.decide([], has_model=True, limit=32)
    assert pacer.reason.startswith("draft paused")


def test_one_text_that_does_not_pay_says_nothing() -> None:
    pacer = Pacer(CostCurve(STAIRCASE))
    pacer.decide(text(1, 1), has_model=False, limit=32)
    for _ in range(50):
        pacer.decide([], has_model=False, limit=32)
    assert pacer.reason == ""


def test_after_a_hurried_look_auto_begins_with_plain_passes_and_only_auto() -> None:
    pacer = Pacer(CostCurve({1: 60.0, 2: 70.0}), draft_step_ms=1.0)
    tried = []
    for _ in range(3):
        tried.append(pacer.decide(text(4), has_model=True, limit=8))
        pacer.observe_run([15.0], 0.05)
    assert [one.choice for one in tried[:2]] == [Choice.PLAIN, Choice.PLAIN]
    assert tried[2].choice is not Choice.PLAIN
    assert pacer.prices.plain_ms == pytest.approx(15.0, abs=0.2)
    assert tried[2].expected_ms < 45.0  # the expected cost of proposing also decreased
    asked = Pacer(CostCurve({1: 60.0, 2: 70.0}), draft_step_ms=1.0)
    assert asked.decide([], has_model=True, limit=8, may_pause=False).choice is Choice.DRAFT
