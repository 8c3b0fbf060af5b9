"""Chooses the messages to keep if a conversation exceeds the context. The caller counts tokens.

Unanswered questions are joined with the next question, so a question that is too long would block all later ones. They
are dropped first.

Messages are dropped oldest first, and several at once: if every answer dropped another pair, no answer could reuse the
previous cache. The system prompt and the last question always stay.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.errors import PromptTooLongError
from engine.records import QUESTION_DIVIDER, ChatRequest, Message
from engine.sentences import i18n

_PARTS = 4  # each attempt drops another quarter of the context
# A token has about 4 characters. Prompts with more than this number for each token of the context are refused unread.
_MAX_CHARS_PER_TOKEN = 24
_SHORT_CHARS = 100_000  # shorter prompts are read in any case


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


def without_unanswered(messages: Sequence[Message]) -> TrimmedMessages:
    """Keep only the last question of each message that joins several, since the others have no answer.

    ``num_left_out`` counts the dropped questions.
    """
    result, num_left_out = list(messages), 0
    for index, message in enumerate(messages):
        joined = QUESTION_DIVIDER.join(message.questions)
        if len(message.questions) < 2 or not message.content.endswith(joined):
            continue
        last = message.questions[-1]
        begin, end = len(message.content) - len(joined), len(message.content) - len(last)
        pictures = tuple(
            (offset if offset < begin else offset - end + begin, picture)
            for offset, picture in message.pictures
            if not begin <= offset < end
        )
        # A summary may precede the questions.
        content = message.content[:begin] + last
        result[index] = replace(message, content=content, questions=(last,), pictures=pictures)
        num_left_out += len(message.questions) - 1
    return TrimmedMessages(tuple(result), num_left_out)


def check_length(request: ChatRequest, n_ctx: int) -> None:
    """Refuse a prompt that is far too long before it is tokenized, since 8 MB take half a minute.

    Raises:
        PromptTooLongError: the prompt has far more tokens than the context.
    """
    texts = [request.raw_prompt or "", request.suffix or "", *(message.content for message in request.messages)]
    texts += [call.arguments for message in request.messages for call in message.tool_calls]
    texts += [json.dumps(tool, ensure_ascii=False, default=str) for tool in request.tools]
    num_chars = sum(map(len, texts))
    if num_chars > max(_SHORT_CHARS, _MAX_CHARS_PER_TOKEN * n_ctx):
        raise PromptTooLongError(
            i18n(
                "The prompt has more than {most:,} tokens, but the context holds {n_ctx:,}.",
                most=num_chars // _MAX_CHARS_PER_TOKEN,
                n_ctx=n_ctx,
            ),
            i18n("Shorten it, or have the model loaded with a larger context."),
        )
