"""Makes engine requests from settings and stored messages."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from app.core.domain.attachments import Attachment, StoredPicture
from app.core.domain.framing import with_attachments
from app.core.domain.messages import MessageState, MessageView
from app.core.domain.settings.table import COMPLETION_FORMAT
from app.core.domain.settings.values import Settings
from app.core.domain.template_variables import read_variables
from app.core.domain.thinking import without_thinking
from app.core.domain.tools.calls import StoredCall, result_for_model
from engine.records import (
    QUESTION_DIVIDER,
    ChatRequest,
    Message,
    Mode,
    Overflow,
    Picture,
    SamplingParams,
    ToolCall,
)

Decode = Callable[[StoredPicture], Picture]  # for a model with vision
MAX_TOOL_PICTURES, _PICTURES_DROPPED_AT_ONCE = 32, 16  # pictures of tool results in a prompt


def chat_request(
    settings: Settings, views: Iterable[MessageView], mode: Mode, request_id: int, decode: Decode | None = None
) -> ChatRequest:
    """The request for an answer to the last question among ``views``; ``decode`` is given if the model has vision."""
    return ChatRequest(
        messages=prompt_messages(settings.text("system_prompt"), views, decode),
        mode=mode,
        depth=settings.integer("depth"),
        sampling=sampling_params(settings),
        max_tokens=settings.integer("max_tokens"),
        overflow=Overflow(settings.text("overflow")),
        request_id=request_id,
        use_past=bool(settings.values["learn_past"]),
        thinking=settings.text("thinking"),
        template_variables=read_variables(settings.text("template_variables")),
        continues_text=settings.text("prompt_format") == COMPLETION_FORMAT,
    )


def sampling_params(settings: Settings) -> SamplingParams:
    return SamplingParams(
        temperature=settings.number("temperature"),
        top_k=settings.integer("top_k") or 0,
        top_p=settings.number("top_p"),
        min_p=settings.number("min_p"),
        repeat_penalty=settings.number("repeat_penalty"),
        frequency_penalty=settings.number("frequency_penalty"),
        presence_penalty=settings.number("presence_penalty"),
        seed=settings.integer("seed"),
    )


def prompt_messages(
    system_prompt: str, views: Iterable[MessageView], decode: Decode | None = None
) -> tuple[Message, ...]:
    """The conversation for the model: a system prompt if there is one, then `prompt_parts`."""
    system = (Message("system", system_prompt),) if system_prompt.strip() else ()
    return (*system, *(message for message, _ in prompt_parts(views, decode)))


def prompt_parts(views: Iterable[MessageView], decode: Decode | None = None) -> list[tuple[Message, int]]:
    """Alternating questions and answers, each with the id of its last view. The last is a question or a tool result.

    Tool calls belong to their answer, each result is a message. Attached files precede the text of their message.
    Reasoning of earlier answers is left out, as chat templates do.

    Many chat templates refuse two messages of one role in a row: an unanswered question is joined with the next one; of
    two answers to one question the later counts.
    """
    parts: list[tuple[Message, int]] = []
    listed = tuple(views)
    named = _results_without_pictures(listed)
    is_silent = False  # the last answer has no text: calls may follow
    for view in listed:
        if view.call is not None:
            _add_call(parts, view, view.call, None if view.id in named else decode, after_silence=is_silent)
            is_silent = False
            continue
        message = _message(view, decode)
        is_empty = not (message.content or message.pictures)
        is_silent = is_empty and view.role == "assistant"
        if is_empty or view.state is MessageState.STREAMING:
            continue
        last = parts[-1][0] if parts else None
        if last is None or last.role != view.role:
            parts.append((message, view.id))
        else:
            parts[-1] = (_join_questions(last, message) if view.role == "user" else message, view.id)
    while parts and parts[-1][0].role not in ("user", "tool"):
        parts.pop()
    while parts and parts[0][0].role != "user":
        parts.pop(0)
    return parts


def picture_sizes(views: Iterable[MessageView]) -> tuple[tuple[int, int], ...]:
    """Width and height of the shown pictures in the messages, in pixels."""
    listed = tuple(views)
    named = _results_without_pictures(listed)
    pictures = (each.picture for view in listed if view.id not in named for each in view.attachments)
    return tuple((one.width, one.height) for one in pictures if one is not None)


def _results_without_pictures(views: Iterable[MessageView]) -> frozenset[int]:
    """The oldest tool results, whose pictures are replaced by their names if there are over `MAX_TOOL_PICTURES`.

    Several are dropped at once, so that the start of the prompt stays in the cache for a while.
    """
    counts = [(view.id, sum(one.picture is not None for one in view.attachments)) for view in views if view.call]
    over = sum(count for _, count in counts) - MAX_TOOL_PICTURES
    left, named = -(-over // _PICTURES_DROPPED_AT_ONCE) * _PICTURES_DROPPED_AT_ONCE, set[int]()
    for message_id, count in counts:
        if left > 0 and count:
            named.add(message_id)
            left -= count
    return frozenset(named)


def _message(view: MessageView, decode: Decode | None) -> Message:
    """One message: pictures first, if the model has vision, then files, then text."""
    words = without_thinking(view.text) if view.role == "assistant" else view.text
    if decode is None:
        return Message(view.role, with_attachments(words, view.attachments))
    files = (each for each in view.attachments if each.picture is None)
    pictures = tuple((0, decode(each.picture)) for each in view.attachments if each.picture is not None)
    return Message(view.role, with_attachments(words, files), pictures=pictures)


def _join_questions(first: Message, second: Message) -> Message:
    questions = (*(first.questions or (first.content,)), second.content)
    content = QUESTION_DIVIDER.join(questions)
    begin = len(content) - len(second.content)
    pictures = (*first.pictures, *((begin + place, picture) for place, picture in second.pictures))
    return Message("user", content, questions, pictures=pictures)


def _add_call(
    parts: list[tuple[Message, int]], view: MessageView, call: StoredCall, decode: Decode | None, *, after_silence: bool
) -> None:
    """Append a tool result, and add its call to the answer before it."""
    place = len(parts) - 1
    while place >= 0 and parts[place][0].role == "tool" and not after_silence:
        place -= 1
    if after_silence or place < 0 or parts[place][0].role != "assistant":
        parts.append((Message("assistant", ""), view.id))
        place = len(parts) - 1
    answer, number = parts[place]
    calls = (*answer.tool_calls, ToolCall(call.call_id, call.name, call.arguments))
    parts[place] = (replace(answer, tool_calls=calls), number)
    parts.append((result_message(call, view.text, view.attachments, decode), view.id))


def result_message(
    call: StoredCall, text: str, pictures: Iterable[Attachment] = (), decode: Decode | None = None
) -> Message:
    """A tool result for the model. With vision its pictures come first, otherwise a line replaces each picture."""
    words = result_for_model(call, text)
    if decode is None:
        return Message("tool", with_attachments(words, pictures), tool_call_id=call.call_id, name=call.name)
    seen = tuple((0, decode(each.picture)) for each in pictures if each.picture is not None)
    return Message("tool", words, tool_call_id=call.call_id, name=call.name, pictures=seen)
