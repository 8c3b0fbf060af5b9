"""A code block: language, Wrap, Copy, horizontal scrolling; coloured line by line."""

import math
from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QResizeEvent, QTextCursor, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from ui.text.language import Translator, translate
from ui.theme.highlighting import Marked, RangeHighlighter
from ui.theme.theme import Theme
from ui.transcript.cards.text_part import CARET, ReadOnlyText
from ui.transcript.excerpt import code_excerpt
from ui.transcript.marks.marks import mark_format
from ui.transcript.marks.provenance import MarkedRange, common_length
from ui.widgets.building import Stretch, hbox, label, vbox
from ui.widgets.icon_button import IconButton

tr = Translator("CodeBlock")

MAX_COLOURED_CHARS = 60_000


class CodeView(ReadOnlyText, QPlainTextEdit):
    """The code. It is as high as its lines, up to ``most_lines``; longer code also scrolls vertically."""

    def __init__(self, theme: Theme, most_lines: int = 0) -> None:
        super().__init__()
        self._theme = theme
        self._most_lines = most_lines
        self.setObjectName("code")
        self.setAccessibleName(translate("CodeView", "Code"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(CARET)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        if not most_lines:
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.set_font(self, code=True)
        self.document().setDocumentMargin(0)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)  # even if the code starts with a right-to-left comment
        self.document().setDefaultTextOption(option)
        self.setViewportMargins(12, 8, 12, 8)
        self.setTabStopDistance(4 * QFontMetricsF(self.font()).horizontalAdvance(" "))

    @property
    def wraps(self) -> bool:
        return self.lineWrapMode() is QPlainTextEdit.LineWrapMode.WidgetWidth

    def set_wraps(self, wraps: bool) -> None:
        modes = QPlainTextEdit.LineWrapMode
        self.setLineWrapMode(modes.WidgetWidth if wraps else modes.NoWrap)
        policies = Qt.ScrollBarPolicy
        self.setHorizontalScrollBarPolicy(policies.ScrollBarAlwaysOff if wraps else policies.ScrollBarAsNeeded)
        self.fit()

    def fit(self) -> None:
        line_height = self.blockBoundingRect(self.document().firstBlock()).height()
        if self.wraps:
            line_height /= max(self.document().firstBlock().layout().lineCount(), 1)
        bar = self.horizontalScrollBar()
        needed = bar.sizeHint().height() if bar.maximum() > 0 and not self.wraps else 0
        margins = self.viewportMargins()
        # Round up: one missing pixel would make Qt scroll by a line.
        num_lines = self.document().size().height() if self.wraps else self.blockCount()  # includes wrapped lines
        text = math.ceil(min(num_lines, self._most_lines or num_lines) * line_height) + 2
        self.setFixedHeight(text + margins.top() + margins.bottom() + needed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.setTabStopDistance(4 * QFontMetricsF(self.font()).horizontalAdvance(" "))
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Vertical scrolling is left to the transcript."""
        if self._most_lines or abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copying and paging are left to the transcript."""
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown) or self.is_of_page(event):
            event.ignore()
            return
        super().keyPressEvent(event)


class CodeBlock(QFrame):
    copied = Signal()  # the code was copied to the clipboard

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.code = ""
        self._language = ""
        self._coloured = False
        self._marked: list[MarkedRange] = []
        self._marked_in = theme.tokens
        self.setObjectName("codeBlock")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.label = label("text", "caption")
        self.label.setTextFormat(Qt.TextFormat.PlainText)  # the model chose the language name
        copy = tr("Copy code")
        self.copy_button = IconButton(theme, "copy", copy, self.copy_code, text=tr("Copy"))
        self.wrap_button = IconButton(theme, "wrap-text", tr("Wrap long lines"))
        self.wrap_button.setCheckable(True)
        self.view = CodeView(theme)
        self.wrap_button.toggled.connect(self.view.set_wraps)
        self._highlighter = RangeHighlighter(self.view.document())
        bar = hbox(self.label, Stretch(), self.wrap_button, self.copy_button, margins=(12, 4, 4, 0))
        vbox(bar, self.view, parent=self, margins=0, spacing=0)
        self._restyle()
        theme.changed.connect(self._restyle)

    @property
    def is_adjusted(self) -> bool:
        """Whether the user wrapped or scrolled the code: then its card keeps its widgets."""
        return self.view.wraps or self.view.horizontalScrollBar().value() > 0

    def set_code(self, code: str, language: str, *, closed: bool) -> int | None:
        """Show code; appended text is only inserted. Each complete line is coloured soon after.

        Returns the y position in pixels below which the view changed; None if it did not.
        """
        top = 0 if language != self._language else None
        if language != self._language:
            self._language = language
            not_drawn = tr("{language}: the diagram is not drawn, this is its text")
            is_diagram = language.casefold() == "mermaid"
            self.label.setText(not_drawn.format(language=language) if is_diagram else language or "text")
            self.view.setAccessibleName(tr("Code, {language}").format(language=language) if language else tr("Code"))
        appears = not self.code
        if code != self.code:
            self._coloured = False
            if not self.code or not code.startswith(self.code.removesuffix("\n")):
                self._theme.highlight_queue.cancel(self._highlighter)
                self._highlighter.clear()
            block = self._replace(code.removesuffix("\n"))
            self.code = code
            self.view.fit()
            self.updateGeometry()  # the parents must know the new height before this widget's layout runs
            top = self._top_of(block) if top is None else top
        if closed and not self._coloured:
            self._coloured = True
            if len(code) <= MAX_COLOURED_CHARS:
                queue = self._theme.highlight_queue
                queue.highlight(self._highlighter, code.removesuffix("\n"), language, at_once=appears)
            top = 0
        elif not closed and len(code) <= MAX_COLOURED_CHARS:
            self._theme.highlight_queue.highlight_growing(self._highlighter, code, language)
        return top

    def _top_of(self, line: int) -> int:
        view, block = self.view, self.view.document().findBlockByNumber(line)
        top = view.blockBoundingGeometry(block).translated(view.contentOffset()).top()
        return max(view.viewport().mapTo(self, QPoint(0, math.floor(top) - 1)).y(), 0)

    def reset(self) -> bool:
        self._theme.highlight_queue.cancel(self._highlighter)
        self._highlighter.reset()
        self.view.setExtraSelections([])
        self.view.clear()
        self.wrap_button.setChecked(False)
        self.code, self._marked, self._coloured = "", [], False
        self.view.fit()
        return True

    def mark(self, ranges: Sequence[MarkedRange]) -> int | None:
        """Mark exactly these ranges of the code; they are in order, and none crosses a line end.

        Returns the y position in pixels below which marks changed; None if they did not change.
        """
        tokens, known = self._theme.tokens, self._marked
        if tokens != self._marked_in:
            self._marked_in, known = tokens, []
        same = common_length(known, ranges)
        if same == len(ranges) == len(known):
            return None
        document = self.view.document()
        changed = [item.start for item in (*ranges[same : same + 1], *known[same : same + 1])]
        block = document.findBlock(min(changed)) if known else document.begin()
        first, lines = block.blockNumber(), dict[int, list[Marked]]()
        for item in ranges[bisect_left(ranges, block.position(), key=lambda item: item.start) :]:
            while block.isValid() and item.start >= block.position() + block.length():
                block = block.next()
            shape = mark_format(item.source, tokens)
            lines.setdefault(block.blockNumber(), []).append((item.start - block.position(), item.length, shape))
        self._marked = list(ranges)
        self._highlighter.set_marks(lines, first)
        return self._top_of(first)

    def _replace(self, shown: str) -> int:
        """Replace the changed lines; returns the number of the first one."""
        before = self.code.removesuffix("\n")
        if before and shown.startswith(before):
            line = self.view.blockCount() - 1
            cursor = QTextCursor(self.view.document())
            cursor.beginEditBlock()  # defers the layout until the text is complete
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(shown[len(before) :])
            cursor.endEditBlock()
            return line
        self._marked = []
        self._highlighter.forget_marks()
        self.view.setPlainText(shown)
        return 0

    def copy_code(self) -> None:
        code_excerpt(self.code, self._language).to_clipboard()
        self.copy_button.confirm(tr("Copied"))
        self.copied.emit()

    def _restyle(self) -> None:
        self._highlighter.set_palette(self._theme.tokens)
