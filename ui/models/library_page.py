"""The library: local models and their actions, and models found in other apps."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QPushButton, QToolButton, QWidget

from app.core.domain.models import LibraryRow, ModelRef, Offer
from ui.models.parts import (
    EmptyPagePlaceholder,
    ModelsRequests,
    OfferCard,
    OtherModelSources,
    StatusMark,
    WrappingRow,
)
from ui.models.words import last_used_text
from ui.settings.rows import ask_model_file
from ui.text import clock
from ui.text.formatting import size
from ui.text.language import Translator, translate
from ui.text.model_titles import title_of
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel, button, hbox, label, page_column, reorder, scroll_area, vbox
from ui.widgets.dialogs import ConfirmDialog
from ui.widgets.icon_button import IconButton
from ui.widgets.popups import Menu

tr = Translator("LibraryPage")

WIDTH_PX = 860


def facts(row: LibraryRow) -> str:
    """``qwen2 · Q4_K_M · used yesterday · paired with Qwen2.5 0.5B · Apache 2.0 · Qwen/Qwen2.5-7B-Instruct-GGUF``."""
    pieces = [row.architecture, row.quantization, last_used_text(row.last_used, clock.today())]
    if row.paired_with:
        pieces.append(tr("paired with {paired_with}").format(paired_with=title_of(row.paired_with)))
    if row.side_file:
        pieces.append(tr("sees pictures with {side_file}").format(side_file=row.side_file))
    pieces += [row.licence, row.source]
    return " · ".join(piece for piece in pieces if piece)


class LibraryLine(QFrame):
    def __init__(self, theme: Theme, requests: ModelsRequests, row: LibraryRow) -> None:
        super().__init__()
        self._theme, self._requests, self.row = theme, requests, row
        self.setObjectName("card")
        self.name = ElidedLabel(row.name, "strong", tip=row.path)
        self.facts = ElidedLabel(facts(row), "caption")
        self.mark = StatusMark(theme)
        self.mark.setSizePolicy(self.mark.sizePolicy().Policy.Maximum, self.mark.sizePolicy().Policy.Preferred)
        self.weight = label(size(row.size_bytes))
        self.weight.setFont(theme.font(0))
        self.chat = button(
            translate("LibraryLine", "Chat"),
            self._chat,
            name=translate("LibraryLine", "Chat with {name}").format(name=row.name),
        )
        self.chat.setEnabled(not row.missing)
        self.more = IconButton(
            theme, "ellipsis", translate("LibraryLine", "More actions for {name}").format(name=row.name)
        )
        self.menu = Menu(self.more)
        self._fill_menu()
        self._show_mark()
        self._arrange()

    def _arrange(self) -> None:
        words = vbox(self.name, self.facts, spacing=1)
        actions = hbox(self.chat, self.more, spacing=4)
        hbox((words, 1), self.mark, self.weight, actions, parent=self, margins=(16, 10, 10, 10), spacing=16)

    def _show_mark(self) -> None:
        if self.row.missing:
            self.mark.show_mark("triangle-alert", translate("LibraryLine", "Missing"), "bad")
            self.mark.setToolTip(
                translate(
                    "LibraryLine",
                    "The file has moved or its disk is missing. Connect the disk, or remove the model from the list.",
                )
            )
        elif self.row.in_use:
            self.mark.show_mark("circle-check", _use_words(self.row.in_use), "good")
        elif self.row.in_place:
            self.mark.show_mark("link-2", translate("LibraryLine", "Used in place"), "muted")
            self.mark.setToolTip(
                translate("LibraryLine", "The file stays where it is; removing it here does not delete it.")
            )
        else:
            self.mark.hide()

    def _fill_menu(self) -> None:
        row, requests, ref = self.row, self._requests, ModelRef(path=self.row.path)

        def add(icon: str, words: str, action: Callable[[], object]) -> QAction:
            made = self.menu.addAction(self._theme.icon(icon), words, action)
            made.setEnabled(not row.missing)
            return made

        words = translate("LibraryLine", "Use as the draft")
        self.draft_action = add("file-box", words, lambda: requests.draft_requested.emit(ref))
        words = translate("LibraryLine", "Show in its folder")
        self.reveal_action = add("folder-open", words, lambda: requests.reveal_requested.emit(row.path))
        self.menu.addSeparator()
        self.remove_action = add("trash-2", translate("LibraryLine", "Remove…"), self.ask_remove)
        self.remove_action.setEnabled(True)
        self.more.setMenu(self.menu)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def _chat(self) -> None:
        self._requests.chat_requested.emit(ModelRef(path=self.row.path), None)

    def ask_remove(self) -> ConfirmDialog:
        """Ask for confirmation before deleting; shows the disk space that is freed."""
        row = self.row
        if row.in_place or row.missing:
            title = translate("LibraryLine", "Remove this model from the list?")
            text = translate("LibraryLine", "“{name}” is removed from the list. No file is deleted.")
            verb = translate("LibraryLine", "Remove")
        else:
            title = translate("LibraryLine", "Delete this model?")
            text = translate("LibraryLine", "“{name}” is deleted from this computer. This frees {size}.")
            verb = translate("LibraryLine", "Delete")
        text = text.format(name=row.name, size=size(row.size_bytes))
        question = ConfirmDialog(self.window(), title, text, verb, danger=True)
        question.accepted.connect(lambda: self._requests.remove_requested.emit(row.key))
        question.open()
        return question


class LibraryPage(QWidget):
    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self.lines: list[LibraryLine] = []
        self.offer_cards: list[OfferCard] = []
        self._shown: tuple[tuple[LibraryRow, ...], tuple[Offer, ...]] | None = None
        self.words = label(tr("Looking for your models…"), "caption", wrap=True)
        self.add_button = button(
            tr("Add a GGUF file…"), self._ask_file, tip=tr("The file stays where it is; nothing is copied.")
        )
        self.ways = OtherModelSources(requests)
        self.models = vbox(spacing=8)
        self.offers = vbox(spacing=8)
        self.offers_heading = label(tr("Found on this computer"), "section")
        self.models_heading = label(tr("In the library"), "section")
        for heading in (self.offers_heading, self.models_heading):
            heading.setContentsMargins(0, 8, 0, 0)
        self.empty = EmptyPagePlaceholder(theme, "library")
        self.empty.setMinimumHeight(280)
        pairs = button(tr("See recommended pairs"), lambda: requests.page_requested.emit("recommended"), kind="primary")
        self.own_button = button(
            tr("Add a GGUF file…"), self._ask_file, tip=tr("The file stays where it is; nothing is copied.")
        )
        self.empty.show_text(
            tr("No models yet"),
            tr("Download a pair, or add a GGUF file you already have. It is not copied."),
            pairs,
            self.own_button,
        )
        self._arrange()
        self.add_button.hide()
        self.empty.hide()  # until the models are known

    def _arrange(self) -> None:
        names = vbox(label(tr("Library"), "heading"), self.words, spacing=2)
        actions = WrappingRow()
        for each in (self.ways.folder_button, self.ways.link_button, self.add_button):
            actions.add(each)
        actions.add_gap()
        page = page_column(
            names,
            actions,
            8,
            self.offers_heading,  # above the models, so that nothing here moves
            self.offers,
            self.models_heading,
            self.empty,
            self.models,
            width_px=WIDTH_PX,
            margins=(24, 20, 24, 24),
            spacing=8,
            at_left=True,
        )
        vbox(scroll_area(page, tr("Library")), parent=self, margins=0)

    def start(self) -> None:
        first = next((line.chat for line in self.lines if line.chat.isEnabled()), self._add_file_button)
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _add_file_button(self) -> QPushButton:
        """The button that adds a file, or the one that searches a folder while the models are unknown."""
        if self._shown is None:
            return self.ways.folder_button
        return self.own_button if self.empty.isVisibleTo(self) else self.add_button

    def set_library(self, rows: Sequence[LibraryRow], offers: Sequence[Offer]) -> None:
        """Show local and found models."""
        shown = (tuple(rows), tuple(offers))
        if shown == self._shown:
            return
        self._shown = shown
        is_empty = not rows and not offers
        focus = self.focusWidget()
        had_focus = focus is not None and focus.hasFocus()
        self.empty.setVisible(is_empty)
        self.add_button.setVisible(not is_empty)  # the empty page has its own button
        self.words.setText(_summary_text(rows))
        is_removed = self._update_cards(focus)
        self.offers_heading.setVisible(bool(offers))
        self.models_heading.setVisible(bool(offers) and bool(rows))
        if had_focus and (is_removed or (is_empty and focus in (self.ways.folder_button, self.add_button))):
            self._add_file_button.setFocus(Qt.FocusReason.OtherFocusReason)  # keyboard users need a new focus

    def _update_cards(self, focus: QWidget | None) -> bool:
        """Create a card per model and offer; unchanged cards are reused. True if the card of ``focus`` was removed."""
        rows, offers = self._shown or ((), ())
        lines = {line.row: line for line in self.lines}
        by_use = sorted(rows, key=lambda row: -row.last_used.timestamp() if row.last_used else 0.0)
        wanted = [lines.get(row) or LibraryLine(self._theme, self._requests, row) for row in by_use]
        cards = {card.offer: card for card in self.offer_cards}
        found = [cards.get(offer) or self._offer_card(offer) for offer in offers]
        gone = [each for each in (*self.lines, *self.offer_cards) if each not in wanted and each not in found]
        is_removed = focus is not None and any(each.isAncestorOf(focus) for each in gone)
        reorder(self.models, self.lines, wanted)
        reorder(self.offers, self.offer_cards, found)
        self.lines, self.offer_cards = wanted, found
        return is_removed

    def _offer_card(self, offer: Offer) -> OfferCard:
        def add() -> None:
            self._requests.offer_taken.emit(offer.path)

        return OfferCard(self._theme, offer, tr("Add"), add, name=tr("Add {name}"), in_list=True)

    def _ask_file(self) -> None:
        ask_model_file(self.window(), "", self._requests.add_requested.emit)


def _summary_text(rows: Sequence[LibraryRow]) -> str:
    number, kept = len(rows), sum(row.size_bytes for row in rows if not row.in_place and not row.missing)
    if not kept:
        return tr("%n models", None, number)
    words = tr("%n models · {total} in the models folder", None, number)
    return words.format(total=size(kept))


def _use_words(role: str) -> str:
    if role == "draft":
        return translate("LibraryLine", "In use as draft")
    return translate("LibraryLine", "In use as target")
