"""Makes one answer: prompt, prefill, decoding loop, and the events for the engine's caller."""

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.decoding.detokenizer import Detokenizer, Piece
from engine.decoding.loop import LoopConfig, Speculation, StepOutput
from engine.decoding.pass_report import PassObserver, PassReport, PlainRunReport
from engine.decoding.stats import StatsRecorder
from engine.drafters.base import Drafter
from engine.errors import DecodeError, PromptError, PromptTooLongError
from engine.grammar.constraint import GrammarConstraint
from engine.interfaces import Tokenizer
from engine.pacing.draft_length import choose_draft_length
from engine.pacing.drafter import PacedDrafter
from engine.pacing.pacer import Pacer
from engine.pacing.plain_speed import PlainPasses, PlainSpeed
from engine.prompt.chat_prompt import PromptBuilder
from engine.prompt.overflow import without_oldest, without_unanswered
from engine.records import (
    MIN_ANSWER_TOKENS,
    ChatRequest,
    Event,
    Finished,
    FinishReason,
    Mode,
    Overflow,
    PrefillProgress,
    RunStats,
    StatsUpdate,
    TextChunk,
    TokenLogprob,
)
from engine.sampling.logprobs import RowLogprob
from engine.sampling.sampler import History, Sampler
from engine.sentences import Sentence, i18n
from engine.sequence import CachedSequence

TEXT_INTERVAL_S = 0.03  # seconds between pieces of text of plain passes: looks continuous, and costs little
STATS_INTERVAL_S = 0.5  # seconds between two updates of the counters, each of which takes the window 4 ms
# Called with the number of tokens of several similar passes, and their milliseconds. Returns a sentence if it changed
# how the model runs.
OnPass = Callable[[int, Sequence[float]], str]
ANSWER_SHARE = 8  # if messages are left out, 1/8 of the context stays free for the answer


@dataclass(frozen=True)
class AnswerPlan:
    """The components of an answer.

    Attributes:
        request: the request, with the actual mode, which may differ from the requested one.
        drafter: proposes tokens.
        pacer: set if costs are known; chooses the depth unless the request has one.
        plain_passes: plain passes of the target's answers in the last minutes.
        constraint: the request's grammar.
        on_pass: called after one or several similar passes.
        notes: sentences for the statistics.
    """

    request: ChatRequest
    drafter: Drafter
    pacer: Pacer | None = None
    plain_passes: PlainPasses = field(default_factory=PlainPasses)
    constraint: GrammarConstraint | None = None
    on_pass: OnPass | None = None
    notes: tuple[str, ...] = ()


