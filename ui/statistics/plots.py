"""Small painted plots. Pens are 1.0 px: wide antialiased strokes cost fifteen times as much.

Geometry is computed when values change; only changed areas are repainted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF, QTransform
from PySide6.QtWidgets import QSizePolicy

from engine.records import RunStats
from ui.text.formatting import UNKNOWN, figure, percent
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.figures import FigureWidget, baseline

tr = Translator("Sparkline")

SPARK_POINTS = 120
DEPTH_ROW_PX = 19
BAR_PX = 8


class _Plot(FigureWidget):
    """A plot that describes its values as text."""

    def __init__(self, theme: Theme, name: str, help_text: str, height: int) -> None:
        super().__init__(theme, name, help_text)
        self._description: str | None = None  # None: not created yet
        self._is_outdated = False  # whether screen readers have an older description
        self._is_silent = False
        self.setFixedHeight(height)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_silent(self, silent: bool) -> None:
        """Skip descriptions while no screen reader is active; they are created later."""
        self._is_silent = silent
        self._publish_description()

    def update_description(self) -> None:
        self._description, self._is_outdated = None, True
        self._publish_description()

    def _publish_description(self) -> None:
        if self._is_outdated and not self._is_silent:
            self._is_outdated = False
            self.setAccessibleDescription(f"{self.description}. {self.help_text}")

    @property
    def description(self) -> str:
        if self._description is None:
            self._description = self.describe()
        return self._description

    def describe(self) -> str:
        raise NotImplementedError

    @property
    def words(self) -> str:
        return f"{self.name}: {self.description}"

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter, event.rect())
        self.paint_focus_ring(painter)

    def draw(self, painter: QPainter, asked: QRect) -> None:
        raise NotImplementedError

    def draw_base(self, painter: QPainter, y: float) -> None:
        painter.setPen(QPen(self.theme.paint_cache.color(self.theme.tokens.border), 1.0))
        painter.drawLine(QPointF(0, y), QPointF(self.width(), y))

    def draw_bars(self, painter: QPainter, bars: Iterable[QRectF], color: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.paint_cache.color(color))
        for bar in bars:
            radius = min(2.0, bar.width() / 2)
            painter.drawRoundedRect(bar, radius, radius)


class Sparkline(_Plot):
    """The last values as a line over an area; the scale starts at 0."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text, 30)
        self._values: list[float] = []
        self._points = QPolygonF()  # the values as points of the plot
        self._num_given = 0

    def clear(self) -> None:
        self._values, self._points, self._num_given = [], QPolygonF(), 0
        self.show_values()

    def add(self, value: float) -> None:
        self._values.append(value)
        self._points.append(QPointF(self._num_given, value))
        self._num_given += 1
        if len(self._values) > SPARK_POINTS:
            del self._values[0]
            self._points.removeFirst()

    def show_values(self) -> None:
        self.update()
        self.update_description()

    def describe(self) -> str:
        if not self._values:
            return tr("No values yet")
        return tr("Latest {latest}, highest {highest}, lowest {lowest}").format(
            latest=figure(self._values[-1]), highest=figure(max(self._values)), lowest=figure(min(self._values))
        )

    @property
    def values(self) -> list[float]:
        return list(self._values)

    def draw(self, painter: QPainter, asked: QRect) -> None:  # noqa: ARG002
        tokens, paint_cache = self.theme.tokens, self.theme.paint_cache
        base = self.height() - 1.5
        self.draw_base(painter, base)
        num = len(self._values)
        if num < 2:
            return
        top = max(*self._values, 1e-9) * 1.08
        step = self.width() / (max(num, 24) - 1)
        line = QTransform(step, 0, 0, -(base - 2) / top, (num - self._num_given) * step, base).map(self._points)
        below = QPolygonF(line)
        below.append(QPointF((num - 1) * step, base))
        below.append(QPointF(0, base))
        area = QColor(paint_cache.color(tokens.accent))
        area.setAlpha(38)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(area)
        painter.setRenderHint(
            QPainter.RenderHint.Antialiasing, on=False
        )  # filling is three times as fast without it; the line covers the jagged edge
        painter.drawPolygon(below)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(paint_cache.color(tokens.accent_text), 1.0))
        painter.drawPolyline(line)


