"""The latest requests of programs: when, who, what for, what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from app.core.domain.local_server import GONE, LoggedRequest, RequestState
from ui.text.formatting import UNKNOWN, as_written, count, figure, hover
from ui.text.language import mark, translate
from ui.theme.theme import Theme

COLUMNS = (
    mark("ServerPage", "Time"),
    mark("ServerPage", "Program"),
    mark("ServerPage", "Path"),
    mark("ServerPage", "Model"),
    mark("ServerPage", "Tokens"),
    mark("ServerPage", "Tokens/s"),
    mark("ServerPage", "Status"),
)
PROGRAM, PATH, MODEL, TOKENS, RATE = 1, 2, 3, 4, 5
STATES = {
    RequestState.READING: mark("ServerPage", "Arriving"),
    RequestState.WAITING: mark("ServerPage", "Waiting"),
    RequestState.RUNNING: mark("ServerPage", "Answering"),
}
STATUS_WORDS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: mark("ServerPage", "no key, or a wrong one"),
    HTTPStatus.FORBIDDEN: mark("ServerPage", "not allowed"),
    HTTPStatus.NOT_FOUND: mark("ServerPage", "not found"),
    HTTPStatus.TOO_MANY_REQUESTS: mark("ServerPage", "the queue was full"),
    HTTPStatus.SERVICE_UNAVAILABLE: mark("ServerPage", "stopped, or no model"),
}
CELL_PX = 24
ROWS_SHOWN = 8


def status_words(row: LoggedRequest) -> str:
    """How far it is, or what came of it: ``200``, ``401, no key, or a wrong one``."""
    if row.state is not RequestState.DONE:
        return translate("ServerPage", STATES[row.state])
    if row.status == GONE:
        return translate("ServerPage", "Disconnected")
    if row.status is None:
        return UNKNOWN
    words = STATUS_WORDS.get(row.status)
    return f"{row.status}, {translate('ServerPage', words)}" if words else str(row.status)


def cells(row: LoggedRequest) -> tuple[str, ...]:
    """Its texts, in the order of `COLUMNS`."""
    return (
        datetime.fromtimestamp(row.at, UTC).astimezone().strftime("%H:%M:%S"),
        row.program or UNKNOWN,
        row.path,
        row.model or UNKNOWN,
        count(row.tokens),
        figure(row.tokens_per_second),
        status_words(row),
    )


Index = QModelIndex | QPersistentModelIndex


class RequestModel(QAbstractTableModel):
    """The newest first. A request that is there already changes in its row."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[LoggedRequest, ...] = ()

    def set_rows(self, rows: Sequence[LoggedRequest]) -> None:
        """Show these."""
        rows = tuple(rows)
        if rows == self._rows:
            return
        if [row.number for row in rows] == [row.number for row in self._rows]:
            self._rows = rows
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(COLUMNS) - 1))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (Qt's signature)
        """How many there are."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: ARG002, B008
        """Always the same."""
        return len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A cell's text, whole in the hover."""
        if role == Qt.ItemDataRole.DisplayRole:
            return cells(self._rows[index.row()])[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_written(cells(self._rows[index.row()])[index.column()])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if index.column() in (TOKENS, RATE) else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What a column is."""
        if orientation is Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return translate("ServerPage", COLUMNS[section])
        if role == Qt.ItemDataRole.ToolTipRole and section in (TOKENS, RATE):
            return hover(translate("ServerPage", "Of the answer, without the prompt."))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in (TOKENS, RATE) else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None


# Texts as wide as a column is to be; names of models, the longest, have what is left.
SAMPLES = {
    0: "00:00:00",
    1: "Open WebUI/0.6.30",
    2: "/v1/chat/completions",
    4: "00,000",
    5: "000.0",
    6: "503, stopped, or no model",
}
STRETCHED = 3


class RequestTable(QTableView):
    """As high as some rows; what is more is scrolled to."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.requests = RequestModel()
        self.setModel(self.requests)
        self.setObjectName("statsTable")
        self.setAccessibleName(translate("ServerPage", "Requests"))
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(STRETCHED, QHeaderView.ResizeMode.Stretch)
        theme.changed.connect(self._fit)
        self._fit()

    def set_rows(self, rows: Sequence[LoggedRequest]) -> None:
        """Show these, the newest first."""
        self.requests.set_rows(rows)

    def showEvent(self, event: QShowEvent) -> None:
        """Measure by the font of the theme, which it has by now."""
        super().showEvent(event)
        self._fit()

    def _fit(self) -> None:
        metrics = self.fontMetrics()
        for column, sample in SAMPLES.items():
            words = max(sample, translate("ServerPage", COLUMNS[column]), key=metrics.horizontalAdvance)
            self.setColumnWidth(column, metrics.horizontalAdvance(words) + CELL_PX)
        line = round(self._theme.text_height()) + 10
        self.verticalHeader().setDefaultSectionSize(line)
        self.setFixedHeight(self.horizontalHeader().sizeHint().height() + ROWS_SHOWN * line + 4)
