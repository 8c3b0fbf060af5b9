"""The list of races that were kept: question, pair, lanes, and the figure that came of each."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QSizePolicy, QStyledItemDelegate, QStyleOptionViewItem

from app.core.domain.speed.races import RaceSummary
from ui.race.words import against, pair_name, speed_sentence, when
from ui.text.formatting import UNKNOWN, times_plain
from ui.text.language import translate
from ui.text.one_line import cut
from ui.theme.theme import SEMIBOLD, Theme

INSET_PX, GAP_PX = 12, 16
QUESTION_CHARS = 300  # more of one is never seen in a line
_TOP, _BOTTOM, _FIGURE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1, Qt.ItemDataRole.UserRole + 2
_ID = Qt.ItemDataRole.UserRole + 3
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class _TwoLines(QStyledItemDelegate):
    """Draws the question over its pair, and the figure at the right."""

    def __init__(self, theme: Theme, parent: QListWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: ARG002
        return QSize(200, round(self._theme.text_height() + self._theme.text_height(-1)) + 18)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """The ground as the stylesheet says, then the texts."""
        super().paint(painter, option, index)
        paint_cache, tokens = self._theme.paint_cache, self._theme.tokens
        area = option.rect.adjusted(INSET_PX, 6, -INSET_PX, -6)
        painter.save()
        large = paint_cache.font(3, SEMIBOLD)
        figure = str(index.data(_FIGURE))
        width = round(paint_cache.metrics(3, SEMIBOLD).horizontalAdvance(figure))
        painter.setFont(large)
        painter.setPen(QColor(tokens.accent_text))
        painter.drawText(area, _RIGHT, figure)
        room = area.width() - width - GAP_PX
        half = round(area.height() * 0.54)
        for role, step, color, top, height in (
            (_TOP, 0, tokens.text, area.top(), half),
            (_BOTTOM, -1, tokens.text_muted, area.top() + half, area.height() - half),
        ):
            painter.setFont(paint_cache.font(step))
            painter.setPen(QColor(color))
            text = cut(str(index.data(role)), painter.fontMetrics(), room)
            painter.drawText(QRect(area.left(), top, room, height), _LEFT, text)
        painter.restore()


class EarlierRaces(QListWidget):
    """Newest first. It is as high as its rows: the page around it scrolls.

    Signals:
        chosen(str), delete_requested(str): the id of a race.
    """

    chosen = Signal(str)
    delete_requested = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("choices")
        self.setAccessibleName(translate("Race", "Earlier races"))
        self.setItemDelegate(_TwoLines(theme, self))
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.itemClicked.connect(self._choose)
        self.itemActivated.connect(self._choose)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    def set_rows(self, rows: Sequence[RaceSummary]) -> None:
        current = self.currentRow()
        self.clear()
        for row in rows:
            self.addItem(_item(row))
        if self.count():
            self.setCurrentRow(min(max(current, 0), self.count() - 1))
            self.clearSelection()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """As high as all rows: beside the scrollbars that it never has, Qt would leave room for them."""
        rows = sum(self.sizeHintForRow(row) for row in range(self.count()))
        around = 2 * self.frameWidth() + self.contentsMargins().top() + self.contentsMargins().bottom()
        return QSize(super().sizeHint().width(), rows + around)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), self.sizeHint().height())

    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(str(item.data(_ID)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        if item is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(item)
        elif item is not None and event.key() == Qt.Key.Key_Delete:
            self.delete_requested.emit(str(item.data(_ID)))
        else:
            super().keyPressEvent(event)


def _item(row: RaceSummary) -> QListWidgetItem:
    item = QListWidgetItem()
    question = " ".join(row.question[:QUESTION_CHARS].split())
    ratio = row.verdict.ratio if row.verdict is not None else None
    below = " · ".join(
        part for part in (when(row.created), against(row.lanes), pair_name(row.target, row.draft)) if part
    )
    figure = UNKNOWN if ratio is None else times_plain(ratio)
    item.setData(_TOP, question)
    item.setData(_BOTTOM, below)
    item.setData(_FIGURE, figure)
    item.setData(_ID, row.id)
    spoken = speed_sentence(row.verdict, row.lanes) if row.verdict is not None else ""
    item.setData(Qt.ItemDataRole.AccessibleTextRole, " ".join(part for part in (question, below, spoken) if part))
    return item
