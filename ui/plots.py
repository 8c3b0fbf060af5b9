"""Small hand-painted plots of the statistics. Pens are 1.0 px: wide antialiased strokes cost fifteen times as much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy

from ui.explained import Explained
from ui.formatting import figure, percent
from ui.language import translate
from ui.theme import Theme

SPARK_POINTS = 120
DEPTH_ROW_PX = 19
BAR_PX = 8


class _Plot(Explained):
    """A painted picture that says its numbers as text, too."""

    def __init__(self, theme: Theme, name: str, help_text: str, height: int) -> None:
        super().__init__(theme, name, help_text)
        self.said = ""
        self.setFixedHeight(height)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def say(self, text: str) -> None:
        """What a screen reader says in place of the picture, which is drawn anew where it says something else."""
        if text != self.said:
            self.said = text
            self.setAccessibleDescription(f"{text}. {self.help_text}")
            self.update()

    @property
    def words(self) -> str:
        """The name with the numbers."""
        return f"{self.name}: {self.said}"

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """The picture, and the ring around it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter)
        self.paint_focus(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw the picture."""
        raise NotImplementedError

    def pen(self, color: str) -> QPen:
        """A pen of one pixel."""
        return QPen(QColor(color), 1.0)

    def bar(self, painter: QPainter, rect: QRectF, color: str) -> None:
        """A filled bar with softened corners."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(color))
        radius = min(2.0, rect.width() / 2)
        painter.drawRoundedRect(rect, radius, radius)


class Sparkline(_Plot):
    """The last values as a line over a soft area; the scale starts at 0."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text, 30)
        self._values: list[float] = []

    def clear(self) -> None:
        """Begin again."""
        self._values = []
        self.say(translate("Sparkline", "No values yet"))

    def add(self, value: float) -> None:
        """One more value at the right end."""
        self.update()  # also where the words for it stay
        self._values = [*self._values[-(SPARK_POINTS - 1) :], value]
        self.say(
            translate("Sparkline", "Latest {latest}, highest {highest}, lowest {lowest}").format(
                latest=figure(value), highest=figure(max(self._values)), lowest=figure(min(self._values))
            )
        )

    @property
    def values(self) -> list[float]:
        """What is drawn."""
        return list(self._values)

    def draw(self, painter: QPainter) -> None:
        """Draw the line, the newest value at the right."""
        tokens = self.theme.tokens
        base = self.height() - 1.5
        painter.setPen(self.pen(tokens.border))
        painter.drawLine(QPointF(0, base), QPointF(self.width(), base))
        if len(self._values) < 2:
            return
        top = max(*self._values, 1e-9) * 1.08
        step = self.width() / (max(len(self._values), 24) - 1)
        line = [QPointF(i * step, base - v / top * (base - 2)) for i, v in enumerate(self._values)]
        area = QColor(tokens.accent)
        area.setAlpha(38)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(area)
        painter.drawPolygon(QPolygonF([QPointF(0, base), *line, QPointF(line[-1].x(), base)]))
        painter.setPen(self.pen(tokens.accent_text))
        painter.drawPolyline(QPolygonF(line))


MOST_DEPTHS = 8  # more lines would push everything else out of the pane: then some stand for all
STANDING_DEPTHS = (1, 2, 3, 4, 6, 8, 16, 32)


class DepthBars(_Plot):
    """Acceptance by depth: a bar, a number and the depth on each line."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text, DEPTH_ROW_PX)
        self._lines: tuple[tuple[int, float | None], ...] = ()
        self.set_shares(())
        theme.changed.connect(self._fit_rows)

    def _fit_rows(self) -> None:
        """Another text size needs other room."""
        self.setFixedHeight(max(len(self._lines), 1) * self._row_px)

    @property
    def _row_px(self) -> int:
        return max(DEPTH_ROW_PX, math.ceil(self.theme.text_height(-1)) + 2)

    def set_shares(self, shares: Sequence[float | None], *, settled: bool = True) -> None:
        """Shares of 1 from depth 1 on; None where a depth was never proposed.

        Until it is ``settled`` the picture only grows: what stands below must not jump up and down with each answer.
        """
        few = len(shares) <= MOST_DEPTHS
        self._lines = tuple((i, share) for i, share in enumerate(shares, 1) if few or i in STANDING_DEPTHS)
        height = max(len(self._lines), 1) * self._row_px
        height = height if settled else max(height, self.height())
        if height != self.height():
            self.setFixedHeight(height)
            parent = self.parentWidget()
            layout = parent.layout() if parent is not None else None
            if layout is not None:
                layout.activate()  # at once: a frame with two lines on one another must not be painted
        lines = (
            translate("DepthBars", "depth {depth}: {share}").format(depth=i, share=percent(share))
            for i, share in self._lines
        )
        self.say(", ".join(lines) or translate("DepthBars", "Nothing proposed yet"))

    def draw(self, painter: QPainter) -> None:
        """One line a depth."""
        tokens = self.theme.tokens
        font = self.theme.font(-1)
        painter.setFont(font)
        right = QFontMetricsF(font).horizontalAdvance("100 %")
        left = QFontMetricsF(font).horizontalAdvance("16") + 8
        row_px = self._row_px
        for row, (depth, share) in enumerate(self._lines or ((0, None),)):
            top = row * row_px
            line = QRectF(0, top, self.width(), row_px)
            painter.setPen(QColor(tokens.text_muted))
            label = str(depth) if depth else "-"
            painter.drawText(line, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), label)
            painter.drawText(line, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), percent(share))
            track = QRectF(left, top + (row_px - BAR_PX) / 2, self.width() - left - right - 8, BAR_PX)
            self.bar(painter, track, tokens.hover)
            if share:
                self.bar(painter, QRectF(track.x(), track.y(), track.width() * share, BAR_PX), tokens.accent)


