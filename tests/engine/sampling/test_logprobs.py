"""Log probabilities equal those of the row's softmax."""

import numpy as np
import pytest
from scipy.special import log_softmax

from engine.sampling.logprobs import row_logprob


@pytest.mark.parametrize("n_vocab", [7, 5000, 30_011])
@pytest.mark.parametrize("num_top", [0, 1, 5, 20])
def test_they_are_those_of_the_softmax(n_vocab: int, num_top: int) -> None:
    row = np.random.default_rng(n_vocab).normal(0, 4, n_vocab).astype(np.float32)
    wanted = log_softmax(row.astype(np.float64))
    found = row_logprob(row, 3, num_top)
    assert found.logprob == pytest.approx(wanted[3], abs=1e-6)
    best = np.argsort(-wanted, kind="stable")[:num_top]
    assert [one for one, _ in found.top] == best.tolist()
    assert [logprob for _, logprob in found.top] == pytest.approx(wanted[best].tolist(), abs=1e-6)
