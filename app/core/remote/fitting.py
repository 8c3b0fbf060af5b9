"""Shortens conversations that exceed a remote server's context: a refused request is sent again with fewer messages.

The local engine counts tokens in advance. For a remote server they are estimated from the number of characters, and
the server decides whether the rest fits. The rules for omitting messages are the local engine's
(`engine.prompt.overflow`); the oldest messages are omitted also where the local engine would summarise them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil

from app.core.remote.answer import RemoteAnswer
from app.core.remote.errors import ContextExceededError
from engine.prompt.overflow import TrimmedMessages, without_oldest, without_unanswered
from engine.records import AnswerEvent, ChatRequest, Finished, Message, Overflow, StatsUpdate, TextChunk
from engine.session.summarising import CONTEXT_DIVISOR

CHARS_PER_TOKEN = 3.0  # low for English, so that enough is omitted
MIN_ANSWER_TOKENS = 32  # minimum number of tokens for the answer
MAX_TRIES = 8
_TEMPLATE_CHARS = 8  # characters that a template adds to a message
_PICTURE_CHARS = 1_500  # estimate for a picture, in characters; models use from 64 tokens to some thousands


class FittingAnswer:
    """The answer to a request. A request that exceeds the server's context is shortened if its settings allow it.

    ``answering`` makes the answer to a request. ``n_ctx``: the server's context size; 0 if unknown.
    """

    def __init__(self, answering: Callable[[ChatRequest], RemoteAnswer], request: ChatRequest, n_ctx: int = 0) -> None:
        self._answering, self._request, self._n_ctx = answering, request, n_ctx
        self._left_out = self._unanswered = 0

    def events(self, should_stop: Callable[[], bool]) -> Iterator[AnswerEvent]:
        """Run the answer.

        Raises:
            RemoteError: see `app.core.remote.answer.RemoteAnswer.events`.
        """
        request, shorter = self._request, None
        for _try in range(MAX_TRIES):
            begun = False
            try:
                for event in self._answering(request).events(should_stop):
                    begun = begun or isinstance(event, TextChunk)
                    yield self._with_notice(event)
            except ContextExceededError:
                if begun or should_stop():
                    raise
                if request.max_tokens is not None:  # some servers add max_tokens to the prompt's tokens
                    request = replace(request, max_tokens=None)
                    continue
                shorter = shorter or self._shorter(request)
                kept = next(shorter, None)
                if kept is None:
                    raise
                request = replace(request, messages=kept.messages)
            else:
                return
        raise ContextExceededError("The conversation does not fit the remote server's context.")

    def _with_notice(self, event: AnswerEvent) -> AnswerEvent:
        """The event with a notice about omitted messages."""
        if not isinstance(event, StatsUpdate | Finished):
            return event
        stats = replace(event.stats, left_out=self._left_out, unanswered=self._unanswered)
        return replace(event, stats=stats)

    # ---- what may go -----------------------------------------------------------------------------------------------

    def _shorter(self, request: ChatRequest) -> Iterator[TrimmedMessages]:
        """Yield shorter conversations that the request's settings allow, longest first."""
        measure = _TokenEstimate(request.messages, self._n_ctx)
        capacity = measure.n_ctx - max(MIN_ANSWER_TOKENS, measure.n_ctx // CONTEXT_DIVISOR)
        if request.raw_prompt is not None or request.continues_text or not request.messages:
            return
        answerable = without_unanswered(request.messages)
        self._unanswered = answerable.num_left_out
        if answerable.num_left_out and measure.total(answerable.messages) <= capacity:
            yield answerable
        if request.overflow is Overflow.STOP:
            return
        found = without_oldest(answerable.messages, measure.count, measure.n_ctx)
        for place, kept in enumerate(found):
            if measure.total(kept.messages) <= capacity or place == len(found) - 1:
                self._left_out = kept.num_left_out
                yield kept


class _TokenEstimate:
    """Estimates tokens of messages that are too long together for a context of ``n_ctx`` tokens (0 if unknown)."""

    def __init__(self, messages: Sequence[Message], n_ctx: int) -> None:
        chars = max(sum(map(_chars, messages)), 1)
        num_tokens = max(ceil(chars / CHARS_PER_TOKEN), n_ctx + 1)
        self.n_ctx = n_ctx or num_tokens
        self._per_char = num_tokens / chars

    def count(self, message: Message) -> int:
        return ceil(_chars(message) * self._per_char)

    def total(self, messages: Sequence[Message]) -> int:
        return sum(map(self.count, messages))


def _chars(message: Message) -> int:
    return len(message.content) + _TEMPLATE_CHARS + _PICTURE_CHARS * len(message.pictures)
