"""The fit table of a pair: what weights, caches and buffers take, against what is free, and what to change."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from app.core.domain.models import FitLevel, FitPlace, FitSummary
from ui.models.parts import StatusMark
from ui.models.words import bytes_or_unknown
from ui.text.formatting import count, size
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import empty_layout, grid, label, show_text, vbox
from ui.widgets.styling import rule

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class MemoryBar(QWidget):
    """How much of what is free would be taken; the words beside it carry the figures."""

    def __init__(self, theme: Theme, place: FitPlace) -> None:
        super().__init__()
        self._theme, self._place = theme, place
        self.setMinimumWidth(80)
        self.setFixedHeight(16)
        self.setAccessibleName(place.label)
        self.setAccessibleDescription(place_words(place))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(160, 16)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """A rounded line, filled as far as the share goes; what is too large fills it whole and is hatched."""
        tokens, place = self._theme.tokens, self._place
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        box = QRectF(0, self.height() / 2 - 3, self.width(), 6)
        painter.setBrush(QColor(tokens.hover))
        painter.drawRoundedRect(box, 3, 3)
        if not place.free_bytes:
            return
        share = min(place.needed_bytes / place.free_bytes, 1.0)
        colors = {FitLevel.FITS: tokens.good, FitLevel.TIGHT: tokens.caution, FitLevel.TOO_LARGE: tokens.danger}
        painter.setBrush(QColor(colors.get(place.level, tokens.text_muted)))
        painter.drawRoundedRect(QRectF(box.left(), box.top(), max(box.width() * share, 6), box.height()), 3, 3)
        if place.level is FitLevel.TOO_LARGE:
            painter.setBrush(QBrush(QColor(tokens.page), Qt.BrushStyle.BDiagPattern))
            painter.drawRoundedRect(box, 3, 3)


def place_words(place: FitPlace) -> str:
    """``5.1 GB of 9.3 GB free``."""
    free = translate("FitView", "an unknown amount") if place.free_bytes is None else size(place.free_bytes)
    return translate("FitView", "{size} of {free} free").format(size=size(place.needed_bytes), free=free)


def _heading(table: FitSummary) -> str:
    """What the figures hold for."""
    size, number = count(table.n_ctx), count(table.parallel)
    if table.parallel == 1:
        return translate("FitView", "Needed with a context of {count} tokens").format(count=size)
    if table.shared_context:
        words = translate("FitView", "Needed with a context of {count} tokens, shared by {number} answers at once")
    else:
        words = translate("FitView", "Needed with a context of {count} tokens for each of {number} answers at once")
    return words.format(count=size, number=number)


class FitView(QWidget):
    """Values in by `set_table`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.heading = label("", "section")
        self.grid = grid(gaps=(20, 6))
        self.rooms = grid(gaps=(14, 6))
        self.advice = label("", "", wrap=True)
        vbox(self.heading, self.grid, self.rooms, self.advice, parent=self, margins=0, spacing=10)

    def set_table(self, table: FitSummary) -> None:
        self.heading.setText(_heading(table))
        self._fill_parts(table)
        self._fill_rooms(table)
        words = [table.sentence] if table.sentence else []
        show_text(self.advice, "\n".join([*words, *(f"•  {line}" for line in table.advice)]))

    def _fill_parts(self, table: FitSummary) -> None:
        empty_layout(self.grid)
        with_draft = any(part.draft_bytes is not None for part in table.parts)
        heads = (
            ("", translate("FitView", "Target"), translate("FitView", "Draft"), translate("FitView", "Together"))
            if with_draft
            else ("", translate("FitView", "Target"))
        )
        for column, text in enumerate(heads):
            self.grid.addWidget(label(text, "caption"), 0, column, _RIGHT if column else _LEFT)
        for row, part in enumerate(table.parts, 1):
            self.grid.addWidget(label(part.label), row, 0, _LEFT)
            cells = (part.target_bytes, part.draft_bytes, part.total_bytes) if with_draft else (part.target_bytes,)
            for column, value in enumerate(cells, 1):
                self.grid.addWidget(self._figure(bytes_or_unknown(value)), row, column, _RIGHT)
        last = len(table.parts) + 1
        self.grid.addWidget(rule(), last, 0, 1, len(heads))
        totals = [
            sum(part.target_bytes or 0 for part in table.parts),
            sum(part.draft_bytes or 0 for part in table.parts),
        ]
        sums = (*totals, sum(totals)) if with_draft else totals[:1]
        self.grid.addWidget(label(translate("FitView", "All"), "strong"), last + 1, 0, _LEFT)
        for column, value in enumerate(sums, 1):
            self.grid.addWidget(self._figure(size(value), "strong"), last + 1, column, _RIGHT)
        self.grid.setColumnStretch(0, 1)

    def _fill_rooms(self, table: FitSummary) -> None:
        empty_layout(self.rooms)
        for row, place in enumerate(table.places):
            mark = StatusMark(self._theme)
            mark.show_fit(place.level)
            self.rooms.addWidget(label(place.label), row, 0, _LEFT)
            self.rooms.addWidget(MemoryBar(self._theme, place), row, 1)
            self.rooms.addWidget(self._figure(place_words(place)), row, 2, _RIGHT)
            self.rooms.addWidget(mark, row, 3, _LEFT)
        self.rooms.setColumnStretch(1, 1)

    def _figure(self, text: str, kind: str = "") -> QLabel:
        made = label(text, kind)
        made.setFont(self._theme.font(0))
        return made
