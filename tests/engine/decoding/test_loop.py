"""Tests the loop with scripted models: cache and history stay in step, every mode has the target's distribution."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters.base import Drafter, NoDrafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.errors import DecodeError
from engine.records import Mode, SamplingParams, Source
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence
from tests.long_form import rounds
from tests.scripted_pair import (
    N_VOCAB,
    P_LOGITS,
    Q_LOGITS,
    MarkovModel,
    chi_square_p,
    likely_path,
    plain_distribution,
    unseeded,
)

OPEN = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=4)
MakeDrafter = Callable[[], Drafter]


def draft_model(logits: NDArray[np.float32] = Q_LOGITS) -> Drafter:
    return DraftModelDrafter(CachedSequence(MarkovModel(logits)), N_VOCAB, frozenset())


def narrow_draft_model() -> Drafter:
    """A draft model that returns its four likeliest tokens instead of whole rows."""
    model = MarkovModel(Q_LOGITS)
    model.num_candidates = 4
    return DraftModelDrafter(CachedSequence(model), N_VOCAB, frozenset())


DRAFTERS: dict[str, MakeDrafter] = {
    "off": NoDrafter,
    "ngram": lambda: SuffixDrafter(min_match=1),
    "draft": draft_model,
    "narrow draft": narrow_draft_model,
}


class Run:
    """One answer with a scripted target."""

    def __init__(
        self,
        drafter: Drafter,
        sampling: SamplingParams,
        prompt: list[int],
        n_ctx: int = 256,
        config: LoopConfig | None = None,
        make_sampler: Callable[[SamplingParams], Sampler] = unseeded,
    ) -> None:
        self.model = MarkovModel(P_LOGITS, n_ctx)
        self.target = CachedSequence(self.model)
        self.stats = StatsRecorder(Mode.OFF, n_ctx)
        self.prompt = np.array(prompt, dtype=np.int32)
        self.target.forward(self.prompt[:-1], 0)
        self.speculation = Speculation(self.target, drafter, make_sampler(sampling), self.stats, self.prompt, config)

    def tokens(self, count: int, depth: int) -> list[int]:
        ids: list[int] = []
        while len(ids) < count:
            block = self.speculation.step(depth, count - len(ids))
            ids += block.ids
            self.stats.count_tokens(block.sources)
            assert self.model._ids == self.speculation.history[:-1].tolist()
        return ids


@pytest.mark.parametrize("name", DRAFTERS)
@pytest.mark.parametrize("depth", [0, 1, 3, 7])
def test_greedy_output_is_the_argmax_path_in_every_mode(name: str, depth: int) -> None:
    run = Run(DRAFTERS[name](), SamplingParams(temperature=0.0), [3, 1, 4, 1])
    expected, last = [], 1
    for _ in range(60):
        last = int(P_LOGITS[last].argmax())
        expected.append(last)
    assert run.tokens(60, depth) == expected


@pytest.mark.parametrize("name", ["ngram", "draft"])
def test_no_more_tokens_than_wanted_are_given(name: str) -> None:
    run = Run(DRAFTERS[name](), SamplingParams(temperature=0.0), [1, 2, 1, 2])
    assert len(run.tokens(5, 16)) == 5


def test_a_draft_that_is_the_target_is_always_kept() -> None:
    run = Run(draft_model(P_LOGITS), OPEN, [1, 2])
    run.tokens(40, 3)
    stats = run.stats.snapshot()
    assert stats.acceptance_rate == 1.0
    assert stats.tokens_per_pass == 4.0
    assert stats.provenance == {Source.DRAFT: 30, Source.BONUS: 10}


def test_plain_decoding_is_one_token_a_pass() -> None:
    run = Run(NoDrafter(), OPEN, [1, 2])
    run.tokens(25, 5)
    stats = run.stats.snapshot()
    assert (stats.tokens_per_pass, stats.acceptance_rate, stats.provenance) == (1.0, None, {Source.TARGET: 25})


def test_the_context_is_filled_to_its_last_place() -> None:
    run = Run(draft_model(), OPEN, [1, 2, 3, 4], n_ctx=16)
    while run.speculation.free_tokens > 0:
        run.tokens(1, 5)
    assert len(run.speculation.history) == 17
    assert run.target.num_past == 16


def test_a_memory_that_cannot_forget_is_one_sentence() -> None:
    run = Run(SuffixDrafter(min_match=1), SamplingParams(temperature=0.0), [1, 2, 1, 5, 1, 2, 1])
    run.model._can_rollback = False
    with pytest.raises(DecodeError, match="forget"):
        run.tokens(30, 4)


@pytest.mark.parametrize("make_sampler", [unseeded, Sampler], ids=["unseeded", "seeded"])
@pytest.mark.parametrize("name", ["ngram", "draft", "narrow draft"])
def test_the_first_three_positions_are_distributed_as_plain_decoding(
    name: str, make_sampler: Callable[[SamplingParams], Sampler]
) -> None:
    prompt = likely_path(12)
    counts = np.zeros((3, N_VOCAB), dtype=np.int64)
    drafter = DRAFTERS[name]()
    totals = np.zeros(2, dtype=np.int64)
    num_answers = rounds(2_000, 6_000)  # errors of 13 % (root mean square) are detected nine times of ten
    for seed in range(num_answers):
        sampling = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
        run = Run(drafter, sampling, prompt, make_sampler=make_sampler)
        for position, token_id in enumerate(run.tokens(3, 2)):
            counts[position, token_id] += 1
        totals += (run.stats.accepted, run.stats.rolled_back)
    assert min(totals) > num_answers // 6
    for position in range(3):
        assert chi_square_p(counts[position], plain_distribution(prompt[-1], position)) > 0.001


@settings(deadline=None)
@given(
    name=st.sampled_from([name for name in DRAFTERS if name != "off"]),
    depth=st.integers(0, 9),
    sampling=st.builds(
        SamplingParams,
        temperature=st.sampled_from([0.3, 0.8, 1.5]),
        top_k=st.sampled_from([0, 3]),
        top_p=st.sampled_from([1.0, 0.8]),
        min_p=st.sampled_from([0.0, 0.2]),
        repeat_penalty=st.sampled_from([1.0, 1.3]),
        seed=st.integers(0, 2**63 - 1),
    ),
)
def test_with_a_seed_every_drafter_gives_the_tokens_of_plain_decoding(
    name: str, depth: int, sampling: SamplingParams
) -> None:
    prompt = likely_path(12)
    plain = Run(NoDrafter(), sampling, prompt, make_sampler=Sampler)
    wanted = list(plain.speculation.run_plain(40, 60.0, lambda _history: False).ids)
    assert Run(DRAFTERS[name](), sampling, prompt, make_sampler=Sampler).tokens(40, depth) == wanted
