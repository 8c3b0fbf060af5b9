"""A line above the composer for some seconds: what was just deleted, and Undo."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QEnterEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QWidget

from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.icon_button import IconButton

SHOWN_MS = 8_000


class UndoBar(QFrame):
    """Hidden until something was deleted. It stays while the pointer is over it or one of its buttons has the focus.

    Signals:
        undone: it is to be taken back.
        expired: nobody wanted it back in time, or the bar was dismissed.
    """

    undone = Signal()
    expired = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("noticeBanner")
        self.icon = QLabel()
        self.words = ElidedLabel()
        self.undo_button = QPushButton(translate("UndoBar", "Undo"))
        self.undo_button.setAccessibleName(translate("UndoBar", "Undo"))
        self.undo_button.setToolTip(translate("UndoBar", "Undo (Ctrl+Z)"))
        self.undo_button.setCursor(Qt.CursorShape.PointingHandCursor)
        self.undo_button.clicked.connect(self.undo)
        self.close_button = IconButton(theme, "x", translate("UndoBar", "Dismiss"))
        self.close_button.clicked.connect(self.expire)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 6, 6)
        row.setSpacing(10)
        row.addWidget(self.icon)
        row.addWidget(self.words, 1)
        row.addWidget(self.undo_button)
        row.addWidget(self.close_button)
        self._timer = QTimer(self, singleShot=True, interval=SHOWN_MS)
        self._timer.timeout.connect(self._on_timeout)
        theme.changed.connect(self._recolor)
        self._recolor()
        self.hide()

    def show_deleted(self, words: str) -> None:
        """Say what was deleted; what was said before it expires."""
        self.expire()
        self.words.setText(words)
        self.setAccessibleName(words)
        self.show()
        self._timer.start()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def undo(self) -> None:
        """Take it back, where there is something to take back."""
        if not self.isHidden():
            self._leave()
            self.undone.emit()

    def expire(self) -> None:
        """Let it be gone."""
        if not self.isHidden():
            self._leave()
            self.expired.emit()

    def watch(self, editor: QPlainTextEdit) -> None:
        """Have Ctrl+Z in an editor that has nothing to undo mean this bar."""
        editor.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """An editor claims Ctrl+Z even where it can do nothing with it."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and isinstance(watched, QPlainTextEdit)
            and not self.isHidden()
            and event.matches(QKeySequence.StandardKey.Undo)
            and not watched.document().isUndoAvailable()
        ):
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Whoever comes near has time."""
        self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Time runs again."""
        if not self.isHidden():
            self._timer.start()
        super().leaveEvent(event)

    def _on_timeout(self) -> None:
        if self.undo_button.hasFocus() or self.close_button.hasFocus():
            self._timer.start()
        else:
            self.expire()

    def _leave(self) -> None:
        self._timer.stop()
        if self.undo_button.hasFocus() or self.close_button.hasFocus():
            self.focusNextChild()
        self.hide()

    def _recolor(self) -> None:
        self.icon.setPixmap(self._theme.pixmap("trash-2", self._theme.tokens.text_muted, 16, self.devicePixelRatioF()))
