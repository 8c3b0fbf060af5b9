"""A repository: maker, access, and files with verdicts."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QPushButton, QStackedWidget, QWidget

from app.core.domain.models import FileKind, FileRow, Presence, RepoSummary, RepoView
from ui.models.parts import EmptyPagePlaceholder, ModelsRequests, StatusMark
from ui.models.words import KINDS, bytes_or_unknown, compact_number, day_text
from ui.text import clock
from ui.text.formatting import count, parameters, tooltip, without_markup
from ui.text.language import Translator, mark, translate
from ui.theme.theme import Theme
from ui.widgets.building import (
    ElidedLabel,
    button,
    empty_layout,
    grid,
    hbox,
    label,
    page_column,
    scroll_area,
    separator,
    show_text,
    vbox,
)

tr = Translator("FileTable")

MAX_PX = 820
KEPT_NOTE = mark("TokenBox", "The token is stored in the system's keyring and sent only to the hub.")
GATED_WORDS = mark(
    "HubViews",
    "The publisher restricts the download. Accept the terms or request access on the model's page while signed in, "
    "then enter an access token of your account.",
)
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
NUM_COLUMNS = 4


class FileTable(QWidget):
    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self.action_buttons: dict[str, QPushButton] = {}  # by file
        self.grid = grid(gaps=(12, 6), parent=self, margins=0)

    def set_files(self, files: Sequence[FileRow]) -> None:
        focused = next((file for file, made in self.action_buttons.items() if made.hasFocus()), "")
        empty_layout(self.grid)
        self.action_buttons = {}
        models = [file for file in files if file.kind.runs_alone]
        others = [file for file in files if not file.kind.runs_alone]
        line = 0
        for file in models:
            line = self._add_model(line, file)
        if others:
            text = tr("Files that go with a model")
            made = label(text, "section")
            made.setContentsMargins(0, 14, 0, 2)
            self.grid.addWidget(made, line, 0, 1, NUM_COLUMNS)
            line += 1
        for file in others:
            self.grid.addWidget(self._name(file), line, 0, 1, 2)
            kind = label(translate("Words", KINDS[file.kind][0]), "muted")
            kind.setToolTip(tooltip(translate("Words", KINDS[file.kind][1])))
            self.grid.addWidget(kind, line, 3, _LEFT)
            self.grid.addWidget(self._size(file), line, 2, _RIGHT)
            line = line + 1
        self.grid.setColumnStretch(0, 1)
        self.grid.setColumnMinimumWidth(0, 110)
        if (action := self.action_buttons.get(focused)) is not None:
            action.show()  # a hidden widget cannot take the focus
            action.setFocus()

    def _add_model(self, line: int, file: FileRow) -> int:
        if line:
            self.grid.addWidget(separator(), line, 0, 1, NUM_COLUMNS)
            line += 1
        self.grid.addWidget(self._name(file), line, 0)
        mark = StatusMark(self._theme)
        mark.show_fit(file.fit)
        self.grid.addWidget(mark, line, 1, _LEFT)
        self.grid.addWidget(self._size(file), line, 2, _RIGHT)
        made = self.action_buttons[file.ref.file] = self._action(file)
        self.grid.addWidget(made, line, 3)
        return line + 1

    def _action(self, file: FileRow) -> QPushButton:
        ref, what = file.ref, file.label or file.ref.name
        if file.presence is Presence.HERE:
            return button(
                tr("Chat"),
                lambda: self._requests.chat_requested.emit(ref, None),
                name=tr("Chat with {what}").format(what=what),
            )
        if file.presence is Presence.DOWNLOADING:
            return button(
                tr("Downloading"),
                lambda: self._requests.page_requested.emit("downloads"),
                name=tr("{what} is downloading").format(what=what),
            )
        return button(
            tr("Download"),
            lambda: self._requests.pull_requested.emit((ref,), False),
            name=tr("Download {what}").format(what=what),
        )

    def _name(self, file: FileRow) -> QWidget:
        holder = QWidget()
        row = hbox(parent=holder, margins=(0, 4, 0, 4), spacing=8)
        if file.label:
            name = label(file.label, "strong" if file.kind.runs_alone else "")
            row.addWidget(name)
        else:
            name = ElidedLabel(file.ref.name, "strong" if file.kind.runs_alone else "")
            row.addWidget(name, 1)
        name.setToolTip(without_markup(file.ref.file))
        if file.num_parts > 1:
            number = file.num_parts
            row.addWidget(label(tr("%n parts", None, number), "caption"))
        if file.kind is FileKind.DRAFT:
            tag = label(tr("draft model"), "key")
            tag.setToolTip(tooltip(translate("Words", KINDS[file.kind][1])))
            row.addWidget(tag)
        if file.label:
            row.addStretch(1)
        return holder

    def _size(self, file: FileRow) -> QLabel:
        made = label(bytes_or_unknown(file.size_bytes))
        made.setFont(self._theme.font(0))
        return made


class TokenBox(QFrame):
    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._requests = requests
        self.setObjectName("card")
        self._page = ""
        self.title = StatusMark(theme)
        self.title.show_mark("lock", translate("TokenBox", "This model is gated"), "warn")
        self.words = label(translate("HubViews", GATED_WORDS), "", wrap=True)
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText(translate("TokenBox", "Access token (hf_…)"))
        self.field.setAccessibleName(translate("TokenBox", "Access token"))
        self.field.setAccessibleDescription(translate("TokenBox", KEPT_NOTE))
        self.field.returnPressed.connect(self._send_token)
        self.give_button = button(translate("TokenBox", "Use this token"), self._send_token)
        self.page_button = button(
            translate("TokenBox", "Open the model's page"), lambda: requests.link_requested.emit(self._page)
        )
        self.remove_button = button(translate("TokenBox", "Forget the token"), requests.token_removed.emit)
        row = hbox((self.field, 1), self.give_button, self.remove_button, self.page_button, spacing=8)
        note = label(translate("TokenBox", KEPT_NOTE), "caption", wrap=True)
        vbox(self.title, self.words, row, note, parent=self, margins=(16, 14, 16, 14), spacing=8)
        self.hide()

    def show_gate(self, page: str, *, gated: bool, has_token: bool) -> None:
        """Explain the access restriction; hidden if there is none."""
        self._page = page
        self.field.clear()
        self.field.setVisible(not has_token)
        self.give_button.setVisible(not has_token)
        self.remove_button.setVisible(has_token)
        self.setVisible(gated)

    def _send_token(self) -> None:
        token = self.field.text().strip()
        self.field.clear()
        if token:
            self._requests.token_entered.emit(token)


def facts(row: RepoSummary) -> str:
    """``by Qwen · 1.2 M downloads · updated 3 days ago · apache-2.0``."""
    pieces = [translate("RepoPane", "by {author}").format(author=row.author)]
    number = row.downloads
    if number is not None:
        pieces.append(translate("RepoPane", "{compact} downloads", None, number).format(compact=compact_number(number)))
    if row.updated is not None:
        pieces.append(translate("RepoPane", "updated {day}").format(day=day_text(row.updated.date(), clock.today())))
    pieces.append(
        translate("RepoPane", "licence {licence}").format(licence=row.licence)
        if row.licence
        else translate("RepoPane", "licence not stated")
    )
    return " · ".join(pieces)


def summary(row: RepoSummary) -> str:
    """``qwen2 · 7.62 B parameters · context of 32,768 tokens``."""
    pieces = [row.architecture, parameters(row.num_parameters) if row.num_parameters else ""]
    if row.context_length:
        words = translate("HubViews", "context of {number} tokens")
        pieces.append(words.format(number=count(row.context_length)))
    return " · ".join(filter(None, pieces))


class RepoPane(QStackedWidget):
    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._page_url = ""
        self._repo = ""
        self.empty = EmptyPagePlaceholder(theme, "search")
        self.title = label("", "heading", wrap=True)
        self.facts = label("", "caption", wrap=True)
        self.summary = label("", "", wrap=True)
        self.gate = TokenBox(theme, requests)
        self.files_heading = label(translate("RepoPane", "Files"), "section")
        self.files = FileTable(theme, requests)
        self.no_files = label("", "muted", wrap=True)
        self.page_button = button(
            translate("RepoPane", "Open the model's page"),
            lambda: requests.link_requested.emit(self._page_url + self._repo),
        )
        self.addWidget(self.empty)
        self.addWidget(self._page())
        self.show_text(
            translate("RepoPane", "Choose a model"),
            translate("RepoPane", "You will see its files, their sizes and whether they fit this computer."),
        )

    def _page(self) -> QWidget:
        words = vbox(self.title, self.facts, spacing=4)
        head = hbox((words, 1), self.page_button)
        page = page_column(
            head,
            self.summary,
            4,
            self.gate,
            8,
            self.files_heading,
            self.no_files,
            self.files,
            width_px=MAX_PX,
            margins=(24, 20, 24, 24),
            spacing=8,
        )
        self.area = scroll_area(page, translate("RepoPane", "Details"))
        return self.area

    def show_text(self, title: str, text: str) -> None:
        self.empty.show_text(title, text)
        self.setCurrentIndex(0)

    def show_details(self, details: RepoView) -> None:
        row = details.repo
        self._page_url = details.page_url
        if row.repo_id != self._repo:
            self.area.verticalScrollBar().setValue(0)
        self._repo = row.repo_id
        self.title.setText(row.name)
        self.title.setToolTip(without_markup(row.repo_id))
        self.facts.setText(facts(row))
        show_text(self.summary, summary(row))
        self.gate.show_gate(self._page_url + row.repo_id, gated=row.gated, has_token=details.has_token)
        self.files.set_files(details.files)
        self.files.setVisible(bool(details.files))
        self.no_files.setText(
            translate("RepoPane", "This repository contains no GGUF files. See its page for other formats.")
        )
        self.no_files.setVisible(not details.files)
        self.setCurrentIndex(1)
