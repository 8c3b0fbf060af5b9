"""The decoding loop: propose, verify in one pass, accept, roll back, emit.

Plain decoding is the loop with an empty draft. Between two passes the cache holds every token but the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import numpy as np

from engine.decoding.block_verifier import verify_block
from engine.decoding.stats import StatsRecorder
from engine.decoding.tie_safe import TieSafeVerifier
from engine.decoding.verifier import Verdict, verify_greedy, verify_seeded
from engine.drafters.base import Draft, Drafter
from engine.drafters.forced import GrammarDrafter
from engine.errors import DecodeError
from engine.interfaces import JoinedPass, Rows
from engine.pacing.drafter import PacedDrafter
from engine.pacing.pacer import Pacer
from engine.pacing.pass_trace import OnTrace, TracedPass
from engine.pacing.recovery import Recovery
from engine.records import GREEDY, PassProbabilities, Source
from engine.sampling.distribution import Distribution
from engine.sampling.logprobs import RowLogprob, row_logprob
from engine.sampling.sampler import History, Sampler
from engine.sampling.top_k import Row
from engine.sequence import CachedSequence


@dataclass(frozen=True, slots=True)
class StepOutput:
    """The tokens that one pass gave, at least one, where each came from, and the proposed ones that were not kept.

    Of several plain passes at once: one token each. ``num_forced`` of the first were forced by a grammar.
    ``probabilities`` where something was proposed, ``logprobs`` of
    each token where they are wanted.
    """

    ids: list[int]
    sources: list[Source]
    rejected: list[int]
    num_passes: int = 1
    probabilities: PassProbabilities | None = None
    logprobs: Sequence[RowLogprob] = ()
    num_forced: int = 0


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """What an answer's passes do beside proposing and verifying, and who is told of them.

    Attributes:
        pacer: decides what is proposed, so it learns from every pass.
        costs: is told what passes take, also where no pacer decides; passes are padded where it finds that cheaper.
            None: the pacer.
        tie_safe: verifies in place of the usual verifier; at temperature 0 or with a seed.
        on_pass: is given the tokens of each of the passes since the last call, and the milliseconds of each.
        on_first_look: is given p and q of the first of the tokens that were drawn for a pass.
        on_trace: is given every pass.
        num_logprobs: how many of the likeliest tokens to tell with each; None where nothing is wanted. By `step` only.
    """

    pacer: Pacer | None = None
    costs: Pacer | None = None
    tie_safe: TieSafeVerifier | None = None
    on_pass: Callable[[int, Sequence[float]], None] | None = None
    on_first_look: Callable[[Distribution, Distribution], None] | None = None
    on_trace: OnTrace | None = None
    num_logprobs: int | None = None


class Speculation:
    """The decoding of one answer. ``prompt`` [num_tokens] is already in the target's cache, all but its last token."""

    def __init__(
        self,
        target: CachedSequence,
        drafter: Drafter,
        sampler: Sampler,
        stats: StatsRecorder,
        prompt: History,
        config: LoopConfig | None = None,
    ) -> None:
        self._config = config = config or LoopConfig()
        self._target = target
        self._pacer = pacer = config.pacer
        self._costs = config.costs if config.costs is not None else pacer
        self._tie_safe = config.tie_safe
        self._recovery = pacer.recovery if pacer is not None else None
        self._drafter = drafter
        self._sampler = sampler
        self._stats = stats
        self._tokens: History = np.empty(target.n_ctx + 1, dtype=np.int32)
        self._tokens[: len(prompt)] = prompt
        self._count = len(prompt)
        self._reported_tie_s = self._redecode_s = 0.0
        self._failure: DecodeError | None = None  # of a plain pass, raised after the tokens that came before it
        self._num_prompt = len(prompt)
        drafter.begin(self.history, sampler)

    @property
    def history(self) -> History:
        """Prompt and answer so far [num_tokens]; a view that stays valid while it grows."""
        return self._tokens[: self._count]

    @property
    def room(self) -> int:
        """How many more tokens the context can take."""
        return self._target.n_ctx - self._count + 1

    def step(self, depth: int, wanted: int) -> StepOutput:
        """One pass, with at most ``depth`` proposed tokens; ``wanted`` (>= 1) tokens are still welcome.

        Raises:
            DecodeError: the pass failed, or the model computes no numbers.
        """
        if self._failure is not None:
            raise self._failure
        target, count = self._target, self._count
        times = [perf_counter()]
        history = self._tokens[:count]
        if self._pacer is not None and target.batch is not None:
            self._pacer.join(target.batch.beside(is_drafting=self._pacer.is_drafting))
        num_pending, num_replayed = target.num_pending, target.num_replayed
        if self._recovery is not None:
            self._recovery.num_pending = num_pending
        draft = self._drafter.propose(history, max(0, min(depth, wanted - 1, self.room - 1)))
        times.append(perf_counter())
        num_proposed = len(draft.ids)
        num_padding = self._padding(num_proposed)
        if num_proposed:
            target.checkpoint(num_proposed + num_padding)
        times.append(perf_counter())
        ids = [int(history[-1]), *draft.ids, *([int(history[-1])] * num_padding)]
        if self._tie_safe is not None:
            self._tie_safe.begin_pass(len(ids))
        rows = target.forward(ids, num_proposed + 1, num_padding)
        times.append(perf_counter())
        untouched = rows.copy() if self._config.num_logprobs is not None else None  # the chain writes into them
        verdict = self._verify(draft, rows, history)
        times.append(perf_counter())
        kept = verdict.num_accepted
        if kept < num_proposed + num_padding and not target.rollback(count + kept):
            raise DecodeError(
                "The model's memory could not forget the rejected tokens.",
                "Set the mode to Off for this model.",
            )
        times.append(perf_counter())
        token_ms = self._pacer.token_ms if self._pacer is not None and self._config.on_trace is not None else None
        output = self._emit(draft, verdict, untouched)
        self._drafter.observe(kept)
        times.append(perf_counter())
        if self._tie_safe is not None:
            self._count_redecoding(kept + 1 if num_proposed else 0)
        self._stats.replayed += target.num_replayed - num_replayed
        self._stats.count_pass(num_proposed, kept, times[-1] - times[0])
        self._stats.count_forced_and_predicted(draft, kept)
        if self._config.on_trace is not None:
            self._trace(count, draft, kept, (times[-1] - times[0]) * 1000.0, token_ms)
        self._count_times(times, num_pending, len(ids), (num_proposed, kept))
        if self._config.on_pass is not None and target.joined is None:
            self._config.on_pass(num_pending + len(ids), ((times[3] - times[2]) * 1000.0,))
        return output

    def run_plain(self, most: int, budget_s: float, ends_run: Callable[[History], bool]) -> StepOutput:
        """Passes without a draft one after another, up to ``most`` (>= 1), or for ``budget_s`` seconds.

        ``ends_run`` hears of the history after every token, and ends it there.

        What `step` would give one at a time. What surrounds a pass runs on caches that the weights have just swept,
        where it takes several times as long as it should; so what can wait is done for several passes at once.

        Raises:
            DecodeError: the first pass failed, or the one that ended the run before.
        """
        if self._failure is not None:
            raise self._failure
        forward, choose, tokens, count = self._target.forward, self._plain_sampler(), self._tokens, self._count
        most = min(most, self.room)
        ids: list[int] = []
        begun, passed = [perf_counter()], list[float]()
        latest, target, joined = int(tokens[count - 1]), self._target, list[JoinedPass]()
        while True:
            try:
                row = forward([latest], 1)[0]
                passed.append(perf_counter())
                if target.joined is not None:
                    joined.append(target.joined)
                latest = choose(row, tokens[:count])
            except DecodeError as error:
                if not ids:
                    raise
                self._failure = error
                break
            tokens[count] = latest
            count += 1
            ids.append(latest)
            now = perf_counter()
            begun.append(now)
            # Asked first: it has to hear of every token, also where a pass takes longer than the budget.
            if ends_run(tokens[:count]) or len(ids) >= most or now - begun[0] >= budget_s:
                break
        self._count = count
        self._count_plain(begun, passed, joined)
        return StepOutput(ids, [Source.TARGET] * len(ids), [], len(ids))

    def _plain_sampler(self) -> Callable[[Row, History], int]:
        """The token after a history, from its row."""
        sampler, nothing = self._sampler, list[int]()
        return lambda row, history: sampler.choose(row, history, nothing)

    def _count_plain(self, begun: list[float], passed: list[float], joined: Sequence[JoinedPass]) -> None:
        """Plain passes that began, and gave their rows, at these times; the last of ``begun`` is when all was done.

        Where some were made with others', nothing is learnt of what they cost: the others are in it.
        """
        stats, passes_ms = self._stats, list[float]()
        stats.joined_passes += sum(each.is_shared for each in joined)
        for (start, end), row_at in zip(pairwise(begun), passed, strict=False):
            stats.count_pass(0, 0, end - start)
            stats.verify_s += row_at - start
            stats.sample_s += end - row_at
            passes_ms.append((row_at - start) * 1000.0)
            if self._config.on_trace is not None:
                count = self._count - len(passed) + len(passes_ms) - 1
                self._trace(count, None, 0, (end - start) * 1000.0, self._pacer.token_ms if self._pacer else None)
        if joined:
            return
        if self._costs is not None:
            pass_ms = sum(passes_ms) / len(passes_ms)
            other_ms = (begun[-1] - begun[0]) * 1000.0 / len(passes_ms) - pass_ms
            self._costs.observe_run(passes_ms, other_ms, decided=self._pacer is not None)
        if self._config.on_pass is not None:
            self._config.on_pass(1, passes_ms)

    def _trace(
        self, num_history: int, draft: Draft | None, num_kept: int, milliseconds: float, token_ms: float | None
    ) -> None:
        pacer = self._pacer
        if self._config.on_trace is None:
            return
        decision, plain_ms = (pacer.decision, pacer.plain_ms) if pacer is not None else (None, None)
        token = num_history - self._num_prompt
        sources = () if draft is None else tuple(draft.provenance)
        self._config.on_trace(
            TracedPass(token, decision, len(sources), num_kept, milliseconds, plain_ms, token_ms, sources)
        )

    def _count_redecoding(self, num_tokens: int) -> None:
        """What near ties took in this pass, which gave so many tokens that are not in the plain shape."""
        self._redecode_s = self._stats.tie_s - self._reported_tie_s
        self._reported_tie_s = self._stats.tie_s
        if self._pacer is not None:
            self._pacer.observe_rework(self._redecode_s * 1000.0, num_tokens)

    def _count_times(
        self, times: list[float], num_pending: int, num_tokens: int, proposed_and_kept: tuple[int, int]
    ) -> None:
        """Where the time went: drafting, checkpoint, pass, sampling, rollback, and what is left."""
        num_proposed, num_kept = proposed_and_kept
        stats, pacer = self._stats, self._pacer
        drafting, saving, passing, sampling, undoing, rest = (after - before for before, after in pairwise(times))
        sampling -= self._redecode_s
        stats.draft_s += drafting
        stats.verify_s += passing
        stats.sample_s += sampling
        stats.rollback_s += saving + undoing + rest
        if (joined := self._target.joined) is not None:
            stats.joined_passes += joined.is_shared
            if pacer is not None and (paced := self._paced_drafter()) is not None:
                paced.observe_joined_pass(num_kept)
            return
        if self._costs is not None:
            self._costs.observe_pass(num_pending + num_tokens, passing * 1000.0)
        if pacer is None:
            return
        elapsed_ms, other_s = (times[-1] - times[0] - self._redecode_s) * 1000.0, sampling + rest
        if self._recovery is None:
            other_s += undoing
        pacer.observe_step(elapsed_ms, other_s * 1000.0, num_proposed, num_kept)
        if (paced := self._paced_drafter()) is not None:
            paced.observe_pass(elapsed_ms, num_kept)
        if self._recovery is not None:
            self._count_recovery(self._recovery, saving, undoing, num_pending, num_proposed)

    def _paced_drafter(self) -> PacedDrafter | None:
        """What proposed for the last pass, where that is paced."""
        drafter = self._drafter
        if isinstance(drafter, GrammarDrafter) and drafter.asked_inner:
            drafter = drafter.inner
        return drafter if isinstance(drafter, PacedDrafter) else None

    def _count_recovery(
        self, recovery: Recovery, saving: float, undoing: float, num_pending: int, num_proposed: int
    ) -> None:
        """What a checkpoint and the way back to it took, in seconds."""
        if num_proposed > recovery.num_snapshots:
            if not num_pending:
                recovery.observe_save(saving * 1000.0)
            if self._target.num_pending:  # it was taken back, and has not yet caught up
                recovery.observe_restore(undoing * 1000.0)

    def _logprobs(self, rows: Rows | None, ids: list[int]) -> list[RowLogprob]:
        if rows is None:
            return []
        num_top = self._config.num_logprobs or 0
        return [row_logprob(row, token_id, num_top) for row, token_id in zip(rows, ids, strict=False)]

    def _padding(self, num_proposed: int) -> int:
        """Tokens that only make the pass a cheaper size; none where forgetting them would cost more."""
        if self._costs is None:
            return 0
        num_tokens, snapshots = num_proposed + 1, self._target.num_snapshots
        room = self._target.n_ctx - self._count + 1
        if snapshots is not None:
            room = min(room, snapshots + 1)
        return max(0, min(self._costs.curve.padded(num_tokens), room) - num_tokens)

    def _verify(self, draft: Draft, rows: Rows, history: History) -> Verdict:
        sampler, ids = self._sampler, draft.ids
        if self._tie_safe is not None:
            return self._tie_safe.verify(draft, rows, history)
        if sampler.greedy:
            return verify_greedy(draft, lambda i: sampler.argmax(rows[i], history, ids[:i]))

        def p_at(i: int) -> Distribution:
            p = sampler.distribution(rows[i], history, ids[:i])
            if i == 0 and draft.q is not None and self._config.on_first_look is not None:
                self._config.on_first_look(p, draft.q[0])
            return p

        if sampler.noise is not None:
            return verify_seeded(draft, p_at, lambda p, i: sampler.draw(p, len(history) + i))
        return verify_block(draft, p_at, sampler.uniform)

    def _emit(self, draft: Draft, verdict: Verdict, rows: Rows | None) -> StepOutput:
        """``rows`` as the target gave them, where probabilities are wanted."""
        kept, count = verdict.num_accepted, self._count
        ids = [*draft.ids[:kept], verdict.next_id]
        self._tokens[count : count + kept + 1] = ids
        self._count = count + kept + 1
        rejected = draft.ids[kept:] if verdict.next_source is Source.RECOVERED else []
        sources, probabilities = [*draft.provenance[:kept], verdict.next_source], self._probabilities(draft, verdict)
        num_forced, logprobs = min(draft.num_forced, kept), self._logprobs(rows, ids)
        return StepOutput(ids, sources, rejected, 1, probabilities, logprobs, num_forced)

    def _probabilities(self, draft: Draft, verdict: Verdict) -> PassProbabilities | None:
        if not draft.ids:
            return None
        if self._sampler.greedy:
            return GREEDY
        probs = verdict.probs
        if draft.q is None:
            return PassProbabilities(tuple([(p, None) for p, _ in probs]), verdict.next_p)
        if draft.sources is not None:  # some of it is text, whose q is certainty
            pairs = zip(probs, draft.sources, strict=False)
            drawn = (Source.DRAFT, Source.HEAD)
            return PassProbabilities(
                tuple([(p, q if came in drawn else None) for (p, q), came in pairs]), verdict.next_p
            )
        return PassProbabilities(tuple(probs), verdict.next_p)
