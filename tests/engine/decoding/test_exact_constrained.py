"""Proves whole passes under a grammar exact, like `test_exact_pass`, with tokens that it forces or rejects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters.base import Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.forced import GrammarDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.grammar.constraint import ConstraintState, GrammarConstraint
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter, TextOrModelDrafter
from engine.pacing.pacer import Pacer
from engine.records import Mode, SamplingParams
from engine.sampling.sampler import History, Sampler
from engine.sequence import CachedSequence
from tests.engine.decoding.test_exact_pass import DEPTH, N_VOCAB, OPEN, P_LOGITS, Q_LOGITS, DicePacer, P, Stage
from tests.engine.grammar.scripted_state import NO_THIRD, ScriptedState
from tests.engine.pacing.test_drafter import STAIRCASE
from tests.fake_model import MarkovModel
from tests.scripted_pair import unseeded

PROMPT = np.array([0, 1, 2, 0, 1, 1, 2, 0], dtype=np.int32)
STATES, LENGTH = 40, 60


def forced_ids(state: ConstraintState) -> list[int]:
    """The tokens that a scripted grammar forces."""
    ids, here = list[int](), state
    while len(allowed := here.all_allowed()) == 1 and len(ids) < DEPTH:
        ids.append(int(allowed[0]))
        following = here.advanced(ids[-1])
        assert following is not None
        here = following
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
    state: ScriptedState | None = ScriptedState(NO_THIRD)
    last = int(PROMPT[-1])
    for one in answer:
        state, last = state.advanced(one) if state is not None else None, one
    assert state is not None
    allowed = state.all_allowed().tolist()
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
        constraint = GrammarConstraint(ScriptedState(NO_THIRD))
        constraint.begin(len(PROMPT))
        sampling = SamplingParams(OPEN.temperature, OPEN.top_k, OPEN.top_p, OPEN.min_p, seed=seed)
        speculation = Speculation(
            target,
            GrammarDrafter(inner, constraint, forced_ids),
            unseeded(sampling, constraint=constraint),
            StatsRecorder(Mode.AUTO, 256),
            PROMPT,
            LoopConfig(pacer, pacer.prices.padded, (pacer,)) if pacer is not None else LoopConfig(),
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
    target, constraint = CachedSequence(MarkovModel(P_LOGITS)), GrammarConstraint(ScriptedState(NO_THIRD))
    target.reuse(PROMPT)
    for _ in target.prefill(PROMPT[:-1]):
        pass
    constraint.begin(len(PROMPT))
    sampler = Sampler(SamplingParams(temperature=1.0, seed=1), constraint=constraint)
    inner, _ = drafted()
    speculation = Speculation(target, inner, sampler, StatsRecorder(Mode.OFF, 256), PROMPT)

    def never(_history: History) -> bool:
        return False

    state: ScriptedState | None = ScriptedState(NO_THIRD)
    for one in speculation.run_plain(100, 10.0, never).ids:
        assert state is not None
        state = state.advanced(one)
    assert state is not None
