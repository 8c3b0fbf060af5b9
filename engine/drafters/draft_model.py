"""Drafts with a draft model, which runs a few tokens ahead in its own context."""

from collections.abc import Callable
from time import perf_counter
from typing import Protocol

import numpy as np

from engine.drafters.base import Draft
from engine.drafters.translation.sequence import TranslatedSequence
from engine.errors import DecodeError, GrammarError
from engine.interfaces import Candidates, TokenIds
from engine.records import Source
from engine.sampling.distribution import Distribution
from engine.sampling.sampler import History, Sampler, argmax, top_probability
from engine.sampling.top_k import Row
from engine.sequence import CachedSequence

_EMPTY = Draft([], Source.DRAFT)
_PLACEHOLDER_ID = 0
_MAX_TOKENS_PER_READ = 32  # most tokens read in one pass; more tokens are read by `prefill`, which can be stopped


class DraftGate(Protocol):
    """Decides how far to draft. The decision to sample a token must not depend on that token."""

    def should_sample(self, confidence: float) -> bool:
        """Whether to sample one more token from a known distribution; a sampled token is always proposed."""

    def should_run_model(self) -> bool:
        """Whether to run the draft model once more, after a token was sampled."""


class DraftModelDrafter:
    """Implements `Drafter` over a `LanguageModel` that shares the target's vocabulary.

    At temperature 0 it proposes the argmax. Above 0 it *samples* from q, the draft's distribution after the target's
    sampling chain: a sampled token is accepted with probability 1 - TV(p, q), the argmax only with p(argmax q).
    """

    def __init__(
        self,
        model: CachedSequence | TranslatedSequence,
        n_vocab: int,
        eog_ids: frozenset[int],
        should_stop: Callable[[], bool] = lambda: False,
        source: Source = Source.DRAFT,
    ) -> None:
        """``n_vocab`` is the target's: ids beyond it are masked in q. After a token of ``eog_ids`` nothing follows.

        If such a token is the most likely, nothing is proposed; this is decided before sampling. If the target's
        vocabulary is larger, the draft reads a stand-in for ids that it lacks, since llama.cpp would fail; q is exact
        anyway. If ``should_stop`` returns True, reading a long prompt ends early, and nothing is proposed.
        """
        self._model, self.source = model, source
        self._should_stop = should_stop
        self.was_stopped = False  # whether the last `propose` was stopped while the prompt was read
        self.failure = ""  # why the drafter gave up; empty: it works
        self.on_failure: Callable[[str], None] | None = None
        self._n_vocab = min(n_vocab, model.n_vocab)
        self._lacks_target_ids = n_vocab > model.n_vocab
        self._eog_ids = eog_ids
        self.sampler: Sampler | None = None  # set by `begin`
        self._num_prompt = self._num_history = 0
        self.on_prompt_read: Callable[[float], None] | None = None  # called with the seconds of the draft's prefill
        self.num_read = 0  # number of tokens that the last `propose` read before it drafted
        self.read_s = 0.0  # seconds for reading them; the last pass also gives the first token's row

    def begin(self, history: History, sampler: Sampler) -> None:
        """Keep the prefix that the cache shares with ``history``."""
        self.sampler, self._num_prompt = sampler, len(history)
        try:
            self._model.reuse(history)
        except DecodeError as error:
            self._fail(error)

    def num_unread(self, num_history: int) -> int:
        """How many tokens the draft must read before it can draft after ``num_history`` tokens."""
        return max(num_history - self._model.num_past, 0)

    def would_delay_first_token(self, num_history: int) -> bool:
        """Whether `propose` would read a long prompt first, which delays the answer's first token."""
        return num_history == self._num_prompt and self.num_unread(num_history) > _MAX_TOKENS_PER_READ

    def propose(self, history: History, limit: int, gate: DraftGate | None = None) -> Draft:
        """Read new tokens, then draft up to ``limit`` tokens, as far as ``gate`` allows."""
        model = self._model
        self.num_read, self.read_s, self.was_stopped = 0, 0.0, False
        limit = min(limit, model.n_ctx - len(history) + 1)
        self._num_history = len(history)
        if limit <= 0 or self.sampler is None or self.failure or self.would_delay_first_token(len(history)):
            return _EMPTY
        draft = Draft([], self.source, [], [])
        try:
            started = perf_counter()
            row = self._read_new_tokens(history, ahead=limit > 1)
            self.read_s = perf_counter() - started
            if row is not None:
                self._sample_tokens(draft, row, history, limit, gate)
        except DecodeError as error:  # keep the tokens sampled so far: dropping them would bias the output
            self._fail(error)
        except GrammarError:  # the grammar allows none of the draft's tokens
            pass
        return Draft(draft.ids, self.source, draft.q or None, draft.scores if gate is not None else None)

    def _read_new_tokens(self, history: History, *, ahead: bool) -> Row | Candidates | None:
        """Read the new tokens of ``history``; return the row after the last, None if stopped."""
        model = self._model
        if model.num_past >= len(history):  # all were read, but the row was overwritten
            self.truncate(len(history) - 1)
        unread: History = history[model.num_past :]
        if self._lacks_target_ids:
            unread = np.where(unread < model.n_vocab, unread, _PLACEHOLDER_ID)
        self.num_read = len(unread)
        if len(unread) > _MAX_TOKENS_PER_READ:
            if not self._prefill(unread[:-1]):
                return None
            unread = unread[-1:]
        row = self._pass(unread)
        if ahead:
            model.checkpoint()
        return row

    def _prefill(self, unread: History) -> bool:
        """Read ``unread``, and report the seconds of the prompt's part; False if stopped."""
        num_of_prompt, started = self._num_prompt - self._model.num_past, perf_counter()
        for _ in self._model.prefill(unread):
            self.was_stopped = self._should_stop()
            if self.was_stopped:
                return False
        if self.on_prompt_read is not None and num_of_prompt > 0:
            share = min(num_of_prompt / len(unread), 1.0)
            self.on_prompt_read((perf_counter() - started) * share)
        return True

    def _fail(self, error: DecodeError) -> None:
        self.was_stopped = self._should_stop()
        if self.was_stopped:  # the stop interrupted the pass
            return
        self.failure = error.message
        if self.on_failure is not None:
            self.on_failure(error.message)

    def _pass(self, ids: TokenIds) -> Row | Candidates:
        """Read ``ids``; return candidates if the model selects them itself, else a row."""
        model = self._model
        return model.forward_candidates(ids) if model.num_candidates else model.forward(ids, 1)[0][: self._n_vocab]

    def _sample_tokens(
        self, draft: Draft, row: Row | Candidates, history: History, limit: int, gate: DraftGate | None
    ) -> None:
        """Sample tokens, the first from ``row``, and append them to ``draft``."""
        ids, q, scores, sampler = draft.ids, draft.q, draft.scores, self.sampler
        assert q is not None and scores is not None and sampler is not None  # noqa: S101, PT018  (`propose` sets them)
        while True:
            found = self._next_distribution(row, history, ids, gate)
            if found is None:
                return
            next_id, confidence, distribution = found
            # For a whole vocabulary this would take longer than it saves.
            if distribution is not None and distribution.ids is not None:
                next_id = int(distribution.ids[int(distribution.probs.argmax())])
            if next_id in self._eog_ids:  # the pass emits it anyway if all tokens before it are accepted
                return
            if gate is not None and not gate.should_sample(confidence):
                return
            if distribution is not None:
                next_id = sampler.sample(distribution, len(history) + len(ids))
                q.append(distribution)
            ids.append(next_id)
            scores.append(confidence)
            if len(ids) == limit or next_id in self._eog_ids:
                return
            if gate is not None and not gate.should_run_model():
                return
            row = self._pass((next_id,))

    def observe(self, num_accepted: int) -> None:
        """Drop the rejected tokens. The last proposed token may be missing from the cache."""
        self.truncate(self._num_history + num_accepted)

    def truncate(self, num_tokens: int) -> None:
        try:
            if self._model.rollback(num_tokens):
                return
        except DecodeError as error:
            self._fail(error)
        self._model.clear()

    def _next_distribution(
        self, row: Row | Candidates, history: History, ids: list[int], gate: DraftGate | None
    ) -> tuple[int, float, Distribution | None] | None:
        """The argmax (temperature 0) or the distribution to sample from, and the confidence of the draft.

        None if no token may follow: the target lacks all candidates, or a bias bans them.
        """
        sampler = self.sampler
        assert sampler is not None  # noqa: S101  (`propose` has checked it)
        few, known = None, None
        if isinstance(row, Candidates):
            known = row.confidence
            few = sampler.allowed_candidates(row, self._n_vocab, history, ids)
            if not len(few.ids):
                return None
            row = few.logits
        if sampler.greedy:
            best = argmax(row) if few is not None else sampler.argmax(row, history, ids)
            confidence = 0.0 if gate is None else top_probability(row, best) if known is None else known
            return best if few is None else int(few.ids[best]), confidence, None
        distribution = sampler.distribution(row, history, ids) if few is None else sampler.allowed_distribution(few)
        confidence = 0.0 if gate is None else distribution.highest() if known is None else known
        return -1, confidence, distribution
