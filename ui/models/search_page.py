"""Hub search: query, sort order, filter and results at the left, the chosen repository at the right."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QLineEdit, QStackedWidget, QWidget

from app.core.domain.models import LinkView, ModelRef, RepoSummary, SearchQuery
from engine.records import FitLevel, Problem
from ui.models.parts import EmptyPagePlaceholder, ModelsRequests, StatusMark, WrappingRow, list_side, put_side_by_side
from ui.models.repo_pane import RepoPane
from ui.models.words import FIT, compact_number, day_text
from ui.text import clock
from ui.text.formatting import size
from ui.text.language import Translator, translate
from ui.text.problem_words import in_words
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, card_frame, hbox, label, line_edit, vbox
from ui.widgets.choice_list import Choice, ChoiceList
from ui.widgets.dialogs import Dialog
from ui.widgets.popups import NoWheelComboBox

tr = Translator("SearchPage")

SORTS = (
    ("downloads", tr.mark("Most downloads")),
    ("updated", tr.mark("Last updated")),
    ("name", tr.mark("Name")),
)
TYPING_MS = 450
WIDTH_PX = 560


class LinkDialog(Dialog):
    """Asks for a link. The primary button checks the link, then downloads."""

    def __init__(self, theme: Theme, requests: ModelsRequests, parent: QWidget) -> None:
        super().__init__(parent, translate("LinkDialog", "A model from a link"))
        self._requests = requests
        self._view: LinkView | None = None
        self.setMinimumWidth(WIDTH_PX)
        self.address = line_edit(
            translate("LinkDialog", "Address of the GGUF file"), "https://example.org/model-Q4_K_M.gguf"
        )
        self.address.textChanged.connect(lambda _text: self.set_view(None))
        self.state = StatusMark(theme, wrap=True)
        self.name = label("", "strong", wrap=True)
        self.facts = label(wrap=True)
        self.facts.setFont(theme.font(0))
        self.hosts = label("", "caption", wrap=True)
        self.fit = StatusMark(theme)
        self.found = card_frame(self.name, self.facts, self.hosts, self.fit)
        self.cancel_button = button(translate("LinkDialog", "Cancel"), self.reject)
        self.go_button = button("", self._on_primary, kind="primary")
        self.go_button.setDefault(True)  # Enter in the field presses it
        self._arrange()
        self.address.setFocus()
        self.finished.connect(lambda _code: requests.link_closed.emit())
        self.set_view(None)

    def _arrange(self) -> None:
        words = translate(
            "LinkDialog",
            "Paste the link of the GGUF file itself, not of its web page. Paceline reads the file's "
            "header first, and downloads the rest only when you confirm. Nothing else is sent to that "
            "server.",
        )
        buttons = hbox(Stretch(), self.cancel_button, self.go_button, spacing=8)
        vbox(
            label(translate("LinkDialog", "A model from a link"), "strong"),
            label(words, "muted", wrap=True),
            self.address,
            self.state,
            self.found,
            Stretch(),
            8,
            buttons,
            parent=self,
            margins=(24, 20, 24, 20),
            spacing=12,
        )

    def set_view(self, view: LinkView | None) -> None:
        if view is not None and view.url != self.address.text().strip().partition("#")[0]:
            return
        self._view = view
        looking = view is not None and view.is_checking
        known = view is not None and not looking and view.problem is None
        self.state.setVisible(view is not None and not known)
        self.found.setVisible(known)
        if view is not None and view.problem is not None:
            reported = in_words(view.problem)
            self.state.show_mark("triangle-alert", f"{reported.message} {reported.advice}".strip(), "bad")
        elif looking:
            self.state.show_mark("search", translate("LinkDialog", "Reading the file's header…"), "muted")
        elif view is not None:
            self._show_found(view)
        words = translate("LinkDialog", "Download and chat") if known else translate("LinkDialog", "Check the link")
        self.go_button.setText(words)
        self.go_button.setAccessibleName(words)
        self.go_button.setEnabled(not looking and bool(self.address.text().strip()))
        self.adjustSize()

    def _show_found(self, view: LinkView) -> None:
        self.name.setText(view.name)
        weight = translate("LinkDialog", "{size} to download").format(size=size(view.size_bytes))
        if view.num_parts > 1:
            weight = translate("LinkDialog", "%n parts, the first of {size}", None, view.num_parts).format(
                size=size(view.size_bytes)
            )
        self.facts.setText(" · ".join(part for part in (view.facts, weight) if part))
        if len(view.hosts) > 1:
            hosts = translate("LinkDialog", "{first} redirects to {last}, which has the file.").format(
                first=view.hosts[0], last=view.hosts[-1]
            )
        else:
            hosts = translate(
                "LinkDialog", "From {host}. It gives no checksum, so the file cannot be verified."
            ).format(host=view.hosts[-1])
        self.hosts.setText(hosts)
        self.fit.setVisible(view.fit is not FitLevel.UNKNOWN)
        self.fit.show_fit(view.fit)

    def _on_primary(self) -> None:
        view = self._view
        if view is None or view.problem is not None:
            self._requests.link_given.emit(self.address.text().strip().partition("#")[0])
        else:
            self._requests.pull_requested.emit((ModelRef(url=view.url),), True)
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
        self._asked: SearchQuery | None = None
        self.field = QLineEdit()
        orders = [(tr(words), key) for key, words in SORTS]
        self.sort = NoWheelComboBox(tr("Sort by"), orders)
        self.fitting = QCheckBox(tr("Fits this computer"))
        self.status = label("", "caption")
        self.list = ChoiceList(theme, tr("Results"))
        self.nothing = EmptyPagePlaceholder(theme, "search")
        self.pane = RepoPane(theme, requests)
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._make()
        self._arrange()
        theme.changed.connect(self._recolor)
        self._recolor()

    def _make(self) -> None:
        self.field.setObjectName("search")
        self.field.setPlaceholderText(tr("Search models on Hugging Face"))
        self.field.setAccessibleName(tr("Search models"))
        self._icon = QAction(self.field)
        self._clear_action = QAction(tr("Clear the search"), self.field)
        self._clear_action.setVisible(False)
        self._clear_action.triggered.connect(self._clear)
        self.field.addAction(self._clear_action, QLineEdit.ActionPosition.TrailingPosition)
        self.field.textChanged.connect(lambda text: self._clear_action.setVisible(bool(text)))
        self.field.addAction(self._icon, QLineEdit.ActionPosition.LeadingPosition)
        self.fitting.setAccessibleName(tr("Only models that fit this computer"))
        self.field.textEdited.connect(lambda _text: self._typing.start())
        self.field.returnPressed.connect(self._on_enter)
        self._typing.timeout.connect(self.search)
        self.sort.currentIndexChanged.connect(lambda _index: self.search())
        self.fitting.toggled.connect(lambda _on: self.search())
        self.list.chosen.connect(self._on_chosen)
        self.list.opened.connect(lambda _key: self.pane.page_button.setFocus())

    def _arrange(self) -> None:
        filters = WrappingRow()
        filters.add(self.sort)
        filters.add_gap()
        filters.add(self.fitting)
        self.results = QStackedWidget()
        self.results.addWidget(self.list)
        self.results.addWidget(self.nothing)
        left, column = list_side(self._theme, 12, 8)
        column.addWidget(self.field)
        column.addWidget(filters)
        column.addWidget(self.status)
        column.addWidget(self.results, 1)
        put_side_by_side(self, left, self.pane)

    @property
    def query(self) -> SearchQuery:
        return SearchQuery(self.field.text().strip(), str(self.sort.currentData()), self.fitting.isChecked())

    def start(self) -> None:
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        if self._asked is None:
            self.search()

    def search(self) -> None:
        self._typing.stop()
        self._asked = self.query
        self.status.setText(tr("Searching…"))
        self._requests.search_requested.emit(self._asked)

    def set_results(self, query: SearchQuery, rows: Sequence[tuple[RepoSummary, FitLevel]]) -> None:
        if query != self._asked:
            return
        self.list.set_rows([result_row(*row) for row in rows])
        number = len(rows)
        self.status.setText(tr("%n models", None, number))
        if rows:
            self.results.setCurrentWidget(self.list)
            return
        offers = [button(tr("Clear the search"), self._clear)] if query.text else []
        if query.only_fitting:
            offers.append(button(tr("Show all sizes"), lambda: self.fitting.setChecked(False)))
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
        if self._asked == self.query and self.list.rows.rowCount():
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
            self.list.choose_first()
        else:
            self.search()

    def _on_chosen(self, repo: str) -> None:
        self.pane.show_text(tr("Searching the hub"), repo)
        self._requests.repo_requested.emit(repo)

    def _recolor(self) -> None:
        self._icon.setIcon(self._theme.icon("search"))
        self._clear_action.setIcon(self._theme.icon("x"))
