"""A combo box with elided text and a slider, both without mouse wheel."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QSlider, QStyle, QStyleOptionComboBox, QStylePainter

from ui.text.formatting import hover
from ui.widgets.popups import RoundGround


class NoWheelComboBox(QComboBox):
    _is_round = False

    def __init__(self, name: str = "", choices: Iterable[tuple[str, object]] = (), *, tip: str = "") -> None:
        """``name``: the accessible name; ``choices``: words and data; ``tip``: the tool tip."""
        super().__init__()
        self.setAccessibleName(name)
        self.setToolTip(hover(tip))
        for words, data in choices:
            self.addItem(words, data)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self).width()
        option.currentText = self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def showPopup(self) -> None:
        if not self._is_round:
            self._is_round = True
            RoundGround(self.view().window())
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class NoWheelSlider(QSlider):
    """A slider without mouse wheel that may be narrow."""

    def __init__(self, orientation: Qt.Orientation) -> None:
        super().__init__(orientation)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumWidth(60)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
