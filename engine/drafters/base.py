"""The interface of drafters, which propose tokens and learn how many were accepted; and one that proposes none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engine.records import Source
from engine.sampling.distribution import Distribution
from engine.sampling.sampler import History, Sampler


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens. ``q[i]`` is the distribution that ``ids[i]`` was sampled from; without ``q``, q = 1 on each.

    A sampled token is always in it: whether token i is proposed may depend only on what was known before it was
    sampled, or the output would be biased.

    ``scores[i]`` estimates the probability that ``ids[i]`` is right given that those before it are; None if unknown.
    ``match_length`` is how many tokens at the end of the history were found elsewhere; 0 without a lookup. ``sources``
    is the provenance of each token of a chained proposal; without it all come from ``source``. The first
    ``num_forced`` tokens are a grammar's; ``predicted`` are the indices of tokens of a text that the request predicted.
    """

    ids: list[int]
    source: Source
    q: list[Distribution] | None = None
    scores: list[float] | None = None
    match_length: int = 0
    sources: list[Source] | None = None
    num_forced: int = 0
    predicted: Sequence[int] = ()

    @property
    def provenance(self) -> list[Source]:
        return self.sources if self.sources is not None else [self.source] * len(self.ids)

    def first(self, count: int) -> Draft:
        """The first ``count`` tokens of a deterministic draft (q = 1)."""
        scores = self.scores[:count] if self.scores is not None else None
        predicted = [index for index in self.predicted if index < count]
        return Draft(self.ids[:count], self.source, None, scores, self.match_length, predicted=predicted)

    def cut(self, count: int) -> Draft:
        """The first ``count`` tokens of any draft; the token after them must not have been sampled."""
        if count == len(self.ids):
            return self
        q = self.q[:count] if self.q is not None else None
        sources = self.sources[:count] if self.sources is not None else None
        return replace(self.first(count), q=q, sources=sources)

    def before(self, ends: frozenset[int]) -> Draft:
        """The tokens before the first of ``ends``, of a deterministic draft (q = 1).

        If all of them are accepted, the pass gives the end anyway: verifying it as well would gain nothing.
        """
        if ends.isdisjoint(self.ids):
            return self
        return self.first(next(i for i, token_id in enumerate(self.ids) if token_id in ends))


class Drafter(Protocol):
    """Call ``begin`` once for an answer, then ``propose`` and ``observe`` in turn."""

    @property
    def source(self) -> Source:
        """The provenance of its proposals."""

    def begin(self, history: History, sampler: Sampler) -> None:
        """Begin an answer after ``history`` [num_tokens]; proposals are sampled by this sampler's chain.

        Until the next ``begin``, every history given to ``propose`` continues the previous one.
        """

    def propose(self, history: History, limit: int) -> Draft:
        """Propose at most ``limit`` tokens to follow ``history`` [num_tokens]; fewer or none is always allowed."""

    def observe(self, num_accepted: int) -> None:
        """Learn that the first ``num_accepted`` tokens of the last proposal were accepted."""


_EMPTY = Draft([], Source.TARGET)


class NoDrafter:
    """Implements `Drafter` by proposing nothing."""

    source = Source.TARGET

    def begin(self, history: History, sampler: Sampler) -> None: ...

    def propose(self, history: History, limit: int) -> Draft:  # noqa: ARG002  (the protocol's signature)
        return _EMPTY

    def observe(self, num_accepted: int) -> None: ...
