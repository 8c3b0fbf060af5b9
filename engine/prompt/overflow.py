"""Which messages still fit where a conversation has outgrown the context. The caller counts tokens, and places.

A question that got no answer is joined with the next one; one that was too long would stand in the way of all to come.

Whole turns go, oldest first, and several at once: if every answer dropped one more turn, no answer could use the cache
of the one before. The system prompt and the last question always stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.errors import PromptTooLongError
from engine.records import JOINT, ChatRequest, Message, Picture
from engine.sentences import said

_PARTS = 4  # the context is given up in so many parts
# So long a prompt is looked at in pieces first. A cut adds or takes a few tokens, so that only what has this many times
# the tokens of the context is known not to fit.
_LONG_CHARS, _PIECE_CHARS, _HOPELESS = 100_000, 20_000, 2

_Place = tuple[int, int]  # of a question: its message, and which of those that are joined there


@dataclass(frozen=True, slots=True)
class TrimmedMessages:
    """What is left of a conversation, and how many messages were left out in front of it."""

    messages: tuple[Message, ...]
    num_left_out: int


def without_oldest(messages: Sequence[Message], count: Callable[[Message], int], n_ctx: int) -> list[TrimmedMessages]:
    """Shorter and shorter conversations, a quarter of the context less each time, down to the last question alone.

    Args:
        messages: at most one system prompt in front, then questions and answers in turns.
        count: tokens of a message, with the places of its pictures; the template's own tokens need not be in it.
        n_ctx: tokens that the context holds.
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
    """The conversation without the questions that got no answer and never can: no prompt of ``room`` tokens holds one.

    ``num_left_out`` counts those questions. The last question always stays.
    """
    return _without(messages, {place for place in _unanswered(messages) if count(_question(messages, place)) > room})


def without_unanswered(messages: Sequence[Message]) -> list[TrimmedMessages]:
    """The conversation without one more each time, oldest first, of the questions that got no answer.

    They were joined with the next one. ``num_left_out`` counts them; no turn that was answered goes.
    """
    places = _unanswered(messages)
    return [_without(messages, set(places[:end])) for end in range(1, len(places) + 1)]


def _unanswered(messages: Sequence[Message]) -> list[_Place]:
    """Of the questions that a message joins, the last one is answered, or to be answered."""
    return [
        (i, k)
        for i, message in enumerate(messages)
        if message.content.endswith(JOINT.join(message.questions))
        for k in range(len(message.questions) - 1)
    ]


def _question(messages: Sequence[Message], place: _Place) -> str:
    return messages[place[0]].questions[place[1]]


def _without(messages: Sequence[Message], removed: set[_Place]) -> TrimmedMessages:
    result = list(messages)
    for i in {i for i, _ in removed}:
        asked = messages[i].questions
        front = messages[i].content.removesuffix(JOINT.join(asked))  # a summary may stand before them
        rest = tuple(question for k, question in enumerate(asked) if (i, k) not in removed)
        pictures = _pictures_of(messages[i], len(front), [(i, k) not in removed for k in range(len(asked))])
        result[i] = replace(messages[i], content=front + JOINT.join(rest), questions=rest, pictures=pictures)
    return TrimmedMessages(tuple(result), len(removed))


def _pictures_of(message: Message, begin: int, stays: Sequence[bool]) -> tuple[tuple[int, Picture], ...]:
    """The pictures of a message of which some questions stay, each in its place; the first begins at ``begin``."""
    found = [(place, picture) for place, picture in message.pictures if place < begin]
    at = to = begin
    for question, is_kept in zip(message.questions, stays, strict=True):
        end = at + len(question) + len(JOINT)
        if is_kept:
            found += [(place - at + to, picture) for place, picture in message.pictures if at <= place < end]
            to += end - at
        at = end
    return tuple(found)


def check_length(request: ChatRequest, count: Callable[[str], int], n_ctx: int) -> None:
    """Refuse a prompt that cannot fit before all of it is split: 8 MB take half a minute, and others wait.

    Raises:
        PromptTooLongError: it has far more tokens than the context holds.
    """
    texts = [request.raw_prompt or "", request.suffix or "", *(message.content for message in request.messages)]
    texts += [call.arguments for message in request.messages for call in message.tool_calls]
    texts += [json.dumps(tool, ensure_ascii=False, default=str) for tool in request.tools]
    if sum(map(len, texts)) <= _LONG_CHARS:
        return
    seen, most = 0, _HOPELESS * n_ctx
    for text in texts:
        for begin in range(0, len(text), _PIECE_CHARS):
            seen += count(text[begin : begin + _PIECE_CHARS])
            if seen > most:
                raise PromptTooLongError(
                    said(
                        "The prompt has more than {most:,} tokens, but the context holds {n_ctx:,}.",
                        most=most,
                        n_ctx=n_ctx,
                    ),
                    said("Shorten it, or have the model loaded with a larger context."),
                )
