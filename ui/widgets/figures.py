"""A named number as a line, a large number, or a legend row.

The widgets paint themselves, so that a number that changes ten times a second causes no layout. Geometry is computed on
changes, and only the number's area is repainted.
"""

from __future__ import annotations

import math
from typing import Protocol

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QToolTip, QWidget

from ui.text.formatting import UNKNOWN, hover
from ui.text.language import translate
from ui.theme.theme import SEMIBOLD, Theme

_BY_KEYS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class FigureNavigator(Protocol):
    """Moves the focus between statistics, which call it: an event filter would also get all paint events."""

    def on_focused(self, figure: FigureWidget) -> None:
        """The statistic got the focus."""

    def step_from(self, figure: FigureWidget, key: Qt.Key) -> bool:
        """A key was pressed; returns whether it moved the focus."""


class FigureWidget(QLabel):
    """A statistic that paints itself, so that a new number moves nothing; a label for screen readers."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__()
        self.theme = theme
        self.name = name
        self.help_text = help_text
        self._navigator: FigureNavigator | None = None
        self._is_ringed = False
        self.setToolTip(hover(help_text))
        self.setAccessibleName(name)
        self.setAccessibleDescription(help_text)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        theme.changed.connect(self.fit)

    def fit(self) -> None:
        """Set the height for the current text size."""
        self.update()

    @property
    def words(self) -> str:
        return self.accessibleName()

    def paint_focus_ring(self, painter: QPainter) -> None:
        if self._is_ringed:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(self.theme.paint_cache.color(self.theme.tokens.focus))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)

    def set_navigator(self, navigator: FigureNavigator) -> None:
        self._navigator = navigator

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._navigator is None or not self._navigator.step_from(self, Qt.Key(event.key())):
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._is_ringed = True
        if self._navigator is not None:
            self._navigator.on_focused(self)
        super().focusInEvent(event)
        self.update()
        if event.reason() in _BY_KEYS:
            QToolTip.showText(self.mapToGlobal(QPoint(0, self.height() - 12)), self.toolTip(), self)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._is_ringed = False
        super().focusOutEvent(event)
        QToolTip.hideText()
        self.update()


def figure_widgets_in(widget: QWidget) -> list[FigureWidget]:
    """All visible statistics in a widget, from top to bottom."""
    found = [each for each in widget.findChildren(FigureWidget) if each.isVisibleTo(widget)]
    return sorted(found, key=lambda each: (each.mapTo(widget, QPoint(0, 0)).y(), each.mapTo(widget, QPoint(0, 0)).x()))


LEGEND_PX = 18
INSET_PX = 6  # margin within the background of clickable statistics
SWATCH_PX, GAP_PX = 8, 8
OVERHANG_PX = 2  # how far letters may extend beyond their width
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def baseline(top: float, height: float, metrics: QFontMetricsF) -> float:
    """The base line of letters centred in a line, as Qt places them."""
    return top + (height + metrics.ascent() - metrics.descent()) / 2


class _Line:
    """The geometry of a line: a name at the left, elided, and a number at the right."""

    def __init__(self, theme: Theme, name: str, field: str) -> None:
        self.value = UNKNOWN
        self._theme = theme
        self._name = name
        self._field = field
        self.fit(QSize(0, 0))

    def fit(self, size: QSize) -> None:
        """Lay out a line of this size with the current fonts."""
        paint_cache, tokens = self._theme.paint_cache, self._theme.tokens
        self._width, self._height = size.width(), size.height()
        self._font, self._small = paint_cache.font(), paint_cache.font(-1)
        self._metrics, self._small_metrics = paint_cache.metrics(), paint_cache.metrics(-1)
        self._text, self._muted = paint_cache.color(tokens.text), paint_cache.color(tokens.text_muted)
        self._swatch = paint_cache.color(str(getattr(tokens, self._field))) if self._field else None
        self._left = INSET_PX + (SWATCH_PX + GAP_PX if self._field else 0)
        self._name_px = self._small_metrics.horizontalAdvance(self._name)
        self._em_px = self._font.pixelSize()
        self._baseline = baseline(0.0, self._height, self._metrics)
        self._reach = self._letters_extent(self.value)
        self._is_laid = False

    def _letters_extent(self, text: str) -> int:
        return self._width - INSET_PX - OVERHANG_PX - len(text) * self._em_px

    def _lay_out(self) -> None:
        x = self._width - INSET_PX - self._metrics.horizontalAdvance(self.value)
        self._place = QPointF(x, self._baseline)
        room = max(x - GAP_PX - self._left, 0.0)
        self._name_room = QRectF(self._left, 0.0, room, self._height)
        fits = self._name_px <= room
        elide = Qt.TextElideMode.ElideRight
        self._shown = self._name if fits else self._small_metrics.elidedText(self._name, elide, room)
        self._is_laid = True

    def set_value(self, text: str) -> QRect:
        """Set the number; returns the area to repaint."""
        before, self._reach = self._reach, self._letters_extent(text)
        self.value, self._is_laid = text, False
        left = min(before, self._reach)
        left = 0 if left < self._left + self._name_px + GAP_PX else left
        return QRect(left, 0, self._width - left, self._height)

    def paint(self, painter: QPainter, left: int) -> None:
        """Paint the part to the right of ``left``."""
        if not self._is_laid:
            self._lay_out()
        painter.setFont(self._font)
        painter.setPen(self._text)
        painter.drawText(self._place, self.value)
        if left >= self._left + self._name_px:
            return
        if self._swatch is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._swatch)
            top = (self._height - SWATCH_PX) / 2
            painter.drawRoundedRect(QRectF(INSET_PX + 1, top, SWATCH_PX, SWATCH_PX), 2, 2)
        painter.setFont(self._small)
        painter.setPen(self._muted)
        painter.drawText(self._name_room, _LEFT, self._shown)


def paint_bar(painter: QPainter, track: QRectF, share: float, ground: QColor, fill: QColor) -> None:
    """A rounded bar, filled from the left by a fraction."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    radius = track.height() / 2
    painter.drawRoundedRect(track, radius, radius)
    if share > 0.0:
        painter.setBrush(fill)
        width = max(track.width() * share, track.height())
        painter.drawRoundedRect(QRectF(track.left(), track.top(), width, track.height()), radius, radius)


