"""THE loop: propose, verify in one pass, accept, roll back, emit. Plain decoding is the same loop with an empty draft.

Owns the invariant that the cache holds every token but the last. Knows token ids only: no text, no thread, no clock but
the one that feeds the statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from engine.block_verifier import verify_block
from engine.drafters.base import Draft, Drafter
from engine.errors import DecodeError
from engine.interfaces import Rows
from engine.pacer import Pacer
from engine.records import Source
from engine.sampling import History, Sampler
from engine.sequence import CachedSequence
from engine.stats import StatsRecorder
from engine.verifier import Verdict, verify_greedy


@dataclass(frozen=True, slots=True)
class Block:
    """The tokens that one pass gave, at least one, and where each came from."""

    ids: list[int]
    sources: list[Source]


class Speculation:
    """The decoding of one answer. ``prompt`` [num_tokens] is already in the target's cache, all but its last token."""

    def __init__(
        self,
        target: CachedSequence,
        drafter: Drafter,
        sampler: Sampler,
        stats: StatsRecorder,
        prompt: History,
        pacer: Pacer | None = None,
    ) -> None:
        """``pacer`` knows the costs: with it passes are padded where that is cheaper, and it hears what they took."""
        self._target = target
        self._pacer = pacer
        self._drafter = drafter
        self._sampler = sampler
        self._stats = stats
        self._tokens: History = np.empty(target.n_ctx + 1, dtype=np.int32)
        self._tokens[: len(prompt)] = prompt
        self._count = len(prompt)
        drafter.begin(self.history, sampler)

    @property
    def history(self) -> History:
        """Prompt and answer so far [num_tokens]; a view that stays valid while it grows."""
        return self._tokens[: self._count]

    @property
    def room(self) -> int:
        """How many more tokens the context can take."""
        return self._target.n_ctx - self._count + 1

    def step(self, depth: int, wanted: int) -> Block:
        """One pass, with at most ``depth`` proposed tokens; ``wanted`` (>= 1) tokens are still welcome.

        Raises:
            DecodeError: the pass failed, or the model computes no numbers.
        """
        stats, target, count = self._stats, self._target, self._count
        started = perf_counter()
        history = self._tokens[:count]
        draft = self._drafter.propose(history, max(0, min(depth, wanted - 1, self.room - 1)))
        num_proposed = len(draft.ids)
        drafted = perf_counter()
        num_padding = self._padding(num_proposed + 1)
        ids = [int(history[-1]), *draft.ids, *([int(history[-1])] * num_padding)]
        rows = target.forward(ids, num_proposed + 1, num_padding)
        passed = perf_counter()
        verdict = self._verify(draft, rows, history)
        sampled = perf_counter()
        kept = verdict.num_accepted
        if kept < num_proposed + num_padding and not target.rollback(count + kept):
            raise DecodeError(
                "The model's memory could not forget the rejected tokens.",
                "Switch the mode to off for this model.",
            )
        block = self._emit(draft, verdict)
        self._drafter.observe(kept)
        ended = perf_counter()
        stats.draft_s += drafted - started
        stats.verify_s += passed - drafted
        stats.sample_s += sampled - passed
        stats.rollback_s += ended - sampled
        stats.count_pass(num_proposed, kept, ended - started)
        if self._pacer is not None:
            self._pacer.curve.observe(len(ids), (passed - drafted) * 1000.0)
            self._pacer.observe_overhead((ended - passed) * 1000.0)
        return block

    def _padding(self, num_tokens: int) -> int:
        if self._pacer is None:
            return 0
        return max(0, min(self._pacer.curve.padded(num_tokens), self._target.n_ctx - self._count + 1) - num_tokens)

    def _verify(self, draft: Draft, rows: Rows, history: History) -> Verdict:
        sampler, ids = self._sampler, draft.ids
        if sampler.greedy:
            return verify_greedy(draft, lambda i: sampler.argmax(rows[i], history, ids[:i]))
        return verify_block(draft, lambda i: sampler.distribution(rows[i], history, ids[:i]), sampler.uniform)

    def _emit(self, draft: Draft, verdict: Verdict) -> Block:
        kept, count = verdict.num_accepted, self._count
        ids = [*draft.ids[:kept], verdict.next_id]
        self._tokens[count : count + kept + 1] = ids
        self._count = count + kept + 1
        return Block(ids, [draft.source] * kept + [verdict.next_source])
