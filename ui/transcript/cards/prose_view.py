"""A prose run: read-only and selectable text, as high as its content. It loads and opens nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape

from PySide6.QtCore import QByteArray, QEvent, QObject, QRect, QRectF, QSizeF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontInfo,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPyTextObject,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QTextEdit, QWidget

from engine.records import Source
from ui.composer.message_edit import LONG_WORD_CHARS
from ui.formulas.formula import INK, Formula, FormulaCache, Pending
from ui.markdown.html_writer import FORMULA, FORMULA_IMAGE, formula_source
from ui.markdown.lists import MAX_DEPTH, MAX_DIGITS, NUM_DIGITS
from ui.markdown.words import append_to_html, first_difference
from ui.theme.palette import LIGHT, Palette
from ui.theme.theme import Theme
from ui.transcript.cards.text_part import CARET, READ_FLAGS, ReadOnlyText
from ui.transcript.marks.marks import DocumentMarks
from ui.transcript.marks.provenance import MarkedRange
from ui.widgets.focus_ring import FocusRing

RING_OUTSET_PX = 5
_LONG_WORD = re.compile(rf"[^\s]{{{LONG_WORD_CHARS}}}")
_TAG = re.compile(r"<[^>]*>")
_FORMULA_BLOCK = re.compile(r'<p class="formula" align="center">(<img [^>]*>)</p>')
LINE_HEIGHT = 1.55
TABLE_EDGE_PX = 2  # Qt's margin around the outer line of a table; two parts of a table share it
_QT_INDENT_PX = 40
FORMULA_SCALE = 1.06  # formula letters are slightly smaller than those of an interface font of the same size
MIN_FORMULA_SCALE = 0.35
FORMULA_TINT_ALPHA = 40
_UNDERLINE_STYLES = {
    Source.NGRAM: Qt.PenStyle.DotLine,
    Source.HEAD: Qt.PenStyle.DashDotLine,
    Source.BONUS: Qt.PenStyle.DashLine,
}
_BASELINE_ALIGNMENT = QTextCharFormat.VerticalAlignment.AlignBaseline


@lru_cache(maxsize=256)
def _renderer(formula: Formula, color: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(formula.svg.replace(INK, color).encode()))


class FormulaObject(QPyTextObject):
    """Draws formulas on the base line as vectors, in the text's colour.

    Replaces Qt's image handler; other pictures are resources of the document.
    """

    def __init__(self, parent: QObject, book: FormulaCache) -> None:
        super().__init__(parent)
        self._formula_cache = book
        self.tokens: Palette = LIGHT
        self.marks: dict[int, Source] = {}  # token sources by position in the document
        self.px = 14  # font size in pixels

    def formula_at(self, shape: QTextFormat) -> Formula | None:
        """The typeset formula of a format; None if there is none or it is not ready."""
        source = formula_source(shape.toImageFormat().name())
        found = self._formula_cache.get(source) if source else None
        return found if isinstance(found, Formula) else None

    def intrinsicSize(self, document: QTextDocument, _position: int, shape: QTextFormat) -> QSizeF:
        formula = self.formula_at(shape)
        if formula is None:
            image = shape.toImageFormat()
            return QSizeF(image.width(), image.height())
        scale = self._scale(formula, document)
        above, below = self._extent(formula, shape, scale, document)
        return QSizeF(formula.width * scale, above + below)

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, document: QTextDocument, position: int, shape: QTextFormat
    ) -> None:
        formula = self.formula_at(shape)
        if formula is None:
            name = QUrl(shape.toImageFormat().name())
            picture = document.resource(QTextDocument.ResourceType.ImageResource.value, name)
            if isinstance(picture, QImage):
                painter.drawImage(QRectF(rect), picture)
            return
        scale = self._scale(formula, document)
        above, _below = self._extent(formula, shape, scale, document)
        top = rect.y() + above - formula.ascent * scale
        box = QRectF(rect.x(), top, formula.width * scale, (formula.ascent + formula.descent) * scale)
        if position in self.marks:
            # Paint a tint and an underline, as for words: Qt would cover a formula with a plain colour.
            source = self.marks[position]
            color = QColor(self.tokens.source(source))
            painter.save()
            painter.setPen(QPen(color, 1, _UNDERLINE_STYLES.get(source, Qt.PenStyle.SolidLine)))
            if source is not Source.TARGET:
                painter.drawLine(box.bottomLeft(), box.bottomRight())
            color.setAlpha(FORMULA_TINT_ALPHA)
            painter.fillRect(box, color)
            painter.restore()
        view = self.parent()
        cursor = view.textCursor() if isinstance(view, QTextEdit) else QTextCursor()
        selected = cursor.selectionStart() <= position < cursor.selectionEnd()  # Qt's selection colour is translucent
        _renderer(formula, self.tokens.on_accent if selected else self.tokens.text).render(painter, box)

    def align(self, document: QTextDocument) -> None:
        """Put every formula on the base line with room above and below."""
        descent = QFontMetricsF(document.defaultFont()).descent()
        cursor = QTextCursor(document)
        place = document.toRawText().find("\N{OBJECT REPLACEMENT CHARACTER}")
        while place >= 0:
            cursor.setPosition(place)
            cursor.setPosition(place + 1, QTextCursor.MoveMode.KeepAnchor)
            shape = cursor.charFormat()
            formula = self.formula_at(shape)
            if formula is not None:
                below = formula.descent * self._scale(formula, document)
                shape.setVerticalAlignment(_BASELINE_ALIGNMENT)  # by the descent of the format's font
                # A font like ``words`` with a descent of at least ``pixels``. An inline object can extend below the
                # base line only as far as the font of its format.
                words = document.defaultFont()
                pixels = max(below, descent)
                font = QFont(words)
                now = QFontMetricsF(words).descent()
                if pixels > now + 0.5:
                    size = math.floor(QFontInfo(words).pixelSize() * pixels / now)
                    font.setPixelSize(size)
                    while (
                        QFontMetricsF(font).descent() < pixels - 0.5
                    ):  # the descent is rounded, so a few steps may be missing
                        size += 1
                        font.setPixelSize(size)
                shape.setFont(font)
                cursor.setCharFormat(shape)
                block = cursor.blockFormat()  # a fixed line height would cut off taller formulas
                minimum = QTextBlockFormat.LineHeightTypes.MinimumHeight.value
                block.setLineHeight(math.ceil(block.lineHeight()), minimum)
                cursor.setBlockFormat(block)
            place = document.toRawText().find("\N{OBJECT REPLACEMENT CHARACTER}", place + 1)

    def _scale(self, formula: Formula, document: QTextDocument) -> float:
        """Pixels per em; reduced for a formula that is wider than the text."""
        wanted = self.px * FORMULA_SCALE
        room = document.textWidth()
        return wanted if room <= 0 else max(min(wanted, room / formula.width), wanted * MIN_FORMULA_SCALE)

    def _extent(
        self, formula: Formula, shape: QTextFormat, scale: float, document: QTextDocument
    ) -> tuple[float, float]:
        """The heights that the layout reserves above and below the base line; `align` has set the second."""
        words = QFontMetricsF(document.defaultFont())  # a formula alone on its line is placed like words
        return max(formula.ascent * scale, words.ascent()), QFontMetricsF(shape.toCharFormat().font()).descent()


def document_style(tokens: Palette, base: int, code_family: str) -> str:
    """The style sheet of a prose document, limited to what Qt's rich text supports.

    Heading sizes are steps from the text size, not pixels. Qt ignores the lower margin before a table, and indents a
    table in lists by 40 pixels per level, whatever the indent is.
    """
    return f"""
    p, li {{ line-height: {round(base * LINE_HEIGHT)}px; }}
    p {{ margin: 0 0 10px 0; }}
    p.tight {{ margin: 0 0 3px 0; }}
    h1, h2, h3, h4, h5, h6 {{ font-weight: 600; }}
    h1, h2 {{ margin: 16px 0 8px 0; }}
    h3 {{ margin: 12px 0 6px 0; }}
    h4, h5, h6 {{ font-size: medium; margin: 8px 0 6px 0; }}
    ul, ol {{ margin: 0 0 10px 0; }}
    ul.part, ol.part, li ul, li ol {{ margin: 0 0 3px 0; }}
    ul.last, ol.last {{ margin: 0 0 10px 0; }}
    .part ul.last, .part ol.last {{ margin: 0 0 3px 0; }}
    ul {{ list-style-type: disc; }}
    ul.tasks {{ list-style-type: none; }}
    li {{ margin: 0 0 3px 0; }}
    li.task, p.task {{ text-indent: -{round(base * 1.2)}px; }}
    a {{ color: {tokens.accent_text}; text-decoration: underline; }}
    hr {{ background-color: {tokens.border_strong}; }}
    span.code {{ font-family: '{code_family}'; font-size: {base - 1}px; background: {tokens.tint};
      white-space: pre-wrap; }}
    table.code {{ margin: 8px 0 10px 0; }}
    td.code {{ background: {tokens.tint}; padding: 8px 10px 8px 10px; }}
    pre.nested {{ font-family: '{code_family}'; font-size: {base - 1}px; white-space: pre-wrap; margin: 0;
      line-height: {round(base * 1.35)}px; }}
    table.grid {{ border-collapse: collapse; border: 1px solid {tokens.border_strong}; margin: 10px 0 8px 0; }}
    table.grid th {{ background: {tokens.tint}; font-weight: 600; border: 1px solid {tokens.border_strong}; }}
    table.grid th, table.grid td {{ line-height: {round(base * 1.35)}px; }}
    table.grid td {{ border: 1px solid {tokens.border_strong}; }}
    table.part {{ margin-bottom: -{TABLE_EDGE_PX}px; }}
    table.more {{ margin-top: -{TABLE_EDGE_PX}px; }}
    table.quote {{ margin: 8px 0 8px 0; }}
    td.quote {{ border-left: 3px solid {tokens.border_strong}; padding-left: 12px; color: {tokens.text_muted}; }}
    td.quote-rtl {{ border-right: 3px solid {tokens.border_strong}; padding-right: 12px; color: {tokens.text_muted}; }}
    table.first {{ margin-top: 0; }}
    {_indents(base)}
    """


def indent_of(base: int) -> int:
    """The list indent in pixels: wide enough for two-digit numbers, so that the tenth item moves nothing."""
    return round(base * 1.9)


def _indents(base: int) -> str:
    tables = range(1, MAX_DEPTH + 1)
    less = [f"table.in{depth} {{ margin-left: -{depth * (_QT_INDENT_PX - indent_of(base))}px; }}" for depth in tables]
    digits = range(NUM_DIGITS + 1, MAX_DIGITS + 1)
    more = [f"ol.digits{num} {{ margin-left: {round((num - NUM_DIGITS) * base * 0.64)}px; }}" for num in digits]
    return "\n    ".join(less + more)


class ProseView(ReadOnlyText, QTextBrowser):
    """Shows HTML or plain text without scroll bars; its height follows the text.

    A formula is shown as its source until it is typeset. Assistive tools read the source.
    """

    link_activated = Signal(str)  # a link was clicked or activated; nothing has been opened
    redrawn = Signal()  # the text was laid out again, without its overlays

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._html: str | None = None
        self._plain = ""
        self._width = 0
        self._ring: FocusRing | None = None
        self._formulas: FormulaObject | None = None
        self._pending: set[str] = set()
        self.marks = DocumentMarks(self.document())
        self.setObjectName("prose")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setTextInteractionFlags(READ_FLAGS | CARET)
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._wrap()
        self.document().setDocumentMargin(0)
        self.anchorClicked.connect(self._on_anchor)
        theme.set_font(self, 1)
        self._set_style()
        theme.changed.connect(self._restyle)

    def set_html(self, html: str, words: str = "") -> int | None:
        """Show parsed Markdown; a selection survives if its text still exists.

        ``words``: the only change, appended to the text. Returns the y position in pixels from which the view changed;
        None if it did not change.
        """
        if html == self._html:
            return None
        before, self._html = self._html, html
        grew = bool(words and before) and FORMULA not in html and not self.textCursor().hasSelection()
        if grew and append_to_html(before or "", words) == html:
            place = self.document().characterCount() - 1
            if self.document().characterAt(place - 1) == " ":  # the separator of two tags
                place -= 1
            wraps_anew = self._wrap()
            cursor = QTextCursor(self.document())
            cursor.beginEditBlock()  # outside of an edit block a cursor lays out the text to find its x position
            cursor.setPosition(place)
            cursor.insertText(words)
            cursor.endEditBlock()
            self.fit(self._width)
            return self._top_of(0 if wraps_anew else place)
        wraps_anew, num_shown = self._wrap(), self.document().characterCount() - 1
        self._reload()
        if wraps_anew:
            return 0
        if before and html.startswith(before):  # only blocks were added
            return self._top_of(num_shown)
        return self._top_of(first_difference(self.document().toPlainText(), before or "", html))

    def _top_of(self, place: int) -> int:
        """The top of a change at a position; a word before it may have moved to the next line."""
        document = self.document()
        if FORMULA in (self._html or "") or document.rootFrame().childFrames():
            return 0  # the columns of a table may move
        place = min(place, document.characterCount() - 1)  # marks may have covered text that was removed
        block = document.findBlock(max(place - 1, 0))
        top = document.documentLayout().blockBoundingRect(block).top()
        line = block.layout().lineForTextPosition(place - block.position())
        if line.isValid() and line.lineNumber() > 1:
            top += block.layout().lineAt(line.lineNumber() - 1).y()
        return max(math.floor(top) - 1, 0)

    def gap_to(self, below: ProseView) -> int:
        """The gap between this text and another, as within one document."""
        if below.document().rootFrame().childFrames() and (below._html or "").startswith("<table"):
            return 0
        bottom = self.document().lastBlock().blockFormat().bottomMargin()
        return round(max(bottom, below.document().firstBlock().blockFormat().topMargin()))

    def reset(self) -> bool:
        """Clear the view; False if it cannot be reused."""
        if self._formulas is not None:
            return False
        self.setExtraSelections([])
        self.marks = DocumentMarks(self.document())
        self._html, self._plain = None, ""
        self.clear()
        return True

    def set_plain(self, text: str) -> None:
        self._html, self._plain = None, text
        self._reload()

    def loadResource(self, kind: int, name: QUrl | str) -> QImage:  # noqa: ARG002
        """Return an empty image for every resource: otherwise Qt would load it."""
        nothing = QImage(1, 1, QImage.Format.Format_ARGB32)
        nothing.fill(Qt.GlobalColor.transparent)
        return nothing

    def mark_words(self, ranges: Sequence[MarkedRange]) -> int | None:
        """Mark exactly these ranges of the document, in order.

        Returns the y position in pixels from which the marks changed; None if they did not change.
        """
        place = self.marks.show(ranges, self._theme.tokens)
        if place is None:
            return None
        self.viewport().update()
        return self._top_of(place)

    def mark_formulas(self, sources: dict[int, Source]) -> None:
        """Mark the formulas at these document positions."""
        if self._formulas is not None and sources != self._formulas.marks:
            self._formulas.marks = sources
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        strips = self.marks.strips(event.rect()) if self.marks else []
        if strips:
            painter = QPainter(self.viewport())
            painter.setClipRegion(event.region())
            self.marks.paint(painter, strips, self.devicePixelRatioF())
            painter.end()

    def words(self) -> str:
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        text = cursor.selectedText()
        parts, place, unit = [], 0, 0
        for found in re.finditer("\N{OBJECT REPLACEMENT CHARACTER}", text):
            unit += len(text[place : found.end()].encode("utf-16-le")) // 2
            cursor.setPosition(unit)
            parts += [text[place : found.start()], formula_source(cursor.charFormat().toImageFormat().name())]
            place = found.end()
        return "".join((*parts, text[place:])).replace("\u2029", "\n").replace("\u2028", "\n").replace("\xa0", " ")

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handles only the caret and links; copying and paging are left to the transcript."""
        pages = (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)
        if event.key() in pages or self.is_of_page(event):
            event.ignore()
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height. Qt's own handler would lay out the text again."""
        if event.size().width() != self._width:
            self.fit(event.size().width())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._ring is None:
            self._ring = FocusRing(self._theme, self, RING_OUTSET_PX)
        self._ring.on_focus(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self._ring is not None:
            self._ring.on_focus(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.fit(self._width)

    def _on_anchor(self, url: QUrl) -> None:
        self.link_activated.emit(url.toString())

    def _set_style(self) -> None:
        tokens, scale = self._theme.tokens, self._theme.type
        family = self._theme.code_font().family()
        self.document().setIndentWidth(indent_of(scale.answer))
        self.document().setDefaultStyleSheet(document_style(tokens, scale.answer, family))

    def _restyle(self) -> None:
        self._set_style()
        self._reload()

    def _reload(self) -> None:
        # The cursor moves with the document, so keep its positions as numbers.
        anchor, position = self.textCursor().anchor(), self.textCursor().position()
        self._wrap()
        if self._html is None:
            self.marks.show((), self._theme.tokens)
            self.setPlainText(self._plain)
        elif FORMULA in self._html:
            self._load_formulas(self._html)
        else:
            self.setHtml(self._html)
        if anchor or position:
            last = self.document().characterCount() - 1
            cursor = self.textCursor()
            cursor.setPosition(min(anchor, last))
            cursor.setPosition(min(position, last), QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(cursor)
        self.fit(self._width)

    def _wrap(self) -> bool:
        """Wrap between words, or anywhere if a word is extremely long. Returns whether the mode changed."""
        text = self._plain if self._html is None else self._html
        is_long = len(text) >= LONG_WORD_CHARS and _LONG_WORD.search(_TAG.sub("", text)) is not None
        modes = QTextOption.WrapMode
        wanted = modes.WrapAnywhere if is_long else modes.WrapAtWordBoundaryOrAnywhere
        if wanted == self.wordWrapMode():
            return False
        self.setWordWrapMode(wanted)
        return True

    def _load_formulas(self, html: str) -> None:
        book = self._theme.formulas
        if self._formulas is None:
            self._formulas = FormulaObject(self, book)
            book.ready.connect(self._on_formulas)
        self._formulas.tokens, self._formulas.px = self._theme.tokens, self._theme.type.answer
        self._formulas.marks = {}
        self._pending = set()

        def shown(found: re.Match[str]) -> str:
            source = formula_source(found[1])
            formula = book.get(source)
            if isinstance(formula, Formula):
                return found[0]
            if isinstance(formula, Pending):
                self._pending.add(source)
            return f'<span class="code">{escape(source).replace(chr(10), "<br/>")}</span>'

        def block(found: re.Match[str]) -> str:
            inner = FORMULA_IMAGE.sub(shown, found[1])
            return found[0] if inner == found[1] else f"<p>{inner}</p>"

        self.setHtml(FORMULA_IMAGE.sub(shown, _FORMULA_BLOCK.sub(block, html)))
        self.document().documentLayout().registerHandler(QTextFormat.ObjectTypes.ImageObject.value, self._formulas)
        self._formulas.align(self.document())
        self.setAccessibleDescription(self.words())

    def _on_formulas(self, sources: frozenset[str]) -> None:
        if self._pending & sources:
            self._reload()
            self.redrawn.emit()

    def fit(self, width: int) -> None:
        """Fit the height to this width in pixels; 0 if unknown."""
        self._width = width
        if width > 0:
            if self.document().textWidth() != width:  # otherwise Qt would lay out everything again
                self.document().setTextWidth(width)
            self.setFixedHeight(max(round(self.document().size().height() + 0.49), 1))
            self.verticalScrollBar().setValue(0)  # Qt scrolls to the caret while the view is lower than a line
