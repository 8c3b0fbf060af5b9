"""Lets the model summarise the oldest messages of a conversation that exceeds the context.

It chooses the messages, requests a summary, and replaces the messages. If that fails, the caller leaves messages out by
`engine.prompt.overflow`. The caller also runs the request for the summary.
"""

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace

from engine.errors import EngineError
from engine.prompt.overflow import without_oldest, without_unanswered
from engine.reasoning_tags import closes_reasoning
from engine.records import (
    ChatRequest,
    Event,
    Finished,
    FinishReason,
    Message,
    Overflow,
    PrefillProgress,
    SamplingParams,
    SummaryUpdate,
    TextChunk,
)
from engine.sentences import i18n

CONTEXT_DIVISOR = 8  # 1/8 of the context is reserved for the answer, and 1/8 for the summary
_MIN_TOKENS, _MAX_TOKENS = 48, 512  # least and most tokens of a summary
_INSTRUCTION = (
    "Summarise our conversation so far, so that you can go on with it without reading it again: names, facts, figures, "
    "decisions, and what is still open. Use the language of the conversation and at most {words} words. "
    "Write only the summary."
)
_HEADING = "Summary of our conversation so far:"
_THOUGHT = closes_reasoning()  # reasoning before the summary
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|\Z)|\n")

BuildPrompt = Callable[[Sequence[Message]], list[int]]  # messages -> ids of the prompt
RunRequest = Callable[[ChatRequest], Iterator[Event]]  # runs a request


def prepend_summary(summary: str, question: str) -> str:
    """A question with the summary of earlier messages prepended, as sent to the model."""
    return f"{_HEADING}\n{summary}\n\n{question}"


def with_summary(messages: Sequence[Message], num_messages: int, summary: str) -> tuple[Message, ...]:
    """Replace the oldest ``num_messages`` messages by a summary. A system prompt stays first and is not counted.

    The first remaining message must be a question, as `without_oldest` ensures.
    """
    first = 1 if messages and messages[0].role == "system" else 0
    question = messages[first + num_messages]
    rest = messages[first + num_messages + 1 :]
    moved = len(prepend_summary(summary, ""))
    pictures = tuple((moved + place, picture) for place, picture in question.pictures)
    question = replace(question, content=prepend_summary(summary, question.content), pictures=pictures)
    return (*messages[:first], question, *rest)


class Summariser:
    """Makes a request fit the context by a summary. ``count`` returns the tokens of a message."""

    def __init__(self, build: BuildPrompt, count: Callable[[Message], int], n_ctx: int, least_room: int) -> None:
        self._build = build
        self._count = count
        self._n_ctx = n_ctx
        self._least_room = least_room
        self.note: str = ""  # sentence for the answer's decisions

    def fit_request(
        self, request: ChatRequest, run: RunRequest, should_stop: Callable[[], bool]
    ) -> Generator[Event, None, ChatRequest]:
        """Yield progress; return the request to answer, with the summary or without the oldest messages.

        ``should_stop`` cancels the whole answer, without reporting a failed summary.
        """
        dropping = replace(request, overflow=Overflow.DROP)
        if len(self._build(request.messages)) <= self._n_ctx - self._least_room:
            return dropping
        answerable = without_unanswered(request.messages)
        if answerable.num_left_out and len(self._build(answerable.messages)) <= self._n_ctx - self._least_room:
            return dropping  # the answer only needs to leave out unanswered questions
        plan = self._plan(replace(request, messages=answerable.messages))
        if plan is None:
            too_long = i18n("The oldest messages are too long to be summarised.")
            yield SummaryUpdate(request.request_id, 0, failure=too_long)
            return dropping
        try:
            summary, why = yield from self._write(*plan, run)
        except EngineError as error:
            summary, why = "", error.message
        if not summary:
            if not should_stop():
                yield SummaryUpdate(request.request_id, plan[0], failure=why)
            return dropping
        self.note = i18n("oldest messages sent as a summary: {number}", number=plan[0])
        yield SummaryUpdate(request.request_id, plan[0], summary, complete=True)
        return replace(dropping, messages=with_summary(request.messages, plan[0], summary))

    def _plan(self, request: ChatRequest) -> tuple[int, ChatRequest] | None:
        """Choose the fewest oldest messages that free enough of the context; also return the summary's request.

        None if no choice frees enough.
        """
        length = max(_MIN_TOKENS, min(_MAX_TOKENS, self._n_ctx // CONTEXT_DIVISOR))
        room = max(self._least_room, self._n_ctx // CONTEXT_DIVISOR)
        first = 1 if request.messages[0].role == "system" else 0
        for kept in without_oldest(request.messages, self._count, self._n_ctx):
            if len(self._build(kept.messages)) > self._n_ctx - room - length:
                continue
            oldest = request.messages[: first + kept.num_left_out]
            asked = (*oldest, Message("user", _INSTRUCTION.format(words=length // 2)))
            if len(self._build(asked)) > self._n_ctx - length:
                return None
            plain = SamplingParams(temperature=0.0)
            inner = replace(request, messages=asked, sampling=plain, max_tokens=length, use_past=False, stop=())
            return kept.num_left_out, replace(inner, overflow=Overflow.STOP, ignore_eos=False)
        return None

    @staticmethod
    def _write(number: int, request: ChatRequest, run: RunRequest) -> Generator[Event, None, tuple[str, str]]:
        text, request_id = "", request.request_id
        yield SummaryUpdate(request_id, number)
        reason = FinishReason.END
        for event in run(request):
            if isinstance(event, PrefillProgress):
                yield SummaryUpdate(request_id, number, done=event.done, total=event.total)
            elif isinstance(event, TextChunk):
                text += event.text
                yield SummaryUpdate(request_id, number, text)
            elif isinstance(event, Finished):
                reason = event.reason
        if reason is FinishReason.CANCELLED:
            return "", i18n("The summary was cancelled.")
        summary = _clean_summary(text, cut=reason is FinishReason.LENGTH)
        return summary, "" if summary else i18n("The model wrote no summary.")


def _clean_summary(text: str, *, cut: bool) -> str:
    """Remove reasoning before the summary; if the summary was cut off, remove the incomplete last sentence."""
    text = _THOUGHT.sub("", text).strip()
    if cut:
        ends = [match.end() for match in _SENTENCE_END.finditer(text)]
        text = text[: ends[-1]].strip() if ends else text
    return text
