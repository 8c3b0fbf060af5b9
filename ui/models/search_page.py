"""Hub search: query and results at the left, the chosen repository at the right."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLineEdit, QStackedWidget, QWidget

from app.core.domain.models import ModelRef, RepoSummary
from engine.records import FitLevel, Problem
from ui.models.parts import EmptyPagePlaceholder, ModelsRequests, list_side, put_side_by_side
from ui.models.repo_pane import RepoPane
from ui.models.words import FIT, compact_number, day_text
from ui.text import clock
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, label, line_edit, vbox
from ui.widgets.choice_list import Choice, ChoiceList
from ui.widgets.dialogs import Dialog

tr = Translator("SearchPage")

TYPING_MS = 450
WIDTH_PX = 560


class LinkDialog(Dialog):
    """Asks for a link, and downloads its file."""

    def __init__(self, requests: ModelsRequests, parent: QWidget) -> None:
        super().__init__(parent, translate("LinkDialog", "A model from a link"))
        self._requests = requests
        self.setMinimumWidth(WIDTH_PX)
        self.address = line_edit(
            translate("LinkDialog", "Address of the GGUF file"), "https://example.org/model-Q4_K_M.gguf"
        )
        words = translate(
            "LinkDialog",
            "Paste the link of the GGUF file itself, not of its web page. If the server gives no checksum, the file "
            "cannot be verified. Nothing else is sent to that server.",
        )
        cancel = button(translate("LinkDialog", "Cancel"), self.reject)
        self.go_button = button(translate("LinkDialog", "Download and chat"), self._download, kind="primary")
        self.go_button.setDefault(True)  # Enter in the field presses it
        self.go_button.setEnabled(False)
        self.address.textChanged.connect(lambda text: self.go_button.setEnabled(bool(text.strip())))
        vbox(
            label(translate("LinkDialog", "A model from a link"), "strong"),
            label(words, "muted", wrap=True),
            self.address,
            Stretch(),
            8,
            hbox(Stretch(), cancel, self.go_button, spacing=8),
            parent=self,
            margins=(24, 20, 24, 20),
            spacing=12,
        )
        self.address.setFocus()

    def _download(self) -> None:
        url = self.address.text().strip().partition("#")[0]
        self._requests.pull_requested.emit((ModelRef(url=url),), True)
        self.accept()


def result_row(row: RepoSummary, fit: FitLevel) -> Choice:
    known = fit is not FitLevel.UNKNOWN
    number = row.downloads or 0
    second = [
        tr("{compact} downloads", None, number).format(compact=compact_number(row.downloads)),
        day_text(row.updated.date(), clock.today()) if row.updated else "",
        row.licence,
    ]
    return Choice(
        key=row.repo_id,
        title=row.name,
        lines=(row.author, " · ".join(piece for piece in second if piece)),
        side=tr("Gated") if row.gated else "",
        icon=FIT[fit].icon if known else "",
        tone=FIT[fit].tone,
        spoken=FIT[fit].words if known else "",
    )


class SearchPage(QWidget):
    """Searches while the user types, after a pause."""

    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self._asked: str | None = None
        self.field = QLineEdit()
        self.status = label("", "caption")
        self.list = ChoiceList(theme, tr("Results"))
        self.nothing = EmptyPagePlaceholder(theme, "search")
        self.pane = RepoPane(theme, requests)
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._make()
        self._arrange()

    def _make(self) -> None:
        self.field.setObjectName("search")
        self.field.setPlaceholderText(tr("Search models on Hugging Face"))
        self.field.setAccessibleName(tr("Search models"))
        self.field.setClearButtonEnabled(True)
        self.field.textEdited.connect(lambda _text: self._typing.start())
        self.field.returnPressed.connect(self._on_enter)
        self._typing.timeout.connect(self.search)
        self.list.chosen.connect(self._on_chosen)
        self.list.opened.connect(lambda _key: self.pane.page_button.setFocus())

    def _arrange(self) -> None:
        self.results = QStackedWidget()
        self.results.addWidget(self.list)
        self.results.addWidget(self.nothing)
        left, column = list_side(self._theme, 12, 8)
        column.addWidget(self.field)
        column.addWidget(self.status)
        column.addWidget(self.results, 1)
        put_side_by_side(self, left, self.pane)

    def start(self) -> None:
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        if self._asked is None:
            self.search()

    def search(self) -> None:
        self._typing.stop()
        self._asked = self.field.text().strip()
        self.status.setText(tr("Searching…"))
        self._requests.search_requested.emit(self._asked)

    def set_results(self, text: str, rows: Sequence[tuple[RepoSummary, FitLevel]]) -> None:
        if text != self._asked:
            return
        self.list.set_rows([result_row(*row) for row in rows])
        number = len(rows)
        self.status.setText(tr("%n models", None, number))
        if rows:
            self.results.setCurrentWidget(self.list)
            return
        offers = [button(tr("Clear the search"), self._clear)] if text else []
        self.nothing.set_icon_name("search")
        self.nothing.show_text(
            tr("Nothing found"), tr("The hub has no such repository with GGUF files. Try other words."), *offers
        )
        self.results.setCurrentWidget(self.nothing)

    def set_problem(self, problem: Problem) -> None:
        self.status.setText("")
        self.nothing.set_icon_name("cloud-off")
        self.nothing.show_problem(problem, self.search)
        self.results.setCurrentWidget(self.nothing)

    def _clear(self) -> None:
        self.field.clear()
        self.search()

    def _on_enter(self) -> None:
        if self._asked == self.field.text().strip() and self.list.rows.rowCount():
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
            self.list.choose_first()
        else:
            self.search()

    def _on_chosen(self, repo: str) -> None:
        self.pane.show_text(tr("Searching the hub"), repo)
        self._requests.repo_requested.emit(repo)
