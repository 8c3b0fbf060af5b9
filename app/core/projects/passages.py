"""Splits the text of a file into passages, the chunks that are found, cited and shown."""

import re
from collections.abc import Iterable, Iterator

from engine.sandbox.document_child import Section

PASSAGE_CHARS = 1_000  # about 250 tokens of English: a slow machine processes three passages in some seconds
EMBEDDED_CHARS = 200  # a vector of much more text represents single sentences badly: see docs/projects.md
_HEADING = re.compile(r"#{1,6}\s+(\S.*)")
# Where a chunk may end, best first: after a paragraph, a line, a sentence, a word.
_CUT_PATTERNS = (re.compile(r"\n\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?…。！？])\s*(?=\S)"), re.compile(r"\s"))
_SENTENCES = re.compile(r"(?<=[.!?…。！？])\s*(?=\S)|\n+")
_MIN_CUT_SHARE = 0.5  # minimum size of a chunk that ends early, relative to the limit


def text_sections(text: str, *, has_headings: bool = False, has_columns: bool = False) -> Iterator[Section]:
    """The paragraphs of a text, with their line numbers (from 1).

    ``has_headings``: the text is Markdown. ``has_columns``: its first line has the names of columns.
    """
    lines = text.split("\n")
    heading = lines[0].strip() if has_columns else ""
    paragraph: list[str] = []
    for number, line in enumerate((*lines, ""), 1):
        if line.strip() and not (has_columns and paragraph):
            paragraph.append(line)
            if has_headings and (found := _HEADING.match(line)):
                heading = found[1].strip()
            continue
        if paragraph:
            yield Section("\n".join(paragraph), 0, heading, number - len(paragraph))
        paragraph = [line] if line.strip() else []


def passages_of(sections: Iterable[Section]) -> Iterator[Section]:
    """Join short sections of the same page and heading, and split long ones; each passage keeps its location."""
    waiting: Section | None = None
    for section in sections:
        for piece in _cut(section):
            if (
                waiting is not None
                and (waiting.page, waiting.heading) == (piece.page, piece.heading)
                and len(waiting.text) + len(piece.text) + 2 <= PASSAGE_CHARS
            ):
                joint = "\n" if piece.line and piece.line == waiting.line + waiting.text.count("\n") + 1 else "\n\n"
                waiting = waiting._replace(text=f"{waiting.text}{joint}{piece.text}")
            else:
                if waiting is not None:
                    yield waiting
                waiting = piece
    if waiting is not None:
        yield waiting


def embedded_parts(text: str) -> list[str]:
    """Cut a passage into pieces of whole sentences, of about `EMBEDDED_CHARS` characters, which get a vector each."""
    pieces = [""]
    for sentence in filter(str.strip, _SENTENCES.split(text)):
        if pieces[-1] and len(pieces[-1]) + len(sentence) > EMBEDDED_CHARS:
            pieces.append("")
        pieces[-1] += f"{sentence} "
    return [piece.strip() for piece in pieces]


def _cut(section: Section) -> Iterator[Section]:
    text, line = section.text, section.line
    while len(text) > PASSAGE_CHARS:
        end = _end_of(text)
        yield section._replace(text=text[:end].rstrip(), line=line)
        line += text[:end].count("\n") if line else 0
        text = text[end:].lstrip("\n")
    if text.strip():
        yield section._replace(text=text.rstrip(), line=line)


def _end_of(text: str) -> int:
    for pattern in _CUT_PATTERNS:
        places = [found.end() for found in pattern.finditer(text, 0, PASSAGE_CHARS)]
        if places and places[-1] >= PASSAGE_CHARS * _MIN_CUT_SHARE:
            return places[-1]
    return PASSAGE_CHARS
