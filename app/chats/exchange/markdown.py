"""A conversation as Markdown: the shown path, for people to read. Pure text."""

from __future__ import annotations

import re

from app.attachments.framing import framed
from app.chats.exchange.records import OutsideChat, OutsideMessage
from ui.formatting import footer
from ui.thinking import split_thinking

_AUTHORS = {"user": "You", "assistant": "Paceline"}


def to_markdown(chat: OutsideChat) -> str:
    """Write the shown path down: a heading for each message, the figures below answers."""
    parts = [f"# {chat.title}"]
    for message in shown_path(chat):
        parts.append(f"## {_AUTHORS.get(message.role, message.role)}")
        parts += [framed(attachment) for attachment in message.attachments]
        parts += _words(message)
        figures = footer(message.stats)
        if figures:
            parts.append(f"*{figures}*")
    return "\n\n".join(parts) + "\n"


def _words(message: OutsideMessage) -> list[str]:
    """A message's words; before those of an answer its reasoning, marked as a quotation."""
    split = split_thinking(message.text)
    if message.role != "assistant" or not split.opened:
        return [message.text.strip("\n")]
    span = "" if message.thinking_ms is None else f" for {message.thinking_ms / 1000:.1f} s"
    lines = (f"**Thought{span}**", "", *split.thought(message.text).split("\n"))
    quoted = "\n".join(f"> {line}".rstrip() for line in lines)
    return [quoted, split.answer(message.text).strip("\n")]


def shown_path(chat: OutsideChat) -> list[OutsideMessage]:
    """Follow what is shown; where nothing says so, the last branch."""
    children: dict[int | None, list[OutsideMessage]] = {}
    for message in chat.messages:
        children.setdefault(message.parent, []).append(message)
    path: list[OutsideMessage] = []
    below = children.get(None, [])
    while below:
        path.append(next((each for each in below if each.key in chat.shown), below[-1]))
        below = children.get(path[-1].key, [])
    return path


def file_name(title: str, ending: str) -> str:
    """Make a file's name of a title, for every system."""
    words = re.sub(r'[\x00-\x1f<>:"/\\|?*]+', " ", title).strip(" .")
    return f"{' '.join(words.split())[:80].strip(' .') or 'Chat'}.{ending}"