class ValueFigure(FigureWidget):
    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text)
        self.value = UNKNOWN
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{name}: {UNKNOWN}")
        self.fit()

    def set_value(self, text: str) -> None:
        if text != self.value:
            self.setAccessibleName(f"{self.name}: {text}")
            self.update(self.dirty_rect(text))
            self.value = text

    def dirty_rect(self, text: str) -> QRect:  # noqa: ARG002
        return self.rect()

    def minimumSizeHint(self) -> QSize:
        """A width at which the name is elided but not the number."""
        return QSize(60, self.minimumHeight())

    def sizeHint(self) -> QSize:
        return QSize(160, self.minimumHeight())


class LineFigure(ValueFigure):
    def __init__(self, theme: Theme, name: str, help_text: str, field: str = "") -> None:
        self._line = _Line(theme, name, field)
        super().__init__(theme, name, help_text)

    def dirty_rect(self, text: str) -> QRect:
        return self._line.set_value(text)

    def fit(self) -> None:
        self.setFixedHeight(round(self.theme.paint_cache.metrics().height()) + 2)
        self._line.fit(self.size())
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._line.fit(event.size())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._line.paint(painter, event.rect().left())
        self.paint_focus_ring(painter)


class LargeFigure(ValueFigure):
    """A large number with its unit below."""

    @property
    def _step(self) -> int:
        return self.theme.type.figure - self.theme.type.base

    def fit(self) -> None:
        paint_cache = self.theme.paint_cache
        height = paint_cache.metrics(self._step, SEMIBOLD).height() + paint_cache.metrics(-1).height()
        self.setFixedHeight(round(height))
        self._lay_out(self.size())
        self.update()

    def _lay_out(self, size: QSize) -> None:
        paint_cache, tokens = self.theme.paint_cache, self.theme.tokens
        self._large, self._small = paint_cache.font(self._step, SEMIBOLD), paint_cache.font(-1)
        self._metrics = paint_cache.metrics(self._step, SEMIBOLD)
        self._text, self._muted = paint_cache.color(tokens.text), paint_cache.color(tokens.text_muted)
        caption = paint_cache.metrics(-1).height()
        top = size.height() - caption
        self._place = QPointF(INSET_PX, baseline(0.0, top, self._metrics))
        self._room = QRectF(INSET_PX, top, size.width() - INSET_PX, caption)
        self._caption = paint_cache.metrics(-1).elidedText(self.name, Qt.TextElideMode.ElideRight, self._room.width())

    def dirty_rect(self, text: str) -> QRect:
        widest = max(self._metrics.horizontalAdvance(self.value), self._metrics.horizontalAdvance(text))
        return QRect(0, 0, INSET_PX + math.ceil(widest) + OVERHANG_PX, math.floor(self._room.top()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out(event.size())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self._large)
        painter.setPen(self._text)
        painter.drawText(self._place, self.value)
        if event.rect().bottom() >= math.floor(self._room.top()):
            painter.setFont(self._small)
            painter.setPen(self._muted)
            painter.drawText(self._room, _LEFT, self._caption)
        self.paint_focus_ring(painter)


class LegendRow(QPushButton):
    """A source with its count; when checked, its tokens are marked in the answers."""

    def __init__(self, theme: Theme, name: str, help_text: str, field: str) -> None:
        super().__init__()
        self._theme = theme
        self._line = _Line(theme, name, field)
        self.name = name
        self.help_text = help_text
        self.setProperty("kind", "legend")
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(
            hover(translate("LegendRow", "{words} Click to mark these tokens in the answers.").format(words=help_text))
        )
        self.setAccessibleDescription(help_text)
        self._named = translate("LegendRow", "Mark {name} tokens: {text}")
        theme.changed.connect(self.fit)
        self._name_it()

    @property
    def value(self) -> str:
        return self._line.value

    def set_value(self, text: str) -> None:
        if text != self.value:
            self.update(self._line.set_value(text))
            self._name_it()

    def fit(self) -> None:
        self._line.fit(self.size())
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._line.fit(event.size())

    def _name_it(self) -> None:
        self.setAccessibleName(self._named.format(name=self.name, text=self.value))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self._line.paint(QPainter(self), event.rect().left())

    def sizeHint(self) -> QSize:
        return QSize(120, max(LEGEND_PX, round(self._theme.paint_cache.metrics().height()) + 2))
