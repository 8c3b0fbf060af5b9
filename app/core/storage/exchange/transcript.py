"""Reads chats in Markdown of other programs, which name the speakers in headings or in bold.

Ordinary text can look like such lines. So only one style counts in a file (a level of headings, or bold): the first
that names both sides. Common words ("Answer") count only without better names. Code is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.core.domain.errors import ChatsImportError
from app.core.storage.exchange.records import (
    MAX_MESSAGES,
    PortableChat,
    PortableMessage,
    clean_text,
    clean_title,
)

_LINE = re.compile(  # no backtracking: repetitions are limited or cannot match the next character
    r"^(?: {0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)"
    r"| {0,3}(?P<level>#{1,6})[ \t]{1,8}(?P<heading>[^\n]{1,120})$"
    r"|(?P<stars>\*\*|__)(?P<bold>[^\n*_]{1,60})(?P=stars)(?P<colon>:?)[ \t]*"
    r"|(?P<plain>[A-Za-z]{2,12}):(?:[ \t]+|$))",
    re.MULTILINE,
)
_USERS = {"you", "user", "human", "me", "du", "sie", "ich", "nutzer", "benutzer", "nutzerin", "benutzerin"}
_ASSISTANTS = {"assistant", "ai", "ai assistant", "bot", "chatbot", "paceline", "assistent", "assistentin", "ki"}
_OTHERS = {"system", "tool", "function", "developer", "system prompt"}
_COMMON_WORD_ROLES = {"prompt": "user", "question": "user", "frage": "user", "request": "user", "response": "assistant",
         "answer": "assistant", "antwort": "assistant", "reply": "assistant", "model": "assistant"}  # fmt: skip
_MODEL_ALIASES = {"chat gpt": "chatgpt", "github copilot": "copilot", "microsoft copilot": "copilot", "meta ai":
"llama",
           "meta llama": "llama", "le chat": "mistral", "lm studio": "ollama"}  # fmt: skip
_MODEL = re.compile(
    r"(?:chatgpt|gpt|claude|gemini|gemma|bard|copilot|llama|mistral|mixtral|qwen|qwq|deepseek|phi|grok|perplexity|ollama"
    r"|smollm|granite|olmo|o(?=[134]))[\d.]{0,8}[a-z]{0,3}"
)
_MODEL_WORD = re.compile(
    r"v?[\d.]{1,8}[a-z]{0,3}|opus|sonnet|haiku|pro|flash|mini|nano|turbo|large|small|medium|instruct|chat|plus|advanced"
    r"|ultra|coder|thinking|lite|preview|r1|it|x\d{1,2}b"
)
_MAX_MODEL_WORDS = 8
_VERB = re.compile(r"\s+(?:said|says|wrote|asked|answered|sagte|schrieb)$")
_REMARK = re.compile(r"\s*(?:\([^()]{0,50}\)|\[[^\[\]]{0,50}\]|[-–—|·,]\s*[\d:./ ,\-]{3,30}(?:[ap]\.?m\.?)?)$")
_RULE = re.compile(r"(?:\A|\n\n)(?:-{3,}|\*{3,}|_{3,})\Z")
_COMMENT = re.compile(r"^<!-- paceline \d{1,9} [^\n]{0,100000} -->\n", re.MULTILINE)  # in earlier exports
_TITLE = re.compile(r"^# +([^\n]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _SpeakerLine:
    """A line that may name a speaker: its ``start``, and the ``end`` where the text begins."""

    start: int
    end: int
    style: str
    role: str
    weak: bool


def from_transcript(text: str) -> PortableChat | None:
    """Read a transcript; None if no lines name speakers.

    Raises:
        ChatsImportError: it has too many messages, or one that is too long.
    """
    text = _COMMENT.sub("", text)
    lines = _speaker_lines(list(_speakers(text)))
    if not lines:
        return None
    ends = [line.start for line in lines[1:]] + [len(text)]
    spoken = [(line.role, text[line.end : end].strip("\n")) for line, end in zip(lines, ends, strict=True)]
    if all(_RULE.search(words) for _, words in spoken[:-1]):
        spoken = [(role, _RULE.sub("", words)) for role, words in spoken]
    messages: list[PortableMessage] = []
    for role, words in spoken:
        if role and words.strip():
            messages.append(PortableMessage(len(messages) + 1, len(messages) or None, role, clean_text(words)))
    title = _TITLE.search(text, 0, lines[0].start)
    shown = frozenset(message.key for message in messages)
    return PortableChat(clean_title(title.group(1)) if title else "", tuple(messages), shown=shown)


# ---- who speaks -----------------------------------------------------------------------------------------------------


def _speakers(text: str, begin: int = 0, *, with_fences: bool = True) -> Iterator[_SpeakerLine]:
    """The lines outside code that may name a speaker. An unclosed fence does not begin code."""
    fence, since, number = "", 0, 0
    for found in _LINE.finditer(text, begin):
        if found["fence"]:
            if with_fences and not fence:
                fence, since = found["fence"], found.end()
            elif fence and found["fence"].startswith(fence) and not found["info"].strip():
                fence = ""
            continue
        line = None if fence else _speaker(found)
        if line is None:
            continue
        number += 1
        if number > 4 * MAX_MESSAGES:
            raise ChatsImportError("A conversation in this file has too many messages.")
        yield line
    if fence:
        yield from _speakers(text, since, with_fences=False)


def _speaker(found: re.Match[str]) -> _SpeakerLine | None:
    end = found.end()
    if found["level"]:
        style, name = found["level"], found["heading"].rstrip("# \t")
    elif found["stars"]:
        style, name = "**", found["bold"]
        alone = end == len(found.string) or found.string[end] == "\n"
        if not alone and not found["colon"] and not name.rstrip().endswith(":"):
            return None  # only a bold word at the start of a sentence
    else:
        style, name = ":", found["plain"]
    role, weak = _role(name)
    if role is None or (weak and style == ":"):
        return None
    return _SpeakerLine(found.start(), end, style, role, weak)


def _role(name: str) -> tuple[str | None, bool]:
    """The role of a name (empty: ignore the speaker; None: no speaker), and True if the name is a common word."""
    name = re.sub(r"^[^\w]+", "", name.lower()).strip().rstrip(":").strip()
    for _ in range(2):
        name = _REMARK.sub("", name).rstrip(": ")
    name = re.sub(r"[^\w)]+$", "", _VERB.sub("", name))
    if name in _USERS:
        return "user", False
    if name in _ASSISTANTS or _is_model(name):
        return "assistant", False
    if name in _OTHERS:
        return "", False
    return (_COMMON_WORD_ROLES[name], True) if name in _COMMON_WORD_ROLES else (None, False)


def _is_model(name: str) -> bool:
    for words, maker in _MODEL_ALIASES.items():
        if name.startswith(words):
            name = maker + name.removeprefix(words)
    first, *others = re.split(r"[ \-:_]+", name)
    return (
        _MODEL.fullmatch(first) is not None
        and len(others) <= _MAX_MODEL_WORDS
        and all(_MODEL_WORD.fullmatch(each) for each in others)
    )


def _speaker_lines(lines: list[_SpeakerLine]) -> list[_SpeakerLine]:
    """The lines of the first style that names both sides; empty if no style does."""
    for style in ("#", "##", "###", "####", "#####", "######", "**", ":"):
        of_style = [line for line in lines if line.style == style]
        strong = [line for line in of_style if not line.weak]
        for each in (strong, of_style):
            if {"user", "assistant"} <= {line.role for line in each}:
                return each
    return []
