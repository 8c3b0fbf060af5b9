"""A named number in three shapes: on a line, large, and as a row of the legend. Knows no statistics.

They paint themselves: a number that changes ten times a second asks no layout for anything.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy

from ui.explained import Explained
from ui.formatting import UNKNOWN, hover
from ui.language import translate
from ui.theme import SEMIBOLD, Theme

LEGEND_PX = 18
INSET_PX = 6  # what can be clicked has its ground drawn this far around it
SWATCH_PX, GAP_PX = 8, 8
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


class _Figure(Explained):
    """A name and a number."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text)
        self._value = UNKNOWN
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{name}: {UNKNOWN}")
        self.fit()

    @property
    def value(self) -> str:
        """What is shown."""
        return self._value

    def set_value(self, text: str) -> None:
        """Show a number with its unit."""
        if text != self._value:
            self._value = text
            self.setAccessibleName(f"{self.name}: {text}")
            self.update()

    def minimumSizeHint(self) -> QSize:
        """Narrow panes cut the name short, not the number."""
        return QSize(60, self.minimumHeight())

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(160, self.minimumHeight())


class LineFigure(_Figure):
    """Name at the left, number at the right."""

    def __init__(self, theme: Theme, name: str, help_text: str, field: str = "") -> None:
        self._field = field
        super().__init__(theme, name, help_text)

    def fit(self) -> None:
        """One line of text."""
        self.setFixedHeight(round(QFontMetricsF(self.theme.font()).height()) + 2)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """The number whole, the name as far as there is room."""
        painter = QPainter(self)
        room = QRectF(self.rect()).adjusted(INSET_PX, 0, -INSET_PX, 0)
        paint_line(painter, self.theme, room, (self.name, self._value), self._field)
        self.paint_focus(painter)


class LargeFigure(_Figure):
    """A large number with its unit below."""

    def _large(self) -> QFont:
        font = self.theme.font(0, SEMIBOLD)
        font.setPixelSize(self.theme.type.figure)
        return font

    def fit(self) -> None:
        """Two lines, the first of them large."""
        height = QFontMetricsF(self._large()).height() + QFontMetricsF(self.theme.font(-1)).height()
        self.setFixedHeight(round(height))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """The number over its unit."""
        painter = QPainter(self)
        tokens, small = self.theme.tokens, self.theme.font(-1)
        caption = QFontMetricsF(small).height()
        painter.setFont(self._large())
        painter.setPen(QColor(tokens.text))
        painter.drawText(QRectF(INSET_PX, 0, self.width(), self.height() - caption), _LEFT, self._value)
        painter.setFont(small)
        painter.setPen(QColor(tokens.text_muted))
        room = QRectF(INSET_PX, self.height() - caption, self.width() - INSET_PX, caption)
        painter.drawText(
            room, _LEFT, QFontMetricsF(small).elidedText(self.name, Qt.TextElideMode.ElideRight, room.width())
        )
        self.paint_focus(painter)


class LegendRow(QPushButton):
    """A source with its count; switched on, its tokens are marked in the answers."""

    def __init__(self, theme: Theme, name: str, help_text: str, field: str) -> None:
        super().__init__()
        self._theme = theme
        self._field = field
        self.name = name
        self.help_text = help_text
        self.value = UNKNOWN
        self.setProperty("kind", "legend")
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(
            hover(translate("LegendRow", "{words} Click to mark these tokens in the answers.").format(words=help_text))
        )
        self.setAccessibleDescription(help_text)
        theme.changed.connect(self.update)
        self._name_it()

    def set_value(self, text: str) -> None:
        """Show a count."""
        if text != self.value:
            self.value = text
            self._name_it()
            self.update()

    def _name_it(self) -> None:
        named = translate("LegendRow", "Mark {name} tokens: {text}")
        self.setAccessibleName(named.format(name=self.name, text=self.value))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The button's ground, and the line on it."""
        super().paintEvent(event)
        room = QRectF(self.rect()).adjusted(INSET_PX, 0, -INSET_PX, 0)
        paint_line(QPainter(self), self._theme, room, (self.name, self.value), self._field)

    def sizeHint(self) -> QSize:
        """As high as its neighbours."""
        return QSize(120, max(LEGEND_PX, round(QFontMetricsF(self._theme.font()).height()) + 2))


def paint_line(painter: QPainter, theme: Theme, room: QRectF, texts: tuple[str, str], field: str = "") -> None:
    """Draw a name at the left of ``room`` and a number at its right; the name ends in an ellipsis where it must."""
    tokens, left = theme.tokens, room.left()
    if field:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(str(getattr(tokens, field))))
        painter.drawRoundedRect(QRectF(left + 1, room.center().y() - SWATCH_PX / 2, SWATCH_PX, SWATCH_PX), 2, 2)
        left += SWATCH_PX + GAP_PX
    name, value = texts
    font, small = theme.font(), theme.font(-1)
    width = QFontMetricsF(font).horizontalAdvance(value)
    painter.setFont(font)
    painter.setPen(QColor(tokens.text))
    painter.drawText(room, _RIGHT, value)
    place = QRectF(left, room.top(), max(room.right() - width - GAP_PX - left, 0.0), room.height())
    painter.setFont(small)
    painter.setPen(QColor(tokens.text_muted))
    shown = QFontMetricsF(small).elidedText(name, Qt.TextElideMode.ElideRight, place.width())
    painter.drawText(place, _LEFT, shown)
