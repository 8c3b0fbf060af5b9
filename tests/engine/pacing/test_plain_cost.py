"""What a plain pass is told to cost in an answer: the curve's word, as long as the answer's own passes bear it out."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from engine.decoding import loop
from engine.drafters.prompt_lookup import PromptLookupDrafter
from engine.pacing.cost_curve import CostCurve
from engine.pacing.pacer import Pacer
from engine.pacing.plain_cost import PlainCost, comparable_ms
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import ChatRequest, Finished, Mode, RunStats, SamplingParams
from engine.sequence import CachedSequence
from engine.session.answer import Answer, AnswerPlan
from tests.engine.tiny_tokenizer import TinyTokenizer
from tests.fake_model import MarkovModel

SHAPE = {1: 60.0, 4: 90.0, 8: 120.0, 16: 240.0}


@pytest.mark.parametrize(("first_ms", "last_ms"), [(60.0, 60.0), (60.0, 70.0), (60.0, 50.0)])
def test_a_steady_cost_of_plain_passes_is_reported(first_ms: float, last_ms: float) -> None:
    assert comparable_ms(first_ms, last_ms) == last_ms


@pytest.mark.parametrize(("first_ms", "last_ms"), [(56.0, 122.0), (122.0, 56.0)])
def test_nothing_is_compared_where_the_machine_became_slower_or_faster_meanwhile(
    first_ms: float, last_ms: float
) -> None:
    assert comparable_ms(first_ms, last_ms) is None


class Told:
    """An answer beside a curve; passes correct the curve as the loop does."""

    def __init__(self, pacer: Pacer) -> None:
        self.pacer = pacer
        self.cost = PlainCost(pacer)

    def passes(self, num_tokens: int, *passes_ms: float) -> float | None:
        for one in passes_ms:
            self.pacer.curve.observe(num_tokens, one)
        self.cost.observe_passes(num_tokens, passes_ms)
        return self.cost.reported_ms


def test_passes_that_take_what_the_curve_says_bear_it_out() -> None:
    pacer = Pacer(CostCurve(SHAPE))
    assert Told(pacer).passes(8, 118.0, 125.0, 121.0) == pytest.approx(pacer.prices.plain_ms)


def test_before_any_pass_nothing_is_reported() -> None:
    assert PlainCost(Pacer(CostCurve(SHAPE))).reported_ms is None


def test_one_hiccup_says_nothing() -> None:
    assert Told(Pacer(CostCurve(SHAPE))).passes(8, 120.0, 900.0, 121.0) is not None


@pytest.mark.parametrize("factor", [0.2, 0.5, 2.0, 5.0])
def test_a_curve_of_another_machine_than_the_passes_ran_on_is_not_reported(factor: float) -> None:
    """It was measured while another program had the cores, or when nobody had."""
    told = Told(Pacer(CostCurve(SHAPE)))
    for _ in range(40):
        assert told.passes(8, 120.0 * factor) is None


def test_a_curve_that_follows_where_passes_were_seen_is_not_yet_right_about_plain_ones() -> None:
    """The pass of eight tokens is corrected five times as fast as that of one, and then agrees with itself."""
    pacer = Pacer(CostCurve(SHAPE))
    Told(pacer).passes(8, *[30.0] * 100)
    assert pacer.curve.cost_ms(8) == pytest.approx(30.0, rel=0.05)
    assert pacer.prices.plain_ms > 2.0 * 15.0
    assert Told(pacer).passes(8, *[30.0] * 10) is None


def test_a_plain_pass_that_another_program_made_dear_is_not_reported_after_it_is_gone() -> None:
    pacer = Pacer(CostCurve(SHAPE))
    Told(pacer).passes(1, *[180.0] * 40)
    assert Told(pacer).passes(8, *[120.0] * 10) is None
    assert Told(pacer).passes(1, *[60.0] * 40) is None  # the cost changes within this answer
    assert Told(pacer).passes(1, *[60.0] * 10) == pytest.approx(60.0, rel=0.1)


def test_sizes_beyond_what_was_measured_bear_nothing_out() -> None:
    """Their cost is only a line that goes on."""
    told = Told(Pacer(CostCurve({1: 60.0, 4: 90.0})))
    assert told.passes(24, 100.0, 100.0) is None
    assert not told.cost.is_too_high
    assert told.passes(4, 90.0, 90.0, 90.0) is not None


def test_a_curve_that_was_taken_on_a_busy_machine_is_known_by_that_and_a_busy_answer_is_not() -> None:
    quicker, slower = Told(Pacer(CostCurve(SHAPE))), Told(Pacer(CostCurve(SHAPE)))
    quicker.passes(8, *[30.0] * 8)
    slower.passes(8, *[480.0] * 8)
    assert quicker.cost.is_too_high
    assert not slower.cost.is_too_high


def answer_stats(curve_ms: dict[int, float], seconds: float, monkeypatch: pytest.MonkeyPatch) -> RunStats:
    """Of an answer whose text repeats, by a clock of which each look takes so long."""
    ticks = count()
    monkeypatch.setattr(loop, "perf_counter", lambda: next(ticks) * seconds)
    logits = np.full((256, 256), -20.0, dtype=np.float32)
    for token in range(256):
        logits[token, (token + 1) % 4] = 20.0
    tokenizer = TinyTokenizer()
    request = ChatRequest(
        raw_prompt="\x00\x01\x02\x03" * 4, mode=Mode.NGRAM, depth=3, max_tokens=80, sampling=SamplingParams(0.0)
    )
    prompt = PromptBuilder(tokenizer, None)
    pacer = Pacer(CostCurve(curve_ms))
    target = CachedSequence(MarkovModel(logits))
    answer = Answer(target, tokenizer, prompt, AnswerPlan(request, PromptLookupDrafter(), pacer))
    *_, last = answer.events(lambda: False)
    assert isinstance(last, Finished)
    assert last.stats.tokens_per_pass is not None
    assert last.stats.tokens_per_pass > 3.0
    return last.stats


def test_an_answer_tells_its_gain_only_where_its_passes_cost_what_the_curve_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert answer_stats({1: 8.0, 4: 10.0, 8: 15.0}, 0.01, monkeypatch).plain_ms == pytest.approx(8.0, rel=0.1)
    busy = answer_stats({1: 80.0, 4: 100.0, 8: 150.0}, 0.01, monkeypatch)
    assert busy.plain_ms is None
    assert busy.plain_ms is None
