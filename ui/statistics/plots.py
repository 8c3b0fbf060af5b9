"""Small painted plots."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from engine.records import RunStats
from ui.text.formatting import percent
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.metrics import MetricWidget, baseline

DEPTH_ROW_PX = 19
BAR_PX = 8


class _Plot(MetricWidget):
    """A plot that describes its values as text."""

    def __init__(self, theme: Theme, name: str, help_text: str, height: int) -> None:
        super().__init__(theme, name, help_text)
        self.description = ""
        self.setFixedHeight(height)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_changes(self) -> None:
        self.description = self.describe()
        self.setAccessibleDescription(f"{self.description}. {self.help_text}")
        self.update()

    def describe(self) -> str:
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter)
        self.paint_focus_ring(painter)

    def draw(self, painter: QPainter) -> None:
        raise NotImplementedError

    def draw_bars(self, painter: QPainter, bars: Iterable[QRectF], color: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.paint_cache.color(color))
        for bar in bars:
            radius = min(2.0, bar.width() / 2)
            painter.drawRoundedRect(bar, radius, radius)


# More lines would push the rest out of the pane. Together the ranges cover all depths.
DEPTHS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (7, 8), (9, 16), (17, 32))


class DepthBars(_Plot):
    """Acceptance by depth: one line each with bar, number and depth."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text, DEPTH_ROW_PX)
        self._lines: tuple[tuple[str, float | None], ...] = ()
        self.show_acceptance(RunStats())

    @property
    def _row_px(self) -> int:
        return max(DEPTH_ROW_PX, math.ceil(self.theme.paint_cache.metrics(-1).height()) + 2)

    def fit(self) -> None:
        self.setFixedHeight(max(len(self._lines), 1) * self._row_px)
        self.update()

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
        height = max(max(len(self._lines), 1) * self._row_px, 0 if settled else self.height())
        if height != self.height():
            self.setFixedHeight(height)
            parent = self.parentWidget()
            layout = parent.layout() if parent is not None else None
            if layout is not None:
                layout.activate()  # lay out at once: otherwise a frame with overlapping lines may be painted
        self.show_changes()

    def describe(self) -> str:
        lines = (
            translate("DepthBars", "position {depth}: {share}").format(depth=depths, share=percent(share))
            for depths, share in self._lines
        )
        return ", ".join(lines) or translate("DepthBars", "Nothing proposed yet")

    def draw(self, painter: QPainter) -> None:
        tokens, paint_cache, row_px = self.theme.tokens, self.theme.paint_cache, self._row_px
        metrics, width = paint_cache.metrics(-1), self.width()
        left = metrics.horizontalAdvance("17–32") + 8
        long = width - left - metrics.horizontalAdvance(percent(1.0)) - 8
        painter.setFont(paint_cache.font(-1))
        for row, (depths, share) in enumerate(self._lines or (("-", None),)):
            bar = QRectF(left, row * row_px + (row_px - BAR_PX) / 2, long, BAR_PX)
            self.draw_bars(painter, [bar], tokens.hover)
            if share:
                bar.setWidth(long * share)
                self.draw_bars(painter, [bar], tokens.accent)
            y, text = row * row_px + baseline(0.0, row_px, metrics), percent(share)
            painter.setPen(paint_cache.color(tokens.text_muted))
            painter.drawText(QPointF(width - metrics.horizontalAdvance(text), y), text)
            painter.drawText(QPointF(0, y), depths)


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
            self.show_changes()

    def describe(self) -> str:
        words = (f"{name} {share}" for name, share in self._shares or ())
        return ", ".join(words) or translate("StackedBar", "No values yet")

    def draw(self, painter: QPainter) -> None:
        whole = QRectF(0, 1, self.width(), BAR_PX)
        total = sum(part.amount for part in self._parts)
        if total <= 0:
            self.draw_bars(painter, [whole], self.theme.tokens.hover)
            return
        shown = [part for part in self._parts if part.amount > 0]
        available = whole.width() - (len(shown) - 1)
        x = 0.0
        for part in shown:
            width = available * part.amount / total
            bar = QRectF(x, whole.y(), width, BAR_PX)
            self.draw_bars(painter, [bar], str(getattr(self.theme.tokens, part.field)))
            x += width + 1
