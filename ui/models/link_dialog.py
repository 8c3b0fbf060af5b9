"""A model from any address: the address, what is behind it by its header, and the way to download it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.core.domain.models import FitLevel, LinkView, ModelRef
from ui.models.parts import StatusMark, button, card, label
from ui.models.requests import ModelsRequests
from ui.text.formatting import size
from ui.text.language import translate
from ui.text.problem_words import in_words
from ui.theme.theme import Theme
from ui.widgets.enter_key import EnterInDialog

WIDTH_PX = 560


class LinkDialog(QDialog):
    """One view in, requests out. The primary button looks first, and downloads once it is known what there is."""

    def __init__(self, theme: Theme, requests: ModelsRequests, parent: QWidget) -> None:
        super().__init__(parent)
        EnterInDialog(self)
        self._requests = requests
        self._view: LinkView | None = None
        self.setWindowTitle(translate("LinkDialog", "A model from a link"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(True)
        self.setMinimumWidth(WIDTH_PX)
        self.address = QLineEdit()
        self.address.setPlaceholderText("https://example.org/model-Q4_K_M.gguf")
        self.address.setAccessibleName(translate("LinkDialog", "Address of the GGUF file"))
        self.address.textChanged.connect(lambda _text: self.set_view(None))
        self.state = StatusMark(theme, wrap=True)
        self.name = label("", "strong", wrap=True)
        self.facts = label(wrap=True)
        self.facts.setFont(theme.font(0))
        self.hosts = label("", "caption", wrap=True)
        self.fit = StatusMark(theme)
        self.found = self._make_found()
        self.cancel_button = button(translate("LinkDialog", "Cancel"), self.reject)
        self.go_button = button("", self._go_on, kind="primary")
        self.go_button.setDefault(True)  # Enter in the field presses it
        self._arrange()
        self.address.setFocus()
        self.finished.connect(lambda _code: requests.link_closed.emit())
        self.set_view(None)

    def _make_found(self) -> QFrame:
        frame, column = card()
        for part in (self.name, self.facts, self.hosts, self.fit):
            column.addWidget(part)
        return frame

    def _arrange(self) -> None:
        words = translate(
            "LinkDialog",
            "The link of the GGUF file itself, not of a page about it. Its header is read first; the whole file is "
            "downloaded when you say so. Nothing else is sent to that server.",
        )
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.go_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(12)
        column.addWidget(label(translate("LinkDialog", "A model from a link"), "strong"))
        column.addWidget(label(words, "muted", wrap=True))
        column.addWidget(self.address)
        column.addWidget(self.state)
        column.addWidget(self.found)
        column.addStretch(1)
        column.addSpacing(8)
        column.addLayout(buttons)

    def set_view(self, view: LinkView | None) -> None:
        """Show what is known of the address in the field; what is told of another one comes too late."""
        if view is not None and view.url != self.address.text().strip().partition("#")[0]:
            return
        self._view = view
        looking = view is not None and view.is_looking
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
            hosts = translate("LinkDialog", "{first} sends on to {last}, which has the file.").format(
                first=view.hosts[0], last=view.hosts[-1]
            )
        else:
            hosts = translate("LinkDialog", "From {host}. There is no checksum to check the file by.").format(
                host=view.hosts[-1]
            )
        self.hosts.setText(hosts)
        self.fit.setVisible(view.fit is not FitLevel.UNKNOWN)
        self.fit.show_fit(view.fit)

    def _go_on(self) -> None:
        view = self._view
        if view is None or view.problem is not None:
            self._requests.link_given.emit(self.address.text().strip().partition("#")[0])
        else:
            self._requests.pull_requested.emit((ModelRef(url=view.url),), True)
            self.accept()
