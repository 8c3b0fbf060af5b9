"""The draft's threads follow its own passes, and the target's if both need the same cores; scripted times."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from engine.drafters.draft_model import DraftModelDrafter
from engine.loading.loading import LoadedModel
from engine.pacing.pair_costs import DraftCosts
from engine.records import SamplingParams
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence
from engine.storage.cost_store import CostStore, SavedCosts
from engine.tuning import threads
from engine.tuning.threads import ThreadControl
from tests.engine.decoding.test_loop import N_VOCAB, P_LOGITS
from tests.fake_model import MarkovModel

STEP_MS = 2.0
SLOW_MS = 20.0


class Clock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of every control that is created."""
    scripted = Clock()
    monkeypatch.setattr(threads.ThreadControl.__init__, "__defaults__", (scripted,))
    return scripted


class Draft:
    """A draft with two threads; the time of a step depends on the free cores."""

    def __init__(self, gpu_layers: int = 0) -> None:
        self.threads, self.taken = 2, False
        context: Any = SimpleNamespace(threads=2, set_threads=self._set)
        model: Any = SimpleNamespace(gpu_layers=gpu_layers)
        loaded = cast("LoadedModel", SimpleNamespace(context=context, model=model))
        store = CostStore()
        store.put("draft", SavedCosts(2, {0: {1: STEP_MS}}))
        self.costs = DraftCosts(loaded, None, store, "draft")
        assert self.costs.load_saved() == STEP_MS
        self.costs.apply_threads(None)

    def _set(self, count: int) -> None:
        self.threads = count

    def step(self, count: int) -> list[str]:
        told = []
        for _ in range(count):
            slow = self.taken and self.threads > 1
            self.costs.observe_draft_step(SLOW_MS if slow else STEP_MS * 2 / self.threads)
            told.append(self.costs.pop_notice())
        return [news for news in told if news]


def test_its_threads_come_back_when_the_cores_do(clock: Clock) -> None:
    draft = Draft()
    draft.step(50)
    draft.taken = True
    clock.now += 1.0
    told = draft.step(30)
    assert draft.threads == 1
    draft.taken = False
    for _ in range(300):
        clock.now += 1.0
        told += draft.step(1)
    assert draft.threads == 2
    assert "draft model: threads from 2 to 1: another program uses the cores" in told
    assert told[-1].endswith("the cores are free again")


def test_it_follows_a_target_that_gave_up_cores_and_ignores_slow_passes() -> None:
    draft, target = Draft(), ThreadControl(2, 2)
    draft.step(10)
    target.threads = 1
    draft.costs.apply_threads(target)
    assert draft.threads == 1
    draft.taken = True
    assert draft.step(50) == []
    assert draft.threads == 1
    draft.taken, target.threads = False, 2
    draft.costs.apply_threads(target)
    assert draft.threads == 2


def test_a_trial_of_the_targets_threads_takes_none_from_the_draft() -> None:
    now = [0.0]
    draft, target = Draft(), ThreadControl(2, 2, lambda: now[0], doubts=True)
    draft.step(10)
    now[0] = 10.0
    assert target.observe(1, 50.0), "it tries fewer"
    assert target.threads == 1
    draft.costs.apply_threads(target)
    assert draft.threads == 2, "a prompt that the draft reads now would take twice as long"


def test_a_draft_on_a_graphics_processor_keeps_its_threads() -> None:
    draft = Draft(gpu_layers=9)
    draft.taken = True
    assert draft.step(50) == []
    assert draft.threads == 2


def test_a_draft_model_tells_what_its_single_passes_took() -> None:
    drafter = DraftModelDrafter(CachedSequence(MarkovModel(P_LOGITS)), N_VOCAB, frozenset())
    told: list[float] = []
    drafter.on_steps = told.append
    history = np.array([1, 2, 3, 4], dtype=np.int32)
    drafter.begin(history, Sampler(SamplingParams(temperature=0.0)))
    drafter.propose(history, 1)
    assert told == []  # it read four tokens at once
    drafter.observe(0)
    drafter.propose(np.append(history, np.int32(7)), 4)
    assert len(told) == 1
    assert told[0] > 0.0
