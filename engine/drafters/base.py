"""The interface of drafters, and a drafter that proposes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engine.records import Source
from engine.sampling.distribution import Distribution
from engine.sampling.sampler import History, Sampler


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens. ``q[i]`` is the distribution that ``ids[i]`` was sampled from; without ``q``, q = 1.

    Every sampled token must be proposed: whether token i is proposed may depend only on facts known before it was
    sampled, or the output would be biased.

    ``scores[i]`` estimates the probability that ``ids[i]`` is accepted if all tokens before it are; None if unknown.
    ``match_length`` is how many tokens at the end of the history matched earlier text; 0 without matching. A grammar
    forced the first ``num_forced`` tokens; ``predicted`` are the indices of tokens from the request's predicted output.
    """

    ids: list[int]
    source: Source
    q: list[Distribution] | None = None
    scores: list[float] | None = None
    match_length: int = 0
    num_forced: int = 0
    predicted: Sequence[int] = ()

    def first(self, count: int) -> Draft:
        """Truncate a deterministic draft (q = 1) to ``count`` tokens."""
        scores = self.scores[:count] if self.scores is not None else None
        predicted = [index for index in self.predicted if index < count]
        return Draft(self.ids[:count], self.source, None, scores, self.match_length, predicted=predicted)

    def cut(self, count: int) -> Draft:
        """Truncate any draft to ``count`` tokens; the first removed token must not have been sampled."""
        if count == len(self.ids):
            return self
        q = self.q[:count] if self.q is not None else None
        return replace(self.first(count), q=q)

    def before(self, ends: frozenset[int]) -> Draft:
        """Truncate a deterministic draft (q = 1) before the first token of ``ends``.

        If all tokens before it are accepted, the pass emits the end token anyway: verifying it would gain nothing.
        """
        if ends.isdisjoint(self.ids):
            return self
        return self.first(next(i for i, token_id in enumerate(self.ids) if token_id in ends))


class Drafter(Protocol):
    """Call ``begin`` once for each answer, then alternate ``propose`` and ``observe``."""

    @property
    def source(self) -> Source:
        """The provenance of proposed tokens."""

    def begin(self, history: History, sampler: Sampler) -> None:
        """Begin an answer after ``history`` [num_tokens]; drafts are sampled with the chain of ``sampler``.

        Until the next ``begin``, every history passed to ``propose`` extends the previous one.
        """

    def propose(self, history: History, limit: int) -> Draft:
        """Propose at most ``limit`` tokens, possibly none, to follow ``history`` [num_tokens]."""

    def observe(self, num_accepted: int) -> None:
        """Report that the first ``num_accepted`` tokens of the last proposal were accepted."""


_EMPTY = Draft([], Source.TARGET)


class NoDrafter:
    """Implements `Drafter` by proposing nothing."""

    source = Source.TARGET

    def begin(self, history: History, sampler: Sampler) -> None: ...

    def propose(self, history: History, limit: int) -> Draft:  # noqa: ARG002  (the protocol's signature)
        return _EMPTY

    def observe(self, num_accepted: int) -> None: ...