class LengthBars(_Plot):
    """How many passes kept exactly 0, 1, 2 ... proposed tokens: a column each, the highest fills the height."""

    MOST_COLUMNS = 17  # longer runs are counted with the last

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text, 58)
        self._counts: tuple[int, ...] = ()
        self.set_counts(())

    @property
    def counts(self) -> tuple[int, ...]:
        """What is drawn."""
        return self._counts

    def set_counts(self, counts: Sequence[int]) -> None:
        """``counts[i]`` passes kept exactly i tokens."""
        most = self.MOST_COLUMNS
        self._counts = tuple(counts) if len(counts) <= most else (*counts[: most - 1], sum(counts[most - 1 :]))
        words = (
            translate("LengthBars", "{kept} kept: {number} passes", None, number).format(kept=i, number=number)
            for i, number in enumerate(self._counts)
            if number
        )
        self.say(", ".join(words) or translate("LengthBars", "Nothing proposed yet"))

    def draw(self, painter: QPainter) -> None:
        """Columns over their lengths; every fourth length is written."""
        tokens = self.theme.tokens
        font = self.theme.font(-1)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        base = self.height() - metrics.height() - 2
        painter.setPen(self.pen(tokens.border))
        painter.drawLine(QPointF(0, base), QPointF(self.width(), base))
        columns = max(len(self._counts), 8)
        step = self.width() / columns
        top = max(self._counts, default=0)
        for i in range(columns):
            count = self._counts[i] if i < len(self._counts) else 0
            if count:
                height = max((base - 2) * count / top, 2.0)
                self.bar(painter, QRectF(i * step + 1, base - height, step - 2, height), tokens.accent)
            if columns <= 9 or i % 4 == 0:
                more = "+" if i == self.MOST_COLUMNS - 1 else ""
                painter.setPen(QColor(tokens.text_muted))
                label = f"{i}{more}"
                width = metrics.horizontalAdvance(label)
                left = min((i + 0.5) * step - width / 2, self.width() - width)  # the last one is wider than its column
                painter.drawText(QPointF(max(left, 0.0), base + 2 + metrics.ascent()), label)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a stacked bar: its name, how much, and the palette field of its colour."""

    name: str
    amount: float
    field: str


class StackedBar(_Plot):
    """Parts of a whole side by side; the words stand elsewhere."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__(theme, name, help_text, 10)
        self._parts: tuple[Part, ...] = ()
        self.set_parts(())

    def set_parts(self, parts: Sequence[Part]) -> None:
        """Show these parts; nothing is drawn but the empty track while they add up to 0."""
        self._parts = tuple(parts)
        total = sum(part.amount for part in self._parts)
        words = (f"{part.name} {percent(part.amount / total)}" for part in self._parts) if total > 0 else ()
        self.say(", ".join(words) or translate("StackedBar", "No values yet"))

    def draw(self, painter: QPainter) -> None:
        """The parts from left to right, one pixel apart."""
        whole = QRectF(0, 1, self.width(), BAR_PX)
        total = sum(part.amount for part in self._parts)
        if total <= 0:
            self.bar(painter, whole, self.theme.tokens.hover)
            return
        shown = [part for part in self._parts if part.amount > 0]
        room = whole.width() - (len(shown) - 1)
        x = 0.0
        for part in shown:
            width = room * part.amount / total
            self.bar(painter, QRectF(x, whole.y(), width, BAR_PX), str(getattr(self.theme.tokens, part.field)))
            x += width + 1
