"""The decoding loop: propose, forward, verify, roll back, emit, report.

Plain decoding is the loop with an empty draft. Between two passes the cache holds every token except the last.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import numpy as np

from engine.decoding.pass_report import PassObserver, PassPlanner, PassReport, PlainRunReport
from engine.decoding.stats import StatsRecorder
from engine.decoding.verifier import Verdict, verify_block, verify_greedy, verify_seeded
from engine.drafters.base import Draft, Drafter
from engine.errors import DecodeError
from engine.interfaces import Rows
from engine.records import GREEDY, PassProbabilities, Source
from engine.sampling.distribution import Distribution
from engine.sampling.logprobs import RowLogprob, row_logprob
from engine.sampling.sampler import History, Sampler
from engine.sequence import CachedSequence


@dataclass(frozen=True, slots=True)
class StepOutput:
    """The tokens of one pass (at least one), the source of each, and the rejected tokens.

    If ``num_passes`` is above 1, each plain pass gave one token. ``probabilities`` are set if tokens were proposed,
    ``logprobs`` if requested.
    """

    ids: list[int]
    sources: list[Source]
    rejected: list[int]
    num_passes: int = 1
    probabilities: PassProbabilities | None = None
    logprobs: Sequence[RowLogprob] = ()


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """Options of the loop.

    Attributes:
        planner: prepares each pass; None for a fixed depth.
        observers: called after every pass, after the statistics, in this order.
        num_logprobs: number of most likely tokens to report for each token, in `step` only; None: no logprobs.
    """

    planner: PassPlanner | None = None
    observers: Sequence[PassObserver] = ()
    num_logprobs: int | None = None


class Speculation:
    """Decodes one answer. The target's cache must hold ``prompt`` [num_tokens] except its last token."""

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
        self._drafter = drafter
        self._sampler = sampler
        self._stats = stats
        self._tokens: History = np.empty(target.n_ctx + 1, dtype=np.int32)
        self._tokens[: len(prompt)] = prompt
        self._num_tokens = len(prompt)
        self._failure: DecodeError | None = None  # of a plain pass; raised once the tokens before it were returned
        self._observers: list[PassObserver] = [stats, *config.observers]
        drafter.begin(self.history, sampler)

    @property
    def history(self) -> History:
        """Prompt and answer so far [num_tokens]; a view that stays valid while the answer grows."""
        return self._tokens[: self._num_tokens]

    @property
    def free_tokens(self) -> int:
        """How many more tokens fit into the context."""
        return self._target.n_ctx - self._num_tokens + 1

    def step(self, depth: int, wanted: int) -> StepOutput:
        """Make one pass with at most ``depth`` proposed tokens; return at most ``wanted`` (>= 1) tokens.

        Raises:
            DecodeError: the pass failed, or the logits are not numbers.
        """
        if self._failure is not None:
            raise self._failure
        times = [perf_counter()]
        target, history = self._target, self._tokens[: self._num_tokens]
        num_pending, num_replayed = self._begin_pass(), target.num_replayed
        draft = self._drafter.propose(history, max(0, min(depth, wanted - 1, self.free_tokens - 1)))
        times.append(perf_counter())
        if draft.ids:
            target.checkpoint(len(draft.ids))
        times.append(perf_counter())
        # Decode the last token and the proposed tokens [num_proposed + 1, n_vocab].
        rows = target.forward([int(self._tokens[self._num_tokens - 1]), *draft.ids], len(draft.ids) + 1)
        times.append(perf_counter())
        untouched = rows.copy() if self._config.num_logprobs is not None else None  # sampling writes into the rows
        verdict = self._verify(draft, rows, history)
        times.append(perf_counter())
        if verdict.num_accepted < len(draft.ids) and not target.rollback(self._num_tokens + verdict.num_accepted):
            raise DecodeError(
                "The model's memory could not forget the rejected tokens.",
                "Set the mode to Off for this model.",
            )
        times.append(perf_counter())
        # Append the accepted tokens and the next one; ``rows`` are unmodified logits if logprobs were requested.
        kept, count = verdict.num_accepted, self._num_tokens
        ids = [*draft.ids[:kept], verdict.next_id]
        self._tokens[count : count + kept + 1] = ids
        self._num_tokens = count + kept + 1
        rejected = draft.ids[kept:] if verdict.next_source is Source.RECOVERED else []
        sources = [*[draft.source] * kept, verdict.next_source]
        probabilities = self._probabilities(draft, verdict)
        logprobs = self._logprobs(untouched, ids)
        self._drafter.observe(kept)
        output = StepOutput(ids, sources, rejected, 1, probabilities, logprobs)
        times.append(perf_counter())
        num_decoded = num_pending + 1 + len(draft.ids)
        num_replayed = target.num_replayed - num_replayed
        self._report(draft, verdict.num_accepted, (num_decoded, num_pending, num_replayed), times)
        return output

    def run_plain(self, max_tokens: int, budget_s: float, ends_run: Callable[[History], bool]) -> StepOutput:
        """Make up to ``most`` (>= 1) passes of one token, for at most ``budget_s`` seconds, or until ``ends_run``.

        Gives the same tokens as calls of `step`. The weights of a pass evict all other data from the processor's
        caches, so code between passes is slow: here most of it runs once for all passes.

        Raises:
            DecodeError: the first pass failed, or the previous run ended with a failed pass.
        """
        if self._failure is not None:
            raise self._failure
        target, choose, tokens, count = self._target, self._sampler.choose, self._tokens, self._num_tokens
        forward, max_tokens = target.forward, min(max_tokens, self.free_tokens)
        ids, nothing = list[int](), list[int]()
        begun, computed = [perf_counter()], list[float]()
        latest, num_joined, num_shared = int(tokens[count - 1]), 0, 0
        while True:
            try:
                row = forward([latest], 1)[0]
                computed.append(perf_counter())
                if target.joined_pass is not None:
                    num_joined, num_shared = num_joined + 1, num_shared + target.joined_pass.is_shared
                latest = choose(row, tokens[:count], nothing)
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
            # Called first, because it must see every token, even if a pass exceeds the budget.
            if ends_run(tokens[:count]) or len(ids) >= max_tokens or now - begun[0] >= budget_s:
                break
        first, self._num_tokens = self._num_tokens, count
        self._report_plain(first, begun, computed, (num_joined, num_shared))
        return StepOutput(ids, [Source.TARGET] * len(ids), [], len(ids))

    def _report_plain(
        self, num_history: int, begun: list[float], computed: list[float], joined: tuple[int, int]
    ) -> None:
        """Report plain passes. ``begun``: when each began, and the end; ``computed``: when the row of each was ready.

        ``joined_pass``: number of passes that the batcher made, and number of these with other answers' tokens.
        """
        spans = list(zip(pairwise(begun), computed, strict=False))
        report = PlainRunReport(
            num_history,
            [(row_at - start) * 1000.0 for (start, _end), row_at in spans],
            [(end - start) * 1000.0 for (start, end), _row_at in spans],
            (begun[-1] - begun[0]) * 1000.0,
            *joined,
        )
        for observer in self._observers:
            observer.on_plain_run(report)

    # ---- a step -----------------------------------------------------------------------------------------------------

    def _begin_pass(self) -> int:
        """Let the planner prepare the next pass; return the number of pending tokens."""
        num_pending = self._target.num_pending
        if self._config.planner is not None:
            self._config.planner.begin_pass(num_pending, self._target.batch)
        return num_pending

    def _report(self, draft: Draft, num_accepted: int, counts: tuple[int, int, int], times: list[float]) -> None:
        """Report the pass to all observers.

        ``counts``: decoded tokens, pending tokens among them, and replayed tokens. ``times``: the begin of the step,
        then the end of each of its six parts, in seconds.
        """
        begun, proposed, kept_state, computed, verified, rolled_back, ended = times
        (num_decoded, num_pending, num_replayed), joined = counts, self._target.joined_pass
        report = PassReport(
            num_history=self._num_tokens - num_accepted - 1,
            draft=draft,
            num_accepted=num_accepted,
            num_decoded=num_decoded,
            num_pending=num_pending,
            num_left_pending=self._target.num_pending,
            num_replayed=num_replayed,
            is_joined=joined is not None,
            is_shared=joined is not None and joined.is_shared,
            draft_ms=(proposed - begun) * 1000.0,
            checkpoint_ms=(kept_state - proposed) * 1000.0,
            forward_ms=(computed - kept_state) * 1000.0,
            verify_ms=(verified - computed) * 1000.0,
            rollback_ms=(rolled_back - verified) * 1000.0,
            emit_ms=(ended - rolled_back) * 1000.0,
            total_ms=(ended - begun) * 1000.0,
        )
        for observer in self._observers:
            observer.on_pass(report)

    def _verify(self, draft: Draft, rows: Rows, history: History) -> Verdict:
        sampler, ids = self._sampler, draft.ids
        if sampler.greedy:
            return verify_greedy(draft, lambda i: sampler.argmax(rows[i], history, ids[:i]))

        def p_at(i: int) -> Distribution:
            return sampler.distribution(rows[i], history, ids[:i])

        if sampler.noise is not None:
            return verify_seeded(draft, p_at, lambda p, i: sampler.sample(p, len(history) + i))
        return verify_block(draft, p_at, sampler.uniform)

    def _logprobs(self, rows: Rows | None, ids: list[int]) -> list[RowLogprob]:
        if rows is None:
            return []
        num_top = self._config.num_logprobs or 0
        return [row_logprob(row, token_id, num_top) for row, token_id in zip(rows, ids, strict=False)]

    def _probabilities(self, draft: Draft, verdict: Verdict) -> PassProbabilities | None:
        if not draft.ids:
            return None
        if self._sampler.greedy:
            return GREEDY
        probs = verdict.probs
        if draft.q is None:
            return PassProbabilities(tuple([(p, None) for p, _ in probs]), verdict.next_p)
        return PassProbabilities(tuple(probs), verdict.next_p)
