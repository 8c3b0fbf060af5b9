"""Tests the estimated cost of plain decoding during an answer, and its certainty."""

from itertools import count

import numpy as np
import pytest

from engine.decoding import loop
from engine.decoding.pass_report import PassReport, PlainRunReport
from engine.drafters.base import Draft
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.pacing.cost_curve import CostCurve
from engine.pacing.pacer import Pacer
from engine.pacing.plain_speed import RECENT_S, PlainPasses, PlainSpeed
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import ChatRequest, Finished, Mode, RunStats, SamplingParams, Source
from engine.sequence import CachedSequence
from engine.session.answer import Answer, AnswerPlan
from tests.engine.tiny_tokenizer import TinyTokenizer
from tests.fake_model import MarkovModel

SHAPE = {1: 60.0, 4: 90.0, 8: 120.0, 16: 240.0}
EVEN_DRIFT = 0.35  # uncertainty of the last minutes or of larger passes


class Machine:
    """A loaded target whose answers get passes; ``now`` is the clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.passes = PlainPasses(lambda: self.now)
        self.pacer = Pacer(CostCurve(SHAPE))
        self.answer = PlainSpeed(self.passes, self.pacer)

    def begin(self, after_s: float = 1.0) -> None:
        self.now += after_s
        self.answer = PlainSpeed(self.passes, self.pacer)

    def plain(self, *runs_ms: float, history: int = 100, shared: int = 0) -> tuple[float, float] | None:
        """Report runs of two passes each."""
        for run_ms in runs_ms:
            half = run_ms / 2.0
            self.answer.on_plain_run(PlainRunReport(history, [half] * 2, [half] * 2, run_ms, 2 * shared, 2 * shared))
        return self.answer.estimate

    def larger(self, *passes_ms: float, num_tokens: int = 8, history: int = 100) -> tuple[float, float] | None:
        for ms in passes_ms:
            draft = Draft([1] * (num_tokens - 1), Source.NGRAM)
            laps = (0.0, 0.0, ms, 0.0, 0.0, 0.0, ms)
            self.answer.on_pass(PassReport(history, draft, 3, num_tokens, 0, 0, 0, False, False, *laps))
        return self.answer.estimate


def test_before_any_pass_nothing_is_known() -> None:
    assert Machine().answer.estimate is None


def test_an_answers_own_plain_passes_outweigh_earlier_measurements() -> None:
    machine = Machine()
    machine.plain(*[300.0] * 20)
    machine.begin()
    found = machine.plain(*[118.0, 122.0] * 20)
    assert found is not None
    assert found[0] == pytest.approx(60.0, rel=0.01)
    assert found[1] < 0.06


def test_stalls_that_hit_passes_in_a_row_make_it_less_sure() -> None:
    steady, stalled = Machine(), Machine()
    sure, unsure = steady.plain(*[120.0] * 20), stalled.plain(*[120.0] * 18, 240.0, 240.0)
    assert sure is not None
    assert unsure is not None
    assert unsure[1] > 3.0 * sure[1]


def test_an_answer_without_plain_passes_uses_those_of_the_last_minutes() -> None:
    machine = Machine()
    machine.plain(*[120.0] * 20)
    machine.begin()
    found = machine.larger(*[120.0] * 20)
    assert found is not None
    assert found[0] == pytest.approx(60.0, rel=0.02)
    assert found[1] < 0.15


def test_passes_of_long_ago_of_another_fill_and_beside_others_say_nothing() -> None:
    for changes in ({"history": 5000}, {"shared": 1}):
        machine = Machine()
        machine.plain(*[120.0] * 20, **changes)
        machine.begin()
        alone = machine.larger(*[120.0] * 20)
        assert alone is not None
        assert alone[1] == pytest.approx(1.96 * 0.1, rel=0.01), "by the shape of the curve only"
    machine = Machine()
    machine.plain(*[120.0] * 20)
    machine.begin(RECENT_S + 1.0)
    assert machine.larger(*[120.0] * 20, num_tokens=24) is None, "and of that size nothing was measured"


def test_a_changed_machine_invalidates_the_last_minutes() -> None:
    machine = Machine()
    machine.plain(*[120.0] * 20)
    machine.begin()
    found = machine.larger(*[360.0] * 20)
    assert found is not None
    assert found[0] == pytest.approx(180.0, rel=0.02), "those of the last minutes say 60"
    assert found[1] == pytest.approx(1.96 * 0.1, rel=0.01)


def test_where_the_larger_passes_contradict_the_plain_ones_these_decide() -> None:
    machine = Machine()
    alone = machine.plain(*[100.0, 140.0] * 4)
    assert machine.larger(*[480.0] * 20) == alone


def test_larger_passes_alone_tell_a_clear_gain_only() -> None:
    found = Machine().larger(*[60.0] * 20)
    assert found is not None
    assert found[0] == pytest.approx(30.0, rel=0.02)
    assert 0.15 < found[1] < EVEN_DRIFT


def test_beside_other_answers_plain_passes_beside_others_count() -> None:
    machine = Machine()
    machine.plain(*[120.0] * 20)
    machine.begin()
    found = machine.plain(*[240.0] * 20, shared=1)
    assert found is not None
    assert found[0] == pytest.approx(120.0, rel=0.01)


def answer_stats(curve_ms: dict[int, float], seconds: float, monkeypatch: pytest.MonkeyPatch) -> RunStats:
    """Statistics of an answer with repeating text, on a clock that advances with each query."""
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
    answer = Answer(target, tokenizer, prompt, AnswerPlan(request, SuffixDrafter(), pacer))
    *_, last = answer.events(lambda: False)
    assert isinstance(last, Finished)
    assert last.stats.tokens_per_pass is not None
    assert last.stats.tokens_per_pass > 3.0
    return last.stats


@pytest.mark.parametrize("level", [1.0, 10.0])
def test_an_answer_reports_its_own_passes_not_an_old_curve(monkeypatch: pytest.MonkeyPatch, level: float) -> None:
    stats = answer_stats({1: 8.0 * level, 4: 10.0 * level, 8: 15.0 * level}, 0.01, monkeypatch)
    assert stats.plain_ms == pytest.approx(8.0, rel=0.1)
    assert 0.1 < stats.plain_error < EVEN_DRIFT
