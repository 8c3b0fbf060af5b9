"""The modes as cards: name, effect, needs and costs, and why a mode cannot run now. One is selected.

Each card is a radio button, so arrow keys move between them and screen readers read the text.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QRadioButton, QWidget

from app.core.domain.settings.fields import SettingValue
from engine.records import Mode
from ui.settings.row import SettingRow
from ui.text.language import translate
from ui.text.mode_words import MODE_ORDER, mode_words, not_now
from ui.widgets.building import grid, label, vbox
from ui.widgets.styling import set_style_property

INDENT_PX = 24  # what stands below the radio button's words


class ModeCard(QFrame):
    def __init__(self, mode: Mode) -> None:
        super().__init__()
        self.mode = mode
        self.setObjectName("modeCard")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        words = mode_words(mode)
        self.radio = QRadioButton(words.name)
        self.radio.setProperty("kind", "strong")
        self.radio.setAccessibleName(words.name)
        self.radio.installEventFilter(self)
        self.radio.toggled.connect(lambda checked: self._show("chosen", checked))
        self.reason = label("", "warning", wrap=True)
        self.reason.hide()
        self._said = " ".join(words.lines)
        below = grid(gaps=(8, 2), margins=(INDENT_PX, 0, 0, 0))
        below.setColumnStretch(1, 1)
        below.addWidget(label(words.does, wrap=True), 0, 0, 1, 2)
        for row, (name, text) in enumerate(
            ((translate("Modes", "Needs"), words.needs), (translate("Modes", "Costs"), words.costs)), start=1
        ):
            below.addWidget(label(name, "caption"), row, 0, Qt.AlignmentFlag.AlignTop)
            below.addWidget(label(text, "caption", wrap=True), row, 1)
        below.addWidget(self.reason, 3, 0, 1, 2)
        vbox(self.radio, below, parent=self, margins=(12, 10, 12, 12), spacing=4)
        self._show("chosen", False)
        self._show("focusWithin", False)
        self.set_reason("")

    def set_reason(self, reason: str) -> None:
        text = not_now(reason)
        self.reason.setText(text)
        self.reason.setVisible(bool(reason))
        self.radio.setAccessibleDescription(f"{self._said} {text}".strip())

    def _show(self, name: str, value: bool) -> None:
        set_style_property(self, name, "true" if value else "false")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.radio.setFocus(Qt.FocusReason.MouseFocusReason)
            self.radio.click()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._show("focusWithin", event.type() == QEvent.Type.FocusIn)
        return super().eventFilter(watched, event)


class ModeCards(QWidget):
    """All modes, one selected.

    Signals:
        changed: another one was selected.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(translate("Modes", "How tokens are proposed"))
        self._group = QButtonGroup(self)
        self.cards = {mode: ModeCard(mode) for mode in MODE_ORDER}
        layout = vbox(parent=self, margins=0, spacing=8)
        for card in self.cards.values():
            self._group.addButton(card.radio)
            card.radio.clicked.connect(self.changed)
            layout.addWidget(card)
        self.set_mode(Mode.AUTO)

    @property
    def mode(self) -> Mode:
        return next(mode for mode, card in self.cards.items() if card.radio.isChecked())

    def set_mode(self, mode: Mode) -> None:
        """Select a mode without a signal."""
        self.cards[mode].radio.setChecked(True)

    def set_unavailable(self, reasons: Mapping[Mode, str]) -> None:
        """Show why modes cannot run now; they stay selectable for later."""
        for mode, card in self.cards.items():
            card.set_reason(reasons.get(mode, ""))


class ModeRow(SettingRow):
    """The cards as a row of the settings."""

    is_wide = True

    def make_control(self) -> QWidget:
        self.cards = ModeCards()
        self.name(self.cards)
        self.cards.changed.connect(self.changed)
        return self.cards

    def value(self) -> SettingValue:
        return self.cards.mode.value

    def set_value(self, value: SettingValue) -> None:
        self.cards.set_mode(Mode(str(value)))
