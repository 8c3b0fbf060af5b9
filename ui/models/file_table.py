"""The files of a repository in aligned columns: quantization, size, verdict, and what can be done with each."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from app.core.domain.models import FileKind, FileRow, Presence
from ui.models.parts import StatusMark
from ui.models.requests import ModelsRequests
from ui.models.words import KIND_HELP, KIND_WORDS, bytes_or_unknown
from ui.text.formatting import as_written, hover
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import button, empty_layout, grid, hbox, label
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.styling import rule

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
NUM_COLUMNS = 5


class FileTable(QWidget):
    """Values in by `set_files`; actions go out by the shared requests."""

    def __init__(self, theme: Theme, requests: ModelsRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._requests = theme, requests
        self.action_buttons: dict[str, list[QPushButton]] = {}  # by file, in the order of the row
        self.grid = grid(gaps=(12, 6), parent=self, margins=0)

    def set_files(self, files: Sequence[FileRow]) -> None:
        """Models first, then what only goes with them."""
        focused = next((file for file, row in self.action_buttons.items() if any(one.hasFocus() for one in row)), "")
        empty_layout(self.grid)
        self.action_buttons = {}
        models = [file for file in files if file.kind.runs_alone]
        others = [file for file in files if not file.kind.runs_alone]
        line = 0
        for file in models:
            line = self._add_model(line, file)
        if others:
            self.grid.addWidget(
                self._section(translate("FileTable", "Files that go with a model")), line, 0, 1, NUM_COLUMNS
            )
            line += 1
        for file in others:
            line = self._add_other(line, file)
        self.grid.setColumnStretch(0, 1)
        self.grid.setColumnMinimumWidth(0, 110)
        last = next((action for action in reversed(self.action_buttons.get(focused, ())) if action.isEnabled()), None)
        if last is not None:  # a download that was begun leaves its button to look at only
            last.show()  # what is not to be seen yet takes no focus
            last.setFocus()

    def _section(self, text: str) -> QLabel:
        made = label(text, "section")
        made.setContentsMargins(0, 14, 0, 2)
        return made

    def _add_model(self, line: int, file: FileRow) -> int:
        if line:
            self.grid.addWidget(rule(), line, 0, 1, NUM_COLUMNS)
            line += 1
        self.grid.addWidget(self._name(file), line, 0)
        mark = StatusMark(self._theme)
        mark.show_fit(file.fit)
        if file.fit_words:
            mark.setToolTip(hover(file.fit_words))
            mark.setAccessibleDescription(file.fit_words)
        self.grid.addWidget(mark, line, 1, _LEFT)
        self.grid.addWidget(self._size(file), line, 2, _RIGHT)
        actions = self._actions(file)
        self.action_buttons[file.ref.file] = actions
        for column, made in enumerate(actions, NUM_COLUMNS - len(actions)):
            self.grid.addWidget(made, line, column)
        return line + 1

    def _actions(self, file: FileRow) -> list[QPushButton]:
        ref, what = file.ref, file.label or file.ref.name
        drafts = button(
            translate("FileTable", "Find a draft…"),
            lambda: self._requests.drafts_requested.emit(ref),
            name=translate("FileTable", "Find a draft for {what}").format(what=what),
            tip=translate(
                "FileTable",
                "Lists the drafts that match this model, and why others do not, before anything is downloaded.",
            ),
        )
        if file.presence is Presence.HERE:
            last = button(
                translate("FileTable", "Chat"),
                lambda: self._requests.chat_requested.emit(ref, None),
                name=translate("FileTable", "Chat with {what}").format(what=what),
            )
        elif file.presence is Presence.DOWNLOADING:
            last = button(
                translate("FileTable", "Downloading"),
                lambda: None,
                name=translate("FileTable", "{what} is downloading").format(what=what),
            )
            last.setEnabled(False)
        else:
            last = button(
                translate("FileTable", "Download"),
                lambda: self._requests.pull_requested.emit((ref,), False),
                name=translate("FileTable", "Download {what}").format(what=what),
            )
        if file.kind is FileKind.DRAFT:
            return [last]
        return [drafts, last]

    def _add_other(self, line: int, file: FileRow) -> int:
        self.grid.addWidget(self._name(file), line, 0, 1, 2)
        kind = label(translate("Words", KIND_WORDS[file.kind]), "muted")
        kind.setToolTip(hover(translate("Words", KIND_HELP[file.kind])))
        self.grid.addWidget(kind, line, 3, 1, 2, _LEFT)
        self.grid.addWidget(self._size(file), line, 2, _RIGHT)
        return line + 1

    def _name(self, file: FileRow) -> QWidget:
        holder = QWidget()
        row = hbox(parent=holder, margins=(0, 4, 0, 4), spacing=8)
        if file.label:
            name = label(file.label, "strong" if file.kind.runs_alone else "")
            row.addWidget(name)
        else:
            name = ElidedLabel(file.ref.name, "strong" if file.kind.runs_alone else "")
            row.addWidget(name, 1)
        name.setToolTip(as_written(file.ref.file))
        if file.num_parts > 1:
            number = file.num_parts
            row.addWidget(label(translate("FileTable", "%n parts", None, number), "caption"))
        if file.kind is FileKind.DRAFT:
            tag = label(translate("FileTable", "draft model"), "key")
            tag.setToolTip(hover(translate("Words", KIND_HELP[file.kind])))
            row.addWidget(tag)
        if file.label:
            row.addStretch(1)
        return holder

    def _size(self, file: FileRow) -> QLabel:
        made = label(bytes_or_unknown(file.size_bytes))
        made.setFont(self._theme.font(0))
        return made
