"""Writes the shown path of a conversation as readable Markdown with marks, by which it can be restored exactly.

`markdown_marks` writes and finds the marks; `transcript` reads Markdown without marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.errors import ChatsImportError
from app.core.domain.framing import as_prompt, code_block
from app.core.domain.thinking import split_thinking
from app.core.domain.tools.calls import CallStatus, StoredCall
from app.core.storage.exchange.markdown_marks import MarkedPart, fits, free_number, parts_of, to_text
from app.core.storage.exchange.own_format import (
    call_from_data,
    call_to_data,
    check_version,
    time_from,
    to_attachment,
)
from app.core.storage.exchange.records import (
    MAX_ATTACHMENTS,
    PortableChat,
    PortableMessage,
    clean_title,
    whole_text,
)
from engine.records import RunStats
from engine.sentences import said

VERSION = 1
AUTHORS = {"user": "You", "assistant": "Paceline", "tool": "Tool"}
_MAX_MS = 2**53
_HEADING_CHARS = 200
MAX_MARKED = 1_000_000  # maximum number of messages in a file; each needs a kilobyte of memory
UNNAMED = StoredCall("", "", "", "", CallStatus.UNKNOWN)  # for a result whose call is unknown
OTHER_VERSIONS = said(
    "This chat has other versions of some messages. Here are the ones that were shown; an export as JSON has them all."
)


def plain_statistics(stats: RunStats | None) -> str:
    """The statistics below an answer, in English; empty without statistics."""
    if stats is None or not stats.tokens or stats.tokens_per_second is None or stats.tokens_per_pass is None:
        return ""
    return f"{stats.tokens_per_second:.1f} tok/s · {stats.tokens_per_pass:.1f} tokens per pass · {stats.mode.value}"


@dataclass(frozen=True, slots=True)
class ExportTexts:
    """The fixed texts of an export, in the user's language."""

    other_versions: str = OTHER_VERSIONS
    statistics: Callable[[RunStats | None], str] = plain_statistics


ENGLISH = ExportTexts()


def to_markdown(chat: PortableChat, words: ExportTexts = ENGLISH) -> str:
    """Write the shown path: a heading for each message, statistics below answers, and a note about other branches."""
    parts = list(_parts(chat, words))
    return to_text(parts, free_number(part.text for part in parts))


def from_markdown(text: str) -> PortableChat:
    """Read an export with marks. The messages are restored exactly; statistics are ignored.

    Raises:
        ChatsImportError: the export has a newer version or is too large.
    """
    chat = PortableChat("", ())
    messages: list[PortableMessage] = []
    for part in parts_of(text):
        if "chat" in part.fields:
            chat = _head(part, text)
        elif part.fields.get("role") in tuple(AUTHORS):  # untrusted: the role may be any JSON value
            if len(messages) >= MAX_MARKED:
                raise ChatsImportError("A conversation in this file has too many messages.")
            messages.append(_message(part, len(messages) + 1))
        elif messages and "file" in part.fields and len(messages[-1].attachments) < MAX_ATTACHMENTS:
            messages[-1] = replace(messages[-1], attachments=(*messages[-1].attachments, _attachment(part)))
        elif messages and "words" in part.fields:
            messages[-1] = replace(messages[-1], text=whole_text(part.text))
    return chat_of(messages, chat)


def chat_of(messages: list[PortableMessage], like: PortableChat) -> PortableChat:
    """Make a conversation without branches, with the title and times of ``like``."""
    return PortableChat(
        like.title, tuple(messages), like.created_at, like.updated_at, shown=frozenset(each.key for each in messages)
    )


def shown_path(chat: PortableChat) -> list[PortableMessage]:
    """The messages of the shown path; without a valid choice, of the last branch."""
    children: dict[int | None, list[PortableMessage]] = {}
    for message in chat.messages:
        children.setdefault(message.parent, []).append(message)
    path: list[PortableMessage] = []
    below = children.get(None, [])
    while below:
        path.append(next((each for each in below if each.key in chat.shown), below[-1]))
        below = children.get(path[-1].key, [])
    return path


# ---- out ------------------------------------------------------------------------------------------------------------


def _parts(chat: PortableChat, export: ExportTexts) -> Iterator[MarkedPart]:
    yield MarkedPart({}, f"# {' '.join(chat.title.split())}")
    yield MarkedPart(
        {"chat": VERSION, "created": chat.created_at.isoformat(), "updated": chat.updated_at.isoformat()}, ""
    )
    shown = shown_path(chat)
    if len(shown) < len(chat.messages):
        yield MarkedPart({"other_versions": True}, f"*{export.other_versions}*")
    for message in shown:
        heading = f"## {AUTHORS.get(message.role, message.role)}{_call_heading(message)}"
        fields, words = _message_parts(message)
        if not message.attachments:
            yield MarkedPart(fields, f"{heading}\n\n{words}")
        else:
            yield MarkedPart(fields, heading)
            yield from map(_file_part, message.attachments)
            yield MarkedPart({"words": True}, words)
        figures = export.statistics(message.stats)
        if figures:
            yield MarkedPart({"figures": True}, f"*{figures}*")


