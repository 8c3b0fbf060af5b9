"""How far a lane has come, as a bar over the tokens of the answer, with its tokens and its own clock beside it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from ui.text.formatting import count, duration
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.figure_widget import FigureWidget

BAR_PX, RADIUS_PX, GAP_PX = 8, 4, 6
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


class LaneBar(FigureWidget):
    """``share`` is how much of the bar is filled, from 0 to 1."""

    def __init__(self, theme: Theme) -> None:
        self._tokens, self._seconds, self._is_base = 0, 0.0, False
        self.share = 0.0
        super().__init__(
            theme,
            translate("Race", "Progress"),
            translate(
                "Race",
                "Tokens written so far, and the seconds that this lane has computed. Lanes take turns, so the clock "
                "of a lane stands still while another one computes.",
            ),
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.fit()

    def fit(self) -> None:
        self.setFixedHeight(round(self.theme.paint_cache.metrics(-1).height()) + GAP_PX + BAR_PX + 2)
        self.update()

    def set_base(self, is_base: bool) -> None:
        """The lane that the others are compared with has a bar in grey."""
        self._is_base = is_base
        self.update()

    def show_progress(self, tokens: int, seconds: float, share: float) -> None:
        new = (tokens, seconds, min(max(share, 0.0), 1.0))
        if new != (self._tokens, self._seconds, self.share):
            self._tokens, self._seconds, self.share = new
            self.setAccessibleName(f"{self.name}: {self.words_left}, {self.words_right}")
            self.update()

    @property
    def words_left(self) -> str:
        return translate("Race", "%n tokens", None, self._tokens)

    @property
    def words_right(self) -> str:
        return duration(self._seconds) if self._seconds > 0.0 else count(0) + " s"

    def sizeHint(self) -> QSize:
        return QSize(200, self.minimumHeight())

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter, tokens = QPainter(self), self.theme.tokens
        painter.setFont(self.theme.paint_cache.font(-1))
        painter.setPen(self.theme.paint_cache.color(tokens.text_muted))
        line = QRectF(6, 0, self.width() - 12, self.height() - BAR_PX - GAP_PX)
        painter.drawText(line, _LEFT, self.words_left)
        painter.drawText(line, _RIGHT, self.words_right)
        track = QRectF(6, self.height() - BAR_PX - 2, self.width() - 12, BAR_PX)
        paint_bar(
            painter, track, self.share, QColor(tokens.hover), QColor(tokens.rest if self._is_base else tokens.accent)
        )
        self.paint_focus_ring(painter)


def paint_bar(painter: QPainter, track: QRectF, share: float, ground: QColor, fill: QColor) -> None:
    """A rounded track, filled from the left by this share."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    radius = track.height() / 2
    painter.drawRoundedRect(track, radius, radius)
    if share > 0.0:
        painter.setBrush(fill)
        width = max(track.width() * share, track.height())
        painter.drawRoundedRect(QRectF(track.left(), track.top(), width, track.height()), radius, radius)