class HistoryPlot(_Plot):
    """One value per answer as a line, oldest at the left; the scale starts at 0.

    ``mark``: a reference value, drawn as a line. ``top``: the end of the scale; None: the highest value.
    """

    def __init__(
        self, theme: Theme, name: str, help_text: str, *, mark: float | None = None, top: float | None = None
    ) -> None:
        super().__init__(theme, name, help_text, 34)
        self._mark, self._top = mark, top
        self.values: tuple[float, ...] = ()

    def set_values(self, values: Sequence[float]) -> None:
        if tuple(values) != self.values:
            self.values = tuple(values)
            self.update()
            self.update_description()

    def describe(self) -> str:
        """The newest, highest and lowest value, and how many values are below the mark."""
        if not self.values:
            return tr("No values yet")
        write = percent if self._top == 1.0 else figure
        words = tr("Latest {latest}, highest {highest}, lowest {lowest}").format(
            latest=write(self.values[-1]), highest=write(max(self.values)), lowest=write(min(self.values))
        )
        if self._mark is None:
            return words
        below = sum(value < self._mark for value in self.values)
        slower = translate("HistoryPlot", "%n answers slower than without drafting", None, below)
        return f"{words}, {slower}" if below else words

    def draw(self, painter: QPainter, asked: QRect) -> None:  # noqa: ARG002
        """Draw the base, the mark, the line, and a dot for the newest value."""
        tokens, paint_cache = self.theme.tokens, self.theme.paint_cache
        base = self.height() - 2.5
        self.draw_base(painter, base)
        if not self.values:
            return
        highest = self._top or 1.1 * max(*self.values, self._mark or 0.0, 1e-9)
        step = (self.width() - 6.0) / max(len(self.values) - 1, 1)

        def y_of(value: float) -> float:
            return base - (base - 3.0) * min(value / highest, 1.0)

        if self._mark is not None:
            painter.setPen(QPen(paint_cache.color(tokens.text_muted), 1.0, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(0, y_of(self._mark)), QPointF(self.width(), y_of(self._mark)))
        line = QPolygonF([QPointF(3.0 + i * step, y_of(value)) for i, value in enumerate(self.values)])
        painter.setPen(QPen(paint_cache.color(tokens.accent_text), 1.0))
        painter.drawPolyline(line)
        painter.setBrush(paint_cache.color(tokens.accent))
        painter.drawEllipse(line.last(), 2.0, 2.0)


# More lines would push the rest out of the pane. Together the ranges cover all depths.
DEPTHS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (7, 8), (9, 16), (17, 32))


