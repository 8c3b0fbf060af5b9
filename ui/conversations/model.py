"""The chat list as a model: pinned, folders, days, archive. Fetched in slices; chats are moved by dragging."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.core.domain.conversations import ConversationRow, FolderRow
from ui.text import clock
from ui.text.formatting import without_markup
from ui.text.language import Translator

tr = Translator("ConversationModel")

Index = QModelIndex | QPersistentModelIndex
BATCH = 300  # rows that are fetched at once
MIME = "application/x-paceline-conversation"
TODAY, YESTERDAY = tr.mark("Today"), tr.mark("Yesterday")
EARLIER = tr.mark("Earlier")
PINNED, ARCHIVED = tr.mark("Pinned"), tr.mark("Archived")
ANSWERING = tr.mark("writing an answer")
UNSEEN = tr.mark("unread answer")
_NO_PARENT = QModelIndex()
STATUS_ROLES = (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole)


class LibrarySignals(QObject):
    """Requests of the chat list; conversations and folders are named by their ids."""

    new_in_folder = Signal(int)  # start a chat in this folder
    page_requested = Signal(int)  # show the folder's page
    pinned = Signal(int, bool)
    archived = Signal(int, bool)
    moved_to_folder = Signal(int, object)  # move a conversation into a folder; None: out of its folder
    folder_created = Signal(object)  # create a folder for a conversation; None: an empty folder
    folder_renamed = Signal(int, str)
    folder_folded = Signal(int, bool)
    folder_deleted = Signal(int)  # delete a folder but keep its conversations
    # A conversation and "markdown" or "json". None means all conversations.
    exported = Signal(object, str)
    imported = Signal()  # choose a file to import
    deleted_chats_requested = Signal()  # show the deleted conversations


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading row. Headings of folders and of the archive can be selected and folded."""

    text: str
    folder: FolderRow | None = None
    folded: bool = False
    num_rows: int = 0

    @property
    def can_fold(self) -> bool:
        return self.folder is not None or self.text == ARCHIVED


Item = Heading | ConversationRow


