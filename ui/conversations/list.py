"""The chat list, painted by a delegate: rename in place, fold, drag, delete by key or menu."""

from collections.abc import Collection, Sequence
from math import ceil

from PySide6.QtCore import QModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QApplication,
    QLineEdit,
    QListView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)
from shiboken6 import isValid

from app.core.domain.conversations import ConversationRow, FolderRow
from ui.conversations.menu import make_menu
from ui.conversations.model import ANSWERING, UNSEEN, ConversationModel, Heading, Index, Item, heading_words
from ui.text.language import translate
from ui.text.one_line import elided
from ui.theme.theme import SEMIBOLD, Theme
from ui.widgets.building import wrap_viewport
from ui.widgets.choice_list import paint_item_background

# Total padding above and below a title, and the minimum row height. All rows are equally high, so the view queries one.
PAD_PX, ROW_PX = 16, 32

BAR_PX = 3
ACTIVITY_PX = 8


class _Delegate(QStyledItemDelegate):
    """Paints headings and titles, and a bar beside the ``open`` chat."""

    def __init__(self, theme: Theme, model: ConversationModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model
        self.open: int | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002
        return QSize(0, max(ROW_PX, ceil(self._theme.text_height()) + PAD_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        item = self._model.item(index)
        rect: QRect = option.rect
        painter.save()
        if isinstance(item, Heading):
            if item.can_fold:
                paint_item_background(painter, rect.adjusted(0, 1, 0, -1), option.state, self._theme.tokens)
                name = "chevron-right" if item.folded else "chevron-down"
                icon = self._theme.icon(name, self._theme.tokens.text_muted, 14)
                icon.paint(painter, QRect(rect.left() + 10, rect.center().y() - 6, 14, 14))
            font = self._theme.font(-1, SEMIBOLD)
            painter.setFont(font)
            painter.setPen(QColor(self._theme.tokens.text_muted))
            place = Qt.AlignmentFlag.AlignVCenter if item.can_fold else Qt.AlignmentFlag.AlignBottom
            box = rect.adjusted(30, 0, -8, 0) if item.can_fold else rect.adjusted(10, 0, -8, -5)
            words = heading_words(item)
            text = f"{words} · {item.num_rows}" if item.folded else words
            shown = elided(text, QFontMetrics(font), box.width())
            painter.drawText(box, int(place | Qt.AlignmentFlag.AlignLeft), shown)
        elif item is not None:
            paint_item_background(painter, rect.adjusted(0, 1, 0, -1), option.state, self._theme.tokens)
            if item.id == self.open:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(self._theme.tokens.accent))
                painter.drawRoundedRect(rect.left() + 2, rect.top() + 8, BAR_PX, rect.height() - 16, 1, 1)
            self._paint_title(painter, rect, item)
        painter.restore()

    def _paint_title(self, painter: QPainter, rect: QRect, row: ConversationRow) -> None:
        tokens = self._theme.tokens
        font = self._theme.font(0)
        painter.setFont(font)
        painter.setPen(QColor(tokens.text_muted if row.archived else tokens.text))
        indent = 30 if row.folder_id is not None and not row.pinned and not row.archived else 10
        text_box = rect.adjusted(indent, 0, -8, 0)
        if row.pinned:
            mark = QRect(text_box.right() - 13, rect.center().y() - 6, 14, 14)
            self._theme.icon("pin", tokens.text_muted, 14).paint(painter, mark)
            text_box.adjust(0, 0, -20, 0)
        if row.used_remote_server:
            mark = QRect(text_box.right() - 13, rect.center().y() - 6, 14, 14)
            self._theme.icon("upload", tokens.text_muted, 14).paint(painter, mark)
            text_box.adjust(0, 0, -20, 0)
        activity = self._model.activity_of(row)
        if activity:
            left, top = text_box.right() - ACTIVITY_PX, rect.center().y() - ACTIVITY_PX // 2
            place = QRect(left, top, ACTIVITY_PX, ACTIVITY_PX)
            pen, accent = painter.pen(), QColor(self._theme.tokens.accent_text)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(accent, 1.5))
            painter.setBrush(accent if activity == UNSEEN else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QRectF(place).adjusted(0.75, 0.75, -0.75, -0.75))
            painter.setPen(pen)
            text_box.adjust(0, 0, -ACTIVITY_PX - 8, 0)
        shown = elided(row.title, QFontMetrics(font), text_box.width())
        painter.drawText(text_box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), shown)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:  # noqa: ARG002
        editor = QLineEdit(parent)
        heading = isinstance(self._model.item(index), Heading)
        editor.setAccessibleName(
            translate("Delegate", "Name of the folder") if heading else translate("Delegate", "Title of the chat")
        )
        editor.setMaxLength(200)
        super().setEditorData(editor, index)
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Keep the text of a running edit: Qt sets it again whenever the row changes."""


class ConversationList(QListView):
    """The chat list. Requests are emitted by ``rows.library_signals`` and these signals."""

    chosen = Signal(int)  # open another conversation
    # id and new title
    rename_requested = Signal(int, str)
    delete_requested = Signal(int)
    several_deleted = Signal(object)  # ids of the selected conversations

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        wrap_viewport(self)
        self.theme = theme
        self._current: int | None = None
        self._selected_before: QWidget | None = None  # the focused widget before renaming
        self._delayed_rows: tuple[tuple[ConversationRow, ...], tuple[FolderRow, ...] | None] | None = None
        self.rows = ConversationModel(self)  # a child, so that its connections end with the list
        self.rows.renamed.connect(self.rename_requested)
        self.setModel(self.rows)
        self._delegate = _Delegate(theme, self.rows, self)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(translate("ConversationList", "Chats"))
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDropIndicatorShown(True)
        self.customContextMenuRequested.connect(self._open_menu)
        self.clicked.connect(self._on_clicked)
        theme.changed.connect(self.scheduleDelayedItemsLayout)  # the text size may have changed

    def set_rows(
        self, rows: Sequence[ConversationRow], current_id: int | None, folders: Sequence[FolderRow] | None = None
    ) -> None:
        """Show the conversations and select the open one, or keep the selection on the row that is being moved.

        While a name is being edited, the update is delayed until its end.
        """
        same, self._current, self._delegate.open = self._current == current_id, current_id, current_id
        if not same:
            self.viewport().update()
        if self.state() is QAbstractItemView.State.EditingState:
            kept = self._delayed_rows[1] if self._delayed_rows else None
            self._delayed_rows = (tuple(rows), kept if folders is None else tuple(folders))
            return
        row = self.currentIndex().row()
        chosen = self.rows.item(self.currentIndex()) if same and self.hasFocus() else None
        self.rows.set_rows(rows, folders)
        if chosen is None or not self._reselect(chosen):
            self._mark_open_chat()
        if self.hasFocus() and not self.currentIndex().isValid():
            self._select_near(row)

    def _reselect(self, chosen: Item) -> bool:
        """Select the same row after a change; False if the row is gone or has no id."""
        if isinstance(chosen, ConversationRow):
            index = self.rows.index_of(chosen.id)
        elif chosen.folder is not None:
            index = self.rows.index_of_folder(chosen.folder.id)
        else:
            return False
        if index.isValid():
            self.setCurrentIndex(index)
        return index.isValid()

    def _select_near(self, row: int) -> None:
        """Select the row that followed a removed row, or else the one above, so that keys act on a visible row."""
        places = [self.rows.index(each, 0) for each in range(self.rows.rowCount())]
        places = [place for place in places if self.rows.flags(place) & Qt.ItemFlag.ItemIsSelectable]
        if places:
            self.setCurrentIndex(next((place for place in places if place.row() >= row), places[-1]))

    def update_day(self) -> None:
        if self.state() is not QAbstractItemView.State.EditingState:
            row = self.rows.item(self.currentIndex()) if self.hasFocus() else None
            if self.rows.update_day() and (row is None or not self._reselect(row)):
                self._mark_open_chat()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason and not self.currentIndex().isValid():
            self._select_near(0)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Return the focus, and apply the changes that were delayed during the edit."""
        super().closeEditor(editor, hint)
        came_from, self._selected_before = self._selected_before, None
        if came_from is not None and isValid(came_from):
            came_from.setFocus(Qt.FocusReason.OtherFocusReason)
        if self._delayed_rows is not None:
            later, self._delayed_rows = self._delayed_rows, None
            self.set_rows(later[0], self._current, later[1])

    def _mark_open_chat(self) -> None:
        index = self.rows.index_of(self._current)
        if index != self.currentIndex() or not index.isValid():
            self.setCurrentIndex(index)
        if index.isValid():
            self.scrollTo(index)

    def set_activity(self, answering: Collection[int], unseen: Collection[int]) -> None:
        """Mark conversations with a running or an unread answer."""
        self.rows.set_activity({**dict.fromkeys(unseen, UNSEEN), **dict.fromkeys(answering, ANSWERING)})

    def choose(self, index: QModelIndex) -> None:
        """Open a conversation; fold or unfold a folder."""
        item = self.rows.item(index)
        if isinstance(item, ConversationRow):
            self.chosen.emit(item.id)
        elif item is not None and item.folder is not None:
            self.rows.library_signals.folder_folded.emit(item.folder.id, not item.folded)
        elif item is not None and item.can_fold:
            self.rows.toggle_archive()

    def open_adjacent(self, by: int) -> None:
        """Open the chat ``by`` rows below the open one, or above if negative; stops at the ends."""
        places = [self.rows.index(row, 0) for row in range(self.rows.rowCount())]
        chats = [place for place in places if isinstance(self.rows.item(place), ConversationRow)]
        current = self.rows.index_of(self._current)
        before = chats.index(current) if current.isValid() else (-1 if by > 0 else len(chats))
        if 0 <= before + by < len(chats):
            self.choose(chats[before + by])

    @property
    def has_open(self) -> bool:
        """Whether the open chat is in the list, also in a folded folder; a new chat is not."""
        return self.rows.has(self._current)

    def rename(self) -> None:
        if self.state() is QAbstractItemView.State.EditingState:
            return
        if not self.hasFocus():
            self.rows.reveal_row(self._current)
        index = self.currentIndex() if self.hasFocus() else self.rows.index_of(self._current)
        if self.rows.flags(index) & Qt.ItemFlag.ItemIsEditable:
            self._selected_before = None if self.hasFocus() else QApplication.focusWidget()
            self.setCurrentIndex(index)
            self.edit(index)

    def name_folder(self, folder_id: int) -> None:
        index = self.rows.index_of_folder(folder_id)
        if index.isValid():
            self.setCurrentIndex(index)
            self.setFocus(Qt.FocusReason.OtherFocusReason)
            self.edit(index)

    def _on_clicked(self, index: QModelIndex) -> None:
        """Open the clicked row; with Ctrl or Shift only select it."""
        held = QApplication.keyboardModifiers()
        if not held & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier):
            self.choose(index)

    @property
    def selected_ids(self) -> tuple[int, ...]:
        items = (self.rows.item(index) for index in sorted(self.selectedIndexes(), key=QModelIndex.row))
        return tuple(item.id for item in items if isinstance(item, ConversationRow))

    def ask_delete(self, index: QModelIndex) -> None:
        """Request the deletion of a row, or of the selection that contains it."""
        item = self.rows.item(index)
        if self.has_several(index):
            self.several_deleted.emit(self.selected_ids)
        elif isinstance(item, ConversationRow):
            self.delete_requested.emit(item.id)
        elif item is not None and item.folder is not None:
            self.rows.library_signals.folder_deleted.emit(item.folder.id)

    def has_several(self, index: QModelIndex) -> bool:
        return len(self.selected_ids) > 1 and self.selectionModel().isSelected(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens, Del deletes, F2 renames."""
        if self.state() is QAbstractItemView.State.EditingState:
            return  # the list also receives the Enter that ends an edit
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.ask_delete(self.currentIndex())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.choose(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def make_menu(self, index: QModelIndex) -> QMenu | None:
        return make_menu(self, index)

    def _open_menu(self, place: QPoint) -> None:
        index = self.indexAt(place)
        menu = self.make_menu(index)
        if menu is not None:
            if not self.has_several(index):
                self.setCurrentIndex(index)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.viewport().mapToGlobal(place))
