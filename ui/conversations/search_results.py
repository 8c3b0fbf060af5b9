"""Search results: titles of conversations, each followed by its messages with marked matches."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QListView, QStyledItemDelegate, QStyleOptionViewItem

from app.core.domain.conversations import SearchHit
from ui.text.formatting import without_markup
from ui.text.language import translate
from ui.theme.theme import SEMIBOLD, Theme
from ui.widgets.building import wrap_viewport
from ui.widgets.choice_list import paint_item_background


def claims_escape(event: QEvent) -> bool:
    """Keep Esc from the window's shortcuts. Returns False for any other event."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.key() != Qt.Key.Key_Escape:
        return False
    event.accept()
    return True


class SearchBox(QLineEdit):
    """A search field that signals Enter, Down and Esc."""

    # Enter, Down, Esc
    result_chosen = Signal()
    down_pressed = Signal()
    search_left = Signal()

    def event(self, event: QEvent) -> bool:
        return claims_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.result_chosen.emit()
        elif event.key() == Qt.Key.Key_Down:
            self.down_pressed.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.search_left.emit()
        else:
            super().keyPressEvent(event)


Index = QModelIndex | QPersistentModelIndex
TITLE_HEIGHT, TITLE_PAD, SNIPPET_LINES = 30, 10, 2  # the title height is a minimum
CONTEXT_BEFORE_MATCH = 0.75  # share of a line for the text before the first match, if the text is too long
SNIPPET_SLACK = 40  # margins, and the extra width of bold letters
_NO_PARENT = QModelIndex()


