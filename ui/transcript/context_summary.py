"""The line in the transcript below which messages count as they are: above it, a summary stands for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel

from app.core.domain.context import SummaryView
from ui.text.formatting import count
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.transcript.cards.card import MessageCard
from ui.widgets.building import button, hbox, label, vbox


class SummaryLine(QFrame):
    """One summary, or one in the making.

    Signals:
        undo_requested: the messages themselves are to be sent again.
        skip_requested: no summary is wanted this time.
        unfolded(bool): it can be read, or not any more.
    """

    undo_requested = Signal()
    skip_requested = Signal()
    unfolded = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("summaryLine")
        self.icon = QLabel()
        self.words = label("", "caption", wrap=True)
        self.text = label(wrap=True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setAccessibleName(translate("SummaryLine", "Summary"))
        self.show_button = button("", self._toggle, kind="link")
        self.undo_button = button(
            translate("SummaryLine", "Undo"),
            self.undo_requested.emit,
            kind="link",
            name=translate("SummaryLine", "Undo the summary"),
            tip=translate("SummaryLine", "Send the original messages again, as far as they fit"),
        )
        self.skip_button = button(
            translate("SummaryLine", "Skip"),
            self.skip_requested.emit,
            kind="link",
            name=translate("SummaryLine", "Skip the summary"),
            tip=translate("SummaryLine", "Answer without a summary; the oldest messages are left out"),
        )
        middle = Qt.AlignmentFlag.AlignVCenter
        buttons = ((each, 0, middle) for each in (self.show_button, self.undo_button, self.skip_button))
        row = hbox((self.icon, 0, middle), (self.words, 1), *buttons, spacing=8)
        vbox(row, self.text, parent=self, margins=(12, 4, 4, 4), spacing=4)
        self.text.setContentsMargins(24, 0, 8, 8)
        self.text.hide()
        theme.changed.connect(self._recolor)
        self._recolor()

    def show_summary(self, view: SummaryView) -> None:
        if view.writing:
            words = self._progress(view)
        else:
            words = translate("SummaryLine", "The messages above are sent as this summary")
        self.words.setText(words)
        self.text.setText(view.text)
        self.setAccessibleName(words)
        self.setAccessibleDescription(view.text)
        self.undo_button.setVisible(not view.writing)
        self.skip_button.setVisible(view.writing)
        self.show_button.setVisible(bool(view.text))
        self._name_toggle()

    @staticmethod
    def _progress(view: SummaryView) -> str:
        words = translate("SummaryLine", "Summarising the %n oldest messages", None, view.num_messages)
        if view.text:
            written = translate("SummaryLine", "%n words", None, len(view.text.split()))
            return f"{words}: {written}"
        if view.total:
            read = translate("SummaryLine", "reading {done} of {total} tokens")
            return f"{words}: {read.format(done=count(view.done), total=count(view.total))}"
        return words

    def _toggle(self) -> None:
        self.set_unfolded(self.text.isHidden())
        self.unfolded.emit(not self.text.isHidden())

    def set_unfolded(self, unfolded: bool) -> None:
        self.text.setVisible(unfolded)
        self._name_toggle()

    def _name_toggle(self) -> None:
        shown = not self.text.isHidden()
        self.show_button.setText(translate("SummaryLine", "Hide") if shown else translate("SummaryLine", "Show"))
        self.show_button.setAccessibleName(
            translate("SummaryLine", "Hide the summary") if shown else translate("SummaryLine", "Show the summary")
        )

    def _recolor(self) -> None:
        pixmap = self._theme.pixmap("layers", self._theme.tokens.text_muted, 16, self.devicePixelRatioF())
        self.icon.setPixmap(pixmap)


class SummaryLines(QObject):
    """Puts the lines below the messages that they end with, whenever those are built.

    Signals:
        undo_requested(int): the last message that the summary stands for.
        skip_requested: the summary in the making is not wanted.
    """

    undo_requested = Signal(int)
    skip_requested = Signal()

    def __init__(self, theme: Theme, cards: Callable[[], Sequence[MessageCard]]) -> None:
        super().__init__()
        self._theme = theme
        self._cards = cards
        self._views: dict[int, SummaryView] = {}
        self._unfolded: set[int] = set()  # by the ids of their messages: the lines may go and be made again

    def set_views(self, views: Mapping[int, SummaryView]) -> None:
        """Show these summaries, each by the last message that it stands for, and no others."""
        self._views = dict(views)
        self._unfolded &= self._views.keys()
        for card in self._cards():
            self.attach_line(card)

    def line_of(self, card: MessageCard) -> SummaryLine | None:
        line = card.findChild(SummaryLine, "summaryLine", Qt.FindChildOption.FindDirectChildrenOnly)
        return line if isinstance(line, SummaryLine) else None

    def attach_line(self, card: MessageCard) -> None:
        """Add the summary line of a card, or remove it."""
        view, line = self._views.get(card.message_id), self.line_of(card)
        if view is None:
            if line is not None:
                line.setObjectName("")
                line.hide()
                line.deleteLater()
            return
        layout = card.layout()
        if line is None and layout is not None:
            line = SummaryLine(self._theme)
            message_id = card.message_id
            line.undo_requested.connect(lambda: self.undo_requested.emit(message_id))
            line.skip_requested.connect(self.skip_requested)
            layout.addWidget(line)
            line.set_unfolded(message_id in self._unfolded)
            line.unfolded.connect(lambda unfolded: self._note(message_id, unfolded=unfolded))
        if line is not None:
            line.show_summary(view)

    def _note(self, message_id: int, *, unfolded: bool) -> None:
        if unfolded:
            self._unfolded.add(message_id)
        else:
            self._unfolded.discard(message_id)
