"""One repository: who made it, what access needs, its files with verdicts, and what it says of itself."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.domain.models import RepoRow, RepoView
from ui.models.file_table import FileTable
from ui.models.parts import EmptyPagePlaceholder
from ui.models.readme_view import ReadmeView
from ui.models.requests import ModelsRequests
from ui.models.token_box import TokenBox
from ui.models.words import compact, day
from ui.text import clock
from ui.text.formatting import as_written
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import button, hbox, label, page_column, scrolled, show_text, vbox

MAX_PX = 820


def facts(row: RepoRow) -> str:
    """``by Qwen · 1.2 M downloads · updated 3 days ago · Apache 2.0``."""
    pieces = [translate("RepoPane", "by {author}").format(author=row.author)] if row.author else []
    number = row.downloads
    if number is not None:
        pieces.append(translate("RepoPane", "{compact} downloads", None, number).format(compact=compact(number)))
    if row.updated is not None:
        pieces.append(translate("RepoPane", "updated {day}").format(day=day(row.updated, clock.today())))
    pieces.append(
        translate("RepoPane", "licence {licence}").format(licence=row.licence)
        if row.licence
        else translate("RepoPane", "licence not stated")
    )
    return " · ".join(pieces)


class RepoPane(QStackedWidget):
    """Empty words, or a repository."""

    def __init__(self, theme: Theme, requests: ModelsRequests, page_url: str = "https://huggingface.co/") -> None:
        super().__init__()
        self._page_url = page_url
        self._repo = ""
        self.empty = EmptyPagePlaceholder(theme, "search")
        self.title = label("", "heading", wrap=True)
        self.facts = label("", "caption", wrap=True)
        self.summary = label("", "", wrap=True)
        self.gate = TokenBox(theme, requests)
        self.files_heading = label(translate("RepoPane", "Files"), "section")
        self.files = FileTable(theme, requests)
        self.no_files = label("", "muted", wrap=True)
        self.readme_heading = label(translate("RepoPane", "Description"), "section")
        self.readme = ReadmeView(theme)
        self.readme.link_activated.connect(requests.link_requested)
        self.page_button = button(
            translate("RepoPane", "Open the model's page"),
            lambda: requests.link_requested.emit(self._page_url + self._repo),
        )
        self.addWidget(self.empty)
        self.addWidget(self._page())
        self.say(
            translate("RepoPane", "Choose a model"),
            translate("RepoPane", "See here its files, their sizes and whether they fit this computer."),
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
            16,
            self.readme_heading,
            self.readme,
            width_px=MAX_PX,
            margins=(24, 20, 24, 24),
            spacing=8,
        )
        self.area = scrolled(page, translate("RepoPane", "Details"))
        return self.area

    def say(self, title: str, text: str) -> None:
        self.empty.say(title, text)
        self.setCurrentIndex(0)

    def show_details(self, details: RepoView, page_url: str = "") -> None:
        """Fill the page; the same repository again keeps its place."""
        row = details.row
        self._page_url = page_url or self._page_url
        if row.repo != self._repo:
            self.area.verticalScrollBar().setValue(0)
        self._repo = row.repo
        self.title.setText(row.name)
        self.title.setToolTip(as_written(row.repo))
        self.facts.setText(facts(row))
        show_text(self.summary, details.summary)
        self.gate.show_gate(details.gated_words, self._page_url + row.repo, has_token=details.has_token)
        self.files.set_files(details.files)
        self.files.setVisible(bool(details.files))
        self.no_files.setText(
            translate("RepoPane", "This repository contains no GGUF files. See its page for other formats.")
        )
        self.no_files.setVisible(not details.files)
        self.readme.set_markdown(details.readme)
        for piece in (self.readme_heading, self.readme):
            piece.setVisible(bool(details.readme.strip()))
        self.setCurrentIndex(1)