class Answer:
    """Makes one answer as a stream of events; implements `PassObserver`."""

    def __init__(self, target: CachedSequence, tokenizer: Tokenizer, prompt: PromptBuilder, plan: AnswerPlan) -> None:
        request, pacer = plan.request, plan.pacer
        self._plan = plan
        self._target = target
        self._tokenizer = tokenizer
        self._request = request
        self._prompt = prompt
        needed = prompt.stop_texts if request.raw_prompt is None and not request.continues_text else ()
        self._detokenizer = Detokenizer(tokenizer, (*request.stop, *needed))
        self._start_tag = ""  # reasoning tag at the end of the prompt, for the first chunk
        self._ids: list[int] = []
        is_free = not (request.ignore_eos or request.min_tokens or plan.constraint or request.continues_text)
        self._next_check = next_check_at(0) if is_free and request.messages else math.inf  # number of tokens
        self._logprobs: list[TokenLogprob] = []  # logprobs of tokens whose text was not released yet
        self._prompt_tokens: History = np.empty(0, dtype=np.int32)
        self._piece = Piece("", (), stopped=False, num_tokens=0)
        self.plain_speed = PlainSpeed(plan.plain_passes, pacer)  # also used at a fixed depth
        self._draft_length = choose_draft_length(request.mode, request.depth, can_pace=pacer is not None)
        self.stats = StatsRecorder(request.mode, target.n_ctx)
        self.stats.depth = 0 if self._draft_length.paced else self._draft_length.depth
        self.stats.decisions = (self._draft_length.reason, *plan.notes)

    def events(self, should_stop: Callable[[], bool]) -> Iterator[Event]:
        """Make the answer. The last event is `Finished`, unless an `EngineError` is raised."""
        prompt = self._prompt_ids()
        self._prompt_tokens = prompt
        self._start_tag = self._prompt.reasoning_start_tag_of(self._request, prompt.tolist())
        if self._request.raw_prompt is None and not self._request.continues_text:
            self._detokenizer.watch_reasoning(self._start_tag)
        cancelled = yield from self._prefill(prompt, should_stop)
        self.stats.prefill_ended()
        reason = FinishReason.CANCELLED if cancelled else (yield from self._decode(prompt, should_stop))
        rest = self._detokenizer.flush(is_cut=reason is not FinishReason.END)
        if rest.text:
            yield self._chunk(rest)
        if self.stats.joined_passes:
            joined = i18n(
                "passes made together with those of other answers: {joined} of {number}",
                joined=self.stats.joined_passes,
                number=self.stats.passes,
            )
            self.stats.decisions += (joined,)
        yield Finished(self._request.request_id, reason, self._snapshot(), tuple(self._ids), self._detokenizer.stop)

    @property
    def conversation_ids(self) -> list[int]:
        return [*self._prompt_tokens.tolist(), *self._ids]

    def _prompt_ids(self) -> History:
        request = self._request
        ids = self._prompt.ids_of_request(request)
        if not ids:
            raise PromptError("The prompt is empty.", "Type a message.")
        size = self._target.n_ctx
        if len(ids) > size - MIN_ANSWER_TOKENS:
            shorter = self._shortened_prompt(request) if request.messages and request.raw_prompt is None else None
            if shorter is None:
                error = PromptTooLongError(_too_long(ids, size))
                error.num_tokens = len(ids)
                raise error
            ids = shorter
        return np.asarray(ids, dtype=np.int32)

    def _shortened_prompt(self, request: ChatRequest) -> list[int] | None:
        """Shorten the prompt by the request's `Overflow` until it fits; None if the last question alone is too long.

        Unanswered questions may always be left out, since they caused a `PromptTooLongError` before.
        """
        size = self._target.n_ctx
        room, free_room = size - MIN_ANSWER_TOKENS, size - max(MIN_ANSWER_TOKENS, size // ANSWER_SHARE)
        answerable = without_unanswered(request.messages)
        choices = [(answerable, 0, room)] if answerable.num_left_out else []
        if request.overflow is Overflow.DROP:
            found = without_oldest(answerable.messages, self._prompt.count, size)
            choices += [(kept, kept.num_left_out, room if kept is found[-1] else free_room) for kept in found]
        for kept, num_messages, most in choices:
            ids = self._prompt.ids_of_messages(request, kept.messages)
            if len(ids) > most:
                continue
            self.stats.left_out, self.stats.unanswered = num_messages, answerable.num_left_out
            if num_messages:
                left_out = i18n(
                    "oldest messages left out: {number} (the context holds {n_ctx:,} tokens)",
                    number=num_messages,
                    n_ctx=size,
                )
                self.stats.decisions += (left_out,)
            if answerable.num_left_out:
                left_out = i18n("questions without an answer left out: {number}", number=answerable.num_left_out)
                self.stats.decisions += (left_out,)
            return ids
        return None

    def _prefill(self, prompt: History, should_stop: Callable[[], bool]) -> Generator[Event, None, bool]:
        """Decode the prompt tokens that are not cached, except the last. Returns True if cancelled."""
        cached = self._target.reuse(prompt)
        self.stats.prompt_tokens, self.stats.prompt_cached_tokens = len(prompt), cached
        self.stats.read_tokens = cached
        if should_stop():
            return True
        if cached < len(prompt) - 1:  # with parallel answers the first chunk can take seconds
            yield PrefillProgress(self._request.request_id, cached, len(prompt))
        try:
            for done in self._target.prefill(prompt[cached:-1]):
                self.stats.read_tokens = cached + done
                yield PrefillProgress(self._request.request_id, cached + done, len(prompt))
                if should_stop():
                    return True
        except DecodeError:
            if not should_stop():  # a stopped answer may have interrupted the pass
                raise
            return True
        return False

    def _decode(self, prompt: History, should_stop: Callable[[], bool]) -> Generator[Event, None, FinishReason]:
        request, stats = self._request, self.stats
        banned = self._tokenizer.eog_ids if request.ignore_eos or request.min_tokens else frozenset()
        ends_from = math.inf if request.ignore_eos else len(prompt) + request.min_tokens
        if self._plan.constraint is not None:
            self._plan.constraint.begin(len(prompt))
        sampler = Sampler(request.sampling, banned, self._plan.constraint, banned_before=ends_from)
        pacer = self._plan.pacer if self._draft_length.paced else None
        speculation = Speculation(self._target, self._plan.drafter, sampler, stats, prompt, self._loop_config(pacer))
        wanted = request.max_tokens if request.max_tokens is not None else self._target.n_ctx
        next_stats = 0.0
        while wanted > 0:
            if speculation.free_tokens <= 0:
                return FinishReason.CONTEXT
            block = None if should_stop() else self._block(speculation, wanted, should_stop)
            if block is None:
                return FinishReason.CANCELLED
            ended = self._accept_block(block)
            if pacer is not None:
                stats.record_reason(pacer.reason)
            wanted -= len(block.ids)
            if self._piece.spans:
                yield self._chunk(self._piece)
            if ended is not None:
                return ended
            now = time.perf_counter()
            if now >= next_stats:
                next_stats = now + STATS_INTERVAL_S
                yield StatsUpdate(request.request_id, self._snapshot())
        return FinishReason.LENGTH

    def _loop_config(self, pacer: Pacer | None) -> LoopConfig:
        """``pacer`` is None at a fixed depth; then known prices still observe the passes."""
        prices = self._plan.pacer.prices if self._plan.pacer is not None else None
        learner: PassObserver | None = pacer or prices
        observers: list[PassObserver] = [self] if learner is None else [learner, self]
        return LoopConfig(pacer, observers, self._request.top_logprobs)

    def _snapshot(self) -> RunStats:
        self.stats.plain_ms, self.stats.plain_error = self.plain_speed.estimate or (None, 0.0)
        return self.stats.snapshot()

    def _block(self, speculation: Speculation, wanted: int, should_stop: Callable[[], bool]) -> StepOutput | None:
        """Return the next tokens; None if a stop interrupted their pass."""
        try:
            return self._next_block(speculation, wanted)
        except DecodeError:
            if not should_stop():
                raise
            return None

    def _next_block(self, speculation: Speculation, wanted: int) -> StepOutput:
        """Make one pass, or after the first token several plain passes for about `TEXT_INTERVAL_S` seconds."""
        is_eog, drafter = self._tokenizer.is_eog, self._plan.drafter
        is_looked_at = self._detokenizer.has_stop_strings or self._request.top_logprobs is not None
        if not is_looked_at:
            if self._request.mode is Mode.OFF:
                return speculation.run_plain(wanted, TEXT_INTERVAL_S if self._ids else 0.0, _ends_with(is_eog))
            if isinstance(drafter, PacedDrafter) and (rest := min(drafter.pause_length(speculation.history), wanted)):
                ends = _ends_with(is_eog)
                return speculation.run_plain(
                    rest, TEXT_INTERVAL_S, lambda history: ends(history) or drafter.ends_pause(history)
                )
        return speculation.step(self._draft_length.depth, wanted)

    def on_pass(self, report: PassReport) -> None:
        """Observe the costs of a pass, unless it was joined with others."""
        self.plain_speed.on_pass(report)  # before the curve changes
        if not report.is_joined:
            self._observe_passes(report.num_decoded, (report.forward_ms,))

    def on_plain_run(self, report: PlainRunReport) -> None:
        self.plain_speed.on_plain_run(report)
        if not report.num_joined:
            self._observe_passes(1, report.forward_ms)

    def _observe_passes(self, num_tokens: int, passes_ms: Sequence[float]) -> None:
        on_pass = self._plan.on_pass
        if on_pass is not None and (news := on_pass(num_tokens, passes_ms)):
            self.stats.add_decision(news)

    def _accept_block(self, block: StepOutput) -> FinishReason | None:
        """Count and detokenize a block up to an end of the answer; return why the answer ended, if it did."""
        ids, sources = block.ids, block.sources
        ended: FinishReason | None = None
        for i, token_id in enumerate(ids):
            if self._tokenizer.is_eog(token_id):
                ids, sources, ended = ids[: i + 1], sources[: i + 1], FinishReason.END
                break
        if len(self._ids) + len(ids) >= self._next_check and (cut := self._loop_end(ids)):
            ids, sources, ended = ids[:cut], sources[:cut], FinishReason.LOOP
        shown = len(ids) - (ended is FinishReason.END)
        rejected = block.rejected if ended is None else ()
        self._logprobs += [self._reported_logprob(*one) for one in zip(ids[:shown], block.logprobs, strict=False)]
        self._piece = self._detokenizer.feed(ids[:shown], sources[:shown], rejected, block.probabilities)
        if self._piece.stopped:
            ended = FinishReason.STOP
            ids, sources = ids[: self._piece.num_tokens], sources[: self._piece.num_tokens]
        self._ids += ids
        self.stats.count_tokens(sources, block.num_passes)
        return ended

    def _loop_end(self, ids: list[int]) -> int:
        """If the answer loops, return how many of the next tokens still belong to it; else 0."""
        num_ids, all_ids = len(self._ids), [*self._ids, *ids]
        while self._next_check <= len(all_ids):
            end = int(self._next_check)
            self._next_check = next_check_at(end)
            run, period = repeated_tail(all_ids[:end])
            if not run:
                continue
            words = b"".join(map(self._bytes_of, all_ids[end - period : end])).decode("utf-8", "replace")
            asked = next((each.content for each in reversed(self._request.messages) if each.role == "user"), "")
            if is_loop(run, words, asked):
                self.stats.looped = run
                return end - num_ids
        return 0

    def _chunk(self, piece: Piece) -> TextChunk:
        logprobs = tuple(self._logprobs[: len(piece.spans)])
        del self._logprobs[: len(piece.spans)]
        reasoning_start_tag, self._start_tag = self._start_tag, ""
        return TextChunk(self._request.request_id, piece.text, piece.spans, logprobs, reasoning_start_tag)

    def _reported_logprob(self, token_id: int, found: RowLogprob) -> TokenLogprob:
        top = tuple((self._bytes_of(one), logprob) for one, logprob in found.top)
        top_ids = tuple(one for one, _ in found.top)
        return TokenLogprob(token_id, self._bytes_of(token_id), found.logprob, top, top_ids)

    def _bytes_of(self, token_id: int) -> bytes:
        """Bytes of a token, or the name of a control token."""
        return self._tokenizer.piece(token_id) or self._tokenizer.token_text(token_id).encode("utf-8", "replace")


def _ends_with(is_eog: Callable[[int], bool]) -> Callable[[History], bool]:
    return lambda history: is_eog(int(history[-1]))


def _too_long(ids: list[int], size: int) -> Sentence:
    return i18n(
        "The conversation has {num_ids:,} tokens, but the context holds {size:,} and the answer needs room.",
        num_ids=len(ids),
        size=size,
    )


CHECK_EVERY = 64  # tokens between checks, at fixed counts, so that drafting does not change where an answer ends
MIN_TOKENS, MIN_REPETITIONS = 400, 6  # least repeated tokens and repetitions of a loop
MIN_REPEATED_DATA_TOKENS = 1024  # least repeated tokens if the text has few letters: zeros of a table, a line of dashes
_MAX_PERIOD = 128
_TAIL_TOKENS = 2048
_MIN_DISTINCT_LETTERS = 3


def next_check_at(num_tokens: int) -> int:
    """Number of tokens at which to check again."""
    return max((num_tokens // CHECK_EVERY + 1) * CHECK_EVERY, MIN_TOKENS)


def repeated_tail(ids: Sequence[int]) -> tuple[int, int]:
    """Return the length of the periodic tail and its period; (0, 0) if the tail is too short."""
    tail = np.asarray(ids[-_TAIL_TOKENS:])
    for index in np.flatnonzero(tail[:-1] == tail[-1])[::-1]:
        period = len(tail) - 1 - int(index)
        if period > _MAX_PERIOD:
            break
        other = np.flatnonzero(tail[period:] != tail[:-period])
        run = len(tail) - period - (int(other[-1]) + 1 if len(other) else 0)
        if run >= max(MIN_TOKENS, MIN_REPETITIONS * period):
            return run, period
    return 0, 0


def is_loop(run: int, text: str, question: str) -> bool:
    """True if ``run`` tokens that repeat ``text`` are a loop; never if the question contains the text."""
    repeated, asked = _characters(text), _characters(question)
    if any(repeated[i:] + repeated[:i] in asked for i in range(len(repeated))):
        return False
    return run >= (MIN_TOKENS if sum(map(str.isalpha, repeated)) >= _MIN_DISTINCT_LETTERS else MIN_REPEATED_DATA_TOKENS)


def _characters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
