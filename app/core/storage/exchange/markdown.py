"""Writes the shown path of a conversation as readable Markdown. The JSON export is the one that keeps everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.framing import as_prompt, code_block
from app.core.domain.thinking import split_thinking
from app.core.storage.exchange.records import PortableChat, PortableMessage
from engine.records import RunStats
from engine.sentences import i18n

AUTHORS = {"user": "You", "assistant": "Paceline", "tool": "Tool"}
_HEADING_CHARS = 200
OTHER_VERSIONS = i18n(
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
    return "\n\n".join(_parts(chat, words)) + "\n"


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


def _parts(chat: PortableChat, export: ExportTexts) -> Iterator[str]:
    yield f"# {' '.join(chat.title.split())}"
    shown = shown_path(chat)
    if len(shown) < len(chat.messages):
        yield f"*{export.other_versions}*"
    for message in shown:
        yield f"## {AUTHORS.get(message.role, message.role)}{_call_heading(message)}"
        yield from map(_file, message.attachments)
        yield _text(message)
        if statistics := export.statistics(message.stats):
            yield f"*{statistics}*"


def _text(message: PortableMessage) -> str:
    """The text of a message, with its reasoning as a quotation."""
    text = message.text
    split = split_thinking(text)
    if message.role != "assistant" or not split.opened:
        return text
    span = "" if message.thinking_ms is None else f" for {message.thinking_ms / 1000:.1f} s"
    lines = (f"**Thought{span}**", "", *split.shown_reasoning(text).strip("\n").split("\n"))
    quoted = "\n".join(f"> {line}" if line else ">" for line in lines)
    return f"{quoted}\n\n{split.answer(text)}"


def _call_heading(message: PortableMessage) -> str:
    """Tool and beginning of the arguments, for the heading of a call."""
    call = message.call
    return "" if call is None else ": " + " ".join(f"{call.name} {call.arguments[:_HEADING_CHARS]}".split())


def _file(attachment: Attachment) -> str:
    if attachment.kind is AttachmentKind.PICTURE:
        return f"*Picture: {attachment.name}*"
    if attachment.kind is AttachmentKind.PASSAGES:  # without the instructions to the model
        return f"*Passages of the files:*\n\n{code_block(attachment)}"
    return as_prompt(attachment)
