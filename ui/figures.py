"""A named number in three shapes: on a line, large, and as a row of the legend. Knows no statistics."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ui.formatting import UNKNOWN, hover
from ui.language import translate
from ui.plots import Swatch
from ui.theme import Theme

LEGEND_PX = 18
INSET_PX = 6  # what can be clicked has its ground drawn this far around it


class _Figure(QWidget):
    """A name and a number; the number may be large."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__()
        self._name = name
        self.setToolTip(hover(help_text))
        self.name_label = QLabel(name)
        self.name_label.setProperty("kind", "caption")
        self.value_label = QLabel(UNKNOWN)
        theme.dress(self.value_label)
        self.value_label.setAccessibleDescription(help_text)
        self.set_value(UNKNOWN)

    def set_value(self, text: str) -> None:
        """Show a number with its unit."""
        if text != self.value_label.text():
            self.value_label.setText(text)
        self.value_label.setAccessibleName(f"{self._name}: {text}")


class LineFigure(_Figure):
    """Name at the left, number at the right."""

    def __init__(self, theme: Theme, name: str, help_text: str, field: str = "") -> None:
        super().__init__(theme, name, help_text)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        if field:
            row.addWidget(Swatch(theme, field))
        row.addWidget(self.name_label)
        row.addStretch(1)
        row.addWidget(self.value_label)


class LegendRow(QPushButton):
    """A source with its count; switched on, its tokens are marked in the answers."""

    def __init__(self, theme: Theme, name: str, help_text: str, field: str) -> None:
        super().__init__()
        self._name = name
        self.setProperty("kind", "legend")
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(
            hover(translate("LegendRow", "{words} Click to mark these tokens in the answers.").format(words=help_text))
        )
        self.setAccessibleDescription(help_text)
        self.value_label = QLabel(UNKNOWN)
        theme.dress(self.value_label)
        name_label = QLabel(name)
        name_label.setProperty("kind", "caption")
        row = QHBoxLayout(self)
        row.setContentsMargins(INSET_PX, 0, INSET_PX, 0)
        row.setSpacing(6)
        row.addWidget(Swatch(theme, field))
        row.addWidget(name_label)
        row.addStretch(1)
        row.addWidget(self.value_label)
        for label in (name_label, self.value_label):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.set_value(UNKNOWN)

    def set_value(self, text: str) -> None:
        """Show a count."""
        self.value_label.setText(text)
        self.value_label.setAccessibleName(f"{self._name}: {text}")
        self.setAccessibleName(translate("LegendRow", "Mark {name} tokens: {text}").format(name=self._name, text=text))

    def sizeHint(self) -> QSize:
        """As high as its neighbours."""
        return QSize(120, LEGEND_PX)


class LargeFigure(_Figure):
    """A large number with its unit below."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text)
        self.value_label.setProperty("kind", "figure")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.value_label)
        column.addWidget(self.name_label)
