"""The page of remote servers: add a server by address and key, show its models, chat with one."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFrame, QLineEdit, QWidget

from app.core.domain.engines import (
    RemoteModel,
    ServerRecord,
    host_in,
    is_local_url,
    remote_model_id,
)
from engine.records import Problem
from ui.models.parts import ModelsRequests, StatusMark
from ui.text.formatting import count, without_markup
from ui.text.language import Translator
from ui.text.problem_words import in_words
from ui.theme.theme import Theme
from ui.widgets.building import button, empty_layout, hbox, label, line_edit, page_column, scroll_area, vbox
from ui.widgets.popups import NoWheelComboBox

tr = Translator("EnginesPage")

WIDTH_PX = 860  # like the library page
INTRO = tr.mark(
    "Chat with a model that runs elsewhere, on any OpenAI-compatible server such as vLLM, "
    "SGLang, llama-server, LM Studio or Ollama. Your messages and attached files are sent to "
    "that server."
)
KEPT = tr.mark("The key is stored in the system's keyring and sent only to this address.")


class RemoteServerForm(QFrame):
    """Address and key of a remote server to add. The key is emitted and not stored here."""

    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._requests = requests
        self.setObjectName("card")
        self.address = line_edit(tr("Address of the server"), "https://gpu.example.org:8000")
        self.key = QLineEdit()
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText(tr("Key, if it needs one"))
        self.key.setAccessibleName(tr("Key of the server"))
        self.key.setAccessibleDescription(tr(KEPT))
        self.trust = QCheckBox(tr("Send unencrypted: I trust this network"))
        self.trust.setAccessibleName(self.trust.text())
        self.trust.hide()
        self.add_button = button(tr("Add server"), self._add, kind="primary")
        self.failure = StatusMark(theme, wrap=True)
        self.failure.hide()
        self.address.returnPressed.connect(self._add)
        self.key.returnPressed.connect(self._add)
        self.address.textChanged.connect(self._on_address)
        self._arrange()
        self._on_address("")

    def _arrange(self) -> None:
        row = hbox((self.address, 3), (self.key, 2), self.add_button, spacing=8)
        vbox(
            label(tr("Add a remote server"), "strong"),
            row,
            self.trust,
            self.failure,
            label(tr(KEPT), "caption", wrap=True),
            parent=self,
            margins=(16, 14, 16, 14),
            spacing=8,
        )

    def _on_address(self, text: str) -> None:
        text = text.strip()
        url = text if "://" in text else f"http://{text}"
        self.trust.setChecked(False)
        self.trust.setVisible(url.lower().startswith("http://") and bool(host_in(url)) and not is_local_url(url))
        self.add_button.setEnabled(bool(text))

    def _add(self) -> None:
        if self.add_button.isEnabled():
            self.failure.hide()
            self.address.setFocus()  # before the focused button is disabled: Qt would focus any other widget
            self.set_busy(True)
            self._requests.engine_added.emit(self.address.text().strip(), self.key.text(), self.trust.isChecked())

    def set_busy(self, busy: bool) -> None:
        self.add_button.setText(tr("Connecting…") if busy else tr("Add server"))
        self.add_button.setEnabled(not busy and bool(self.address.text().strip()))

    def added(self) -> None:
        self.key.clear()
        self.address.clear()
        self.set_busy(False)

    def show_failure(self, problem: Problem) -> None:
        self.set_busy(False)
        words = in_words(problem)
        self.failure.show_mark("triangle-alert", f"{words.message} {words.advice}", "bad")
        self.failure.show()


class RemoteServerCard(QFrame):
    def __init__(
        self,
        theme: Theme,
        requests: ModelsRequests,
        record: ServerRecord,
        *,
        silent: bool,
    ) -> None:
        super().__init__()
        self.url = record.url
        self.setObjectName("card")
        self.title = label(record.host, "strong")
        self.about = label(_facts_text(record), "caption", wrap=True)
        self.silence = StatusMark(theme)
        self.silence.show_mark("triangle-alert", tr("Not reachable at the last check"), "warn")
        self.silence.setVisible(silent)
        self.models = NoWheelComboBox(tr("Model on {host}").format(host=record.host))
        for model in record.facts.models:
            self.models.addItem(_with_size(model, record), model.name)
            self.models.setItemData(self.models.count() - 1, without_markup(model.name), Qt.ItemDataRole.ToolTipRole)
        self.chat_button = button(
            tr("Chat"),
            lambda: requests.engine_chat_requested.emit(remote_model_id(record.url, self.models.currentData())),
            kind="primary",
            name=tr("Chat with a model on {host}").format(host=record.host),
        )
        self.ask_button = button(
            tr("Refresh"), lambda: self._ask(requests), name=tr("Refresh the models of {host}").format(host=record.host)
        )
        self.remove_button = button(
            tr("Remove"),
            lambda: requests.engine_removed.emit(record.url),
            name=tr("Remove {host} and forget its key").format(host=record.host),
        )
        row = hbox((self.models, 1), self.chat_button, self.ask_button, self.remove_button, spacing=8)
        vbox(self.title, self.about, self.silence, row, parent=self, margins=(16, 12, 16, 12), spacing=8)

    def _ask(self, requests: ModelsRequests) -> None:
        """Refresh the server; the result recreates all cards, including this one."""
        self.ask_button.setText(tr("Connecting…"))
        self.ask_button.setEnabled(False)
        requests.refresh_requested.emit(self.url)

    def choose(self, model: str) -> None:
        """Select a model; does nothing if the server lacks it."""
        place = self.models.findData(model)
        if place >= 0:
            self.models.setCurrentIndex(place)


def _with_size(model: RemoteModel, record: ServerRecord) -> str:
    """A model's name, with its context length if the server's models have different ones."""
    if not model.n_ctx or len({each.n_ctx for each in record.facts.models}) < 2:
        return model.title
    size = tr("context of {number} tokens").format(number=count(model.n_ctx))
    return f"{model.title} · {size}"


def _facts_text(record: ServerRecord) -> str:
    facts = record.facts
    here = [tr("on this computer")] if record.is_local else []
    parts = [facts.title, *here, tr("%n models", None, len(facts.models))]
    if facts.drafting:
        parts.append(tr("drafts: {how}").format(how=facts.drafting))
    else:
        parts.append(tr("drafting unknown"))
    sizes = {model.n_ctx for model in facts.models if model.n_ctx}
    if len(sizes) == 1:
        parts.append(tr("context of {number} tokens").format(number=count(sizes.pop())))
    if record.allows_plain:
        parts.append(tr("unencrypted"))
    return " · ".join(parts)


class RemoteServersPage(QWidget):
    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self.form = RemoteServerForm(theme, requests)
        self.cards: list[RemoteServerCard] = []
        self._list = vbox(spacing=12)
        page = page_column(
            label(tr("Remote servers"), "heading"),
            label(tr(INTRO), wrap=True),
            self.form,
            self._list,
            width_px=WIDTH_PX,
            margins=(24, 20, 24, 20),
            spacing=12,
            at_left=True,
        )
        vbox(scroll_area(page, tr("Remote servers")), parent=self, margins=0)

    def start(self) -> None:
        self.form.address.setFocus()

    def set_engines(self, records: Sequence[ServerRecord], silent: frozenset[str] = frozenset()) -> None:
        """Show the servers; the selections on cards stay."""
        chosen = {each.url: str(each.models.currentData()) for each in self.cards}
        empty_layout(self._list)
        self.cards = [
            RemoteServerCard(self._theme, self._requests, record, silent=record.url in silent) for record in records
        ]
        for each in self.cards:
            each.choose(chosen.get(each.url, ""))
            self._list.addWidget(each)
