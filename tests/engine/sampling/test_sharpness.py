"""The exponent that has most of a draft kept is found, and only where there is one; the answer stays the target's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters.base import Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.records import Mode, SamplingParams
from engine.sampling import sharpness as sharpness_module
from engine.sampling.distribution import Distribution, excess, point_mass
from engine.sampling.sharpness import EXPONENTS, DraftTemperature, TemperedDistribution
from engine.sequence import CachedSequence
from tests.engine.decoding.test_verifier import chi_square_p
from tests.fake_model import MarkovModel
from tests.scripted_pair import unseeded

N = 12
FIRST = DraftTemperature().exponent
IDS = np.arange(N, dtype=np.int64)
PARAMS = SamplingParams(temperature=1.0)


def softmax(logits: NDArray[np.float64]) -> Distribution:
    weights = np.exp(logits - logits.max())
    return Distribution(weights / weights.sum(), IDS)


def taught(
    noise: float, count: int = 3000, params: SamplingParams = PARAMS, before: DraftTemperature | None = None
) -> DraftTemperature:
    """After ``count`` passes of a draft whose logits are off by that much, and flatter than the target's for it."""
    sharpness, rng = before or DraftTemperature(), np.random.default_rng(4)
    sharpness.begin(params)
    for _ in range(count):
        logits = rng.normal(0, 3, N)
        q = softmax((logits + rng.normal(0, noise, N)) / (1.0 + 2.0 * noise))
        sharpness.observe(softmax(logits), sharpness.sharpen(q))
    return sharpness


def test_a_draft_that_is_too_flat_is_sharpened_and_one_that_is_right_is_not() -> None:
    assert taught(1.0).exponent > FIRST
    assert taught(0.0).exponent == 1.0
    assert taught(1.0, 100).exponent == FIRST  # too few to say


@pytest.mark.parametrize(("halve_at", "follows"), [(64, True), (1 << 30, False)])
def test_what_was_seen_long_ago_counts_less_and_less(
    halve_at: int, follows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharpness_module, "_HALVE_AT", halve_at)
    sharpness = taught(0.0, 16_000)
    assert sharpness.exponent == 1.0
    taught(1.0, 1_600, before=sharpness)
    assert (sharpness.exponent > 1.0) is follows


def test_another_chain_begins_anew_and_the_same_goes_on() -> None:
    sharpness = taught(0.0)
    sharpness.begin(SamplingParams(temperature=1.0, seed=7))
    assert sharpness.exponent == 1.0
    sharpness.begin(SamplingParams(temperature=0.5))
    assert sharpness.exponent == FIRST


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_it_finds_the_one_that_has_most_kept_and_little_drafted_again(noise: float) -> None:
    rng = np.random.default_rng(4)
    worths = np.zeros(len(EXPONENTS))
    for _ in range(3000):
        logits = rng.normal(0, 3, N)
        q = softmax((logits + rng.normal(0, noise, N)) / (1.0 + 2.0 * noise))
        for i, exponent in enumerate(EXPONENTS):
            probs = q.probs**exponent
            probs /= probs.sum()
            kept = 1.0 - excess(softmax(logits), Distribution(probs, IDS)).sum()
            worths[i] += (kept + 0.1 * probs.max()) / 3000  # the likeliest was seen ahead: it need not be drafted again
    assert worths[EXPONENTS.index(taught(noise).exponent)] > worths.max() - 0.005


def test_a_draft_that_is_nearly_the_target_is_not_sharpened_for_what_is_seen_ahead() -> None:
    sharpness = DraftTemperature()
    sharpness.begin(PARAMS)
    sure = softmax(np.array([6.0, *[0.0] * (N - 1)]))
    for _ in range(3000):
        sharpness.observe(sure, sure)
    assert sharpness.exponent == 1.0


@given(st.integers(0, 2**32 - 1), st.sampled_from(EXPONENTS), st.integers(1, 40))
def test_sharpened_is_a_distribution_over_the_same_tokens(seed: int, exponent: float, count: int) -> None:
    sharpness, rng = DraftTemperature(), np.random.default_rng(seed)
    sharpness.exponent = exponent
    ids = np.sort(rng.choice(1000, count, replace=False))
    weights = np.exp(rng.normal(0, 5, count))
    q = Distribution(weights / weights.sum(), ids)
    sharp = sharpness.sharpen(q)
    assert sharp.probs.sum() == pytest.approx(1.0)
    assert sharp.ids is ids
    assert sharp.probs.argmax() == q.probs.argmax()
    assert (sharp is q) == (exponent == 1.0 or count == 1)
    assert sharp is q or (isinstance(sharp, TemperedDistribution) and sharp.origin is q)


def test_what_has_no_temperature_is_left_alone() -> None:
    sharpness = DraftTemperature()
    sharpness.exponent = 4.0
    dense = Distribution(np.full(N, 1 / N))
    assert sharpness.sharpen(dense) is dense
    certain = point_mass(3)
    assert sharpness.sharpen(certain) is certain
    for _ in range(100):
        sharpness.observe(dense, certain)
        sharpness.observe(certain, dense)
    assert sharpness._num_observed == 0


P_LOGITS = np.random.default_rng(1).normal(0, 1.5, (N, N)).astype(np.float32)
Q_LOGITS = (P_LOGITS + np.random.default_rng(2).normal(0, 1.0, P_LOGITS.shape)).astype(np.float32)


@pytest.mark.parametrize("exponent", [None, 4.0])
def test_the_answer_is_distributed_as_plain_decoding_while_it_learns(
    monkeypatch: pytest.MonkeyPatch, exponent: float | None
) -> None:
    """Each seed continues with what the seeds before have taught, or with one exponent all the time."""
    sharpness = DraftTemperature()
    if exponent is not None:
        monkeypatch.setattr(sharpness, "_best", lambda: exponent)
    prompt = np.array([2, 5], dtype=np.int32)
    counts = np.zeros((3, N), dtype=np.int64)
    model = MarkovModel(Q_LOGITS)
    model.num_candidates = N - 2  # which also makes q one of few tokens, as a real draft's is
    drafter = DraftModelDrafter(CachedSequence(model), N, frozenset())
    drafter.sharpness = sharpness
    for seed in range(4000):
        params = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
        ids = tokens(drafter, sharpness, params, prompt)
        for position, token_id in enumerate(ids):
            counts[position, token_id] += 1
    p = np.exp(P_LOGITS.astype(np.float64))
    p /= p.sum(axis=1, keepdims=True)
    expected = p[5]
    assert sharpness.exponent == exponent if exponent is not None else sharpness._num_observed > 100
    for position in range(3):
        assert chi_square_p(counts[position], expected) > 0.001
        expected = expected @ p


def tokens(
    drafter: Drafter, sharpness: DraftTemperature, params: SamplingParams, prompt: NDArray[np.int32]
) -> list[int]:
    """The first three of an answer, and more is never drafted than two."""
    target = CachedSequence(MarkovModel(P_LOGITS))
    target.forward(prompt[:-1], 0)
    config = LoopConfig(on_first_look=sharpness.observe)
    speculation = Speculation(target, drafter, unseeded(params), StatsRecorder(Mode.DRAFT, 256), prompt, config)
    ids: list[int] = []
    while len(ids) < 3:
        ids += speculation.step(2, 3 - len(ids)).ids
    return ids[:3]
