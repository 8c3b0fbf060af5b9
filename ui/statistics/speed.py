"""How fast the answer came, in words, and its speed beside that of plain decoding as two bars."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent

from app.core.domain.speed.verdict import Missing, SpeedVerdict, answer_verdict
from engine.records import RunStats
from ui.statistics.words import help_of, name_of
from ui.text.answer_figures import basis_words, verdict_words
from ui.text.formatting import UNKNOWN, speed
from ui.theme.theme import SEMIBOLD, Theme
from ui.widgets.building import label
from ui.widgets.figure_widget import FigureWidget
from ui.widgets.figures import INSET_PX, ValueFigure, baseline

BAR_PX, GAP_PX = 6, 3
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class Headline(ValueFigure):
    """The one large figure, in the accent colour where there is a gain."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, name_of("headline"), help_of("headline"))
        self._has_gain = False

    def fit(self) -> None:
        self.setFixedHeight(round(self.theme.paint_cache.metrics(self._step, SEMIBOLD).height()) + 2)
        self.update()

    @property
    def _step(self) -> int:
        return self.theme.type.headline - self.theme.type.base

    def show_verdict(self, verdict: SpeedVerdict) -> None:
        """Show how much faster or slower than plain decoding it was."""
        if verdict.is_gain != self._has_gain:
            self._has_gain = verdict.is_gain
            self.update()
        self.set_value(verdict_words(verdict))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        cache, tokens, painter = self.theme.paint_cache, self.theme.tokens, QPainter(self)
        step, room = self._step, self.width() - 2 * INSET_PX
        while step > 0 and cache.metrics(step, SEMIBOLD).horizontalAdvance(self.value) > room:
            step -= 1
        painter.setFont(cache.font(step, SEMIBOLD))
        painter.setPen(cache.color(tokens.accent_text if self._has_gain else tokens.text))
        painter.drawText(QRectF(INSET_PX, 0.0, room, self.height()), _LEFT, self.value)
        self.paint_focus_ring(painter)


class SpeedBar(ValueFigure):
    """A speed with its name, and below them a bar as long as its share of the larger one."""

    def __init__(self, theme: Theme, key: str, field: str) -> None:
        self._field = field
        self._share = 0.0
        super().__init__(theme, name_of(key), help_of(key))

    def fit(self) -> None:
        self._line_px = round(self.theme.paint_cache.metrics().height())
        self.setFixedHeight(self._line_px + GAP_PX + BAR_PX + GAP_PX)
        self.update()

    def show_speed(self, tokens_per_s: float | None, most: float) -> None:
        """Show tokens per second, of which ``most`` fill the bar."""
        share = tokens_per_s / most if tokens_per_s is not None and most > 0 else 0.0
        if share != self._share:
            self._share = share
            self.update()
        self.set_value(UNKNOWN if tokens_per_s is None else speed(tokens_per_s))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        cache, tokens, painter = self.theme.paint_cache, self.theme.tokens, QPainter(self)
        width = self.width() - 2 * INSET_PX
        text_px = cache.metrics().horizontalAdvance(self.value)
        painter.setFont(cache.font(-1))
        painter.setPen(cache.color(tokens.text_muted))
        room = QRectF(INSET_PX, 0.0, max(width - text_px - 8, 0.0), self._line_px)
        name = cache.metrics(-1).elidedText(self.name, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, _LEFT, name)
        painter.setFont(cache.font())
        painter.setPen(cache.color(tokens.text))
        painter.drawText(
            round(INSET_PX + width - text_px), round(baseline(0.0, self._line_px, cache.metrics())), self.value
        )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        bar = QRectF(INSET_PX, self._line_px + GAP_PX, width, BAR_PX)
        for share, field in ((1.0, tokens.hover), (self._share, str(getattr(tokens, self._field)))):
            if share > 0:
                painter.setBrush(cache.color(field))
                filled = QRectF(bar.topLeft(), bar.bottomRight())
                filled.setWidth(max(bar.width() * share, BAR_PX))
                painter.drawRoundedRect(filled, BAR_PX / 2, BAR_PX / 2)
        self.paint_focus_ring(painter)


class SpeedPart:
    """The headline, the two bars that it follows from, and what it rests on: the same rows for every answer."""

    def __init__(self, theme: Theme) -> None:
        self.headline = Headline(theme)
        self.now = SpeedBar(theme, "now", "accent")
        self.plain = SpeedBar(theme, "plain", "target")
        self.basis = label("", "caption", wrap=True)
        self.basis.setContentsMargins(INSET_PX, 0, INSET_PX, 0)

    @property
    def figures(self) -> list[FigureWidget]:
        return [self.headline, self.now, self.plain]

    def show(self, stats: RunStats, *, live: bool = False) -> None:
        """Show counters, ``live`` while the answer is made."""
        verdict = answer_verdict(stats, live=live)
        now, speedup = stats.tokens_per_second, verdict.speedup
        plain = now / speedup if now is not None and speedup else None
        if verdict.missing is Missing.NOTHING_DRAFTED:
            plain = now
        most = max(now or 0.0, plain or 0.0)
        self.headline.show_verdict(verdict)
        self.now.show_speed(now, most)
        self.plain.show_speed(plain, most)
        words = basis_words(verdict, stats, live=live)
        if words != self.basis.text():
            self.basis.setText(words)
