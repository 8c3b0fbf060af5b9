"""A named number as a line, a large number, or a legend row.

The widgets paint themselves, so that a number that changes ten times a second causes no layout.
"""

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QToolTip

from ui.text.formatting import UNKNOWN, tooltip
from ui.text.language import translate
from ui.theme.theme import SEMIBOLD, Theme

_BY_KEYS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
LEGEND_PX = 18
INSET_PX = 6  # margin within the background of clickable statistics
SWATCH_PX, GAP_PX = 8, 8
BAR_PX, BAR_GAP_PX = 6, 3
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class MetricWidget(QLabel):
    """A statistic that paints itself, so that a new number moves nothing; a label for screen readers."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__()
        self.theme = theme
        self.name = name
        self.help_text = help_text
        self._is_ringed = False
        self.setToolTip(tooltip(help_text))
        self.setAccessibleName(name)
        self.setAccessibleDescription(help_text)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        theme.changed.connect(self.fit)

    def fit(self) -> None:
        """Set the height for the current text size."""
        self.update()

    def paint_focus_ring(self, painter: QPainter) -> None:
        if self._is_ringed:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(self.theme.paint_cache.color(self.theme.tokens.focus))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._is_ringed = True
        super().focusInEvent(event)
        self.update()
        if event.reason() in _BY_KEYS:
            QToolTip.showText(self.mapToGlobal(QPoint(0, self.height() - 12)), self.toolTip(), self)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._is_ringed = False
        super().focusOutEvent(event)
        QToolTip.hideText()
        self.update()


def baseline(top: float, height: float, metrics: QFontMetricsF) -> float:
    """The base line of letters centred in a line, as Qt places them."""
    return top + (height + metrics.ascent() - metrics.descent()) / 2


def paint_line(painter: QPainter, theme: Theme, size: QSize, name: str, value: str, field: str = "") -> None:
    """Paint a name at the left, elided, and a number at the right; ``field``: the theme's colour of a swatch."""
    cache, tokens, left = theme.paint_cache, theme.tokens, INSET_PX
    x = size.width() - INSET_PX - cache.metrics().horizontalAdvance(value)
    painter.setFont(cache.font())
    painter.setPen(cache.color(tokens.text))
    painter.drawText(QPointF(x, baseline(0.0, size.height(), cache.metrics())), value)
    if field:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(cache.color(str(getattr(tokens, field))))
        top = (size.height() - SWATCH_PX) / 2
        painter.drawRoundedRect(QRectF(INSET_PX + 1, top, SWATCH_PX, SWATCH_PX), 2, 2)
        left += SWATCH_PX + GAP_PX
    space = QRectF(left, 0.0, max(x - GAP_PX - left, 0.0), size.height())
    painter.setFont(cache.font(-1))
    painter.setPen(cache.color(tokens.text_muted))
    painter.drawText(space, _LEFT, cache.metrics(-1).elidedText(name, Qt.TextElideMode.ElideRight, space.width()))


class ValueMetric(MetricWidget):
    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text)
        self.value = UNKNOWN
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{name}: {UNKNOWN}")
        self.fit()

    def set_value(self, text: str) -> None:
        if text != self.value:
            self.value = text
            self.setAccessibleName(f"{self.name}: {text}")
            self.update()

    def minimumSizeHint(self) -> QSize:
        """A width at which the name is elided but not the number."""
        return QSize(60, self.minimumHeight())

    def sizeHint(self) -> QSize:
        return QSize(160, self.minimumHeight())


class LineMetric(ValueMetric):
    def __init__(self, theme: Theme, name: str, help_text: str, field: str = "") -> None:
        self._field = field
        super().__init__(theme, name, help_text)

    def fit(self) -> None:
        self.setFixedHeight(round(self.theme.paint_cache.metrics().height()) + 2)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        paint_line(painter, self.theme, self.size(), self.name, self.value, self._field)
        self.paint_focus_ring(painter)