def _message_parts(message: PortableMessage) -> tuple[dict[str, Any], str]:
    """The fields of a message's mark, and its text, which begins with the reasoning as a quotation.

    The fields hold the exact text around both, for example reasoning tags, which differ between models.
    """
    text, fields = message.text, {"role": message.role}
    if message.call is not None:
        called = {**fields, "call": call_to_data(message.call)}
        return (called if fits(called) else {**fields, "call": {"name": message.call.name}}), text
    split = split_thinking(text)
    if message.role != "assistant" or not split.opened or message.attachments:
        return fields, text
    glue = (text[: split.thought_start], text[split.thought_end : split.answer_start], text[split.answer_end :])
    marked = {**fields, "thought": glue, "thought_ms": message.thinking_ms}
    if not fits(marked):
        return fields, text
    span = "" if message.thinking_ms is None else f" for {message.thinking_ms / 1000:.1f} s"
    lines = (f"**Thought{span}**", "", *split.thought(text).split("\n"))
    quoted = "\n".join(f"> {line}" if line else ">" for line in lines)
    return marked, f"{quoted}\n\n{split.answer(text)}"


def _call_heading(message: PortableMessage) -> str:
    """Tool and beginning of the arguments, for the heading of a call."""
    call = message.call
    return "" if call is None else ": " + " ".join(f"{call.name} {call.arguments[:_HEADING_CHARS]}".split())


def _file_part(attachment: Attachment) -> MarkedPart:
    fields = {"file": attachment.name, "kind": attachment.kind.value, "num_bytes": attachment.num_bytes}
    cut = {} if not attachment.text or attachment.text.endswith("\n") else {"no_line_end": True}
    if attachment.kind is AttachmentKind.PICTURE:
        seen = f"*Picture: {attachment.name}*"
    elif attachment.kind is AttachmentKind.PASSAGES:  # without the instructions to the model
        seen = f"*Passages of the files:*\n\n{code_block(attachment)}"
    else:
        seen = as_prompt(attachment)
    return MarkedPart({**fields, **cut}, seen)


# ---- in -------------------------------------------------------------------------------------------------------------


def _head(part: MarkedPart, text: str) -> PortableChat:
    check_version(part.fields.get("chat"), VERSION)
    line = text.lstrip().split("\n", 1)[0]
    title = clean_title(line.removeprefix("#")) if line.startswith("#") else ""
    return PortableChat(title, (), time_from(part.fields.get("created")), time_from(part.fields.get("updated")))


def _message(part: MarkedPart, key: int) -> PortableMessage:
    heading, _, words = part.text.partition("\n\n")
    if not heading.startswith("## ") or "\n" in heading:
        words = part.text  # the user has removed the heading
    spent = part.fields.get("thought_ms")
    is_span = isinstance(spent, int) and not isinstance(spent, bool) and 0 <= spent <= _MAX_MS
    return PortableMessage(
        key,
        key - 1 or None,
        part.fields["role"],
        whole_text(_with_thought(words, part.fields)),
        thinking_ms=spent if is_span else None,
        call=(call_from_data(part.fields.get("call")) or UNNAMED) if part.fields["role"] == "tool" else None,
    )


def _with_thought(words: str, fields: Mapping[str, Any]) -> str:
    """Restore the reasoning with its original tags."""
    glue = fields.get("thought")
    if not isinstance(glue, list) or len(glue) != 3 or not all(isinstance(each, str) for each in glue):
        return words
    quoted, _, answer = words.partition("\n\n")  # the quotation ends at the first empty line
    thought = "\n".join(line.removeprefix(">").removeprefix(" ") for line in quoted.split("\n")[2:])
    return f"{glue[0]}{thought}{glue[1]}{answer}{glue[2]}"


def _attachment(part: MarkedPart) -> Attachment:
    """Read the text within a fence; the mark tells whether the last line end belongs to the text."""
    _, _, block = part.text.partition("\n\n")
    opening, _, text = block.partition("\n")
    fence = opening[: len(opening) - len(opening.lstrip("`"))]
    text = text.removesuffix(fence)
    if part.fields.get("no_line_end") is True:
        text = text.removesuffix("\n")
    return to_attachment({**part.fields, "name": part.fields["file"], "text": text})