class _Model(QAbstractListModel):
    """A title for each conversation, then its messages."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[SearchHit] = []

    def set_hits(self, hits: Sequence[SearchHit]) -> None:
        self.beginResetModel()
        self.items = []
        last = None
        for hit in map(_with_place, hits):
            if hit.conversation_id != last and hit.message_id is not None:
                self.items.append(replace(hit, message_id=None, role="", parts=((hit.title, False),), source=()))
            last = hit.conversation_id
            self.items.append(hit)
        self.endResetModel()

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self.items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        wanted = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole)
        if not index.isValid() or role not in wanted:
            return None
        words = "".join(text for text, _ in self.items[index.row()].parts)
        return without_markup(words) if role == Qt.ItemDataRole.ToolTipRole else words


def _with_place(hit: SearchHit) -> SearchHit:
    if not hit.archived:
        return hit
    words = " · " + translate("SearchResults", "archived")
    return replace(
        hit, title=hit.title + words, parts=(*hit.parts, (words, False)) if hit.message_id is None else hit.parts
    )


def layout_text(
    text: str, marks: Sequence[QTextLayout.FormatRange], font: QFont, width: float, num_lines: int
) -> QTextLayout:
    """Lay out a text on at most ``num_lines`` lines, with an ellipsis."""
    layout = QTextLayout(text, font)
    layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignLeft))
    layout.setFormats(marks)
    layout.beginLayout()
    height = 0.0
    for _ in range(num_lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        line.setPosition(QPointF(0.0, height))
        height += line.height()
    layout.endLayout()
    last = layout.lineAt(layout.lineCount() - 1)
    units = text.encode("utf-16-le")
    if not last.isValid() or 2 * (last.textStart() + last.textLength()) >= len(units):
        return layout
    begun, left = (units[: 2 * last.textStart()].decode("utf-16-le"), units[2 * last.textStart() :].decode("utf-16-le"))
    bold = QFont(font)
    bold.setWeight(SEMIBOLD)  # the widest weight
    cut = QFontMetrics(bold).elidedText(left, Qt.TextElideMode.ElideRight, int(width))
    return layout_text(begun + cut, marks, font, width, num_lines) if cut != left else layout


def cut_near_match(parts: Sequence[tuple[str, bool]], metrics: QFontMetrics, width: float) -> list[tuple[str, bool]]:
    """The parts of an excerpt, cut so that the first match is within its first line of ``width`` pixels."""
    first = next((number for number, (_, found) in enumerate(parts) if found), 0)
    before, room = "".join(text for text, _ in parts[:first]), int(CONTEXT_BEFORE_MATCH * width)
    if metrics.horizontalAdvance(before + parts[first][0]) <= width:
        return list(parts)
    return [(metrics.elidedText(before, Qt.TextElideMode.ElideLeft, room), False), *parts[first:]]


class _Delegate(QStyledItemDelegate):
    """Paints titles on one line and messages on two, matches in the accent colour."""

    def __init__(self, theme: Theme, model: _Model, parent: QListView) -> None:
        super().__init__(parent)
        self._theme = theme
        self._list = parent
        self._model = model
        self._take_fonts()
        theme.changed.connect(self._take_fonts)

    def _take_fonts(self) -> None:
        """Cache the fonts: each key press queries the height of every row."""
        self._title_font, self._text_font = self._theme.font(0, SEMIBOLD), self._theme.font(-1)
        self._metrics = QFontMetrics(self._text_font)
        self._title_height = max(TITLE_HEIGHT, QFontMetrics(self._title_font).height() + TITLE_PAD)
        self._narrowest = self._metrics.horizontalAdvance("i")

    def _font(self, hit: SearchHit) -> QFont:
        return self._title_font if hit.message_id is None else self._text_font

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002
        hit = self._model.items[index.row()]
        if hit.message_id is None:
            return QSize(0, self._title_height)
        text, room = "".join(piece for piece, _ in hit.parts), self._list.viewport().width() - SNIPPET_SLACK
        # Measuring is slow, so skip it for most excerpts, which are too long even in the narrowest letters.
        fits = len(text) * self._narrowest < room and self._metrics.horizontalAdvance(text) < room
        return QSize(0, (1 if fits else SNIPPET_LINES) * (self._text_font.pixelSize() + 5) + 8)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        hit, tokens = self._model.items[index.row()], self._theme.tokens
        title = hit.message_id is None
        painter.save()
        paint_item_background(painter, option.rect.adjusted(0, 1, 0, -1), option.state, tokens)
        painter.setPen(QColor(tokens.text if title else tokens.text_muted))
        text_box = QRectF(option.rect.adjusted(10 if title else 18, 4, -8, -3))
        num_lines = 1 if title else SNIPPET_LINES
        parts = list(hit.parts)
        if hit.message_id is not None:
            parts = cut_near_match(parts, self._metrics, text_box.width())
        text = "".join(text for text, _ in parts)
        layout = layout_text(text, self._marks(parts), self._font(hit), text_box.width(), num_lines)
        painter.setClipRect(text_box)
        layout.draw(painter, text_box.topLeft())
        painter.restore()

    def _marks(self, parts: Sequence[tuple[str, bool]]) -> list[QTextLayout.FormatRange]:
        """The format of each match: bold as well as coloured."""
        marks, at = [], 0
        for text, found in parts:
            if found:
                mark = QTextLayout.FormatRange()
                mark.start, mark.length = at, len(text)
                look = QTextCharFormat()
                look.setForeground(QColor(self._theme.tokens.accent_text))
                look.setFontWeight(QFont.Weight.Bold)
                mark.format = look
                marks.append(mark)
            at += len(text)
        return marks


class SearchResults(QListView):
    # a conversation, its message or None, and the excerpt of the hit
    chosen = Signal(int, object, object)
    # Up in the first row; Esc
    up_pressed = Signal()
    search_left = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        wrap_viewport(self)
        self._places = _Model()
        self._given: tuple[SearchHit, ...] = ()
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setModel(self._places)
        self.setItemDelegate(_Delegate(theme, self._places, self))
        self.setAccessibleName(translate("SearchResults", "Search results"))
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._choose)
        theme.changed.connect(self.scheduleDelayedItemsLayout)  # the text size may have changed

    @property
    def hits(self) -> list[SearchHit]:
        return list(self._places.items)

    def set_hits(self, hits: Sequence[SearchHit]) -> None:
        """Replace the results; the current row stays current if it still exists."""
        if tuple(hits) == self._given:
            return
        row = self.currentIndex().row() if self.hasFocus() else -1
        chosen = self._places.items[row] if row >= 0 else None
        self._given = tuple(hits)
        self._places.set_hits(hits)
        items = self._places.items
        if chosen is None or not items:
            self.scrollToTop()
            return
        places = [(hit.conversation_id, hit.message_id) for hit in items]
        place = (chosen.conversation_id, chosen.message_id)
        row = places.index(place) if place in places else min(row, len(items) - 1)
        self.setCurrentIndex(self._places.index(row, 0))

    def choose_first(self) -> None:
        first = next((hit for hit in self._places.items if any(found for _, found in hit.parts)), None)
        if first is not None:
            self.chosen.emit(first.conversation_id, first.message_id, first.source or first.parts)

    def focus_first(self) -> None:
        if self._places.items:
            self.setCurrentIndex(self._places.index(0, 0))
            self.setFocus(Qt.FocusReason.TabFocusReason)

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            hit = self._places.items[index.row()]
            self.chosen.emit(hit.conversation_id, hit.message_id, hit.source or hit.parts)

    def event(self, event: QEvent) -> bool:
        """Handle Esc while the list has the focus."""
        return claims_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())
        elif event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= 0:
            self.up_pressed.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.search_left.emit()
        else:
            super().keyPressEvent(event)
