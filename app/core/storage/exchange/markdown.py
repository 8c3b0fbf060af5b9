"""Writes the shown path of a conversation as readable Markdown. The JSON export is the one that keeps everything."""

from collections.abc import Iterator

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.framing import as_prompt, code_block
from app.core.domain.messages import MessageView
from app.core.domain.thinking import split_thinking
from app.core.domain.tree import MessageTree
from app.core.storage.chats.portable import PortableChat

AUTHORS = {"user": "You", "assistant": "Paceline", "tool": "Tool"}
_HEADING_CHARS = 200
_OTHER_VERSIONS = (
    "*This chat has other versions of some messages. Here are the ones that were shown; an export as JSON has them "
    "all.*"
)


def to_markdown(chat: PortableChat) -> str:
    """Write the shown path: a heading for each message, statistics below answers, and a note about other branches."""
    return "\n\n".join(_parts(chat)) + "\n"


def _parts(chat: PortableChat) -> Iterator[str]:
    yield f"# {' '.join(chat.title.split())}"
    parents = {message.id: message.parent for message in chat.messages}
    chosen: dict[int | None, int | None] = {parents[number]: number for number in chat.shown if number in parents}
    path = MessageTree(parents, chosen).path()
    by_id = {message.id: message for message in chat.messages}
    shown = [by_id[number] for number in path]
    if len(shown) < len(chat.messages):
        yield _OTHER_VERSIONS
    for message in shown:
        call = message.call
        heading = f": {call.name} {' '.join(call.arguments[:_HEADING_CHARS].split())}" if call else ""
        yield f"## {AUTHORS.get(message.role, message.role)}{heading}"
        yield from map(_file, message.attachments)
        yield _text(message)
        stats = message.stats
        if stats is not None and stats.tokens_per_second is not None and stats.tokens_per_pass is not None:
            speed, per_pass = f"{stats.tokens_per_second:.1f} tok/s", f"{stats.tokens_per_pass:.1f} tokens per pass"
            yield f"*{speed} · {per_pass} · {stats.mode.value}*"


def _text(message: MessageView) -> str:
    """The text of a message, with its reasoning as a quotation."""
    text = message.text
    split = split_thinking(text)
    if message.role != "assistant" or not split.opened:
        return text
    span = "" if message.thinking_ms is None else f" for {message.thinking_ms / 1000:.1f} s"
    lines = (f"**Thought{span}**", "", *split.shown_reasoning(text).strip("\n").split("\n"))
    quoted = "\n".join(f"> {line}" if line else ">" for line in lines)
    return f"{quoted}\n\n{split.answer(text)}"


def _file(attachment: Attachment) -> str:
    if attachment.kind is AttachmentKind.PICTURE:
        return f"*Picture: {attachment.name}*"
    if attachment.kind is AttachmentKind.PASSAGES:  # without the instructions to the model
        return f"*Passages of the files:*\n\n{code_block(attachment)}"
    return as_prompt(attachment)
