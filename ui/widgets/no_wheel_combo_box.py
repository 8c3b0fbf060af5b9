"""A combo box, whose text is elided, and a slider: the mouse wheel changes neither."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QSlider, QStyle, QStyleOptionComboBox, QStylePainter

from ui.text.formatting import hover
from ui.widgets.popups import RoundGround


class NoWheelComboBox(QComboBox):
    """Changes by a click or by keys only, never by the wheel of a mouse that happens to be over it."""

    _is_round = False

    def __init__(self, name: str = "", choices: Iterable[tuple[str, object]] = (), *, tip: str = "") -> None:
        """``name`` is for screen readers, ``choices`` are words and data, ``tip`` is a hover."""
        super().__init__()
        self.setAccessibleName(name)
        self.setToolTip(hover(tip))
        for words, data in choices:
            self.addItem(words, data)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """Styled by a sheet, Qt would cut the words at the edge."""
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
    """A slider that changes by dragging or by keys only; it may be narrow."""

    def __init__(self, orientation: Qt.Orientation) -> None:
        super().__init__(orientation)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumWidth(60)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
