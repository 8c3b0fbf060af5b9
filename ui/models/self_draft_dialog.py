"""Makes a draft from a model: explanation, progress, measurements, result."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.core.domain.models import SelfDraftState, SelfDraftView
from ui.models.parts import StatusMark
from ui.text.formatting import percent, size
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, label, progress_bar, vbox
from ui.widgets.dialogs import Dialog

tr = Translator("SelfDraftDialog")

WIDTH_PX = 508
WHAT = tr.mark(
    "Paceline writes copies of “{name}” without an eighth, a quarter and half of its layers, "
    "and measures how often each agrees with the model and how fast it is. A copy that can "
    "speed the model up is kept as a draft."
)
SELDOM = tr.mark("With most models no copy is good enough: they were not trained to work without layers.")
NEEDS = tr.mark(
    "This takes some minutes, up to {size} of disk space, and memory for two copies of the model. Chats wait meanwhile."
)
NONE_KEPT = tr.mark("No copy was kept. A smaller model of the same family, or repeated text, drafts better.")


class SelfDraftDialog(Dialog):
    """Shows a `SelfDraftView` and emits requests. Closing it cancels."""

    # make and measure copies; cancel
    start_requested = Signal()
    stop_requested = Signal()
    draft_taken = Signal(str)  # use this file as the draft

    def __init__(self, parent: QWidget, theme: Theme, view: SelfDraftView) -> None:
        super().__init__(parent, tr("A draft of the model itself"))
        self.view = view
        self.heading = label(tr("Make a draft of the model itself"), "strong")
        self.what = label(tr(WHAT).format(name=view.name), wrap=True)
        self.seldom = label(tr(SELDOM), wrap=True)
        # A copy is nearly as large as the model, and the best copy so far is kept while the next one is written.
        needs = tr(NEEDS).format(size=size(2 * view.size_bytes))
        self.needs = label(needs, "caption", wrap=True)
        self.bar = progress_bar(tr("Making a draft of the model itself"))
        self.doing = label("", "caption", wrap=True)
        self.doing.setFont(theme.font(-1))
        self.verdict = StatusMark(theme, wrap=True)
        self.measured = label("", "caption", wrap=True)
        self.close_button = button(tr("Close"), self.reject)
        self.start_button = button(tr("Make and measure"), self.start_requested.emit, kind="primary")
        self.use_button = button(tr("Use as the draft"), self._take, kind="primary")
        self.rejected.connect(self.stop_requested)
        self._arrange()
        self.set_view(view)

    def _arrange(self) -> None:
        words = vbox(
            self.heading,
            self.what,
            self.seldom,
            self.needs,
            self.bar,
            self.doing,
            self.verdict,
            self.measured,
            spacing=8,
        )
        buttons = hbox(Stretch(), self.close_button, self.start_button, self.use_button, spacing=8)
        column = vbox(words, buttons, parent=self, margins=(24, 20, 24, 20), spacing=20)
        self._column = column
        self.setFixedWidth(WIDTH_PX)

    def set_view(self, view: SelfDraftView) -> None:
        changed = view.state is not self.view.state or not self.isVisible()
        self.view = view
        works, ended = view.state is SelfDraftState.WORKING, view.state is SelfDraftState.ENDED
        begins = not (works or ended)
        for part in (self.what, self.seldom, self.needs, self.start_button):
            part.setVisible(begins)
        self.bar.setVisible(works)
        self.doing.setVisible(works)
        self.measured.setVisible(ended)
        self.verdict.setVisible(not works and bool(view.words))
        self.use_button.setVisible(ended and bool(view.draft))
        self.close_button.setText(tr("Cancel") if works or begins else tr("Close"))
        self.close_button.setAccessibleName(self.close_button.text())
        if works:
            self._show_progress(view)
        elif view.words:
            self._show_end(view)
        if changed:
            first = self.use_button if ended and view.draft else self.start_button if begins else self.close_button
            first.setFocus(Qt.FocusReason.OtherFocusReason)
            self._column.activate()
            self.setFixedHeight(self._column.totalHeightForWidth(WIDTH_PX))

    def _show_progress(self, view: SelfDraftView) -> None:
        self.bar.setValue(round(view.fraction * 1000))
        doing = view.words[-1] if view.words else tr("waiting for the engine")
        self.doing.setText(f"{doing} · {percent(view.fraction)}" if view.words else doing)
        self.bar.setAccessibleDescription(self.doing.text())

    def _show_end(self, view: SelfDraftView) -> None:
        if view.state is SelfDraftState.FAILED:
            self.verdict.show_mark("triangle-alert", " ".join(view.words), "bad")
            return
        self.measured.setText("\n\n".join(view.words))
        if view.draft:
            kept = tr("One copy can speed the model up. It was kept.")
            self.verdict.show_mark("circle-check", kept, "good")
        else:
            self.verdict.show_mark("info", tr(NONE_KEPT), "muted")

    def _take(self) -> None:
        self.draft_taken.emit(self.view.draft)
        self.accept()