class BarMetric(ValueMetric):
    """A line above a bar. ``caption``: the text at its left, at first the name."""

    def __init__(self, theme: Theme, name: str, help_text: str, field: str) -> None:
        """``field``: the theme's colour of the filled part."""
        self.field, self.caption, self.share = field, name, 0.0
        super().__init__(theme, name, help_text)

    def fit(self) -> None:
        self._line_px = round(self.theme.paint_cache.metrics().height())
        self.setFixedHeight(self._line_px + BAR_GAP_PX + BAR_PX + BAR_GAP_PX)
        self.update()

    def show_share(self, value: str, share: float, caption: str = "") -> None:
        self.share, self.caption = min(max(share, 0.0), 1.0), caption or self.caption
        self.set_value(value)
        if caption:
            self.setAccessibleName(f"{self.name}: {caption}, {value}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        cache, tokens, painter = self.theme.paint_cache, self.theme.tokens, QPainter(self)
        paint_line(painter, self.theme, QSize(self.width(), self._line_px), self.caption, self.value)
        bar = QRectF(INSET_PX, self._line_px + BAR_GAP_PX, self.width() - 2 * INSET_PX, BAR_PX)
        fill = cache.color(str(getattr(tokens, self.field)))
        # A rounded bar, filled from the left by a fraction.
        share = self.share
        ground = cache.color(tokens.hover)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        radius = bar.height() / 2
        painter.drawRoundedRect(bar, radius, radius)
        if share > 0.0:
            painter.setBrush(fill)
            width = max(bar.width() * share, bar.height())
            painter.drawRoundedRect(QRectF(bar.left(), bar.top(), width, bar.height()), radius, radius)
        self.paint_focus_ring(painter)


class LargeMetric(ValueMetric):
    """A large number with its unit below."""

    @property
    def _step(self) -> int:
        return self.theme.type.figure - self.theme.type.base

    def fit(self) -> None:
        cache = self.theme.paint_cache
        self.setFixedHeight(round(cache.metrics(self._step, SEMIBOLD).height() + cache.metrics(-1).height()))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter, cache, tokens = QPainter(self), self.theme.paint_cache, self.theme.tokens
        caption = cache.metrics(-1).height()
        top = self.height() - caption
        painter.setFont(cache.font(self._step, SEMIBOLD))
        painter.setPen(cache.color(tokens.text))
        painter.drawText(QPointF(INSET_PX, baseline(0.0, top, cache.metrics(self._step, SEMIBOLD))), self.value)
        space = QRectF(INSET_PX, top, self.width() - INSET_PX, caption)
        unit = cache.metrics(-1).elidedText(self.name, Qt.TextElideMode.ElideRight, space.width())
        painter.setFont(cache.font(-1))
        painter.setPen(cache.color(tokens.text_muted))
        painter.drawText(space, _LEFT, unit)
        self.paint_focus_ring(painter)


class LegendRow(QPushButton):
    """A source with its count; when checked, its tokens are marked in the answers."""

    def __init__(self, theme: Theme, name: str, help_text: str, field: str) -> None:
        super().__init__()
        self._theme = theme
        self.name, self.help_text = name, help_text
        self.value = UNKNOWN
        self._field = field
        self.setProperty("kind", "legend")
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(
            tooltip(
                translate("LegendRow", "{words} Click to mark these tokens in the answers.").format(words=help_text)
            )
        )
        self.setAccessibleDescription(help_text)
        theme.changed.connect(self.update)
        self._name_it()

    def set_value(self, text: str) -> None:
        if text != self.value:
            self.value = text
            self.update()
            self._name_it()

    def _name_it(self) -> None:
        named = translate("LegendRow", "Mark {name} tokens: {text}")
        self.setAccessibleName(named.format(name=self.name, text=self.value))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        paint_line(QPainter(self), self._theme, self.size(), self.name, self.value, self._field)

    def sizeHint(self) -> QSize:
        return QSize(120, max(LEGEND_PX, round(self._theme.paint_cache.metrics().height()) + 2))
