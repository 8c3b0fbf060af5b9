"""Parts of a chat as text and HTML for other programs.

Built from messages, not from widgets. Colours are those of the light palette.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

from app.core.domain.thinking import split_thinking
from ui.markdown.portable import PortableText, plain_to_portable, pre_html, to_portable
from ui.theme.highlighting import lexer_of

END_OF_TEXT = 1 << 60  # a position beyond every message's end
MAX_COLOURED_CHARS = 60_000


@dataclass(frozen=True, slots=True)
class ExcerptPart:
    """The text between two positions of a message; ``with_reasoning``: include its reasoning."""

    role: str
    raw: str
    begin: int = 0
    end: int = END_OF_TEXT
    with_reasoning: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    text: str = ""
    html: str = ""

    def mime(self) -> QMimeData:
        data = QMimeData()
        data.setText(self.text)
        if self.html:
            data.setHtml(self.html)
        return data

    def to_clipboard(self) -> None:
        QGuiApplication.clipboard().setMimeData(self.mime())


def code_html(code: str, language: str) -> str:
    """Code coloured for a light background."""
    lexer = lexer_of(code, language) if len(code) <= MAX_COLOURED_CHARS else None
    if lexer is None:
        return escape(code)
    from pygments import highlight  # noqa: PLC0415  (the window does not wait for it)
    from pygments.formatters.html import HtmlFormatter  # noqa: PLC0415

    return highlight(code, lexer, HtmlFormatter(nowrap=True, noclasses=True, style="xcode")).removesuffix("\n")


def portable_part(piece: ExcerptPart) -> PortableText:
    if piece.role != "assistant":
        return plain_to_portable(piece.raw, piece.begin, min(piece.end, len(piece.raw)), code_html)
    split = split_thinking(piece.raw)
    bodies = [(split.shown_reasoning(piece.raw), split.reasoning_start)] * piece.with_reasoning
    bodies.append((split.answer(piece.raw), split.answer_start))
    parts = [
        to_portable(words, max(piece.begin - base, 0), max(piece.end - base, 0), code_html) for words, base in bodies
    ]
    return PortableText("\n\n".join(part.text for part in parts if part.text), "".join(part.html for part in parts))


def excerpt_of(pieces: Iterable[ExcerptPart]) -> Excerpt:
    parts = [portable_part(piece) for piece in pieces]
    return Excerpt("\n\n".join(part.text for part in parts if part.text), "".join(part.html for part in parts))


def code_excerpt(code: str, language: str) -> Excerpt:
    """A code block; its text is the code itself."""
    return Excerpt(code, pre_html(code, language, code_html))
