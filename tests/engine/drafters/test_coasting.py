"""A draft that was kept as a whole runs on unasked for a few passes; what comes out is the same."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.cost_curve import CostCurve
from engine.drafters import draft_model
from engine.drafters.coasting import Coasting
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.paced import PacedDrafter
from engine.fake_model import MarkovModel
from engine.pacer import Pacer
from engine.records import Mode, SamplingParams
from engine.sampling import Sampler
from engine.sequence import CachedSequence
from engine.speculate import Speculation
from engine.stats import StatsRecorder
from tests.engine.test_speculate import N_VOCAB, P_LOGITS

FLAT = {1: 10.0, 32: 11.0}
GREEDY = SamplingParams(temperature=0.0)
Floats = NDArray[np.float32]


def test_only_what_was_kept_as_a_whole_lets_the_next_pass_go_unasked() -> None:
    coasting = Coasting()
    assert not coasting.is_due
    coasting.observe(7)
    assert coasting.is_due
    assert coasting.depth == 7
    coasting.observe(0)
    assert not coasting.is_due


def test_now_and_then_a_pass_is_asked_for_all_the_same() -> None:
    coasting = Coasting()
    coasting.observe(7)
    unasked = []
    for _ in range(8):
        unasked.append(coasting.is_due)
        coasting.begin_pass(is_on=unasked[-1])
        coasting.observe(7)
    assert unasked == [True, True, True, False, True, True, True, False]


def expected(count: int) -> list[int]:
    """What plain decoding gives after the prompt."""
    given, last = [], 3
    while len(given) < count:
        last = int(P_LOGITS[last].argmax())
        given.append(last)
    return given


def erring() -> Floats:
    """Logits of a draft that is right but after one of the tokens that the target comes by."""
    logits = P_LOGITS.copy()
    after = expected(40)[-1]
    logits[after, int(logits[after].argmin())] = 9.0
    return logits


class Answer:
    """One answer in the making; of each pass: how often the draft was asked how sure it is, proposed and kept ones."""

    def __init__(self, logits: Floats, sampling: SamplingParams, asked: list[int]) -> None:
        self.pacer = Pacer(CostCurve(FLAT), 0.05)
        model = DraftModelDrafter(CachedSequence(MarkovModel(logits, 4096)), N_VOCAB, frozenset())
        self.drafter = PacedDrafter(self.pacer, None, model)
        ids = np.array([2, 5, 0, 3], dtype=np.int32)
        target = CachedSequence(MarkovModel(P_LOGITS, 4096))
        for _ in target.prefill(ids[:-1]):
            pass
        self.stats = StatsRecorder(Mode.AUTO, 4096)
        self.loop = Speculation(target, self.drafter, Sampler(sampling), self.stats, ids, self.pacer)
        self.loop.costs = None  # what passes really take here is not what the curve says
        self.asked, self.given = asked, list[int]()
        self.passes: list[tuple[int, int, int, bool]] = []

    def run(self, num_passes: int) -> None:
        for _ in range(num_passes):
            asked, proposed, accepted = len(self.asked), self.stats.proposed, self.stats.accepted
            self.given += self.loop.step(32, 4000).ids
            self.passes.append(
                (
                    len(self.asked) - asked,
                    self.stats.proposed - proposed,
                    self.stats.accepted - accepted,
                    self.drafter._coasting.is_on,
                )
            )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []
    probability = draft_model.top_probability

    def counted(row: Floats, best: int) -> float:
        calls.append(best)
        return probability(row, best)

    monkeypatch.setattr(draft_model, "top_probability", counted)
    return calls


def test_a_draft_that_is_always_right_is_seldom_asked(asked: list[int]) -> None:
    answer = Answer(P_LOGITS, GREEDY, asked)
    answer.run(24)
    assert all(proposed == accepted > 0 for _, proposed, accepted, _ in answer.passes)
    coasts = "".join("-+"[coasts] for _, _, _, coasts in answer.passes)
    assert "+++-" in coasts
    assert "++++" not in coasts
    assert coasts.count("+") >= 12
    assert all((asked == 0) == coasts for asked, _, _, coasts in answer.passes)
    assert answer.given == expected(len(answer.given))


def test_after_a_rejection_the_draft_is_asked(asked: list[int]) -> None:
    answer = Answer(erring(), GREEDY, asked)
    answer.run(30)
    rejections = 0
    for (_, proposed, accepted, _), (_, _, _, coasts) in pairwise(answer.passes):
        if accepted < proposed:
            rejections += 1
            assert not coasts
    assert rejections > 0
    assert answer.given == expected(len(answer.given))


def test_what_nobody_stated_teaches_nothing_but_how_often_each_depth_is_kept(asked: list[int]) -> None:
    answer = Answer(P_LOGITS, GREEDY, asked)
    while not answer.drafter._coasting.is_due:
        answer.run(1)
    learnt = answer.pacer.learnt
    stated, depths, step_ms = learnt.model_chances.numbers, learnt.by_depth.numbers, answer.pacer.draft_step_ms
    answer.run(2)
    assert [coasts for _, _, _, coasts in answer.passes[-2:]] == [True, True]
    assert learnt.model_chances.numbers == stated
    assert learnt.by_depth.numbers != depths
    assert answer.pacer.draft_step_ms == step_ms  # it is the price of a token with all that is asked of it


def test_above_temperature_0_every_pass_is_asked_for(asked: list[int]) -> None:
    answer = Answer(P_LOGITS, SamplingParams(temperature=0.5, top_k=0, top_p=1.0, min_p=0.0, seed=1), asked)
    answer.run(12)
    assert not any(coasts for _, _, _, coasts in answer.passes)


def test_another_answer_begins_by_asking(asked: list[int]) -> None:
    answer = Answer(P_LOGITS, GREEDY, asked)
    while not answer.drafter._coasting.is_due:
        answer.run(1)
    answer.drafter.begin(answer.loop.history, Sampler(GREEDY))
    assert not answer.drafter._coasting.is_due


def test_a_draft_that_fails_meanwhile_ends_it(asked: list[int]) -> None:
    answer = Answer(P_LOGITS, GREEDY, asked)
    while not answer.drafter._coasting.is_due:
        answer.run(1)
    assert answer.drafter._model is not None
    answer.drafter._model.failure = "its memory is gone"
    answer.run(3)
    assert [proposed for _, proposed, _, _ in answer.passes[-3:]] == [0, 0, 0]
    assert answer.given == expected(len(answer.given))


def test_a_probe_that_was_kept_as_a_whole_is_no_reason(asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Answer(P_LOGITS, GREEDY, asked)
    monkeypatch.setattr(Pacer, "is_probing", property(lambda _: True, lambda _, __: None), raising=False)
    answer.run(12)
    assert all(proposed == accepted > 0 for _, proposed, accepted, _ in answer.passes)
    assert not any(coasts for _, _, _, coasts in answer.passes)
