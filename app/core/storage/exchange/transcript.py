"""Reads chats in Markdown, which name the speakers in headings or in bold.

Ordinary text can look like such lines. So only one style counts in a file (a level of headings, or bold): the first
that names both sides. Code is ignored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.core.domain.errors import ChatsImportError
from app.core.domain.messages import MessageView
from app.core.storage.chats.portable import PortableChat
from app.core.storage.exchange.records import (
    MAX_MESSAGES,
    clean_text,
    clean_title,
)

_STYLES = ("#", "##", "###", "####", "#####", "######", "**")
_LINE = re.compile(  # no backtracking: repetitions are limited or cannot match the next character
    r"^(?: {0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)"
    r"| {0,3}(?P<level>#{1,6})[ \t]{1,8}(?P<heading>[^\n]{1,120})$"
    r"|(?P<stars>\*\*|__)(?P<bold>[^\n*_]{1,60})(?P=stars)(?P<colon>:?)[ \t]*)",
    re.MULTILINE,
)
_USERS = {"you", "user", "human", "me", "du", "sie", "ich", "nutzer", "benutzer", "nutzerin", "benutzerin"}
_ASSISTANTS = {"assistant", "ai", "ai assistant", "bot", "chatbot", "paceline", "assistent", "assistentin", "ki"}
_OTHERS = {"system", "tool", "function", "developer", "system prompt"}
_MODEL = re.compile(
    r"(?:chat ?gpt|gpt|claude|gemini|gemma|bard|(?:github |microsoft )?copilot|(?:meta )?llama|meta ai|le chat|mistral"
    r"|mixtral|qwen|qwq|deepseek|phi|grok|perplexity|ollama|lm studio|smollm|granite|olmo|o(?=[134]))"
    r"[\d.]{0,8}[a-z]{0,3}"
    r"(?:[ \-:_]{1,3}(?:v?[\d.]{1,8}[a-z]{0,3}|opus|sonnet|haiku|pro|flash|mini|nano|turbo|large|small|medium|instruct"
    r"|chat|plus|advanced|ultra|coder|thinking|lite|preview|r1|it|x\d{1,2}b)){0,8}"
)
_VERB = re.compile(r"\s+(?:said|says|wrote|asked|answered|sagte|schrieb)$")
_NAME_SUFFIX = re.compile(r"\s*(?:\([^()]{0,50}\)|\[[^\[\]]{0,50}\]|[-–—|·,]\s*[\d:./ ,\-]{3,30}(?:[ap]\.?m\.?)?)$")
_RULE = re.compile(r"(?:\A|\n\n)(?:-{3,}|\*{3,}|_{3,})\Z")
_TITLE = re.compile(r"^# +([^\n]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that names a speaker: its ``start``, and the ``end`` where the text begins."""

    start: int
    end: int
    style: str
    role: str


def from_transcript(text: str) -> PortableChat | None:
    """Read a transcript; None if no lines name speakers.

    Raises:
        ChatsImportError: it has too many messages, or one that is too long.
    """
    found = list(_speakers(text))
    by_style = ([line for line in found if line.style == style] for style in _STYLES)
    lines = next((some for some in by_style if {"user", "assistant"} <= {line.role for line in some}), None)
    if lines is None:
        return None
    ends = [line.start for line in lines[1:]] + [len(text)]
    spoken = [(line.role, text[line.end : end].strip("\n")) for line, end in zip(lines, ends, strict=True)]
    if all(_RULE.search(words) for _, words in spoken[:-1]):
        spoken = [(role, _RULE.sub("", words)) for role, words in spoken]
    messages: list[MessageView] = []
    for role, words in spoken:
        if role and words.strip():
            messages.append(MessageView(len(messages) + 1, role, clean_text(words), parent=len(messages) or None))
    title = _TITLE.search(text, 0, lines[0].start)
    shown = frozenset(message.id for message in messages)
    return PortableChat(clean_title(title.group(1)) if title else "", tuple(messages), shown=shown)


def _speakers(text: str, begin: int = 0, *, with_fences: bool = True) -> Iterator[_Line]:
    """The lines outside code that name a speaker. An unclosed fence does not begin code."""
    fence, since, number = "", 0, 0
    for found in _LINE.finditer(text, begin):
        if found["fence"]:
            if with_fences and not fence:
                fence, since = found["fence"], found.end()
            elif fence and found["fence"].startswith(fence) and not found["info"].strip():
                fence = ""
            continue
        role = None if fence else _role_in(found)
        if role is None:
            continue
        number += 1
        if number > 4 * MAX_MESSAGES:
            raise ChatsImportError("A conversation in this file has too many messages.")
        yield _Line(found.start(), found.end(), found["level"] or "**", role)
    if fence:
        yield from _speakers(text, since, with_fences=False)


def _role_in(found: re.Match[str]) -> str | None:
    """The role that a line names; empty for a speaker to ignore, None if it names no speaker."""
    name, end = found["heading"] or found["bold"], found.end()
    is_alone = end == len(found.string) or found.string[end] == "\n"
    if found["stars"] and not is_alone and not found["colon"] and not name.rstrip().endswith(":"):
        return None  # only a bold word at the start of a sentence
    name = re.sub(r"^[^\w]+", "", name.lower()).strip("# \t").rstrip(":").strip()
    for _ in range(2):
        name = _NAME_SUFFIX.sub("", name).rstrip(": ")
    name = re.sub(r"[^\w)]+$", "", _VERB.sub("", name))
    if name in _USERS:
        return "user"
    if name in _ASSISTANTS or _MODEL.fullmatch(name):
        return "assistant"
    return "" if name in _OTHERS else None