class ConversationModel(QAbstractListModel):
    renamed = Signal(int, str)  # the user typed another title

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.library_signals = LibrarySignals(self)
        self._rows: tuple[ConversationRow, ...] = ()
        self.folders: tuple[FolderRow, ...] = ()
        self._items: list[Item] = []
        self._num_fetched = 0
        self._today: date | None = None
        self._archive_open = False
        self._activity: dict[int, str] = {}

    def set_rows(self, rows: Iterable[ConversationRow], folders: Sequence[FolderRow] | None = None) -> None:
        given = tuple(rows), self.folders if folders is None else tuple(folders)
        today = clock.today()
        if (*given, today) != (self._rows, self.folders, self._today):
            self._rows, self.folders = given
            self._today = today
            self._rebuild()

    def update_day(self) -> bool:
        if not self._rows or self._today == clock.today():
            return False
        self.set_rows(self._rows)
        return True

    def set_activity(self, activity: Mapping[int, str]) -> None:
        """Set the activity by conversation id: `ANSWERING` or `UNSEEN`."""
        changed, self._activity = {*self._activity.items()} ^ {*activity.items()}, dict(activity)
        for conversation_id in {number for number, _ in changed}:
            line = self._line_of(conversation_id)
            if line is not None and line < self._num_fetched:
                self.dataChanged.emit(self.index(line, 0), self.index(line, 0))

    def activity_of(self, item: Item) -> str:
        return self._activity.get(item.id, "") if isinstance(item, ConversationRow) else ""

    def toggle_archive(self) -> None:
        self._archive_open = not self._archive_open
        self._rebuild()

    def has(self, conversation_id: int | None) -> bool:
        return any(row.id == conversation_id for row in self._rows)

    def reveal_row(self, conversation_id: int | None) -> None:
        """Unfold the archive or request the folder of a conversation; does nothing if it is listed."""
        row = next((row for row in self._rows if row.id == conversation_id), None)
        if row is None or self._line_of(row.id) is not None:
            return
        if row.archived:
            self.toggle_archive()
        elif row.folder_id is not None:
            self.library_signals.folder_folded.emit(row.folder_id, False)

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._items = list(self._grouped())
        self._num_fetched = min(len(self._items), max(BATCH, self._num_fetched))
        self.endResetModel()

    def _grouped(self) -> Iterable[Item]:
        pinned = sorted((row for row in self._rows if row.pinned), key=lambda row: row.place)
        archived = [row for row in self._rows if row.archived]
        rest = [row for row in self._rows if not row.pinned and not row.archived]
        if pinned:
            yield Heading(PINNED)
            yield from pinned
        known = {folder.id for folder in self.folders}
        for folder in self.folders:
            inside = sorted((row for row in rest if row.folder_id == folder.id), key=lambda row: row.place)
            yield Heading(folder.name, folder, folder.folded, len(inside))
            if not folder.folded:
                yield from inside
        yield from self._grouped_by_day(row for row in rest if row.folder_id not in known)
        if archived:
            yield Heading(ARCHIVED, folded=not self._archive_open, num_rows=len(archived))
            if self._archive_open:
                yield from archived

    def _grouped_by_day(self, rows: Iterable[ConversationRow]) -> Iterable[Item]:
        waiting = iter(rows)
        heading = ""
        today = self._today or clock.today()
        # Compare timestamps: converting the times of thousands of rows to days would be slow.
        begins, day_before = _is_first_of_day(today), _is_first_of_day(today - timedelta(days=1))
        for row in waiting:
            group = TODAY if row.updated_at >= begins else YESTERDAY if row.updated_at >= day_before else EARLIER
            if group != heading:
                heading = group
                yield Heading(group)
            yield row
            if group is EARLIER:
                yield from waiting  # the rows are sorted, so the rest is older

    def item(self, index: Index) -> Item | None:
        return self._items[index.row()] if index.isValid() and index.row() < len(self._items) else None

    def index_of(self, conversation_id: int | None) -> QModelIndex:
        """The index of a conversation, fetching as needed; invalid if it is not listed."""
        line = self._line_of(conversation_id)
        if line is None:
            return QModelIndex()
        if line >= self._num_fetched:
            self._fetch(line + BATCH)
        return self.index(line, 0)

    def _line_of(self, conversation_id: int | None) -> int | None:
        if conversation_id is None:
            return None
        found = (isinstance(item, ConversationRow) and item.id == conversation_id for item in self._items)
        return next((line for line, is_it in enumerate(found) if is_it), None)

    def index_of_folder(self, folder_id: int) -> QModelIndex:
        for line, item in enumerate(self._items):
            if isinstance(item, Heading) and item.folder is not None and item.folder.id == folder_id:
                self._fetch(line + 1)
                return self.index(line, 0)
        return QModelIndex()

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        return 0 if parent.isValid() else self._num_fetched

    def canFetchMore(self, parent: Index) -> bool:
        return not parent.isValid() and self._num_fetched < len(self._items)

    def fetchMore(self, parent: Index) -> None:
        if not parent.isValid():
            self._fetch(self._num_fetched + BATCH)

    def _fetch(self, wanted: int) -> None:
        end = min(wanted, len(self._items))
        if end > self._num_fetched:
            self.beginInsertRows(QModelIndex(), self._num_fetched, end - 1)
            self._num_fetched = end
            self.endInsertRows()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        """Titles, also as tool tips and for screen readers."""
        item = self.item(index)
        if item is None:
            return None
        text = heading_words(item) if isinstance(item, Heading) else item.title
        if role == Qt.ItemDataRole.AccessibleTextRole and isinstance(item, Heading) and item.can_fold:
            number = item.num_rows
            words = (
                tr("Folder {text}, %n chats, {state}", None, number)
                if item.folder
                else tr("{text}, %n chats, {state}", None, number)
            )
            return words.format(text=text, state=tr("closed") if item.folded else tr("open"))
        if not isinstance(item, Heading) and item.used_remote_server and role in STATUS_ROLES:
            text = f"{text} · {tr('was sent to a remote server')}"
        activity = self.activity_of(item)
        if activity and role in STATUS_ROLES:
            text = f"{text} · {tr(activity)}"
        wanted = (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.EditRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        )
        if role == Qt.ItemDataRole.ToolTipRole:
            return without_markup(text)
        return text if role in wanted else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Conversations and folders can be selected and renamed; day headings cannot."""
        item, drop = self.item(index), Qt.ItemFlag.ItemIsDropEnabled
        chosen = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if isinstance(item, ConversationRow):
            return chosen | Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDragEnabled
        if isinstance(item, Heading) and item.can_fold:
            own = Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDragEnabled
            return chosen | drop | (own if item.folder else Qt.ItemFlag.NoItemFlags)
        return drop if not index.isValid() else Qt.ItemFlag.NoItemFlags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """An edited name is a request; the list changes when the app confirms it."""
        item, name = self.item(index), str(value).strip()
        if role != Qt.ItemDataRole.EditRole or item is None:
            return False
        if isinstance(item, ConversationRow):
            if name and name != item.title:
                self.renamed.emit(item.id, name)
        elif item.folder is not None and name and name != item.text:
            self.library_signals.folder_renamed.emit(item.folder.id, name)
        return True

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        for item in (self.item(index) for index in indexes):
            if isinstance(item, ConversationRow):
                data.setData(MIME, str(item.id).encode())
        return data

    def dropMimeData(self, data: QMimeData, _action: Qt.DropAction, row: int, _column: int, parent: Index) -> bool:
        """Request the move into the section. Returns False, so that the view moves no rows before the app confirms."""
        conversation_id = int(bytes(data.data(MIME).data()) or b"0")
        line = parent.row() + 1 if parent.isValid() else len(self._items) if row < 0 else row
        headings = [item for item in self._items[:line] if isinstance(item, Heading)]
        if not headings or not self.has(conversation_id):
            return False
        heading = headings[-1]
        if heading.text == PINNED and heading.folder is None:
            self.library_signals.pinned.emit(conversation_id, True)
        elif heading.text == ARCHIVED and heading.folder is None:
            self.library_signals.archived.emit(conversation_id, True)
        else:
            self.library_signals.moved_to_folder.emit(conversation_id, heading.folder.id if heading.folder else None)
        return False


def heading_words(heading: Heading) -> str:
    """A folder's name, or a translated heading."""
    return heading.text if heading.folder else tr(heading.text)


def _is_first_of_day(day: date) -> datetime:
    return datetime.combine(day, time.min).astimezone()
