"""Tests the verifier: greedy cases, and proofs of exactness on a small vocabulary, exhaustive and statistical."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import engine.decoding.verifier
from engine.decoding.verifier import verify, verify_greedy
from engine.drafters.base import Draft
from engine.records import Source
from engine.sampling.distribution import Distribution
from tests.scripted_pair import chi_square_p

N_VOCAB = 10


@pytest.mark.parametrize(
    ("draft", "target", "emitted", "source"),
    [
        ([1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4], Source.BONUS),
        ([1, 2, 3], [1, 5, 3, 4], [1, 5], Source.RECOVERED),
        ([1, 2, 3], [7, 2, 3, 4], [7], Source.RECOVERED),
        ([], [6], [6], Source.TARGET),
    ],
)
def test_greedy_keeps_what_equals_the_argmax(
    draft: list[int], target: list[int], emitted: list[int], source: Source
) -> None:
    verdict = verify_greedy(Draft(draft, Source.DRAFT), lambda i: target[i])
    assert [*draft[: verdict.num_accepted], verdict.next_id] == emitted
    assert verdict.next_source is source


def test_rows_after_the_first_rejection_are_not_asked_for() -> None:
    asked: list[int] = []

    def argmax_at(i: int) -> int:
        asked.append(i)
        return 9

    verify_greedy(Draft([1, 2, 3], Source.NGRAM), argmax_at)
    assert asked == [0]


def simplex(rng: np.random.Generator, sharpness: float) -> NDArray[np.float64]:
    weights = rng.gamma(sharpness, size=N_VOCAB) + 1e-9
    return weights / weights.sum()


def emitted_distribution(p: NDArray[np.float64], q: NDArray[np.float64], num_cells: int = 400) -> NDArray[np.float64]:
    """The distribution of the first emitted token for one proposed token, integrated over a fine grid of uniforms."""
    grid = (np.arange(num_cells) + 0.5) / num_cells
    result = np.zeros(N_VOCAB)
    for x in range(N_VOCAB):
        draft = Draft([x], Source.DRAFT, [Distribution(q)])
        for accept in grid:
            verdict = verify(draft, lambda _i: Distribution(p), iter([accept, 0.0]).__next__)
            if verdict.num_accepted:
                result[x] += q[x] / num_cells
            else:
                rest = engine.decoding.verifier.residual(Distribution(p), Distribution(q)).probs
                result += rest * q[x] / num_cells
    return result


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([0.1, 1.0, 5.0]))
def test_the_first_emitted_token_is_distributed_as_p(seed: int, sharpness: float) -> None:
    rng = np.random.default_rng(seed)
    p, q = simplex(rng, sharpness), simplex(rng, sharpness)
    np.testing.assert_allclose(emitted_distribution(p, q), p, atol=N_VOCAB / 400)


def sample_blocks(
    propose: Callable[[np.random.Generator], Draft], p_rows: NDArray[np.float64], num_samples: int
) -> NDArray[np.int64]:
    """Counts of the first two emitted tokens [n_vocab, n_vocab]; the second from plain p if the block was short.

    ``p_rows`` [n_vocab + 1, n_vocab]: the target's distribution after each last token; the last row: the first token's.
    """
    rng = np.random.default_rng(11)
    counts = np.zeros((N_VOCAB, N_VOCAB), dtype=np.int64)
    for _ in range(num_samples):
        draft = propose(rng)
        path = [N_VOCAB, *draft.ids]
        verdict = verify(draft, lambda i, path=path: Distribution(p_rows[path[i]]), rng.random)  # type: ignore[misc]
        emitted = [*draft.ids[: verdict.num_accepted], verdict.next_id]
        if len(emitted) < 2:
            emitted.append(Distribution(p_rows[emitted[0]]).sample(rng.random()))
        counts[emitted[0], emitted[1]] += 1
    return counts


class Scripted:
    """A target and a draft with scripted distributions that accept and reject often."""

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        self.p = np.array([simplex(rng, 0.6) for _ in range(N_VOCAB + 1)])
        noise = np.array([simplex(rng, 0.6) for _ in range(N_VOCAB + 1)])
        self.q = 0.6 * self.p + 0.4 * noise
        self.exact = self.p[N_VOCAB][:, None] * self.p[:N_VOCAB]

    def sampled(self, rng: np.random.Generator) -> Draft:
        ids: list[int] = []
        q: list[Distribution] = []
        last = N_VOCAB
        for _ in range(2):
            q.append(Distribution(self.q[last]))
            last = q[-1].sample(rng.random())
            ids.append(last)
        return Draft(ids, Source.DRAFT, q)

    def fixed(self, _rng: np.random.Generator) -> Draft:
        return Draft([int(self.p[N_VOCAB].argmax()), 4], Source.NGRAM)

    def drops_unsure_tail(self, rng: np.random.Generator) -> Draft:
        """A mistake: a sampled token is dropped because its own probability is low."""
        draft = self.sampled(rng)
        assert draft.q is not None
        if draft.q[0].prob(draft.ids[0]) < 0.3:
            return Draft([], Source.DRAFT, [])
        return draft


@pytest.mark.parametrize("how", ["sampled", "fixed"])
def test_blocks_are_distributed_as_plain_decoding(how: str) -> None:
    scripted = Scripted()
    counts = sample_blocks(getattr(scripted, how), scripted.p, 20_000)
    assert chi_square_p(counts, scripted.exact) > 0.001


def test_the_proof_notices_a_residual_replaced_by_p(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.decoding.verifier, "residual", lambda p, _q: p)
    scripted = Scripted()
    assert chi_square_p(sample_blocks(scripted.sampled, scripted.p, 20_000), scripted.exact) < 1e-6


def test_the_proof_notices_a_drawn_tail_dropped_for_low_confidence() -> None:
    scripted = Scripted()
    assert chi_square_p(sample_blocks(scripted.drops_unsure_tail, scripted.p, 20_000), scripted.exact) < 1e-6


def test_a_token_that_the_target_cannot_give_is_never_kept() -> None:
    p = Distribution(np.array([0.0, 1.0]))
    draft = Draft([0], Source.DRAFT, [Distribution(np.array([1.0, 0.0]))])
    verdict = verify(draft, lambda _i: p, lambda: 0.0)
    assert (verdict.num_accepted, verdict.next_id) == (0, 1)
