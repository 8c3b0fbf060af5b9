"""What a dropped GGUF file is to be: asked over the whole window, by dropping or by key."""

from __future__ import annotations

from pathlib import PurePath

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ui.language import translate

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
        self.cancel_button.clicked.connect(self.hide)
        hint = QLabel(
            translate(
                "DropOverlay",
                "The target answers. A draft is a smaller model of the same vocabulary that proposes tokens for it.",
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
        self.path = path
        self.name.setText(PurePath(path).name)
        self.setGeometry(self._window.rect())
        self.show()
        self.raise_()
        self.target_button.setFocus()

    def _take(self, role: str) -> None:
        self.hide()
        self.chosen.emit(self.path, role)