class DepthBars(_Plot):
    """Acceptance by depth: one line each with bar, number and depth."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text, DEPTH_ROW_PX)
        self._lines: tuple[tuple[str, float | None], ...] = ()
        self._rows: tuple[tuple[str, str], ...] = ()  # depth and share of each line, as text
        self._fit_rows()
        self.show_acceptance(RunStats())
        theme.changed.connect(self._fit_rows)

    def _fit_rows(self) -> None:
        metrics = self.theme.paint_cache.metrics(-1)
        self._row_px = max(DEPTH_ROW_PX, math.ceil(metrics.height()) + 2)
        self._left = metrics.horizontalAdvance("17–32") + 8
        self._right = metrics.horizontalAdvance(percent(1.0)) + 8
        self._left_px = math.floor(self._left) - 1  # right edge of the depth labels
        self._baseline = baseline(0.0, self._row_px, metrics)
        self.setFixedHeight(max(len(self._lines), 1) * self._row_px)

    def show_acceptance(self, stats: RunStats, *, settled: bool = True) -> None:
        """Show the acceptance rate of each proposed depth; greater depths share a line.

        If not ``settled``, the plot only grows, so that the content below does not jump.
        """
        deepest = len(stats.proposed_by_depth)
        lines = [(first, min(last, deepest)) for first, last in DEPTHS if first <= deepest]
        self._lines = tuple(
            (str(first) if first == last else f"{first}–{last}", stats.acceptance_from(first, last))
            for first, last in lines
        )
        height = max(len(self._lines), 1) * self._row_px
        height = height if settled else max(height, self.height())
        if height != self.height():
            self.setFixedHeight(height)
            parent = self.parentWidget()
            layout = parent.layout() if parent is not None else None
            if layout is not None:
                layout.activate()  # lay out at once: otherwise a frame with overlapping lines may be painted
        rows = tuple((depths, percent(share)) for depths, share in self._lines) or (("-", UNKNOWN),)
        if rows != self._rows:
            same_depths = [depth for depth, _ in rows] == [depth for depth, _ in self._rows]
            self._rows = rows
            left = self._left_px if same_depths else 0
            self.update(left, 0, self.width() - left, self.height())
            self.update_description()

    def describe(self) -> str:
        lines = (
            translate("DepthBars", "position {depth}: {share}").format(depth=depths, share=percent(share))
            for depths, share in self._lines
        )
        return ", ".join(lines) or translate("DepthBars", "Nothing proposed yet")

    def draw(self, painter: QPainter, asked: QRect) -> None:
        tokens, paint_cache, row_px = self.theme.tokens, self.theme.paint_cache, self._row_px
        width = self.width()
        long = width - self._left - self._right
        tops = [row * row_px + (row_px - BAR_PX) / 2 for row in range(len(self._rows))]
        self.draw_bars(painter, [QRectF(self._left, top, long, BAR_PX) for top in tops], tokens.hover)
        shares = [(top, share) for top, (_, share) in zip(tops, self._lines, strict=False) if share]
        bars = [QRectF(self._left, top, long * share, BAR_PX) for top, share in shares]
        self.draw_bars(painter, bars, tokens.accent)
        painter.setFont(paint_cache.font(-1))
        painter.setPen(paint_cache.color(tokens.text_muted))
        metrics, has_depths = paint_cache.metrics(-1), asked.left() < self._left_px
        for row, (depth, share) in enumerate(self._rows):
            y = row * row_px + self._baseline
            painter.drawText(QPointF(width - metrics.horizontalAdvance(share), y), share)
            if has_depths:
                painter.drawText(QPointF(0, y), depth)


class LengthBars(_Plot):
    """Passes by number of accepted tokens: one column each, scaled to the highest."""

    MAX_COLUMNS = 17  # higher numbers are counted in the last column

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text, 58)
        self.counts: tuple[int, ...] = ()
        self.update_description()

    def set_counts(self, counts: Sequence[int]) -> None:
        """``counts[i]``: passes that accepted exactly i tokens."""
        most = self.MAX_COLUMNS
        shown = tuple(counts) if len(counts) <= most else (*counts[: most - 1], sum(counts[most - 1 :]))
        if shown == self.counts:
            return
        same_columns = len(shown) == len(self.counts)
        self.counts = shown
        high = math.ceil(self._base) + 1 if same_columns else self.height()  # the labels below look the same
        self.update(0, 0, self.width(), high)
        self.update_description()

    @property
    def _base(self) -> float:
        return self.height() - self.theme.paint_cache.metrics(-1).height() - 2

    def describe(self) -> str:
        words = (
            translate("LengthBars", "{kept} accepted: {number} passes", None, number).format(kept=i, number=number)
            for i, number in enumerate(self.counts)
            if number
        )
        return ", ".join(words) or translate("LengthBars", "Nothing proposed yet")

    def draw(self, painter: QPainter, asked: QRect) -> None:
        """Draw the columns; every fourth one is labelled."""
        base = self._base
        self.draw_base(painter, base)
        columns = max(len(self.counts), 8)
        step = self.width() / columns
        top = max(self.counts, default=0)
        heights = [(i, max((base - 2) * count / top, 2.0)) for i, count in enumerate(self.counts) if count]
        bars = [QRectF(i * step + 1, base - height, step - 2, height) for i, height in heights]
        self.draw_bars(painter, bars, self.theme.tokens.accent)
        if asked.bottom() > base + 1:
            self._write_lengths(painter, base, columns)

    def _write_lengths(self, painter: QPainter, base: float, columns: int) -> None:
        paint_cache, width = self.theme.paint_cache, self.width()
        metrics, step = paint_cache.metrics(-1), width / columns
        painter.setFont(paint_cache.font(-1))
        painter.setPen(paint_cache.color(self.theme.tokens.text_muted))
        for i in range(0, columns, 1 if columns <= 9 else 4):
            label = f"{i}+" if i == self.MAX_COLUMNS - 1 else str(i)
            wide = metrics.horizontalAdvance(label)
            left = min((i + 0.5) * step - wide / 2, width - wide)  # the last label is wider than its column
            painter.drawText(QPointF(max(left, 0.0), base + 2 + metrics.ascent()), label)


@dataclass(frozen=True, slots=True)
class BarSegment:
    name: str
    amount: float
    field: str


class StackedBar(_Plot):
    """Parts of a whole side by side; the names are in separate rows."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text, 10)
        self._parts: tuple[BarSegment, ...] = ()
        self._shares: tuple[tuple[str, str], ...] | None = None
        self.set_parts(())

    def set_parts(self, parts: Sequence[BarSegment]) -> None:
        self._parts = tuple(parts)
        total = sum(part.amount for part in self._parts)
        shares = tuple((part.name, percent(part.amount / total)) for part in self._parts) if total > 0 else ()
        if shares != self._shares:
            self._shares = shares
            self.update()
            self.update_description()

    def describe(self) -> str:
        words = (f"{name} {share}" for name, share in self._shares or ())
        return ", ".join(words) or translate("StackedBar", "No values yet")

    def draw(self, painter: QPainter, asked: QRect) -> None:  # noqa: ARG002
        whole = QRectF(0, 1, self.width(), BAR_PX)
        total = sum(part.amount for part in self._parts)
        if total <= 0:
            self.draw_bars(painter, [whole], self.theme.tokens.hover)
            return
        shown = [part for part in self._parts if part.amount > 0]
        room = whole.width() - (len(shown) - 1)
        x = 0.0
        for part in shown:
            width = room * part.amount / total
            bar = QRectF(x, whole.y(), width, BAR_PX)
            self.draw_bars(painter, [bar], str(getattr(self.theme.tokens, part.field)))
            x += width + 1
