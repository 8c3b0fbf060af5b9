"""Compares the sampling chain with a slow reference, and tests sampling and residuals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from engine.errors import DecodeError
from engine.interfaces import Candidates
from engine.records import SamplingParams
from engine.sampling.distribution import Distribution, point_mass, residual
from engine.sampling.sampler import Sampler, argmax, top_probability

NOTHING = 1e-16  # below the precision of a float64 sum: the chain drops it early, the reference does not
NO_HISTORY = np.array([], dtype=np.int32)
# Distinct logits: ties at the border of top-k are a convention with its own test.
LOGITS = arrays(np.float32, st.integers(2, 300), elements=st.floats(-20, 20, width=32), unique=True)


def dense(distribution: Distribution, n_vocab: int) -> NDArray[np.float64]:
    if distribution.ids is None:
        return distribution.probs
    full = np.zeros(n_vocab)
    full[distribution.ids] = distribution.probs
    return full


def reference(row: NDArray[np.float32], params: SamplingParams) -> NDArray[np.float64]:
    """The chain in its simplest form, over the whole vocabulary."""
    scaled = row.astype(np.float64) / params.temperature
    p = np.exp(scaled - scaled.max())
    p /= p.sum()
    order = sorted(range(len(p)), key=lambda i: -row[i])  # nearly equal logits give equal probabilities
    if params.top_k:
        p[order[params.top_k :]] = 0.0
        p /= p.sum()
    if params.top_p < 1.0:
        kept, total = [], 0.0
        for i in order:
            kept.append(i)
            total += p[i]
            if total >= params.top_p:
                break
        p[[i for i in range(len(p)) if i not in kept]] = 0.0
    p[p < params.min_p * p.max()] = 0.0
    return p / p.sum()


@given(
    LOGITS,
    st.floats(0.2, 3.0),
    st.integers(0, 50),
    st.sampled_from([0.3, 0.8, 0.95, 1.0]),
    st.sampled_from([0.0, 0.01, 0.1]),
)
def test_the_chain_is_the_reference(
    row: NDArray[np.float32], temperature: float, top_k: int, top_p: float, min_p: float
) -> None:
    params = SamplingParams(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    ours = dense(Sampler(params).distribution(row.copy(), NO_HISTORY, []), len(row))
    theirs = reference(row, params)
    # A weight within rounding of a border may be on either side; everything else must agree.
    borderline = (ours > NOTHING) != (theirs > NOTHING)
    assert borderline.sum() <= 1
    if not borderline.any():
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_what_is_banned_before_a_place_may_stand_there() -> None:
    row = np.array([0, 1, 5, 2], dtype=np.float32)
    sampler = Sampler(SamplingParams(temperature=0.0), frozenset({2}), banned_before=4)
    before, later = np.array([0, 0], dtype=np.int32), np.array([0, 0, 0, 0], dtype=np.int32)
    assert [sampler.argmax(row.copy(), history, pending) for history, pending in (
        (before, []), (before, [1]), (before, [1, 1]), (later, [])
    )] == [3, 3, 2, 2]  # fmt: skip
    candidates = Candidates(np.array([2, 3]), np.array([5.0, 2.0], dtype=np.float32))
    assert sampler.allowed_candidates(candidates, 4, before, []).ids.tolist() == [3]
    assert sampler.allowed_candidates(candidates, 4, later, []).ids.tolist() == [2, 3]
    assert not sampler.bans(frozenset({2}))
    assert Sampler(SamplingParams(temperature=0.0), frozenset({2})).bans(frozenset({2}))


def test_of_equal_logits_at_the_border_of_top_k_the_lowest_ids_stay() -> None:
    row = np.array([1, 3, 2, 2, 2, 0], dtype=np.float32)
    distribution = Sampler(SamplingParams(temperature=1.0, top_k=3, top_p=1.0, min_p=0.0)).distribution(
        row, NO_HISTORY, []
    )
    assert distribution.ids is not None
    assert distribution.ids.tolist() == [1, 2, 3]


@pytest.mark.parametrize("spread", [0.3, 3.0, 20.0])
@pytest.mark.parametrize("min_p", [0.0, 0.001, 0.2])
@pytest.mark.parametrize("top_p", [0.2, 0.9, 0.999])
def test_top_p_of_a_large_vocabulary_is_that_of_all_of_it(spread: float, min_p: float, top_p: float) -> None:
    row = np.random.default_rng(1).normal(0, spread, 20_000).astype(np.float32)
    distribution = Sampler(SamplingParams(1.1, 0, top_p, min_p)).distribution(row.copy(), NO_HISTORY, [])
    p = np.exp((row.astype(np.float64) - row.max()) / 1.1)
    order = np.argsort(-row, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(p[order]), top_p * p.sum())) + 1]
    kept = np.sort(kept[p[kept] >= min_p])
    assert distribution.ids is not None
    np.testing.assert_array_equal(distribution.ids, kept)
    np.testing.assert_allclose(distribution.probs, p[kept] / p[kept].sum(), rtol=1e-12)


def test_a_large_vocabulary_without_truncation_is_the_softmax() -> None:
    row = np.random.default_rng(0).normal(0, 3, 150_000).astype(np.float32)
    params = SamplingParams(temperature=0.9, top_k=0, top_p=1.0, min_p=0.0)
    np.testing.assert_allclose(
        dense(Sampler(params).distribution(row.copy(), NO_HISTORY, []), len(row)), reference(row, params), atol=1e-12
    )


def test_penalties_are_llama_cpps_over_window_and_draft_prefix() -> None:
    params = SamplingParams(
        temperature=0.0, repeat_penalty=2.0, frequency_penalty=0.5, presence_penalty=0.25, penalty_last_n=3
    )
    row = np.array([4.0, -4.0, 5.0, 1.0], dtype=np.float32)
    history = np.array([2, 0, 1], dtype=np.int32)  # with the pending 0, the window of three is 0, 1, 0
    assert Sampler(params).argmax(row, history, [0]) == 2
    np.testing.assert_allclose(row, [4.0 / 2 - 2 * 0.5 - 0.25, -4.0 * 2 - 0.5 - 0.25, 5.0, 1.0])


def test_banned_tokens_are_never_drawn() -> None:
    sampler = Sampler(SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0), frozenset({1}))
    distribution = sampler.distribution(np.array([0, 9, 0], dtype=np.float32), NO_HISTORY, [])
    assert distribution.prob(1) == 0.0


def test_without_a_seed_every_stream_is_another() -> None:
    streams = [[Sampler(SamplingParams()).uniform() for _ in range(3)] for _ in range(2)]
    assert streams[0] != streams[1]


def test_random_numbers_made_at_once_are_those_made_one_by_one() -> None:
    sampler, rng = Sampler(SamplingParams(), random=np.random.default_rng(7)), np.random.default_rng(7)
    assert [sampler.uniform() for _ in range(600)] == [rng.random() for _ in range(600)]


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.1, 0.8, 2.0]),
    st.sampled_from([1, 2, 40]),
    st.sampled_from([0.1, 0.95, 1.0]),
    st.sampled_from([0.0, 0.05, 1.0]),
    st.sampled_from([300, 4200]),
)
def test_a_token_far_above_the_others_is_as_alone_as_the_reference_says(
    seed: int, temperature: float, top_k: int, top_p: float, min_p: float, size: int
) -> None:
    rng = np.random.default_rng(seed)
    row = rng.standard_normal(size).astype(np.float32)
    row[rng.integers(size)] = row.max() + np.float32(rng.uniform(0.0, 12.0) * temperature)
    params = SamplingParams(temperature, top_k, top_p, min_p)
    ours = dense(Sampler(params).distribution(row.copy(), NO_HISTORY, []), len(row))
    theirs = reference(row, params)
    theirs[theirs < NOTHING] = 0.0
    np.testing.assert_array_equal(ours > NOTHING, theirs > 0.0)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.2, 3.0),
    st.sampled_from([0, 1, 3, 40]),
    st.sampled_from([0.5, 0.9, 0.95, 0.99, 1.0]),
    st.sampled_from([0.02, 0.05, 0.2, 1.0]),
    st.sampled_from([300, 4200, 16_383]),
    st.sampled_from([0.0, 0.25]),
)
def test_what_min_p_leaves_is_the_same_looked_at_alone_or_among_all(  # noqa: PLR0917
    seed: int, temperature: float, top_k: int, top_p: float, min_p: float, size: int, step: float
) -> None:
    rng = np.random.default_rng(seed)
    row = rng.standard_normal(size).astype(np.float32)
    near = rng.choice(size, 8, replace=False)  # a few far above the rest
    row[near] = row.max() + rng.uniform(0.0, 4.0, 8).astype(np.float32) * np.float32(temperature)
    if step:
        row = (np.round(row / step) * step).astype(np.float32)  # with ties
    params = SamplingParams(temperature, top_k, top_p, min_p)
    ours = Sampler(params).distribution(row.copy(), NO_HISTORY, [])
    slow = Sampler(params)
    slow._min_p_reach = slow._decisive_margin = float("inf")  # all candidates count
    theirs = slow.distribution(row.copy(), NO_HISTORY, [])
    np.testing.assert_allclose(dense(ours, size), dense(theirs, size), rtol=1e-12)


def test_drawing_follows_the_probabilities() -> None:
    distribution = Distribution(np.array([0.25, 0.0, 0.75]), np.array([3, 5, 9]))
    drawn = [distribution.sample(u) for u in np.linspace(0, 1, 1000, endpoint=False)]
    assert {token: drawn.count(token) for token in set(drawn)} == {3: 250, 9: 750}
    assert distribution.sample(np.nextafter(1.0, 0.0)) == 9


@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=8), st.lists(st.floats(0.01, 1), min_size=3, max_size=8))
def test_the_residual_is_the_same_dense_and_sparse(p_weights: list[float], q_weights: list[float]) -> None:
    n_vocab = 8
    p = Distribution(np.array(p_weights) / sum(p_weights), np.arange(len(p_weights)) * n_vocab // len(p_weights))
    q = Distribution(np.array(q_weights) / sum(q_weights), np.arange(len(q_weights)) * n_vocab // len(q_weights))
    expected = np.maximum(dense(p, n_vocab) - dense(q, n_vocab), 0)
    expected = expected / expected.sum() if expected.sum() > 0 else dense(p, n_vocab)
    for one in (p, Distribution(dense(p, n_vocab))):
        for other in (q, Distribution(dense(q, n_vocab))):
            np.testing.assert_allclose(dense(residual(one, other), n_vocab), expected, atol=1e-12)


def test_the_residual_of_a_deterministic_proposal_is_the_rest() -> None:
    p = Distribution(np.array([0.5, 0.3, 0.2]))
    np.testing.assert_allclose(residual(p, point_mass(0)).probs, [0.0, 0.6, 0.4])


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([4096, 5000, 20_011]),
    st.sampled_from([1, 40, 150, 900]),
    st.sampled_from([0.0, 0.5, 4.0]),
)
def test_top_k_of_a_large_row_is_that_of_a_sorted_one(seed: int, size: int, top_k: int, step: float) -> None:
    rng = np.random.default_rng(seed)
    row = (rng.standard_normal(size) * 4).astype(np.float32)
    if step:  # many ties
        row = np.round(row / step).astype(np.float32) * np.float32(step)
    row[rng.integers(size, size=50)] = -np.inf
    found = Sampler(SamplingParams(1.0, top_k, 1.0, 0.0)).distribution(row.copy(), NO_HISTORY, [])
    wanted = np.sort(np.argsort(-row, kind="stable")[:top_k])
    wanted = wanted[row[wanted] >= row.max() - np.float32(40.0)]
    assert found.ids is not None
    np.testing.assert_array_equal(found.ids, wanted)


@pytest.mark.parametrize("size", [500, 10_000, 60_000, 151_936])
def test_how_sure_a_peaked_row_is_and_a_flat_one_about(size: int) -> None:
    rng = np.random.default_rng(3)
    peaked = rng.standard_normal(size).astype(np.float32)
    peaked[7] = 13.0
    flat = rng.standard_normal(size).astype(np.float32)
    for row, tolerance in ((peaked, 0.02), (flat, 0.15)):
        best = int(row.argmax())
        exact = 1.0 / float(np.exp(row.astype(np.float64) - row[best]).sum())
        assert top_probability(row, best) == pytest.approx(exact, rel=tolerance)


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(50_000, 70_000), st.floats(0.0, 0.9999), st.floats(15.0, 25.0))
def test_certainty_of_a_peaked_row_is_independent_of_the_best_index(
    seed: int, size: int, where: float, highest: float
) -> None:
    row = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    best = int(where * size)
    row[best] = highest
    exact = 1.0 / float(np.exp(row.astype(np.float64) - row[best]).sum())
    assert top_probability(row, best) == pytest.approx(exact, rel=0.05)


@given(st.integers(0, 1000), st.sampled_from([1, 300, 4096, 8192, 8193, 20_000]), st.floats(-300, 300))
def test_how_sure_a_draft_is_does_not_depend_on_the_level_of_its_logits(seed: int, n_vocab: int, level: float) -> None:
    row = np.random.default_rng(seed).normal(level, 4.0, n_vocab).astype(np.float32)
    best = int(row.argmax())
    exact = 1.0 / float(np.exp(row.astype(np.float64) - row[best]).sum())
    assert top_probability(row, best) == pytest.approx(exact, rel=1e-4)
    row[:], row[0] = -np.inf, level
    assert top_probability(row, 0) == 1.0


@pytest.mark.parametrize("size", [300, 5002, 16_383, 16_447])
@pytest.mark.parametrize("place", [0, 77, -1])
@pytest.mark.parametrize(("temperature", "top_k", "min_p"), [(0.0, 40, 0.0), (0.8, 0, 0.0), (0.8, 10, 0.05)])
def test_a_row_that_holds_no_number_anywhere_is_refused(
    size: int, place: int, temperature: float, top_k: int, min_p: float
) -> None:
    row = np.random.default_rng(0).normal(0.0, 1.0, size).astype(np.float32)
    row[place] = np.nan
    with pytest.raises(DecodeError, match="not numbers"):
        Sampler(SamplingParams(temperature, top_k, 1.0, min_p)).distribution(row, NO_HISTORY, [])


@given(
    LOGITS,
    st.integers(1, 60),
    st.floats(0.2, 3.0),
    st.sampled_from([0, 1, 7, 40]),
    st.sampled_from([0.3, 0.95, 1.0]),
    st.sampled_from([0.0, 0.05]),
    st.sampled_from([1.0, 1.3]),
    st.lists(st.integers(0, 299), max_size=30),
)
def test_the_chain_of_candidates_is_that_of_the_row_without_others(  # noqa: PLR0917
    row: NDArray[np.float32],
    count: int,
    temperature: float,
    top_k: int,
    top_p: float,
    min_p: float,
    repeat_penalty: float,
    past: list[int],
) -> None:
    params = SamplingParams(temperature, top_k, top_p, min_p, repeat_penalty, 0.2, 0.1)
    banned, n_vocab = frozenset({1, 5}), max(1, len(row) - 3)
    history, pending = np.array(past, dtype=np.int32), [2, 3]
    ids = np.sort((-row).argsort(kind="stable")[:count])
    sampler = Sampler(params, banned)
    allowed = sampler.allowed_candidates(Candidates(ids, row[ids]), n_vocab, history, pending)
    others = np.ones(len(row), dtype=bool)
    others[ids] = False
    row[others] = -np.inf
    if not len(allowed.ids):
        assert set(ids.tolist()) <= banned | set(range(n_vocab, len(row)))
        return
    expected = dense(sampler.distribution(row[:n_vocab], history, pending), n_vocab)
    found = sampler.allowed_distribution(allowed)
    assert found.ids is not None
    assert (np.diff(found.ids) > 0).all()
    np.testing.assert_allclose(dense(found, n_vocab), expected, atol=1e-12)
    assert int(allowed.ids[argmax(allowed.logits)]) == int(row[:n_vocab].argmax())


@pytest.mark.parametrize("temperature", [0.0, 1e-300, 0.8, 100.0])
@pytest.mark.parametrize("penalty", [0.1, 10.0])
@pytest.mark.parametrize("bias", [-10.0, 10.0])
@pytest.mark.parametrize("n_vocab", [300, 60_000])
def test_the_ends_of_the_ranges_give_numbers(temperature: float, penalty: float, bias: float, n_vocab: int) -> None:
    """An error message would blame the model."""
    row = np.random.default_rng(0).normal(0.0, 8.0, n_vocab).astype(np.float32)
    history = np.arange(n_vocab, dtype=np.int32)
    for top_k, top_p, min_p in ((0, 1.0, 0.0), (1 << 62, 1e-300, 1.0), (1, 1e-300, 1e-300)):
        params = SamplingParams(
            temperature, top_k, top_p, min_p, penalty, bias, bias, penalty_last_n=1 << 40, seed=2**63 - 1
        )
        sampler = Sampler(params)
        probs = dense(sampler.distribution(row.copy(), history, [1, 1]), n_vocab)
        assert probs.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("penalty", [0.0, 1e-40, 0.09, 10.1, float("nan"), float("inf")])
def test_a_repeat_penalty_that_makes_infinite_logits_is_refused(penalty: float) -> None:
    with pytest.raises(ValueError, match="repeat penalty must be between"):
        SamplingParams(repeat_penalty=penalty)
