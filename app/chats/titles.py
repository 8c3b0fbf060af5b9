"""A conversation's name from its first question. Pure text."""

from __future__ import annotations

MAX_CHARS = 48
_MARKS = "#>*-`~= \t"


def title_from(text: str) -> str:
    """Take the first line that says something, without Markdown's marks, cut at a word."""
    lines = (" ".join(line.replace("**", "").strip(_MARKS).split()) for line in text.splitlines())
    line = next((line for line in lines if line), "")
    if not line:
        return "New chat"
    if len(line) <= MAX_CHARS:
        return line
    cut = line[: MAX_CHARS - 1]
    word_end = cut.rfind(" ")
    return (cut[:word_end] if word_end > MAX_CHARS // 2 else cut).rstrip(" ,.;:") + "…"
