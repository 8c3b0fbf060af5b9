"""The conversations by day, drawn by a delegate: elided titles, rename in place, delete by key or menu."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from ui.formatting import day_group
from ui.records import ConversationRow
from ui.theme import SEMIBOLD, Theme

Index = QModelIndex | QPersistentModelIndex
ROW_HEIGHT, HEADING_HEIGHT = 32, 30
_NO_PARENT = QModelIndex()


class ConversationModel(QAbstractListModel):
    """Headings (a text) and conversations (a row), filtered by title.

    Signals:
        renamed(int, str): the user typed another title.
    """

    renamed = Signal(int, str)

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[ConversationRow] = []
        self._items: list[str | ConversationRow] = []
        self._filter = ""

    def set_rows(self, rows: Sequence[ConversationRow]) -> None:
        """Replace the list; newest first is the caller's order."""
        self._rows = list(rows)
        self._rebuild()

    def set_filter(self, text: str) -> None:
        """Show only titles that contain ``text``, whatever the case."""
        self._filter = text.casefold().strip()
        self._rebuild()

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._items = []
        today = datetime.now().astimezone().date()
        heading = ""
        for row in self._rows:
            if self._filter and self._filter not in row.title.casefold():
                continue
            group = day_group(_local_day(row.updated_at), today)
            if group != heading:
                heading = group
                self._items.append(group)
            self._items.append(row)
        self.endResetModel()

    def item(self, index: Index) -> str | ConversationRow | None:
        """The heading or the conversation at ``index``."""
        return self._items[index.row()] if index.isValid() and index.row() < len(self._items) else None

    def index_of(self, conversation_id: int | None) -> QModelIndex:
        """Where a conversation is listed; invalid where it is not."""
        for line, item in enumerate(self._items):
            if isinstance(item, ConversationRow) and item.id == conversation_id:
                return self.index(line, 0)
        return QModelIndex()

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """Headings count as rows."""
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        """Titles, also as tool tips and for screen readers."""
        item = self.item(index)
        wanted = (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.EditRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        )
        if item is None or role not in wanted:
            return None
        return item if isinstance(item, str) else item.title

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Headings can be neither chosen nor edited."""
        if isinstance(self.item(index), ConversationRow):
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable
        return Qt.ItemFlag.NoItemFlags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """A typed title is an intention; the list changes when the app says so."""
        item = self.item(index)
        title = str(value).strip()
        if role != Qt.ItemDataRole.EditRole or not isinstance(item, ConversationRow):
            return False
        if title and title != item.title:
            self.renamed.emit(item.id, title)
        return True


def _local_day(moment: datetime) -> date:
    return (moment.astimezone() if moment.tzinfo else moment).date()


class _Delegate(QStyledItemDelegate):
    """Draws headings and titles with the palette in force."""

    def __init__(self, theme: Theme, model: ConversationModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002
        heading = isinstance(self._model.item(index), str)
        return QSize(0, HEADING_HEIGHT if heading else ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        item = self._model.item(index)
        rect: QRect = option.rect
        painter.save()
        if isinstance(item, str):
            self._paint_heading(painter, rect, item)
        elif item is not None:
            self._paint_title(painter, rect, item.title, option.state)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, text: str) -> None:
        painter.setFont(self._theme.font(-1, SEMIBOLD))
        painter.setPen(QColor(self._theme.tokens.text_muted))
        bottom = Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft
        painter.drawText(rect.adjusted(10, 0, -8, -5), int(bottom), text)

    def _paint_title(self, painter: QPainter, rect: QRect, title: str, state: QStyle.StateFlag) -> None:
        tokens = self._theme.tokens
        selected = bool(state & QStyle.StateFlag.State_Selected)
        box = rect.adjusted(0, 1, 0, -1)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selected if selected else tokens.hover))
            painter.drawRoundedRect(box, 6, 6)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(tokens.focus))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 5, 5)
        font = self._theme.font(0)
        painter.setFont(font)
        painter.setPen(QColor(tokens.text))
        text_box = box.adjusted(10, 0, -8, 0)
        shown = QFontMetrics(font).elidedText(title, Qt.TextElideMode.ElideRight, text_box.width())
        painter.drawText(text_box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:  # noqa: ARG002
        editor = QLineEdit(parent)
        editor.setAccessibleName("Title of the conversation")
        editor.setMaxLength(200)
        return editor


class ConversationList(QListView):
    """The list itself.

    Signals:
        chosen(int): another conversation is wanted.
        rename_requested(int, str), delete_requested(int, str): id and title.
    """

    chosen = Signal(int)
    rename_requested = Signal(int, str)
    delete_requested = Signal(int, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._current: int | None = None
        self.rows = ConversationModel()
        self.rows.renamed.connect(self.rename_requested)
        self.setModel(self.rows)
        self.setItemDelegate(_Delegate(theme, self.rows, self))
        self.setAccessibleName("Conversations")
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)
        self.clicked.connect(self._choose)
        theme.changed.connect(self.viewport().update)

    def set_rows(self, rows: Sequence[ConversationRow], current_id: int | None) -> None:
        """Show the conversations and mark the one that is open."""
        self._current = current_id
        self.rows.set_rows(rows)
        self._mark()

    def set_filter(self, text: str) -> None:
        """Show only matching titles."""
        self.rows.set_filter(text)
        self._mark()

    def _mark(self) -> None:
        index = self.rows.index_of(self._current)
        self.setCurrentIndex(index)
        if index.isValid():
            self.scrollTo(index)

    def _choose(self, index: QModelIndex) -> None:
        item = self.rows.item(index)
        if isinstance(item, ConversationRow):
            self.chosen.emit(item.id)

    def _ask_delete(self, index: QModelIndex) -> None:
        item = self.rows.item(index)
        if isinstance(item, ConversationRow):
            self.delete_requested.emit(item.id, item.title)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens, Del asks to delete, F2 renames."""
        if event.key() == Qt.Key.Key_Delete:
            self._ask_delete(self.currentIndex())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def make_menu(self, index: QModelIndex) -> QMenu | None:
        """The context menu of one conversation."""
        if not isinstance(self.rows.item(index), ConversationRow):
            return None
        menu = QMenu(self)
        open_action = menu.addAction(self._theme.icon("message-square"), "Open")
        open_action.triggered.connect(lambda: self._choose(index))
        rename = menu.addAction(self._theme.icon("pencil"), "Rename\tF2")
        rename.triggered.connect(lambda: self.edit(index))
        delete = menu.addAction(self._theme.icon("trash-2"), "Delete…\tDel")
        delete.triggered.connect(lambda: self._ask_delete(index))
        return menu

    def _open_menu(self, place: QPoint) -> None:
        index = self.indexAt(place)
        menu = self.make_menu(index)
        if menu is not None:
            self.setCurrentIndex(index)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.viewport().mapToGlobal(place))
