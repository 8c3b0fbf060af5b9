"""A small model proposes: it runs a few tokens ahead in a context of its own. Knows the target by what it keeps."""

from __future__ import annotations

from typing import Protocol

from engine.drafters.base import Draft
from engine.records import Source
from engine.sampling import Distribution, History, Row, Sampler, top_probability
from engine.sequence import FIRST_CHUNK, CachedSequence

_EMPTY = Draft([], Source.DRAFT)


class Gate(Protocol):
    """Decides how far to draft. It may look at what was known before a token is drawn, never at the drawn token."""

    def worth_drawing(self, drawn: int, alive: float, confidence: float, limit: int) -> bool:
        """Whether to draw one more token, whose distribution is known already."""

    def worth_running(self, drawn: int, alive: float, limit: int) -> bool:
        """Whether to run the draft model once more."""

    def chance(self, confidence: float) -> float:
        """Chance that a token drawn with this confidence is kept."""


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

    def propose(self, history: History, limit: int, gate: Gate | None = None) -> Draft:
        """Run over what is new in ``history``, then up to ``limit`` tokens ahead, as far as ``gate`` finds it worth."""
        model = self._model
        limit = min(limit, model.n_ctx - len(history) + 1)
        if limit <= 0 or self._sampler is None:
            return _EMPTY
        self._num_history = len(history)
        fresh = history[model.num_past :]
        if len(fresh) > FIRST_CHUNK:
            for _ in model.prefill(fresh[:-1]):
                pass
            fresh = fresh[-1:]
        row = model.forward(fresh, 1)[0]
        return self._run_ahead(row, history, limit, gate)

    def _run_ahead(self, row: Row, history: History, limit: int, gate: Gate | None) -> Draft:
        ids: list[int] = []
        scores: list[float] = []
        q: list[Distribution] = []
        alive = 1.0
        while True:
            next_id, confidence, distribution = self._look(row[: self._n_vocab], history, ids, gate)
            if gate is not None:
                if not gate.worth_drawing(len(ids), alive, confidence, limit):
                    break
                alive *= gate.chance(confidence)
                scores.append(confidence)
            if distribution is not None:
                next_id = distribution.draw(self._uniform())
                q.append(distribution)
            ids.append(next_id)
            if len(ids) == limit or next_id in self._eog_ids:
                break
            if gate is not None and not gate.worth_running(len(ids), alive, limit):
                break
            row = self._model.forward((next_id,), 1)[0]
        return Draft(ids, self.source, q or None, scores or None)

    def observe(self, num_accepted: int) -> None:
        """Forget the proposed tokens that were not kept. The last proposed one need not be in the cache."""
        if not self._model.rollback(self._num_history + num_accepted):
            self._model.clear()

    def _look(
        self, row: Row, history: History, ids: list[int], gate: Gate | None
    ) -> tuple[int, float, Distribution | None]:
        """The argmax (temperature 0) or the distribution to draw from, and how sure the draft is, before drawing."""
        sampler = self._sampler
        assert sampler is not None  # noqa: S101  (propose has looked)
        if sampler.greedy:
            best = sampler.argmax(row, history, ids)
            return best, top_probability(row, best) if gate is not None else 0.0, None
        distribution = sampler.distribution(row, history, ids)
        return -1, float(distribution.probs.max()) if gate is not None else 0.0, distribution

    def _uniform(self) -> float:
        assert self._sampler is not None  # noqa: S101  (propose has looked)
        return self._sampler.uniform()
