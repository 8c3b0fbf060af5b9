"""A race as a picture to share: verdict, models, machine, lanes, question.

`draw_picture` uses no widget and may run on any thread; call `picture_look` on the GUI thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.core.domain.speed.races import LaneChoice, LaneResult, RaceResult, main_verdict
from ui.race.track import base_of, verdict_title
from ui.race.words import (
    answers_sentence,
    machine_line,
    own_models,
    pair_name,
    result_line,
    short_name,
    speed_sentence,
    when,
)
from ui.text.formatting import UNKNOWN, acceptance, duration, milliseconds, per_pass, speed, times_plain
from ui.text.language import Translator
from ui.text.one_line import cut
from ui.theme.palette import Palette
from ui.theme.theme import Theme
from ui.widgets.figures import paint_bar

tr = Translator("Race")

WIDTH, HEIGHT, MARGIN = 1200.0, 675.0, 56.0  # in logical pixels, in the aspect ratio of social media previews
FOOT_PX = 62.0  # height of the question above the lower margin
RATIO = 2  # device pixels per logical pixel
ICON_PX = 30
HEADLINE_PX, TITLE_PX, BODY_PX, SMALL_PX = 92, 27, 17, 15
LANE_BAR_PX, LANE_STEP_PX, MAX_STEP_PX = 18.0, 78.0, 108.0
NAME_PX, SPEED_PX = 190.0, 150.0  # column widths for a lane's name and speed
_WRAP = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_BOLD = QFont.Weight.DemiBold


@dataclass(frozen=True, slots=True)
class PictureLook:
    tokens: Palette
    family: QFont
    icon: QImage


def picture_look(theme: Theme) -> PictureLook:
    icon = theme.application_icon().pixmap(ICON_PX * RATIO, ICON_PX * RATIO).toImage()
    return PictureLook(theme.tokens, QFont(QApplication.font()), icon)


def draw_picture(result: RaceResult, look: PictureLook) -> QImage:
    image = QImage(round(WIDTH * RATIO), round(HEIGHT * RATIO), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(RATIO)
    image.fill(QColor(look.tokens.page))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    _Picture(painter, look, result).draw()
    painter.end()
    return image


class _Picture:
    def __init__(self, painter: QPainter, look: PictureLook, result: RaceResult) -> None:
        self._painter, self._look, self._result = painter, look, result
        self._lanes: Sequence[LaneChoice] = [lane.choice for lane in result.lanes]

    def draw(self) -> None:
        self._draw_brand()
        bottom = self._draw_verdict(MARGIN + ICON_PX + 26)
        bottom = self._draw_models(bottom + 22)
        self._draw_lanes(bottom + 26)
        self._draw_foot()

    def _text(
        self, area: QRectF, text: str, pixels: int, color: str, *, bold: bool = False, flags: int = _LEFT
    ) -> None:
        font = self._font(pixels, bold=bold)
        self._painter.setFont(font)
        self._painter.setPen(QColor(color))
        shown = text if flags == _WRAP else cut(text, QFontMetricsF(font), area.width())
        self._painter.drawText(area, flags, shown)

    def _font(self, pixels: int, *, bold: bool = False) -> QFont:
        font = QFont(self._look.family)
        font.setPixelSize(pixels)
        font.setFeature(QFont.Tag("tnum"), 1)
        if bold:
            font.setWeight(_BOLD)
        return font

    def _width(self, text: str, pixels: int, *, bold: bool = False) -> float:
        return QFontMetricsF(self._font(pixels, bold=bold)).horizontalAdvance(text)

    def _draw_brand(self) -> None:
        tokens = self._look.tokens
        self._painter.drawImage(QRectF(MARGIN, MARGIN - 8, ICON_PX, ICON_PX), self._look.icon)
        name = "Paceline"
        line = QRectF(MARGIN + ICON_PX + 12, MARGIN - 8, 500, ICON_PX)
        self._text(line, name, BODY_PX + 2, tokens.text, bold=True)
        after = line.adjusted(self._width(name, BODY_PX + 2, bold=True) + 8, 0, 0, 0)
        self._text(after, tr("race"), BODY_PX + 2, tokens.text_muted)
        right = QRectF(WIDTH - MARGIN - 400, MARGIN - 8, 400, ICON_PX)
        self._text(right, when(self._result.created), SMALL_PX, tokens.text_muted, flags=_RIGHT)

    def _draw_verdict(self, top: float) -> float:
        """Draw the ratio and its sentence; returns the bottom edge."""
        tokens, lanes = self._look.tokens, self._lanes
        verdict = main_verdict(self._result.verdicts, list(lanes))
        figure = UNKNOWN if verdict is None or verdict.ratio is None else times_plain(verdict.ratio)
        color = tokens.accent_text if verdict is not None and verdict.is_sure else tokens.text
        height = float(HEADLINE_PX + 8)
        self._text(QRectF(MARGIN - 4, top, 500, height), figure, HEADLINE_PX, color, bold=True)
        left = MARGIN + self._width(figure, HEADLINE_PX, bold=True) + 34
        room = QRectF(left, top + 8, WIDTH - MARGIN - left, 36)
        self._text(room, verdict_title(verdict, lanes), TITLE_PX, tokens.text, bold=True)
        if verdict is not None:
            words = f"{speed_sentence(verdict, lanes)} {answers_sentence(verdict)}"
            self._text(QRectF(left, top + 50, room.width(), 60), words, BODY_PX, tokens.text_muted, flags=_WRAP)
        return top + height

    def _draw_models(self, top: float) -> float:
        tokens, result = self._look.tokens, self._result
        width = WIDTH - 2 * MARGIN
        name = pair_name(result.target, result.draft)
        self._text(QRectF(MARGIN, top, width, 28), name, BODY_PX + 4, tokens.text, bold=True)
        self._text(QRectF(MARGIN, top + 28, width, 24), machine_line(result), SMALL_PX, tokens.text_muted)
        return top + 52

    def _draw_lanes(self, top: float) -> None:
        fastest = max((lane.stats.tokens_per_second or 0.0 for lane in self._result.lanes), default=0.0)
        base = base_of(self._lanes)
        room = HEIGHT - MARGIN - FOOT_PX - 16 - top
        step = min(max(room / max(len(self._lanes), 1), LANE_STEP_PX), MAX_STEP_PX)
        for number, lane in enumerate(self._result.lanes):
            self._draw_lane(top + number * step, lane, fastest, is_base=number == base)

    def _draw_lane(self, top: float, lane: LaneResult, fastest: float, *, is_base: bool) -> None:
        tokens, stats = self._look.tokens, lane.stats
        left, width = MARGIN + NAME_PX, WIDTH - 2 * MARGIN - NAME_PX - SPEED_PX
        self._text(QRectF(MARGIN, top, NAME_PX - 16, 30), short_name(lane.choice), BODY_PX + 3, tokens.text, bold=True)
        share = (stats.tokens_per_second or 0.0) / fastest if fastest > 0.0 else 0.0
        track = QRectF(left, top + (30 - LANE_BAR_PX) / 2, width, LANE_BAR_PX)
        fill = tokens.rest if is_base else tokens.accent
        paint_bar(self._painter, track, share, QColor(tokens.hover), QColor(fill))
        right = QRectF(left + width, top, SPEED_PX, 30)
        self._text(right, speed(stats.tokens_per_second), BODY_PX + 3, tokens.text, bold=True, flags=_RIGHT)
        self._text(QRectF(left, top + 32, width + SPEED_PX, 24), _lane_line(lane), SMALL_PX, tokens.text_muted)

    def _draw_foot(self) -> None:
        tokens, result = self._look.tokens, self._result
        box = QRectF(MARGIN, HEIGHT - MARGIN - FOOT_PX, WIDTH - 2 * MARGIN, FOOT_PX + 8)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(QColor(tokens.tint))
        self._painter.drawRoundedRect(box, 10, 10)
        inner = box.adjusted(20, 10, -20, -10)
        question = " ".join(result.setup.question[:400].split())
        self._text(QRectF(inner.topLeft(), QPointF(inner.right(), inner.top() + 26)), question, BODY_PX, tokens.text)
        below = QRectF(QPointF(inner.left(), inner.top() + 27), inner.bottomRight())
        self._text(below, result_line(result), SMALL_PX, tokens.text_muted)


def _lane_line(lane: LaneResult) -> str:
    stats = lane.stats
    parts = [own] if (own := own_models(lane.choice)) else []
    parts.append(tr("{number} tokens per pass").format(number=per_pass(stats.tokens_per_pass)))
    if stats.proposed:
        parts.append(tr("{share} accepted").format(share=acceptance(stats)))
    parts.append(
        tr("p50 {median}, p95 {slow} between tokens").format(
            median=milliseconds(stats.inter_token_ms_p50), slow=milliseconds(stats.inter_token_ms_p95)
        )
    )
    if stats.proposed:
        parts.append(tr("{time} lost to rollback").format(time=duration(stats.rollback_s)))
    return " · ".join(parts)
