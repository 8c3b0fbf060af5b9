"""Chooses the messages to keep if a conversation exceeds the context. The caller counts tokens.

Unanswered questions are joined with the next question, so a question that is too long would block all later ones.

Messages are dropped oldest first, and several at once: if every answer dropped another pair, no answer could reuse the
previous cache. The system prompt and the last question always stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.errors import PromptTooLongError
from engine.records import QUESTION_DIVIDER, ChatRequest, Message, Picture
from engine.sentences import i18n

_PARTS = 4  # each attempt drops another quarter of the context
# A prompt of at least this number of characters is first counted in pieces. Since splitting changes the count slightly,
# the prompt is refused only if it exceeds the context by this factor.
_LONG_CHARS, _PIECE_CHARS, _REFUSE_FACTOR = 100_000, 20_000, 2

_QuestionIndex = tuple[int, int]  # index of the message, and index of the question within the message


@dataclass(frozen=True, slots=True)
class TrimmedMessages:
    """The kept messages of a conversation, and the number of dropped ones."""

    messages: tuple[Message, ...]
    num_left_out: int


def without_oldest(messages: Sequence[Message], count: Callable[[Message], int], n_ctx: int) -> list[TrimmedMessages]:
    """Return ever shorter conversations, in steps of a quarter of the context, down to the last question.

    Args:
        messages: an optional system prompt, then alternating questions and answers.
        count: counts the tokens of a message, including pictures; need not include the template's.
        n_ctx: size of the context.
    """
    first = 1 if messages and messages[0].role == "system" else 0
    head = tuple(messages[:first])
    starts = [i for i in range(first, len(messages)) if messages[i].role == "user"]
    result: list[TrimmedMessages] = []
    seen, part = 0, max(n_ctx // _PARTS, 1)
    threshold, done = part, first
    for start in starts[1:]:
        seen += sum(map(count, messages[done:start]))
        done = start
        if seen >= threshold:
            result.append(TrimmedMessages((*head, *messages[start:]), start - first))
            threshold = (seen // part + 1) * part
    if len(starts) > 1 and (not result or result[-1].num_left_out != starts[-1] - first):
        result.append(TrimmedMessages((*head, *messages[starts[-1] :]), starts[-1] - first))
    return result


def without_oversized(messages: Sequence[Message], count: Callable[[str], int], room: int) -> TrimmedMessages:
    """Drop unanswered questions that are larger than ``room`` tokens and can never be answered.

    ``num_left_out`` counts dropped questions. The last question always stays.
    """
    oversized = {(at, number) for at, number in _unanswered(messages) if count(messages[at].questions[number]) > room}
    return _without_messages(messages, oversized)


def without_unanswered(messages: Sequence[Message]) -> list[TrimmedMessages]:
    """Return conversations without the oldest 1, 2, ... unanswered questions; ``num_left_out`` is that number."""
    places = _unanswered(messages)
    return [_without_messages(messages, set(places[:end])) for end in range(1, len(places) + 1)]


def _unanswered(messages: Sequence[Message]) -> list[_QuestionIndex]:
    """The unanswered questions: all joined questions of a message except its last."""
    return [
        (i, k)
        for i, message in enumerate(messages)
        if message.content.endswith(QUESTION_DIVIDER.join(message.questions))
        for k in range(len(message.questions) - 1)
    ]


def _without_messages(messages: Sequence[Message], removed: set[_QuestionIndex]) -> TrimmedMessages:
    result = list(messages)
    for i in {i for i, _ in removed}:
        asked = messages[i].questions
        front = messages[i].content.removesuffix(QUESTION_DIVIDER.join(asked))  # a summary may precede the questions
        rest = tuple(question for k, question in enumerate(asked) if (i, k) not in removed)
        pictures = _pictures_of(messages[i], len(front), [(i, k) not in removed for k in range(len(asked))])
        result[i] = replace(messages[i], content=front + QUESTION_DIVIDER.join(rest), questions=rest, pictures=pictures)
    return TrimmedMessages(tuple(result), len(removed))


def _pictures_of(message: Message, begin: int, stays: Sequence[bool]) -> tuple[tuple[int, Picture], ...]:
    """The pictures of kept questions at their new offsets; the first question begins at ``begin``."""
    found = [(offset, picture) for offset, picture in message.pictures if offset < begin]
    at = to = begin
    for question, is_kept in zip(message.questions, stays, strict=True):
        end = at + len(question) + len(QUESTION_DIVIDER)
        if is_kept:
            found += [(offset - at + to, picture) for offset, picture in message.pictures if at <= offset < end]
            to += end - at
        at = end
    return tuple(found)


def check_length(request: ChatRequest, count: Callable[[str], int], n_ctx: int) -> None:
    """Refuse a prompt that is far too long before it is tokenized, since 8 MB take half a minute.

    Raises:
        PromptTooLongError: the prompt has far more tokens than the context.
    """
    texts = [request.raw_prompt or "", request.suffix or "", *(message.content for message in request.messages)]
    texts += [call.arguments for message in request.messages for call in message.tool_calls]
    texts += [json.dumps(tool, ensure_ascii=False, default=str) for tool in request.tools]
    if sum(map(len, texts)) <= _LONG_CHARS:
        return
    seen, most = 0, _REFUSE_FACTOR * n_ctx
    for text in texts:
        for begin in range(0, len(text), _PIECE_CHARS):
            seen += count(text[begin : begin + _PIECE_CHARS])
            if seen > most:
                raise PromptTooLongError(
                    i18n(
                        "The prompt has more than {most:,} tokens, but the context holds {n_ctx:,}.",
                        most=most,
                        n_ctx=n_ctx,
                    ),
                    i18n("Shorten it, or have the model loaded with a larger context."),
                )
