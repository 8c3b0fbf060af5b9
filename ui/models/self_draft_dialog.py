"""Makes a draft from a model: explanation, progress, measurements, result."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from ui.models.parts import StatusMark
from ui.text.formatting import percent, size
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, label, progress_bar, vbox
from ui.widgets.dialogs import Dialog

tr = Translator("SelfDraftDialog")

WIDTH_PX = 508
WHAT_IT_DOES = tr.mark(
    "Paceline writes copies of “{name}” without an eighth, a quarter and half of its layers, "
    "and measures how often each agrees with the model and how fast it is. A copy that can "
    "speed the model up is kept as a draft."
)
SELDOM_PAYS = tr.mark("With most models no copy is good enough: they were not trained to work without layers.")
REQUIREMENTS = tr.mark(
    "This takes some minutes, up to {size} of disk space, and memory for two copies of the model. Chats wait meanwhile."
)
NOTHING_FASTER = tr.mark("No copy was kept. A smaller model of the same family, or repeated text, drafts better.")


class SelfDraftDialog(Dialog):
    """Explains, then shows the progress and the result. Closing it cancels."""

    # make and measure copies; cancel
    start_requested = Signal()
    stop_requested = Signal()
    draft_taken = Signal(str)  # use this file as the draft

    def __init__(self, parent: QWidget, theme: Theme, name: str, size_bytes: int) -> None:
        super().__init__(parent, tr("A draft of the model itself"))
        self.draft = ""  # the file of the faster copy
        self.heading = label(tr("Make a draft of the model itself"), "strong")
        self.what = label(tr(WHAT_IT_DOES).format(name=name), wrap=True)
        self.seldom = label(tr(SELDOM_PAYS), wrap=True)
        # A copy is nearly as large as the model, and the best copy so far is kept while the next one is written.
        needs = tr(REQUIREMENTS).format(size=size(2 * size_bytes))
        self.needs = label(needs, "caption", wrap=True)
        self.bar = progress_bar(tr("Making a draft of the model itself"))
        self.doing = label("", "caption", wrap=True)
        self.doing.setFont(theme.font(-1))
        self.verdict = StatusMark(theme, wrap=True)
        self.measured = label("", "caption", wrap=True)
        self.close_button = button(tr("Close"), self.reject)
        self.start_button = button(tr("Make and measure"), self.start_requested.emit, kind="primary")
        self.use_button = button(tr("Use as the draft"), self._use_draft, kind="primary")
        self.rejected.connect(self.stop_requested)
        self._arrange()
        self._show(self.what, self.seldom, self.needs, self.start_button)

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

    def show_progress(self, doing: str = "", fraction: float = 0.0) -> None:
        """Show the current step; empty while the engine is busy."""
        if self.bar.isHidden():
            self._show(self.bar, self.doing)
        self.bar.setValue(round(fraction * 1000))
        self.doing.setText(f"{doing} · {percent(fraction)}" if doing else tr("waiting for the engine"))
        self.bar.setAccessibleDescription(self.doing.text())

    def show_failure(self, words: str) -> None:
        self.verdict.show_mark("triangle-alert", words, "bad")
        self._show(self.what, self.seldom, self.needs, self.start_button, self.verdict)

    def show_result(self, words: Sequence[str], draft: str = "") -> None:
        """Show the measurements; ``draft``: the file of the faster copy, if there is one."""
        self.draft = draft
        self.measured.setText("\n\n".join(words))
        if draft:
            self.verdict.show_mark("circle-check", tr("One copy can speed the model up. It was kept."), "good")
            self._show(self.verdict, self.measured, self.use_button)
        else:
            self.verdict.show_mark("info", tr(NOTHING_FASTER), "muted")
            self._show(self.verdict, self.measured)

    def _show(self, *parts: QWidget) -> None:
        """Show these parts only, and focus the most likely button."""
        changing = (self.what, self.seldom, self.needs, self.bar, self.doing, self.verdict, self.measured)
        for part in (*changing, self.start_button, self.use_button):
            part.setVisible(part in parts)
        self.close_button.setText(tr("Close") if self.measured in parts else tr("Cancel"))
        self.close_button.setAccessibleName(self.close_button.text())
        first = next((each for each in (self.use_button, self.start_button) if each in parts), self.close_button)
        first.setFocus(Qt.FocusReason.OtherFocusReason)
        self._column.activate()
        self.setFixedHeight(self._column.totalHeightForWidth(WIDTH_PX))

    def _use_draft(self) -> None:
        self.draft_taken.emit(self.draft)
        self.accept()
