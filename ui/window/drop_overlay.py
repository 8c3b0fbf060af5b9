"""What a dropped GGUF file is to be: asked over the whole window, by dropping or by key."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from ui.text.language import translate

CHOICE_PX = 240


class DropOverlay(QFrame):
    """Asks target or draft.

    Signals:
        chosen(str, str): path and "target" or "draft".
    """

    chosen = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._focus: QWidget | None = None  # what had it before
        self.path = ""
        self.setObjectName("dropOverlay")
        self.setAccessibleName(translate("DropOverlay", "Use the dropped file as"))
        self.name = QLabel()
        self.name.setProperty("kind", "title")
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.name.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.name.setWordWrap(True)
        self.target_button = self._choice(translate("DropOverlay", "Use as target"), "target")
        self.draft_button = self._choice(translate("DropOverlay", "Use as draft"), "draft")
        self.cancel_button = QPushButton(translate("DropOverlay", "Cancel"))
        self.cancel_button.setAccessibleName(translate("DropOverlay", "Cancel"))
        self.cancel_button.clicked.connect(self.leave)
        for stop in (self.target_button, self.draft_button, self.cancel_button):
            stop.installEventFilter(self)
        hint = QLabel(
            translate(
                "DropOverlay",
                "The target writes the answers. A draft is a smaller model, best with the same vocabulary, that "
                "proposes tokens for it.",
            )
        )
        hint.setProperty("kind", "muted")
        hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        hint.setWordWrap(True)
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addStretch(1)
        row.addWidget(self.target_button)
        row.addWidget(self.draft_button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(48, 48, 48, 48)
        layout.setSpacing(16)
        layout.addStretch(1)
        layout.addWidget(self.name)
        layout.addWidget(hint)
        layout.addLayout(row)
        layout.addWidget(self.cancel_button, 0, Qt.AlignmentFlag.AlignCenter)
        layout.addStretch(1)
        self.hide()

    def _choice(self, text: str, role: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName("dropChoice")
        button.setAccessibleName(text)
        button.setMinimumWidth(CHOICE_PX)
        button.clicked.connect(lambda: self._take(role))
        return button

    def ask(self, path: str) -> None:
        """Ask what the file is to be."""
        focus = self._window.focusWidget()
        if focus is None or not self.isAncestorOf(focus):
            self._focus = focus
        self.path = path
        self.name.setText(PurePath(path).name)
        self.setGeometry(self._window.rect())
        self.show()
        self.raise_()
        self.target_button.setFocus()

    def leave(self) -> None:
        """Go, and give the keyboard back to where it was."""
        focus, self._focus = self._focus, None
        self.hide()
        if focus is not None and isValid(focus):
            focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tab goes round among the three: what lies below is covered."""
        is_tab = isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        if not is_tab or not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        by = -1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or event.key() == Qt.Key.Key_Backtab else 1
        stops = [self.target_button, self.draft_button, self.cancel_button]
        at = next((number for number, stop in enumerate(stops) if stop is watched), 0)
        reason = Qt.FocusReason.TabFocusReason if by > 0 else Qt.FocusReason.BacktabFocusReason
        stops[(at + by) % len(stops)].setFocus(reason)
        return True

    def _take(self, role: str) -> None:
        self.leave()
        self.chosen.emit(self.path, role)
