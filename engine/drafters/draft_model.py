"""A small model proposes: it runs a few tokens ahead in a context of its own. Knows the target by what it keeps."""

from __future__ import annotations

from engine.drafters.base import Draft
from engine.records import Source
from engine.sampling import Distribution, History, Row, Sampler
from engine.sequence import FIRST_CHUNK, CachedSequence

_EMPTY = Draft([], Source.DRAFT)


class DraftModelDrafter:
    """Implements `Drafter` over a `LanguageModel` that shares the target's vocabulary.

    At temperature 0 it proposes its argmax; above, it *draws* from q, its own distribution after the whole sampling
    chain: a sampled draft is accepted with probability 1 - TV(p, q), a greedy one only with p(argmax q).
    """

    source = Source.DRAFT

    def __init__(self, model: CachedSequence, n_vocab: int, eog_ids: frozenset[int]) -> None:
        """``n_vocab`` is the target's: ids beyond it are masked in q. After a token of ``eog_ids`` nothing follows."""
        self._model = model
        self._n_vocab = min(n_vocab, model.n_vocab)
        self._eog_ids = eog_ids
        self._sampler: Sampler | None = None
        self._num_history = 0

    def begin(self, history: History, sampler: Sampler) -> None:
        """Keep the part of the cache that ``history`` shares."""
        self._sampler = sampler
        self._model.reuse(history)

    def propose(self, history: History, limit: int) -> Draft:
        """Run the draft model over what is new in ``history``, then up to ``limit`` tokens ahead."""
        sampler, model = self._sampler, self._model
        limit = min(limit, model.n_ctx - len(history) + 1)
        if limit <= 0 or sampler is None:
            return _EMPTY
        self._num_history = len(history)
        fresh = history[model.num_past :]
        if len(fresh) > FIRST_CHUNK:
            for _ in model.prefill(fresh[:-1]):
                pass
            fresh = fresh[-1:]
        row = model.forward(fresh, 1)[0]
        ids: list[int] = []
        q: list[Distribution] = []
        while True:
            token_id = self._choose(row[: self._n_vocab], history, ids, q)
            ids.append(token_id)
            if len(ids) == limit or token_id in self._eog_ids:
                return Draft(ids, self.source, q or None)
            row = model.forward((token_id,), 1)[0]

    def observe(self, num_accepted: int) -> None:
        """Forget the proposed tokens that were not kept. The last proposed one never entered the cache."""
        if not self._model.rollback(self._num_history + num_accepted):
            self._model.clear()

    def _choose(self, row: Row, history: History, ids: list[int], q: list[Distribution]) -> int:
        """The next proposed token: the argmax at temperature 0, else drawn, with its distribution added to ``q``."""
        sampler = self._sampler
        assert sampler is not None  # noqa: S101  (propose has looked)
        if sampler.greedy:
            return sampler.argmax(row, history, ids)
        distribution = sampler.distribution(row, history, ids)
        q.append(distribution)
        return distribution.draw(sampler.uniform())
