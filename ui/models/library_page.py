"""The library: local models and their actions, and models found in other apps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QPushButton, QToolButton, QWidget
from shiboken6 import isValid

from app.core.domain.models import LibraryRow, ModelRef, Offer
from ui.models.parts import (
    EmptyPagePlaceholder,
    ModelsRequests,
    OfferCard,
    ScanLine,
    StatusMark,
    WaysToModels,
    WrappingRow,
)
from ui.models.words import used
from ui.settings.rows import ask_model_file
from ui.text import clock
from ui.text.formatting import size
from ui.text.language import Translator, translate
from ui.text.model_titles import title_of
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel, button, hbox, label, line_edit, page_column, reorder, scrolled, vbox
from ui.widgets.dialogs import ConfirmDialog
from ui.widgets.icon_button import IconButton
from ui.widgets.popups import Menu, NoWheelComboBox

tr = Translator("LibraryPage")

WIDTH_PX = 860
# Sort orders of the models and their sort keys; models without a date come last.
ORDERS = {
    "used": tr.mark("Last used first"),
    "name": tr.mark("By name"),
    "size": tr.mark("Largest first"),
}


def sorted_rows(rows: Sequence[LibraryRow], order: str) -> list[LibraryRow]:
    if order == "name":
        return sorted(rows, key=lambda row: row.name.casefold())
    if order == "size":
        return sorted(rows, key=lambda row: -row.size_bytes)
    return sorted(rows, key=lambda row: -row.last_used.timestamp() if row.last_used else 0.0)


def _has_words(typed: str, *texts: str) -> bool:
    return all(word in " ".join(texts).casefold() for word in typed.casefold().split())


def facts(row: LibraryRow) -> str:
    """``qwen2 · Q4_K_M · used yesterday · paired with Qwen2.5 0.5B · Apache 2.0 · Qwen/Qwen2.5-7B-Instruct-GGUF``."""
    pieces = [row.architecture, row.quantization, used(row.last_used, clock.today())]
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
        words = translate("LibraryLine", "Find a draft for it…")
        self.find_action = add("search", words, lambda: requests.drafts_requested.emit(ref))
        words = translate("LibraryLine", "Make a draft model from it…")
        self.self_draft_action = add("layers", words, lambda: requests.self_draft_requested.emit(ref))
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
        self._kept_lines: list[LibraryLine] = []
        self._kept_offers: list[OfferCard] = []
        self.lines: list[LibraryLine] = []  # lines that pass the filter
        self.offer_buttons: list[QPushButton] = []
        self._offers: tuple[Offer, ...] = ()  # models that can be added
        self._seen_offers: list[Offer] = []  # stay listed after they were added, so that nothing moves under a click
        self._rows: tuple[LibraryRow, ...] = ()
        self._shown: tuple[tuple[LibraryRow, ...], tuple[Offer, ...], tuple[str, ...]] | None = None
        self.words = label(tr("Looking for your models…"), "caption", wrap=True)
        self.add_button = button(
            tr("Add a GGUF file…"), self._ask_file, tip=tr("The file stays where it is; nothing is copied.")
        )
        self.scan_button = button(
            tr("Search again"), requests.rescan_requested.emit, tip=tr("Looks for models in other apps' folders.")
        )
        self.ways = WaysToModels(requests)
        self.filter = line_edit(tr("Filter the models"), tr("Filter"))
        orders = [(tr(words), name) for name, words in ORDERS.items()]
        self.order = NoWheelComboBox(tr("Order of the models"), orders)
        self._make_narrowing()
        self.nothing = label("", "muted", wrap=True)
        self.add_all_button = button("", self._add_all, name=tr("Add all that was found"))
        self.scan = ScanLine(requests)
        self.skipped = label("", "caption", wrap=True)
        self.skipped.hide()
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
        self.empty.say(
            tr("No models yet"),
            tr("Download a pair, or add a GGUF file you already have. It is not copied."),
            pairs,
            self.own_button,
        )
        self._arrange()
        self.add_button.hide()
        self.empty.hide()  # until the models are known

    def _make_narrowing(self) -> None:
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._fill)
        self.order.currentIndexChanged.connect(self._fill)

    def _arrange(self) -> None:
        names = vbox(label(tr("Library"), "heading"), self.words, spacing=2)
        actions = WrappingRow()
        for each in (self.ways.folder_button, self.ways.link_button, self.scan_button, self.add_button):
            actions.add(each)
        actions.add_gap()
        self.narrowing = QWidget()
        hbox((self.filter, 1), self.order, parent=self.narrowing, margins=0, spacing=8)
        found = hbox((self.offers_heading, 1), self.add_all_button)
        page = page_column(
            names,
            actions,
            self.scan,
            8,
            self.narrowing,
            found,  # above the models, so that nothing here moves
            self.offers,
            self.skipped,
            self.models_heading,
            self.empty,
            self.models,
            self.nothing,
            width_px=WIDTH_PX,
            margins=(24, 20, 24, 24),
            spacing=8,
            at_left=True,
        )
        vbox(scrolled(page, tr("Library")), parent=self, margins=0)

    def start(self) -> None:
        self._seen_offers = []
        self._fill()
        first = next((line.chat for line in self.lines if line.chat.isEnabled()), self._own_file)
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _own_file(self) -> QPushButton:
        """The button that adds a file, or the scan button while the models are unknown."""
        if self._shown is None:
            return self.scan_button
        return self.add_button if self._rows or self._offers else self.own_button

    def set_library(self, rows: Sequence[LibraryRow], offers: Sequence[Offer], skipped: Sequence[str] = ()) -> None:
        """Show local and found models. ``skipped``: unusable files with the reasons."""
        shown = (tuple(rows), tuple(offers), tuple(skipped))
        if shown == self._shown:
            return
        self._shown = shown
        self._rows, self._offers = shown[0], shown[1]
        is_empty = not rows and not offers
        self.empty.setVisible(is_empty)
        if is_empty and self.isVisible() and (self.scan_button.hasFocus() or self.add_button.hasFocus()):
            self.own_button.setFocus(Qt.FocusReason.OtherFocusReason)
        self.add_button.setVisible(not is_empty)  # the empty page has its own button
        self.skipped.setText("\n".join((tr("Cannot be used:"), *skipped)))
        self.skipped.setVisible(bool(skipped))
        self.words.setText(_kept_words(rows))
        self._fill()

    def _fill(self) -> None:
        here = {row.path for row in self._rows}
        kept = [offer for offer in self._seen_offers if offer in self._offers or offer.path in here]
        self._seen_offers = [*kept, *(offer for offer in self._offers if offer not in kept)]
        focus = self.focusWidget()
        had_focus = focus is not None and focus.hasFocus() and focus not in (self.filter, self.order)
        key = next((line.row.key for line in self.lines if line.isAncestorOf(focus)), "") if focus else ""
        number = next((number for number, add in enumerate(self.offer_buttons) if add is focus), -1)
        self._keep_cards()
        typed = self.filter.text()
        self.lines = [line for line in self._kept_lines if _has_words(typed, line.row.name, line.facts.text())]
        offers = [card for card in self._kept_offers if _has_words(typed, card.offer.name, card.offer.found_in)]
        for card in (*self._kept_lines, *self._kept_offers):
            card.setVisible(card in self.lines or card in offers)
        self.offer_buttons = [card.action_button for card in offers]
        self._show_headings(len(offers))
        if had_focus and (focus is None or not isValid(focus) or not focus.hasFocus()):
            self._focus_again(key, number)  # the focused widget was removed; keyboard users need a new focus

    def _keep_cards(self) -> None:
        """Create a card per model and offer; unchanged cards are reused."""
        lines = {line.row: line for line in self._kept_lines}
        wanted = [
            lines.get(row) or LibraryLine(self._theme, self._requests, row)
            for row in sorted_rows(self._rows, self._order)
        ]
        for line in wanted:
            line.facts.setText(facts(line.row))  # "yesterday" may mean another day by now
        cards = {(card.offer, card.action_button.isEnabled()): card for card in self._kept_offers}
        offers = [
            cards.get((offer, offer in self._offers)) or self._offer(offer, is_here=offer not in self._offers)
            for offer in self._seen_offers
        ]
        reorder(self.models, self._kept_lines, wanted)
        reorder(self.offers, self._kept_offers, offers)
        self._kept_lines, self._kept_offers = wanted, offers

    @property
    def _order(self) -> str:
        return str(self.order.currentData())

    def _show_headings(self, num_offers: int) -> None:
        left = [offer for offer in self._offers if _has_words(self.filter.text(), offer.name, offer.found_in)]
        self.offers_heading.setVisible(bool(num_offers) or not self.skipped.isHidden())
        self.add_all_button.setText(tr("Add all %n", None, len(left)) if left else tr("All added"))
        self.add_all_button.setVisible(num_offers > 1)
        self.add_all_button.setEnabled(bool(left))
        self.models_heading.setVisible(bool(num_offers) and bool(self.lines))
        self.narrowing.setVisible(len(self._rows) + len(self._seen_offers) > 1)
        self.order.setVisible(len(self._rows) > 1)
        is_found = bool(self.lines) or num_offers > 0 or not self._rows
        self.nothing.setText(tr("No model matches “{words}”.").format(words=self.filter.text().strip()))
        self.nothing.setVisible(not is_found)

    def _focus_again(self, key: str, number: int) -> None:
        """Focus the button of the same model, of the next offer, or the one that adds a file."""
        same = next((line for line in self.lines if line.row.key == key and line.chat.isEnabled()), None)
        adds = [add for add in self.offer_buttons[number:] if add.isEnabled()] if number >= 0 else []
        chosen = same.chat if same else adds[0] if adds else self._own_file
        holder = chosen.parentWidget()
        if holder is not None and (same or adds):
            holder.show()  # a hidden widget cannot take the focus
        chosen.setFocus()

    def _add_all(self) -> None:
        typed = self.filter.text()
        for offer in self._offers:
            if _has_words(typed, offer.name, offer.found_in):
                self._requests.offer_taken.emit(offer.path)

    def _offer(self, offer: Offer, *, is_here: bool) -> OfferCard:
        text = tr("Added") if is_here else tr("Add")
        named = tr("Add {name}")
        made = OfferCard(
            self._theme, offer, text, lambda: self._requests.offer_taken.emit(offer.path), name=named, in_list=True
        )
        made.action_button.setEnabled(not is_here)
        return made

    def _ask_file(self) -> None:
        ask_model_file(self.window(), "", self._requests.add_requested.emit)


def _kept_words(rows: Sequence[LibraryRow]) -> str:
    number, kept = len(rows), sum(row.size_bytes for row in rows if not row.in_place and not row.missing)
    if not kept:
        return tr("%n models", None, number)
    words = tr("%n models · {total} in the models folder", None, number)
    return words.format(total=size(kept))


def _use_words(role: str) -> str:
    if role == "draft":
        return translate("LibraryLine", "In use as draft")
    return translate("LibraryLine", "In use as target")
