"""The bar below the header that finds words in the open chat: Enter and F3 go on, with Shift back, Esc closes it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel

from ui.conversations.search_box import SearchBox
from ui.text.formatting import count
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.transcript.finder import ChatFinder
from ui.transcript.transcript import Transcript
from ui.widgets.icon_button import IconButton

PAUSE_MS = 120  # typing is one search, not one for each key


class FindBox(SearchBox):
    """Where the words are typed.

    Signals:
        back: Shift+Enter.
    """

    back = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Shift turns Enter around."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.back.emit()
        else:
            super().keyPressEvent(event)


class FindBar(QFrame):
    """Away until it is asked for.

    Signals:
        closed: it was left, and the focus with it.
    """

    closed = Signal()

    def __init__(self, theme: Theme, transcript: Transcript) -> None:
        super().__init__()
        self.setObjectName("findBar")
        self.setAccessibleName(translate("FindBar", "Find in this chat"))
        self.finder = ChatFinder(theme, transcript)
        self.edit = FindBox()
        self.edit.setPlaceholderText(translate("FindBar", "Find in this chat"))
        self.edit.setAccessibleName(translate("FindBar", "Find in this chat"))
        self.edit.setMaximumWidth(360)
        self.number = QLabel()
        self.number.setProperty("kind", "caption")
        self.back_button = IconButton(theme, "arrow-up", translate("FindBar", "Previous match (Shift+F3)"))
        self.next_button = IconButton(theme, "arrow-down", translate("FindBar", "Next match (F3)"))
        self.close_button = IconButton(theme, "x", translate("FindBar", "Close (Esc)"))
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 12, 6)
        row.setSpacing(8)
        row.addWidget(self.edit, 10)
        row.addWidget(self.number)
        row.addStretch(1)
        for button in (self.back_button, self.next_button, self.close_button):
            row.addWidget(button)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(lambda: self.finder.look_for(self.edit.text()))
        self.edit.textChanged.connect(lambda _text: self._pause.start())
        self.edit.taken.connect(lambda: self.step(1))
        self.edit.back.connect(lambda: self.step(-1))
        self.edit.left.connect(self.leave)
        self.next_button.clicked.connect(lambda: self.step(1))
        self.back_button.clicked.connect(lambda: self.step(-1))
        self.close_button.clicked.connect(self.leave)
        self.finder.changed.connect(self._show_number)
        self.hide()

    def open(self) -> None:
        """Show it with what was looked for last, ready to be typed over."""
        was_hidden = self.isHidden()
        self.show()
        self.edit.setFocus()
        self.edit.selectAll()
        if was_hidden and self.edit.text():
            self._pause.start()

    def step(self, by: int) -> None:
        """Go to another place; what was typed a moment ago is looked for first."""
        if self.isHidden():
            self.open()
        elif self._pause.isActive():
            self._pause.stop()
            self.finder.look_for(self.edit.text())
        else:
            self.finder.step(by)

    def leave(self) -> bool:
        """Let it go; False where it was away."""
        if self.isHidden():
            return False
        self.hide()
        self.closed.emit()
        return True

    def hideEvent(self, event: QHideEvent) -> None:
        """The marks go with it."""
        super().hideEvent(event)
        if self.isHidden():
            self._pause.stop()
            self.finder.leave()

    def _show_number(self, current: int, num: int) -> None:
        words = ""
        if num < 0:
            words = translate("FindBar", "Reading the chat…")
        elif num:
            words = translate("FindBar", "{number} of {total}").format(number=count(current), total=count(num))
        elif self.edit.text().strip():
            words = translate("FindBar", "Nothing found")
        for button in (self.back_button, self.next_button):
            button.setEnabled(num > 0)
        if words != self.number.text():
            self.number.setText(words)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))
