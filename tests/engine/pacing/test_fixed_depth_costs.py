"""At a fixed depth and in plain decoding, passes correct the curve."""

from collections.abc import Iterable
from itertools import count

import numpy as np
import pytest

from app.core.paths import builtin_target
from engine.decoding import loop
from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters.base import Drafter, NoDrafter
from engine.pacing.cost_curve import CostCurve
from engine.pacing.pacer import Pacer
from engine.records import ChatRequest, Finished, LoadRequest, Mode, SamplingParams
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence
from engine.session.session import Session
from tests.engine.decoding.test_loop import P_LOGITS, draft_model
from tests.fake_model import MarkovModel

STAIRCASE = {1: 1.0, 2: 1.6, 3: 2.2, 4: 1.5, 5: 2.2, 6: 2.8, 7: 2.8, 8: 2.6, 16: 3.7, 32: 8.0}
GREEDY = SamplingParams(temperature=0.0)
PROMPT = np.array([3, 1, 4, 1], dtype=np.int32)
STEP_S = 0.002


class Fixed:
    """A greedy answer at a fixed depth with known costs."""

    def __init__(self, drafter: Drafter) -> None:
        self.costs = Pacer(CostCurve(STAIRCASE))
        target = CachedSequence(MarkovModel(P_LOGITS))
        target.forward(PROMPT[:-1], 0)
        config = LoopConfig(observers=[self.costs.prices])
        self.speculation = Speculation(target, drafter, Sampler(GREEDY), StatsRecorder(Mode.DRAFT, 256), PROMPT, config)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query advances the clock by two milliseconds."""
    ticks = count()
    monkeypatch.setattr(loop, "perf_counter", lambda: next(ticks) * STEP_S)


def test_passes_of_a_fixed_depth_correct_the_curve_and_teach_nothing_else() -> None:
    run = Fixed(draft_model(P_LOGITS))
    before = run.costs.curve.points_ms
    for _ in range(50):
        run.speculation.step(3, 100)
    after = run.costs.curve.points_ms
    assert after[4] == pytest.approx(STEP_S * 1000.0, rel=0.05)
    assert after[4] > before[4] * 1.2
    untaught = Pacer(CostCurve(STAIRCASE))
    assert not run.costs.acceptance.drafted.is_observed
    assert (run.costs.acceptance.rate, run.costs.prices.overhead_ms) == (1.0, untaught.prices.overhead_ms)


def test_plain_passes_correct_the_first_point_once_a_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Fixed(NoDrafter())
    told: list[int] = []
    observe = run.costs.curve.observe

    def note(num_tokens: int, milliseconds: float) -> None:
        told.append(num_tokens)
        observe(num_tokens, milliseconds)

    monkeypatch.setattr(run.costs.curve, "observe", note)
    for _ in range(20):
        run.speculation.run_plain(10, 60.0, lambda _history: False)
    assert told == [1] * 20
    assert run.costs.curve.points_ms[1] > 1.5
    assert run.costs.prices.overhead_ms == Pacer(CostCurve(STAIRCASE)).prices.overhead_ms


def test_plain_decoding_reports_the_size_of_its_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    session, found = Session(), set[int]()
    session.load(LoadRequest(str(builtin_target()), n_ctx=512, threads=1))

    def observe(num_tokens: int, _passes_ms: Iterable[float]) -> str:
        found.add(num_tokens)
        return ""

    monkeypatch.setattr(session._pair_costs(), "observe_passes", observe)
    *_, last = session.generate(ChatRequest(raw_prompt="one two one two", sampling=GREEDY, max_tokens=24))
    session.close()
    assert isinstance(last, Finished)
    assert found == {1}
