"""A target and a draft of ten tokens with known distributions: the next token depends on the last one only.

They prove that answers have the distribution of plain decoding.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.interfaces import Candidates, Constraint, Rows, TokenIds
from engine.records import SamplingParams
from engine.sampling.sampler import Sampler

N_VOCAB = 10
P_LOGITS = np.random.default_rng(1).normal(0, 1.2, (N_VOCAB, N_VOCAB)).astype(np.float32)
Q_LOGITS = (P_LOGITS + np.random.default_rng(2).normal(0, 0.8, P_LOGITS.shape)).astype(np.float32)


def unseeded(params: SamplingParams, constraint: Constraint | None = None) -> Sampler:
    """A sampler that behaves as without a seed, but uses the random numbers of ``params.seed``."""
    random = np.random.default_rng(params.seed)
    return Sampler(replace(params, seed=None), constraint=constraint, random=random)


class MarkovModel:
    """A `LanguageModel` whose next token depends on the last one only. ``logits`` [n_vocab, n_vocab]: by last id."""

    def __init__(self, logits: NDArray[np.float32], n_ctx: int = 256, *, can_rollback: bool = True) -> None:
        self._logits = logits
        self._can_rollback = can_rollback
        self._ids: list[int] = []
        self.num_snapshots: int | None = None
        self.num_candidates = 0
        self.n_vocab = int(logits.shape[1])
        self.n_ctx = n_ctx
        self.n_ubatch = 64
        self.num_forwards = 0

    @property
    def num_past(self) -> int:
        """The number of tokens in the cache."""
        return len(self._ids)

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        """See `LanguageModel.forward`. Like a real model, it rejects an empty pass."""
        if not len(ids):
            raise ValueError("a pass of 0 tokens")
        self.num_forwards += 1
        self._ids += [int(token_id) for token_id in ids]
        return self._logits[self._ids[len(self._ids) - n_rows :]].copy()

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`."""
        row = self.forward(ids, 1)[0]
        likeliest = np.sort((-row).argsort(kind="stable")[: self.num_candidates or len(row)])
        return Candidates(likeliest, row[likeliest])

    def rollback(self, num_past: int) -> bool:
        """See `LanguageModel.rollback`."""
        if num_past >= len(self._ids):
            return True
        if not self._can_rollback:
            return False
        del self._ids[num_past:]
        return True

    def save(self) -> bool:
        """See `LanguageModel.save`. There is nothing to save."""
        return False

    def restore(self) -> bool:
        """See `LanguageModel.restore`."""
        return False

    @property
    def state_bytes(self) -> int:
        """See `LanguageModel.state_bytes`."""
        return 4 * len(self._ids)

    def export_state(self) -> NDArray[np.uint8] | None:
        """See `LanguageModel.export_state`. The state consists of the ids."""
        return np.asarray(self._ids, dtype=np.int32).view(np.uint8) if self._ids else None

    def import_state(self, state: NDArray[np.uint8], num_past: int) -> bool:
        """See `LanguageModel.import_state`."""
        self.clear()
        if len(state) != 4 * num_past:
            return False
        self._ids[:] = state.view(np.int32).tolist()
        return True

    def clear(self) -> None:
        """Forget everything."""
        self._ids.clear()


class Clock:
    """A scripted clock. Each query is some time after the last; the scale changes now and then, as on a busy machine.

    With the real clock the pacer would decide differently in each run. A test of the output's distribution would get
    new samples each time, and sometimes fail by chance.
    """

    def __init__(self, seed: int | tuple[int, ...]) -> None:
        self._rng = np.random.default_rng(seed)
        self._now = self._looks = 0.0
        self._scale = 1e-4

    def __call__(self) -> float:
        """Seconds, like `time.perf_counter`."""
        self._looks += 1
        if self._looks % 200 == 0:
            self._scale = 10.0 ** self._rng.uniform(-5, -2)
        self._now += self._rng.exponential(self._scale)
        return self._now


def likely_path(length: int) -> list[int]:
    """A prompt sampled from the target, in which n-grams often repeat."""
    ids = [2]
    while len(ids) < length:
        ids.append(int(P_LOGITS[ids[-1]].argmax()))
    return ids


def plain_distribution(prompt_end: int, position: int) -> NDArray[np.float64]:
    """The exact distribution of the token at ``position`` after the prompt, by multiplying the transition matrices."""
    p = np.exp(P_LOGITS - P_LOGITS.max(axis=1, keepdims=True)).astype(np.float64)
    p /= p.sum(axis=1, keepdims=True)
    result = p[prompt_end]
    for _ in range(position):
        result = result @ p
    return result


def chi_square_p(counts: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """P value of the counts; cells are pooled in order until each has an expected count of at least ten."""
    total, pooled_seen, pooled_expected, seen, wanted = counts.sum(), [], [], 0.0, 0.0
    for count, share in sorted(zip(counts.ravel(), expected.ravel(), strict=True), key=lambda cell: cell[1]):
        seen, wanted = seen + count, wanted + share * total
        if wanted >= 10:
            pooled_seen.append(seen)
            pooled_expected.append(wanted)
            seen = wanted = 0.0
    pooled_seen[-1] += seen
    pooled_expected[-1] += wanted
    from scipy import stats  # importing takes a second, which apps started by tests need not spend

    return float(stats.chisquare(pooled_seen, pooled_expected).pvalue)
