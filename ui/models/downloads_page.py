"""The downloads: progress, speed and time left of each file, and its actions."""

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from app.core.domain.models import Download, DownloadStatus, ModelRef
from engine.sentences import joined
from ui.models.parts import EmptyPagePlaceholder, ModelsRequests, StatusMark
from ui.models.words import STATE_WORDS, bytes_or_unknown, time_left, transfer_rate
from ui.text.formatting import percent, size, without_markup
from ui.text.language import Translator, translate
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel, button, hbox, label, page_column, progress_bar, scroll_area, vbox
from ui.widgets.icon_button import IconButton

tr = Translator("DownloadsPage")

WIDTH_PX = 860  # like the library page
# (action, icon, name) in the order of the buttons.
_CANCEL = ("cancel", "x", tr.mark("Cancel and delete the partial file"))
_UNDER_WAY = (("pause", "pause", tr.mark("Pause")), _CANCEL)
_ACTIONS = {
    DownloadStatus.QUEUED: _UNDER_WAY,
    DownloadStatus.RUNNING: _UNDER_WAY,
    DownloadStatus.WAITING: _UNDER_WAY,
    DownloadStatus.VERIFYING: (_CANCEL,),
    DownloadStatus.PAUSED: (("resume", "play", tr.mark("Resume")), _CANCEL),
    DownloadStatus.FAILED: (("resume", "refresh-cw", tr.mark("Try again")), _CANCEL),
    DownloadStatus.DONE: (("cancel", "x", tr.mark("Remove from this list; the model is kept")),),
}
_MOVING = (DownloadStatus.QUEUED, DownloadStatus.RUNNING, DownloadStatus.WAITING)


def progress_words(row: Download) -> str:
    """``1.23 GB of 5.02 GB · 24% · 12.3 MB/s · 5 min left``."""
    if row.status is DownloadStatus.DONE:
        return f"{_state_words(row)} · {size(row.size_bytes or row.done_bytes)}"
    of = tr("{done} of {total}")
    pieces = [of.format(done=size(row.done_bytes), total=bytes_or_unknown(row.size_bytes)), percent(row.fraction)]
    if row.status is DownloadStatus.RUNNING:
        pieces += [transfer_rate(row.bytes_per_s), time_left(row.seconds_left)]
    else:
        pieces.insert(0, _state_words(row))
    return " · ".join(pieces)


def _state_words(row: Download) -> str:
    return translate("Words", STATE_WORDS[row.status])


