"""A list of rows of two or three lines with an icon, under headings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ui.text.formatting import without_markup
from ui.text.one_line import elided
from ui.theme.palette import Palette
from ui.theme.theme import REGULAR, SEMIBOLD, Theme


def paint_item_background(painter: QPainter, box: QRect, state: QStyle.StateFlag, tokens: Palette) -> None:
    """Fill ``box`` with the background for the row's ``state``."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    selected = bool(state & QStyle.StateFlag.State_Selected)
    if selected or state & QStyle.StateFlag.State_MouseOver:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(tokens.selected if selected else tokens.hover))
        painter.drawRoundedRect(box, 6, 6)
    if state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QColor(tokens.focus))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 5, 5)


Index = QModelIndex | QPersistentModelIndex
HEADING_PX, PAD_PX, ICON_PX = 32, 9, 16
SIDE_TEXT_PX, ICON_GAP_PX = 10, 9
LINE_PX, LEADING_PX = 19, 3  # minimum line height; space in a line above and below the letters
_NO_PARENT = QModelIndex()


@dataclass(frozen=True, slots=True)
class Choice:
    """A row; a heading if it has no key. ``tone``: the icon's colour: "accent", "good", "warn", "bad" or "muted".

    A row that is not ``enabled`` is grey and cannot be chosen; its lines give the reason and stay readable.
    """

    key: str
    title: str
    lines: tuple[str, ...] = ()
    side: str = ""  # text at the right end of the title line
    icon: str = ""
    tone: str = "muted"
    spoken: str = ""  # meaning of the icon, for screen readers and the tool tip
    enabled: bool = True
    wraps: bool = False  # whether each line may wrap onto two


