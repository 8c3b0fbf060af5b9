"""The interface of drafters: they propose tokens and hear how many were accepted; and one that proposes none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engine.records import Source
from engine.sampling.distribution import Distribution
from engine.sampling.sampler import History, Sampler


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens. ``q[i]`` is the distribution that ``ids[i]`` was drawn from; no ``q`` means q = 1 on each token.

    A drawn token is always in it: whether token i is proposed may depend only on what was known before it was drawn,
    or the output would be biased.

    ``scores[i]`` estimates, before the target has looked, the probability that ``ids[i]`` is right given that those
    before it are; None where nothing is known. ``match_length`` is how many tokens at the end of the history were found
    elsewhere; 0 where nothing was looked up. ``sources`` names each token's provenance where a proposal is chained from
    several; without it all came from ``source``. ``num_forced`` of the first tokens are a grammar's, ``predicted`` the
    places of those that came from a text that the request predicted.
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
        """Where each token came from."""
        return self.sources if self.sources is not None else [self.source] * len(self.ids)

    def first(self, count: int) -> Draft:
        """The first ``count`` tokens; of text, whose q is 1."""
        scores = self.scores[:count] if self.scores is not None else None
        predicted = [place for place in self.predicted if place < count]
        return Draft(self.ids[:count], self.source, None, scores, self.match_length, predicted=predicted)

    def cut(self, count: int) -> Draft:
        """The first ``count`` tokens, whatever they are of: the one behind them must not be one that was drawn."""
        if count == len(self.ids):
            return self
        q = self.q[:count] if self.q is not None else None
        sources = self.sources[:count] if self.sources is not None else None
        return replace(self.first(count), q=q, sources=sources)

    def before(self, ends: frozenset[int]) -> Draft:
        """As far as the first of the tokens that end an answer, without it; of text, whose q is 1.

        Where all before it are kept, the pass gives the end by itself: to verify it as well would gain nothing.
        """
        if ends.isdisjoint(self.ids):
            return self
        return self.first(next(i for i, token_id in enumerate(self.ids) if token_id in ends))


class Drafter(Protocol):
    """Life cycle: ``begin`` once for an answer, then ``propose`` and ``observe`` in turn."""

    @property
    def source(self) -> Source:
        """The provenance of what it proposes."""

    def begin(self, history: History, sampler: Sampler) -> None:
        """A new answer begins after ``history`` [num_tokens]; proposals are drawn by this sampler's chain.

        Until the next ``begin``, every history given to ``propose`` continues the one before.
        """

    def propose(self, history: History, limit: int) -> Draft:
        """At most ``limit`` tokens to follow ``history`` [num_tokens]; fewer or none is always allowed."""

    def observe(self, num_accepted: int) -> None:
        """The first ``num_accepted`` tokens of the last proposal were kept."""


_EMPTY = Draft([], Source.TARGET)


class NoDrafter:
    """Implements `Drafter` by proposing nothing."""

    source = Source.TARGET

    def begin(self, history: History, sampler: Sampler) -> None:
        """Nothing to prepare."""

    def propose(self, history: History, limit: int) -> Draft:  # noqa: ARG002  (the protocol's signature)
        """An empty draft."""
        return _EMPTY

    def observe(self, num_accepted: int) -> None:
        """Nothing to learn."""
