"""Proves whole passes exact: every random outcome of a pass is played through, and together they give the target's p.

Counting samples finds a bias of a few per mille; this finds one of a billionth, whatever was drafted, looked up, padded
or learnt before the pass. (Later passes cannot break this: each is exact given all before it.)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

import engine.pacing.drafter
from engine.decoding import loop, verifier
from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters import draft_model
from engine.drafters.base import Draft
from engine.drafters.draft_model import DraftGate, DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter
from engine.pacing.pacer import Choice, Decision, Pacer
from engine.records import Mode, SamplingParams
from engine.sampling.distribution import Distribution, excess_sum
from engine.sampling.sampler import History, Sampler
from engine.sequence import CachedSequence
from tests.engine.pacing.test_drafter import FLAT, STAIRCASE, Clock
from tests.fake_model import MarkovModel
from tests.long_form import rounds
from tests.scripted_pair import unseeded

N_VOCAB = 3
DEPTH = 4
STATES = rounds(40, 80)  # passes that are played through exactly
LENGTH = 60  # tokens of the answer that contains them
P_LOGITS = np.random.default_rng(80).normal(0, 1.2, (N_VOCAB, N_VOCAB)).astype(np.float32)
Q_LOGITS = (P_LOGITS + np.random.default_rng(81).normal(0, 0.8, P_LOGITS.shape)).astype(np.float32)
OPEN = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return shares


P = softmax(P_LOGITS)


class Outcomes:
    """One way through a pass: first the ``told`` outcomes, then always the first possible outcome."""

    def __init__(self, told: list[int]) -> None:
        self._told = told
        self._taken: list[int] = []
        self._chances: list[list[float]] = []
        self.last: Distribution | None = None  # the last token's distribution: it need not be played through

    def take(self, chances: list[float]) -> int:
        here = len(self._taken)
        possible = next(i for i, chance in enumerate(chances) if chance > 0.0)
        self._taken.append(self._told[here] if here < len(self._told) else possible)
        self._chances.append(chances)
        return self._taken[-1]

    @property
    def probability(self) -> float:
        return prod(chances[taken] for chances, taken in zip(self._chances, self._taken, strict=True))

    def others(self) -> Iterator[list[int]]:
        """The ways that branch off after the given outcomes."""
        for here in range(len(self._told), len(self._taken)):
            for other, chance in enumerate(self._chances[here]):
                if other != self._taken[here] and chance > 0.0:
                    yield [*self._taken[:here], other]


class Number:
    """Replaces a uniform random number that may be used once."""

    def __init__(self, outcomes: Outcomes, scale: float = 1.0) -> None:
        self.outcomes = outcomes
        self._scale = scale
        self._is_used = False

    def __mul__(self, factor: float) -> Number:
        self.use()
        return Number(self.outcomes, self._scale * factor)

    def __lt__(self, border: float) -> bool:
        self.use()
        chance = min(max(border / self._scale, 0.0), 1.0)
        return self.outcomes.take([chance, 1.0 - chance]) == 0

    def use(self) -> None:
        assert not self._is_used, "a random number serves twice"
        self._is_used = True


class Stage:
    """The state that the patched engine uses: the clock, and the outcomes of the pass that is played."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock(3)
        self.outcomes: Outcomes | None = None
        for module in (loop, engine.pacing.drafter, draft_model):
            monkeypatch.setattr(module, "perf_counter", self.now)
        uniform, draw, place = Sampler.uniform, Distribution.sample, Distribution.index_at

        def next_number(sampler: Sampler) -> object:
            return Number(self.outcomes) if self.outcomes is not None else uniform(sampler)

        def drawn(one: Distribution, number: object) -> int:
            if not isinstance(number, Number):
                return draw(one, number)  # type: ignore[arg-type]
            number.use()
            return one.id_at(number.outcomes.take(one.probs.tolist()))

        def placed(one: Distribution, number: object) -> int:
            if not isinstance(number, Number):
                return place(one, number)  # type: ignore[arg-type]
            number.use()
            number.outcomes.last = one
            return 0

        monkeypatch.setattr(Sampler, "uniform", next_number)
        monkeypatch.setattr(Distribution, "sample", drawn)
        monkeypatch.setattr(Distribution, "index_at", placed)

    def now(self) -> float:
        """The time on the current clock: each way through a pass starts at the same time."""
        return self.clock()

    def kind_of(self, speculation: Speculation) -> str:
        """The kind of drafts that the last pass verified."""
        draft: Draft = speculation._drafter._draft  # type: ignore[attr-defined]
        return draft.source.value if draft.ids else "nothing"

    def shares(self, speculation: Speculation, kinds: Counter[str]) -> dict[tuple[int, ...], float]:
        """The probability of each block of tokens of the next pass; ``kinds`` counts the kinds of proposals."""
        clock, ways = self.clock, list[list[int]]([[]])
        shares: dict[tuple[int, ...], float] = defaultdict(float)
        while ways:
            self.clock, self.outcomes = deepcopy(clock), Outcomes(ways.pop())
            mine = deepcopy(speculation)
            block = mine.step(DEPTH, LENGTH)
            kinds[self.kind_of(mine)] += 1
            last = self.outcomes.last
            assert last is not None
            for token_id in range(N_VOCAB):
                shares[*block.ids[:-1], token_id] += self.outcomes.probability * last.prob(token_id)
            ways += self.outcomes.others()
        self.clock, self.outcomes = clock, None
        return shares


