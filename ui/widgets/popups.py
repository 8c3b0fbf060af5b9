"""Menus, combo boxes, popups with lists, and a slider. None reacts to the mouse wheel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import (
    QIcon,
    QKeyEvent,
    QPaintEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QMenu,
    QSlider,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from ui.text.formatting import tooltip
from ui.theme.theme import Theme
from ui.widgets.building import vbox
from ui.widgets.choice_list import Choice, ChoiceList

GAP_PX = 4  # between a popup and its button
EDGE_PX = 6  # between a popup's border and its rows
ROW_PAD_PX = 6  # above and below the text of a row
MAX_SCREEN_SHARE = 0.75  # maximum share of the screen height


class Menu(QMenu):
    def add_submenu(self, title: str, icon: QIcon | None = None) -> Menu:
        below = Menu(self)
        below.setTitle(title)
        if icon is not None:
            below.setIcon(icon)
        self.addMenu(below)
        return below


class Popup(QFrame):
    """A frame that opens from a button; a click outside or Esc closes it."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay)  # a second click on the button closes the popup
        self.setObjectName("popup")
        self.setAccessibleName(name)

    def open_from(self, button: QWidget, *, above: bool = False, at_right: bool = False) -> None:
        """Show the popup below ``button`` or ``above`` it, within its screen; aligned left or ``at_right``."""
        self.setScreen(button.screen())
        self.ensurePolished()
        self.adjustSize()
        corner = button.mapToGlobal(QPoint(0, 0))
        x = corner.x() + (button.width() - self.width() if at_right else 0)
        y = corner.y() - self.height() - GAP_PX if above else corner.y() + button.height() + GAP_PX
        room = button.screen().availableGeometry()
        x = max(min(x, room.right() - self.width()), room.left())
        y = max(min(y, room.bottom() - self.height()), room.top())
        self.move(x, y)
        self.show()


class ChoicePopup(Popup):
    """A popup with a list of choices."""

    picked = Signal(str)  # the key of a row that was clicked, or chosen by Enter or Space
    stays_open = False  # whether the popup stays open when a row was picked

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(name, parent)
        self.list = ChoiceList(theme, name, pad=ROW_PAD_PX)
        self.list.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.list.clicked.connect(self._on_click)
        self.list.opened.connect(self._pick)
        vbox(self.list, parent=self, margins=EDGE_PX)
        self.setFocusProxy(self.list)

    def update_rows(self, rows: Sequence[Choice]) -> None:
        """Replace the rows while the popup is open; it stays scrolled."""
        bar = self.list.verticalScrollBar()
        scrolled = bar.value()
        self.list.set_rows(rows)
        self.fit_rows()
        bar.setValue(scrolled)

    def fit_rows(self) -> None:
        """Fit the list's height to its rows, within the screen."""
        model = self.list.model()
        height = sum(self.list.sizeHintForRow(row) for row in range(model.rowCount()))
        parent = self.parentWidget()
        room = (self if self.isVisible() or parent is None else parent).screen().availableGeometry()
        most = round(room.height() * MAX_SCREEN_SHARE)
        if self.isVisible():
            below = room.bottom() - self.list.mapToGlobal(QPoint(0, 0)).y() - EDGE_PX
            most = max(min(most, below), self.list.height())
        self.list.setFixedHeight(min(height, most))

    def _on_click(self, index: QModelIndex) -> None:
        if index.flags() & Qt.ItemFlag.ItemIsEnabled:  # Qt also reports clicks on disabled rows
            self._pick(self.list.key_at(index))

    def _pick(self, key: str) -> None:
        if key:
            if not self.stays_open:
                self.close()
            self.picked.emit(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)


class NoWheelComboBox(QComboBox):
    def __init__(self, name: str = "", choices: Iterable[tuple[str, object]] = (), *, tip: str = "") -> None:
        """``name``: the accessible name; ``choices``: labels and data; ``tip``: the tool tip."""
        super().__init__()
        self.setAccessibleName(name)
        self.setToolTip(tooltip(tip))
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

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class NoWheelSlider(QSlider):
    """A slider that ignores the mouse wheel and may be narrow."""

    def __init__(self, orientation: Qt.Orientation) -> None:
        super().__init__(orientation)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumWidth(60)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