def wrapped(text: str, metrics: QFontMetrics, width: int) -> list[str]:
    """A text in at most two lines of this width in pixels; the last line contains the rest."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and len(lines) < 2 and metrics.horizontalAdvance(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def grouped(groups: Iterable[tuple[str, Sequence[Choice]]]) -> list[Choice]:
    """The rows of all groups under their headings; empty groups are omitted."""
    return [choice for heading, rows in groups if rows for choice in (Choice("", heading), *rows)]


class ChoiceModel(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[Choice, ...] = ()
        self.has_icons = False  # if so, all rows reserve the space of an icon, so that their texts align

    def set_rows(self, rows: Sequence[Choice]) -> None:
        self.beginResetModel()
        self.rows = tuple(rows)
        self.has_icons = any(row.icon for row in rows)
        self.endResetModel()

    def choice(self, index: Index) -> Choice | None:
        return self.rows[index.row()] if index.isValid() and index.row() < len(self.rows) else None

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        """The title; for screen readers and tool tips the whole row."""
        choice = self.choice(index)
        if choice is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return choice.title
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            pieces = (choice.title, choice.spoken, choice.side, *choice.lines)
            if role == Qt.ItemDataRole.ToolTipRole:
                return without_markup("\n".join(piece for piece in pieces if piece))
            return ". ".join(piece for piece in pieces if piece)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        choice = self.choice(index)
        if choice is None or not (choice.key and choice.enabled):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class _Delegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, model: ChoiceModel, pad: int, view: QListView) -> None:
        super().__init__(view)
        self._theme, self._model, self._padding, self._view = theme, model, pad, view

    @property
    def _line_px(self) -> int:
        return max(LINE_PX, ceil(self._theme.text_height()) + LEADING_PX)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002
        choice = self._model.choice(index)
        if choice is None or not choice.key:
            return QSize(0, max(HEADING_PX, 2 * self._line_px - 6))
        num_lines = 1 + sum(len(self._lines(choice, text)) for text in choice.lines)
        return QSize(0, 2 * self._padding + self._line_px * num_lines + 2)

    def _lines(self, choice: Choice, text: str) -> list[str]:
        if not choice.wraps:
            return [text]
        room = (
            self._view.viewport().width() - 2 * SIDE_TEXT_PX - (ICON_PX + ICON_GAP_PX if self._model.has_icons else 0)
        )
        return wrapped(text, QFontMetrics(self._theme.font(-1)), room)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        choice = self._model.choice(index)
        if choice is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if choice.key:
            paint_item_background(painter, option.rect.adjusted(0, 1, 0, -1), option.state, self._theme.tokens)
            self._paint_row(painter, option.rect.adjusted(0, 1, 0, -1), choice)
        else:
            box = option.rect.adjusted(10, 0, -8, -6)
            self._write(painter, box, choice.title, self._theme.font(-1, SEMIBOLD), Qt.AlignmentFlag.AlignBottom)
        painter.restore()

    def _paint_row(self, painter: QPainter, box: QRect, choice: Choice) -> None:
        tokens = self._theme.tokens
        inner = box.adjusted(SIDE_TEXT_PX, self._padding, -SIDE_TEXT_PX, -self._padding)
        if choice.icon:
            colors = {
                "accent": tokens.accent_text,
                "good": tokens.good,
                "warn": tokens.caution,
                "bad": tokens.danger,
            }
            ratio = painter.device().devicePixelRatioF()
            color = colors.get(choice.tone, tokens.text_muted)
            painter.drawPixmap(inner.topLeft(), self._theme.pixmap(choice.icon, color, ICON_PX, ratio))
        if self._model.has_icons:
            inner.adjust(ICON_PX + ICON_GAP_PX, 0, 0, 0)
        line = QRect(inner.left(), inner.top() - 1, inner.width(), self._line_px)
        caption = self._theme.font(-1)
        room = line.width()
        if choice.side:
            width = QFontMetrics(caption).horizontalAdvance(choice.side) + 2
            self._write(painter, line, choice.side, caption, Qt.AlignmentFlag.AlignRight)
            room -= width + 10
        title = QRect(line.left(), line.top(), room, self._line_px)
        color = tokens.text if choice.enabled else tokens.text_disabled
        weight = SEMIBOLD if choice.lines or choice.side else REGULAR  # a name alone in its row is not emphasized
        self._write(painter, title, choice.title, self._theme.font(0, weight), color=color)
        lines = [part for text in choice.lines for part in self._lines(choice, text)]
        for number, text in enumerate(lines, 1):
            self._write(painter, line.translated(0, self._line_px * number), text, caption)

    def _write(
        self,
        painter: QPainter,
        box: QRect,
        text: str,
        font: QFont,
        where: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        color: str = "",
    ) -> None:
        painter.setPen(QColor(color or self._theme.tokens.text_muted))
        painter.setFont(font)
        shown = elided(text, QFontMetrics(font), box.width())
        upright = where if where & Qt.AlignmentFlag.AlignVertical_Mask else where | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box, int(upright), shown)


class ChoiceList(QListView):
    chosen = Signal(str)  # a row was clicked, or reached by arrow keys
    opened = Signal(str)  # Enter, Space or a double click on a row

    def __init__(self, theme: Theme, name: str, *, pad: int = PAD_PX) -> None:
        super().__init__()
        self.rows = ChoiceModel()
        self._filling = False
        self.setModel(self.rows)
        self.setItemDelegate(_Delegate(theme, self.rows, pad, self))
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.doubleClicked.connect(self._open)
        self.selectionModel().currentChanged.connect(self._on_current)
        theme.changed.connect(self.scheduleDelayedItemsLayout)  # the text size may have changed

    def set_rows(self, rows: Sequence[Choice], key: str = "") -> None:
        """Replace the rows. The row ``key``, else the current row, stays current; no signal is emitted."""
        wanted = key or self.current_key()
        self._filling = True
        self.rows.set_rows(rows)
        for line, row in enumerate(self.rows.rows):
            if row.key and row.key == wanted:
                self.setCurrentIndex(self.rows.index(line, 0))
        self._filling = False

    def current_key(self) -> str:
        return self.key_at(self.currentIndex())

    def key_at(self, index: Index) -> str:
        """The key of the row at ``index``; empty for a heading."""
        choice = self.rows.choice(index)
        return choice.key if choice else ""

    def choose(self, key: str) -> None:
        """Make a row current and emit the signal."""
        line = next((line for line, row in enumerate(self.rows.rows) if row.key == key), None)
        if line is not None:
            self.setCurrentIndex(self.rows.index(line, 0))

    def choose_first(self) -> None:
        """Make the first enabled row current and emit the signal."""
        self.choose(next((row.key for row in self.rows.rows if row.key and row.enabled), ""))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Recompute the heights of wrapped rows, which Qt caches."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width() and any(row.wraps for row in self.rows.rows):
            self.scheduleDelayedItemsLayout()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open(self.currentIndex())
            return
        super().keyPressEvent(event)

    def _on_current(self, index: QModelIndex) -> None:
        choice = self.rows.choice(index)
        if choice is not None and choice.key and not self._filling:
            self.chosen.emit(choice.key)

    def _open(self, index: QModelIndex) -> None:
        choice = self.rows.choice(index)
        if choice is not None and choice.key:
            self.opened.emit(choice.key)