def largest_error(shares: dict[tuple[int, ...], float], last_id: int) -> float:
    """The error of the blocks' distribution, continued by plain decoding to the same length."""
    given: dict[tuple[int, ...], float] = {(): 0.0}
    wanted: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(DEPTH + 1):
        longer = [(ids, token_id) for ids in given for token_id in range(N_VOCAB)]
        p_of = {one: P[one[0][-1] if one[0] else last_id, one[1]] for one in longer}
        given = {(*ids, i): given[ids] * p_of[ids, i] + shares.get((*ids, i), 0.0) for ids, i in longer}
        wanted = {(*ids, i): wanted[ids] * p_of[ids, i] for ids, i in longer}
    return max(abs(given[ids] - wanted[ids]) for ids in given)


class DicePacer(Pacer):
    """Decides randomly, so that every kind of pass follows every other."""

    def __init__(self, curve: CostCurve, draft_step_ms: float) -> None:
        super().__init__(curve, draft_step_ms)
        self._dice = np.random.default_rng(9)

    def decide(
        self, text: Sequence[int], *, has_model: bool, limit: int, may_pause: bool = True, num_unread: int = 0
    ) -> Decision:
        """See `Pacer.decide`; like the real one, it must not use a token before it is sampled."""
        super().decide(text, has_model=has_model, limit=limit, may_pause=may_pause, num_unread=num_unread)
        roll, most_text = self._dice.random(), min(len(text), limit)
        if roll < 0.4 and most_text > 0:
            self.decision = Decision(Choice.TEXT, int(self._dice.integers(1, most_text + 1)))
        elif roll < 0.9 and limit > 0:
            self.decision = Decision(Choice.DRAFT, limit, is_probe=roll < 0.6)
        else:
            self.decision = Decision(Choice.PLAIN, 0)
        return self.decision


def errors(stage: Stage, pacer: Pacer, kinds: Counter[str], model: DraftModelDrafter | None = None) -> Iterator[float]:
    """The errors of passes in answers whose pacer has learnt from all earlier ones."""
    target = CachedSequence(MarkovModel(P_LOGITS))
    model = model or DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, frozenset())
    drafter = PacedDrafter(pacer, SuffixDrafter(min_match=1), model)
    prompt = np.array([0, 1, 2, 0, 1, 1, 2, 0], dtype=np.int32)
    pick, found = np.random.default_rng(5), 0
    for seed in range(1000):
        target.reuse(prompt)
        for _ in target.prefill(prompt[target.num_past : -1]):
            pass
        sampler = unseeded(replace(OPEN, seed=seed))
        speculation = Speculation(
            target,
            drafter,
            sampler,
            StatsRecorder(Mode.AUTO, 256),
            prompt,
            LoopConfig(pacer, (pacer,)) if pacer is not None else LoopConfig(),
        )
        while len(speculation.history) < len(prompt) + LENGTH:
            if pick.random() < 0.15:
                yield largest_error(stage.shares(speculation, kinds), int(speculation.history[-1]))
                found += 1
                if found == STATES:
                    return
            speculation.step(DEPTH, LENGTH)


@pytest.mark.parametrize("curve", [STAIRCASE, FLAT], ids=["staircase", "flat"])
@pytest.mark.parametrize("decides", [Pacer, DicePacer], ids=["pacer", "dice"])
def test_all_outcomes_of_a_pass_together_are_the_targets_distribution(
    monkeypatch: pytest.MonkeyPatch, curve: dict[int, float], decides: type[Pacer]
) -> None:
    kinds: Counter[str] = Counter()
    assert max(errors(Stage(monkeypatch), decides(CostCurve(curve), 0.05), kinds)) < 1e-12
    assert set(kinds) <= {"ngram", "draft", "nothing"}
    assert len(kinds) > 1
    if decides is DicePacer:
        assert min(kinds["ngram"], kinds["draft"]) > STATES


def dice() -> Pacer:
    return DicePacer(CostCurve(FLAT), 0.05)


def test_a_leaf_that_is_judged_like_an_inner_token_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def as_inner(i: int, rows: list[Distribution], q: list[Distribution], weights: list[float]) -> float:
        left = excess_sum(rows[i], q[min(i, len(q) - 1)], weights[i])
        return left / (left + 1.0 - weights[i]) if left > 0.0 else 0.0

    monkeypatch.setattr(verifier, "_acceptance_probability", as_inner)
    assert max(errors(Stage(monkeypatch), dice(), Counter())) > 0.01


def test_a_drawn_token_that_is_not_submitted_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    propose = DraftModelDrafter.propose

    def without_a_zero_at_the_end(
        self: DraftModelDrafter,
        history: History,
        limit: int,
        gate: DraftGate | None = None,
    ) -> Draft:
        draft = propose(self, history, limit, gate)
        if draft.q is None:
            return draft
        count = len(draft.ids) - (len(draft.ids) > 1 and draft.ids[-1] == 0)
        return Draft(draft.ids[:count], draft.source, draft.q[:count], (draft.scores or [])[:count])

    monkeypatch.setattr(DraftModelDrafter, "propose", without_a_zero_at_the_end)
    assert max(errors(Stage(monkeypatch), dice(), Counter())) > 0.001
