"""A model from any address: the address, what is behind it by its header, and the way to download it."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.core.domain.models import FitLevel, LinkView, ModelRef
from ui.models.parts import StatusMark
from ui.models.requests import ModelsRequests
from ui.text.formatting import size
from ui.text.language import translate
from ui.text.problem_words import in_words
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, card, hbox, label, line_edit, vbox
from ui.widgets.dialogs import Dialog

WIDTH_PX = 560


class LinkDialog(Dialog):
    """One view in, requests out. The primary button looks first, and downloads once it is known what there is."""

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
        self.found = card(self.name, self.facts, self.hosts, self.fit)
        self.cancel_button = button(translate("LinkDialog", "Cancel"), self.reject)
        self.go_button = button("", self._go_on, kind="primary")
        self.go_button.setDefault(True)  # Enter in the field presses it
        self._arrange()
        self.address.setFocus()
        self.finished.connect(lambda _code: requests.link_closed.emit())
        self.set_view(None)

    def _arrange(self) -> None:
        words = translate(
            "LinkDialog",
            "The link of the GGUF file itself, not of a page about it. Its header is read first; the whole file is "
            "downloaded when you say so. Nothing else is sent to that server.",
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
