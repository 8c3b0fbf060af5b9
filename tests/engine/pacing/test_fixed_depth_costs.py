"""At a fixed depth and in plain decoding, passes are padded if that is cheaper, and correct the curve."""

from collections.abc import Iterable
from itertools import count

import numpy as np
import pytest

from app.core.paths import builtin_target
from engine.decoding import loop
from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters.base import Drafter, NoDrafter
from engine.interfaces import Rows, TokenIds
from engine.pacing.cost_curve import CostCurve
from engine.pacing.pacer import Pacer
from engine.records import ChatRequest, Finished, LoadRequest, Mode, SamplingParams
from engine.sequence import CachedSequence
from engine.session.session import Session
from tests.engine.decoding.test_loop import OPEN, P_LOGITS, draft_model
from tests.fake_model import MarkovModel
from tests.scripted_pair import unseeded

STAIRCASE = {1: 1.0, 2: 1.6, 3: 2.2, 4: 1.5, 5: 2.2, 6: 2.8, 7: 2.8, 8: 2.6, 16: 3.7, 32: 8.0}
GREEDY = SamplingParams(temperature=0.0)
PROMPT = np.array([3, 1, 4, 1], dtype=np.int32)
STEP_S = 0.002


class SeenModel(MarkovModel):
    """Records the number of tokens of its passes."""

    def __init__(self) -> None:
        super().__init__(P_LOGITS)
        self.sizes: list[int] = []

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        self.sizes.append(len(ids))
        return super().forward(ids, n_rows, num_padding)


class Fixed:
    """An answer at a fixed depth with known costs."""

    def __init__(self, drafter: Drafter, sampling: SamplingParams, *, pads: bool = True) -> None:
        self.model = SeenModel()
        self.costs = Pacer(CostCurve(STAIRCASE))
        target = CachedSequence(self.model)
        target.forward(PROMPT[:-1], 0)
        self.model.sizes.clear()
        stats = StatsRecorder(Mode.DRAFT, 256)
        config = LoopConfig(
            padded_size=self.costs.prices.padded if pads else None, observers=[self.costs.prices] if pads else []
        )
        self.speculation = Speculation(target, drafter, unseeded(sampling), stats, PROMPT, config)

    def tokens(self, wanted: int, depth: int) -> list[int]:
        ids: list[int] = []
        while len(ids) < wanted:
            ids += self.speculation.step(depth, 100).ids
            assert self.model._ids == self.speculation.history[:-1].tolist()
        return ids[:wanted]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query advances the clock by two milliseconds."""
    ticks = count()
    monkeypatch.setattr(loop, "perf_counter", lambda: next(ticks) * STEP_S)


def sizes(drafter: Drafter, depth: int, *, pads: bool = True) -> set[int]:
    run = Fixed(drafter, GREEDY, pads=pads)
    run.tokens(40, depth)
    return set(run.model.sizes)


def test_passes_of_a_fixed_depth_are_padded_where_more_tokens_cost_less() -> None:
    assert sizes(draft_model(P_LOGITS), 2) == {4}
    assert sizes(draft_model(P_LOGITS), 3) == {4}
    assert sizes(draft_model(P_LOGITS), 2, pads=False) == {3}


@pytest.mark.parametrize("sampling", [GREEDY, OPEN])
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_padding_changes_no_token(sampling: SamplingParams, depth: int) -> None:
    padded, bare = Fixed(draft_model(), sampling), Fixed(draft_model(), sampling, pads=False)
    assert padded.tokens(60, depth) == bare.tokens(60, depth)
    assert set(padded.model.sizes) != set(bare.model.sizes)


def test_passes_of_a_fixed_depth_correct_the_curve_and_teach_nothing_else() -> None:
    run = Fixed(draft_model(P_LOGITS), GREEDY)
    before = run.costs.curve.points_ms
    run.tokens(200, 2)
    after = run.costs.curve.points_ms
    assert after[4] == pytest.approx(STEP_S * 1000.0, rel=0.05)
    assert after[4] > before[4] * 1.2
    untaught = Pacer(CostCurve(STAIRCASE))
    assert run.costs.acceptance.saved == untaught.acceptance.saved
    assert (run.costs.acceptance.rate, run.costs.prices.overhead_ms) == (1.0, untaught.prices.overhead_ms)


def test_plain_passes_correct_the_first_point_once_a_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Fixed(NoDrafter(), GREEDY)
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


def session_sizes(depth: int | None, mode: Mode, sampling: SamplingParams, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The sizes of an answer's passes in a session with known costs."""
    session = Session()
    session.load(LoadRequest(str(builtin_target()), n_ctx=512, threads=1))
    session.measure(0.1)
    costs = session._pair_costs()
    assert costs.pacer is not None
    costs.pacer.curve.replace(STAIRCASE)
    found: list[int] = []

    def passed(num_tokens: int, passes_ms: Iterable[float]) -> str:
        found.extend([num_tokens] * len(list(passes_ms)))
        return ""

    monkeypatch.setattr(costs, "observe_passes", passed)
    prompt = "one two three four one two three four one two three four one two"
    request = ChatRequest(raw_prompt=prompt, mode=mode, depth=depth, sampling=sampling, max_tokens=24)
    last = list(session.generate(request))[-1]
    session.close()
    assert isinstance(last, Finished)
    return set(found)


@pytest.mark.parametrize("sampling", [GREEDY, SamplingParams(temperature=0.1, seed=1)], ids=["greedy", "seeded"])
def test_an_answer_at_a_fixed_depth_is_padded(monkeypatch: pytest.MonkeyPatch, sampling: SamplingParams) -> None:
    sizes = session_sizes(2, Mode.NGRAM, sampling, monkeypatch)
    assert 4 in sizes
    assert 3 not in sizes


def test_plain_decoding_is_told_what_its_passes_take(monkeypatch: pytest.MonkeyPatch) -> None:
    assert session_sizes(None, Mode.OFF, GREEDY, monkeypatch) == {1}
