"""The latest requests of programs: when, who, what for, what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

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


def _side(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in (TOKENS, RATE) else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


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


class RequestTable(QTableWidget):
    """The newest first. As high as some rows; what is more is scrolled to."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(0, len(COLUMNS))
        self._theme = theme
        for column, words in enumerate(COLUMNS):
            item = QTableWidgetItem(translate("ServerPage", words))
            item.setTextAlignment(_side(column))
            if column in (TOKENS, RATE):
                item.setToolTip(hover(translate("ServerPage", "Of the answer, without the prompt.")))
            self.setHorizontalHeaderItem(column, item)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
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
        self.setRowCount(len(rows))
        for line, row in enumerate(rows):
            for column, text in enumerate(cells(row)):
                item = self.item(line, column)
                if item is None:
                    item = QTableWidgetItem()
                    item.setTextAlignment(_side(column))
                    self.setItem(line, column, item)
                if text != item.text():
                    item.setText(text)
                    item.setToolTip(as_written(text))

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