class DownloadLine(QFrame):
    def __init__(self, theme: Theme, requests: ModelsRequests, row: Download) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self.status: DownloadStatus | None = None
        self.key = row.key
        self.setObjectName("card")
        self.name = ElidedLabel(row.name, "strong")
        self.repo = ElidedLabel(row.request.repo_id, "caption")
        self.bar = progress_bar(translate("DownloadLine", "Download of {name}").format(name=row.name))
        self.words = label(wrap=True)
        self.words.setFont(theme.font(-1))
        self.words.setProperty("kind", "caption")
        self.error = StatusMark(theme, wrap=True)
        self.path = row.path
        self.chat = button(
            translate("DownloadLine", "Chat"),
            self._chat,
            name=translate("DownloadLine", "Chat with {name}").format(name=row.name),
        )
        self.action_buttons: dict[str, IconButton] = {}
        self.buttons = hbox(spacing=4)
        names = vbox(self.name, self.repo, spacing=1)
        top = hbox((names, 1), self.chat, self.buttons, spacing=12)
        below = vbox(self.bar, self.words, self.error, margins=(0, 0, 4, 0), spacing=6)
        vbox(top, below, parent=self, margins=(16, 12, 12, 12), spacing=8)
        self.set_row(row)

    def set_row(self, row: Download) -> None:
        self.name.setText(row.name)
        self.repo.setText(row.request.repo_id)
        self.bar.setVisible(row.status is not DownloadStatus.DONE)
        self.bar.setValue(round((row.fraction or 0.0) * 1000))
        self.bar.setAccessibleDescription(progress_words(row))
        self.words.setText(progress_words(row))
        trouble = in_language(joined([row.message, row.advice])) if row.status is not DownloadStatus.DONE else ""
        self.error.setVisible(bool(trouble))
        if trouble:
            bad = row.status is DownloadStatus.FAILED
            self.error.show_mark("triangle-alert" if bad else "info", trouble, "bad" if bad else "muted")
        self.path = row.path
        self.chat.setVisible(row.status is DownloadStatus.DONE and bool(row.path))
        if row.status is not self.status:
            self.status = row.status
            self._show_actions(row)

    def _chat(self) -> None:
        self._requests.chat_requested.emit(ModelRef(path=self.path), None)

    def _show_actions(self, row: Download) -> None:
        had_focus = any(made.hasFocus() for made in self.action_buttons.values())
        for made in self.action_buttons.values():
            made.hide()
            made.deleteLater()
        self.action_buttons = {}
        for action, icon, words in _ACTIONS[row.status]:
            name = tr(words)
            made = IconButton(self._theme, icon, f"{name}: {row.name}")
            made.setToolTip(without_markup(name))
            made.clicked.connect(
                lambda _on=False, action=action: self._requests.download_action_requested.emit(self.key, action)
            )
            self.buttons.addWidget(made)
            self.action_buttons[action] = made
        if had_focus:
            self.take_focus()

    def take_focus(self) -> None:
        """Focus the most likely action: chat with a downloaded model."""
        first = self.chat if not self.chat.isHidden() else next(iter(self.action_buttons.values()), None)
        if first is not None:
            first.show()  # a hidden widget cannot take the focus
            first.setFocus()


class DownloadsPage(QWidget):
    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self.lines: dict[str, DownloadLine] = {}
        self.title = label(tr("Downloads"), "heading")
        self.words = label("", "caption")
        self.empty = EmptyPagePlaceholder(theme, "download")
        search = button(tr("Search models"), lambda: requests.page_requested.emit("search"))
        pairs = button(tr("See recommended pairs"), lambda: requests.page_requested.emit("recommended"), kind="primary")
        self.empty.show_text(
            tr("Nothing is downloading"),
            tr("Downloads continue where they stopped, even after a restart."),
            pairs,
            search,
        )
        self.column = vbox(spacing=8)
        parts = (self.title, self.words, 8, self.column)
        page = page_column(*parts, width_px=WIDTH_PX, spacing=8, margins=(24, 20, 24, 24), at_left=True)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(scroll_area(page, tr("Downloads")))
        vbox(self.stack, parent=self, margins=0)

    def start(self) -> None:
        first = next((line for line in self.lines.values()), None)
        if first is not None:
            first.take_focus()

    def set_rows(self, rows: Sequence[Download]) -> None:
        for key in set(self.lines) - {row.key for row in rows}:
            line = self.lines.pop(key)
            line.hide()
            line.deleteLater()
        for row in rows:
            if row.key in self.lines:
                self.lines[row.key].set_row(row)
            else:
                line = DownloadLine(self._theme, self._requests, row)
                self.lines[row.key] = line
                self.column.addWidget(line)
        self.words.setText(summary(rows))
        self.stack.setCurrentIndex(1 if rows else 0)


def summary(rows: Sequence[Download]) -> str:
    running = [row for row in rows if row.status in _MOVING]
    if not running:
        return tr("No downloads right now.")
    speeds = [row.bytes_per_s for row in running if row.bytes_per_s is not None]
    left = [row.seconds_left for row in running if row.seconds_left is not None]
    number = len(running)
    pieces = [tr("%n downloading", None, number)]
    if speeds:
        pieces.append(transfer_rate(sum(speeds)))
    if left and len(left) == len(running):
        pieces.append(time_left(max(left)))
    return " · ".join(pieces)


def overall(rows: Sequence[Download]) -> float | None:
    moving = [row for row in rows if (row.status in _MOVING or row.status.is_active) and row.size_bytes]
    total = sum(row.size_bytes or 0 for row in moving)
    return sum(row.done_bytes for row in moving) / total if total else None
