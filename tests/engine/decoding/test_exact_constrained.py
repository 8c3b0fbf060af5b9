"""Proves whole passes under a grammar exact, like `test_exact_pass`, with tokens that it forces or rejects."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters.base import Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.forced import GrammarDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter, TextOrModelDrafter
from engine.pacing.pacer import Pacer
from engine.records import Mode, SamplingParams
from engine.sampling.sampler import History, Sampler
from engine.sequence import CachedSequence
from tests.engine.decoding.test_exact_pass import DEPTH, N_VOCAB, OPEN, P_LOGITS, Q_LOGITS, DicePacer, P, Stage
from tests.engine.pacing.test_drafter import STAIRCASE
from tests.fake_model import MarkovModel
from tests.scripted_pair import unseeded

PROMPT = np.array([0, 1, 2, 0, 1, 1, 2, 0], dtype=np.int32)
STATES, LENGTH = 40, 60


# A grammar of three tokens: none three times, 2 only after 1, and never 0 after 1. By state: tokens and next states.
NO_THIRD = {0: {0: 1, 1: 3}, 1: {0: 2, 1: 3}, 2: {1: 3}, 3: {1: 4, 2: 0}, 4: {2: 0}}


class ScriptedConstraint:
    """Follows `NO_THIRD` like a `GrammarConstraint`."""

    def state(self, ids: Sequence[int]) -> int | None:
        """The state after tokens of the answer; None after a forbidden one."""
        state: int | None = 0
        for one in ids:
            state = None if state is None else NO_THIRD[state].get(one)
        return state

    def allowed(self, history: History, pending: Sequence[int] = ()) -> list[int] | None:
        state = self.state([*history[len(PROMPT) :].tolist(), *pending])
        return None if state is None else sorted(NO_THIRD[state])

    def is_known(self, history: History, pending: Sequence[int] = ()) -> bool:
        return self.allowed(history, pending) is not None

    def allows(self, history: History, pending: Sequence[int], ids: Sequence[int]) -> NDArray[np.bool_] | None:
        allowed = self.allowed(history, pending)
        return None if allowed is None else np.array([int(one) in allowed for one in ids], dtype=np.bool_)

    def all_allowed(self, history: History, pending: Sequence[int]) -> NDArray[np.int64] | None:
        allowed = self.allowed(history, pending)
        return None if allowed is None else np.array(allowed, dtype=np.int64)

    def forced_ids(self, history: History) -> list[int]:
        ids = list[int]()
        while len(allowed := self.allowed(history, ids) or []) == 1 and len(ids) < DEPTH:
            ids += allowed
        return ids


class ConstrainedStage(Stage):
    """Also counts forced tokens."""

    def kind_of(self, speculation: Speculation) -> str:
        drafter = speculation._drafter
        assert isinstance(drafter, GrammarDrafter)
        if drafter._is_forced:
            return "forced"
        return "asked"


def wanted(answer: list[int], token_id: int) -> float:
    """The target's probability of a token after an answer, under the grammar."""
    last = answer[-1] if answer else int(PROMPT[-1])
    allowed = ScriptedConstraint().allowed(np.array([*PROMPT, *answer], dtype=np.int32))
    assert allowed is not None
    return float(P[last, token_id] / P[last, allowed].sum()) if token_id in allowed else 0.0


def largest_error(shares: dict[tuple[int, ...], float], answer: list[int]) -> float:
    """The error of the blocks' distribution, continued by plain decoding under the grammar."""
    given: dict[tuple[int, ...], float] = {(): 0.0}
    right: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(DEPTH + 1):
        longer = [(ids, i) for ids in right if right[ids] > 0.0 for i in range(N_VOCAB)]
        p_of = {(ids, i): wanted([*answer, *ids], i) for ids, i in longer}
        impossible = [ids for ids in shares if len(ids) == len(longer[0][0]) + 1 and ids[:-1] not in right]
        assert all(shares[ids] == 0.0 for ids in impossible)
        given = {(*ids, i): given[ids] * p_of[ids, i] + shares.get((*ids, i), 0.0) for ids, i in longer}
        right = {(*ids, i): right[ids] * p_of[ids, i] for ids, i in longer}
    return max(abs(given[ids] - right[ids]) for ids in given)


def paced() -> tuple[Drafter, Pacer | None]:
    pacer = DicePacer(CostCurve(STAIRCASE), 0.05)
    model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, frozenset())
    return PacedDrafter(pacer, SuffixDrafter(min_match=1), model), pacer


def unpaced() -> tuple[Drafter, Pacer | None]:
    model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, frozenset())
    return TextOrModelDrafter(SuffixDrafter(min_match=1), model), None


def drafted() -> tuple[Drafter, Pacer | None]:
    return DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, frozenset()), None


@pytest.mark.parametrize("make", [paced, unpaced, drafted])
def test_all_outcomes_of_a_pass_are_the_distribution_under_the_grammar(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], tuple[Drafter, Pacer | None]]
) -> None:
    stage, kinds = ConstrainedStage(monkeypatch), Counter[str]()
    target, (inner, pacer) = CachedSequence(MarkovModel(P_LOGITS)), make()
    pick, errors, seed = np.random.default_rng(5), list[float](), 0
    while len(errors) < STATES:
        target.reuse(PROMPT)
        for _ in target.prefill(PROMPT[target.num_past : -1]):
            pass
        constraint = ScriptedConstraint()
        sampling = SamplingParams(OPEN.temperature, OPEN.top_k, OPEN.top_p, OPEN.min_p, seed=seed)
        speculation = Speculation(
            target,
            GrammarDrafter(inner, constraint),
            unseeded(sampling, constraint=constraint),
            StatsRecorder(Mode.AUTO, 256),
            PROMPT,
            LoopConfig(pacer, (pacer,)) if pacer is not None else LoopConfig(),
        )
        seed += 1
        while len(speculation.history) < len(PROMPT) + LENGTH and len(errors) < STATES:
            if pick.random() < 0.15:
                answer = speculation.history[len(PROMPT) :].tolist()
                errors.append(largest_error(stage.shares(speculation, kinds), answer))
            speculation.step(DEPTH, LENGTH)
    assert max(errors) < 1e-12
    assert kinds["forced"] > 0
    assert kinds["asked"] > 100


def test_plain_runs_follow_the_grammar() -> None:
    target, constraint = CachedSequence(MarkovModel(P_LOGITS)), ScriptedConstraint()
    target.reuse(PROMPT)
    for _ in target.prefill(PROMPT[:-1]):
        pass
    sampler = Sampler(SamplingParams(temperature=1.0, seed=1), constraint=constraint)
    inner, _ = drafted()
    speculation = Speculation(target, inner, sampler, StatsRecorder(Mode.OFF, 256), PROMPT)

    def never(_history: History) -> bool:
        return False

    assert constraint.state(speculation.run_plain(100, 10.0, never).ids) is not None
