"""The message box: it grows with its lines, accepts pasted files, and passes on texts that are too long for it."""

import re
from math import ceil

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QFontMetricsF, QImage, QKeyEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import QPlainTextEdit

from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.exact_text import VerbatimTextEdit

MAX_LINES = 9
HUGE_PASTE_CHARS = 200_000  # longer texts would take seconds to lay out
HUGE_LINE_CHARS = 20_000  # longer lines would take seconds to lay out
LONG_WORD_CHARS = 1_000  # Qt's search for the end of a word takes quadratic time
_LONG_WORD = re.compile(rf"\S{{{LONG_WORD_CHARS}}}")


def fits_box(text: str) -> bool:
    """Whether a text can be laid out in the box without a delay."""
    return len(text) <= HUGE_PASTE_CHARS and max(map(len, text.split("\n"))) <= HUGE_LINE_CHARS


def wrap_for(edit: QPlainTextEdit, text: str) -> None:
    """Wrap between words, or anywhere if the text has an extremely long word."""
    modes = QTextOption.WrapMode
    is_long = len(text) >= LONG_WORD_CHARS and _LONG_WORD.search(text) is not None
    wanted = modes.WrapAnywhere if is_long else modes.WrapAtWordBoundaryOrAnywhere
    if wanted != edit.wordWrapMode():
        edit.setWordWrapMode(wanted)


def height_of(edit: QPlainTextEdit, most_lines: int) -> int:
    """The height in pixels of all lines, or of ``most_lines``.

    Measures the lines, since those of other scripts may be taller than the font's. Rounds up: Qt would scroll if a
    pixel were missing.
    """
    needed, shown = 0.0, 0
    block = edit.document().firstBlock()
    while block.isValid() and shown < most_lines:
        num_lines = max(block.layout().lineCount(), 1)
        wanted = min(num_lines, most_lines - shown)
        needed += edit.blockBoundingRect(block).height() * wanted / num_lines
        shown += wanted
        block = block.next()
    usual = round(max(shown, 1) * QFontMetricsF(edit.font()).lineSpacing()) + 4
    return max(usual, ceil(needed) + 2)


def local_paths(mime: QMimeData) -> list[str]:
    return [url.toLocalFile() for url in mime.urls() if url.isLocalFile()]


class MessageEdit(VerbatimTextEdit):
    """The text box; grows with its lines, up to ``max_lines``."""

    send = Signal()  # Enter without Shift
    focus_changed = Signal(bool)  # the focus came (True) or went
    files_pasted = Signal(list)  # paths of files from the clipboard
    huge_pasted = Signal(str)  # a text that is too long for the box and was not inserted
    picture_pasted = Signal(object)  # the clipboard's `QImage`, if the clipboard holds nothing else

    def __init__(self, theme: Theme, max_lines: int = MAX_LINES) -> None:
        super().__init__()
        self._max_lines = max_lines
        self.setObjectName("composerText")
        self.setAccessibleName(translate("MessageEdit", "Message"))
        self.setPlaceholderText(translate("MessageEdit", "Message"))
        self.setTabChangesFocus(True)
        theme.set_font(self, 1)
        self.document().setDocumentMargin(0)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(height_of(self, self._max_lines))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():  # the lines of a text that was set before break now
            self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.send.emit()
        else:
            super().keyPressEvent(event)

    def setPlainText(self, text: str) -> None:
        wrap_for(self, text)
        super().setPlainText(text)

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = local_paths(source)
        if paths:
            self.files_pasted.emit(paths)
        elif source.hasText():
            self._paste(source.text())
        elif source.hasImage():
            image = source.imageData()
            if isinstance(image, QImage) and not image.isNull():
                self.picture_pasted.emit(image)

    def _paste(self, text: str) -> None:
        if not fits_box(text):
            self.huge_pasted.emit(text)
            return
        wrap_for(self, self.exact_text() + text)
        self.insertPlainText(text)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accept everything that pasting supports, so that the menu offers it."""
        return source.hasText() or source.hasImage() or bool(local_paths(source))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_paths(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the focus after a drop."""
        super().dropEvent(event)
        if event.isAccepted():
            self.setFocus(Qt.FocusReason.MouseFocusReason)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.focus_changed.emit(event.type() == QEvent.Type.FocusIn)
        return super().event(event)
