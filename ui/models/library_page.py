"""The library: the models on this computer, what can be done with each, and what other apps have to offer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.domain.models import LibraryRow, ModelRef, OfferRow
from ui.models.parts import EmptyPagePlaceholder, StatusMark, button, empty_layout, label, scrolled
from ui.models.requests import ModelsRequests
from ui.models.ways import ScanLine, WaysToModels
from ui.models.words import used
from ui.settings.rows import ask_model_file
from ui.text import clock
from ui.text.formatting import as_written, size
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.dialogs import ConfirmDialog
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.icon_button import IconButton
from ui.widgets.popups import Menu

WIDTH_PX = 860


def facts(row: LibraryRow) -> str:
    """``qwen2 · Q4_K_M · used yesterday · paired with Qwen2.5 0.5B · apache-2.0 · Qwen/Qwen2.5-7B-Instruct-GGUF``."""
    pieces = [row.architecture, row.quantization, used(row.last_used, clock.today())]
    if row.paired_with:
        pieces.append(translate("LibraryPage", "paired with {paired_with}").format(paired_with=row.paired_with))
    pieces += [row.licence, row.source]
    return " · ".join(piece for piece in pieces if piece)


class LibraryLine(QFrame):
    """One model."""

    def __init__(self, theme: Theme, requests: ModelsRequests, row: LibraryRow) -> None:
        super().__init__()
        self._theme, self._requests, self.row = theme, requests, row
        self.setObjectName("card")
        self.name = ElidedLabel(row.name)
        self.name.setProperty("kind", "strong")
        self.name.setToolTip(as_written(row.path))
        self.facts = ElidedLabel(facts(row))
        self.facts.setProperty("kind", "caption")
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
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(self.name)
        words.addWidget(self.facts)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 10, 10, 10)
        layout.setSpacing(16)
        layout.addLayout(words, 1)
        layout.addWidget(self.mark)
        layout.addWidget(self.weight)
        actions = QHBoxLayout()
        actions.setSpacing(4)
        actions.addWidget(self.chat)
        actions.addWidget(self.more)
        layout.addLayout(actions)

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
        row, requests = self.row, self._requests
        ref = ModelRef(path=row.path)
        self.draft_action = self.menu.addAction(
            translate("LibraryLine", "Use as the draft"), lambda: requests.draft_requested.emit(ref)
        )
        self.find_action = self.menu.addAction(
            translate("LibraryLine", "Find a draft for it…"), lambda: requests.drafts_requested.emit(ref)
        )
        self.self_draft_action = self.menu.addAction(
            translate("LibraryLine", "Make a draft of it itself…"), lambda: requests.self_draft_requested.emit(ref)
        )
        self.reveal_action = self.menu.addAction(
            translate("LibraryLine", "Reveal in its folder"), lambda: requests.reveal_requested.emit(row.path)
        )
        self.menu.addSeparator()
        self.remove_action = self.menu.addAction(translate("LibraryLine", "Remove…"), self.ask_remove)
        for action in (self.draft_action, self.find_action, self.self_draft_action, self.reveal_action):
            action.setEnabled(not row.missing)
        icons = ("file-box", "search", "layers", "folder-open", "trash-2")
        actions = (
            self.draft_action,
            self.find_action,
            self.self_draft_action,
            self.reveal_action,
            self.remove_action,
        )
        for action, icon in zip(actions, icons, strict=True):
            action.setIcon(self._theme.icon(icon))
        self.more.setMenu(self.menu)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def _chat(self) -> None:
        self._requests.chat_requested.emit(ModelRef(path=self.row.path), None)

    def ask_remove(self) -> ConfirmDialog:
        """Ask before the files go, and say how much space that frees."""
        row = self.row
        if row.in_place or row.missing:
            text = translate("LibraryLine", "“{name}” is removed from the list. No file is deleted.").format(
                name=row.name
            )
            question = ConfirmDialog(
                self.window(),
                translate("LibraryLine", "Remove this model from the list?"),
                text,
                translate("LibraryLine", "Remove"),
                danger=True,
            )
        else:
            text = translate("LibraryLine", "“{name}” is deleted from this computer. This frees {size}.").format(
                name=row.name, size=size(row.size_bytes)
            )
            question = ConfirmDialog(
                self.window(),
                translate("LibraryLine", "Delete this model?"),
                text,
                translate("LibraryLine", "Delete"),
                danger=True,
            )
        question.accepted.connect(lambda: self._requests.remove_requested.emit(row.key))
        question.open()
        return question


class LibraryPage(QWidget):
    """Models and offers in, requests out."""

    def __init__(self, theme: Theme, requests: ModelsRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._requests = theme, requests
        self.lines: list[LibraryLine] = []
        self.offer_buttons: list[QWidget] = []
        self._shown: tuple[tuple[LibraryRow, ...], tuple[OfferRow, ...], tuple[str, ...]] | None = None
        self.words = label("", "caption", wrap=True)
        self.add_button = button(
            translate("LibraryPage", "Add a GGUF file…"),
            self._ask_file,
            tip=translate("LibraryPage", "The file stays where it is; nothing is copied."),
        )
        self.look_button = button(
            translate("LibraryPage", "Search again"),
            requests.rescan_requested.emit,
            tip=translate("LibraryPage", "Looks for models in other apps' folders."),
        )
        self.ways = WaysToModels(requests)
        self.scan = ScanLine(requests)
        self.skipped = label("", "caption", wrap=True)
        self.skipped.hide()
        self.models = QVBoxLayout()
        self.models.setSpacing(8)
        self.offers = QVBoxLayout()
        self.offers.setSpacing(8)
        self.offers_heading = label(translate("LibraryPage", "Found on this computer"), "section")
        self.empty = EmptyPagePlaceholder(theme, "library")
        self.empty.setMinimumHeight(280)
        pairs = button(
            translate("LibraryPage", "See recommended pairs"),
            lambda: requests.page_requested.emit("recommended"),
            kind="primary",
        )
        self.own_button = button(
            translate("LibraryPage", "Add a GGUF file…"),
            self._ask_file,
            tip=translate("LibraryPage", "The file stays where it is; nothing is copied."),
        )
        self.empty.say(
            translate("LibraryPage", "No models yet"),
            translate("LibraryPage", "Download a pair, or add a GGUF file you already have. It is not copied."),
            pairs,
            self.own_button,
        )
        self._arrange()
        self.add_button.hide()

    def _arrange(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        names = QVBoxLayout()
        names.setSpacing(2)
        names.addWidget(label(translate("LibraryPage", "Library"), "heading"))
        names.addWidget(self.words)
        head.addLayout(names, 1)
        head.addWidget(self.look_button)
        head.addWidget(self.add_button)
        content = QWidget()
        holder = QWidget()
        holder.setMaximumWidth(WIDTH_PX)
        column = QVBoxLayout(holder)
        column.setContentsMargins(24, 20, 24, 24)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.ways)
        column.addWidget(self.scan)
        column.addSpacing(8)
        column.addWidget(self.empty)
        column.addLayout(self.models)
        column.addSpacing(12)
        column.addWidget(self.offers_heading)
        column.addLayout(self.offers)
        column.addWidget(self.skipped)
        column.addStretch(1)
        outer = QHBoxLayout(content)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(holder, 1000)
        outer.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(scrolled(content, translate("LibraryPage", "Library")))

    def start(self) -> None:
        """The page is seen."""
        first = next((line.chat for line in self.lines if line.chat.isEnabled()), self._own_file)
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _own_file(self) -> QPushButton:
        """What adds a file: beside the models, or in the invitation where there is none."""
        return self.add_button if self.lines else self.own_button

    def set_library(self, rows: Sequence[LibraryRow], offers: Sequence[OfferRow], skipped: Sequence[str] = ()) -> None:
        """Show what is here and what was found; ``skipped`` say what of it cannot be used, and why."""
        shown = (tuple(rows), tuple(offers), tuple(skipped))
        if shown == self._shown:
            return
        self._shown = shown
        focus = self.focusWidget()
        had_focus = focus is not None and focus.hasFocus()
        key = next((line.row.key for line in self.lines if line.isAncestorOf(focus)), "") if focus else ""
        empty_layout(self.models)
        empty_layout(self.offers)
        self.lines = [LibraryLine(self._theme, self._requests, row) for row in rows]
        for line in self.lines:
            self.models.addWidget(line)
        self.offer_buttons = []
        for offer in offers:
            self.offers.addWidget(self._offer(offer))
        self.empty.setVisible(not rows)
        self.words.setVisible(bool(rows))  # without them the heading stands beside the middle of the buttons
        self.add_button.setVisible(bool(rows))  # the invitation has its own
        self.offers_heading.setVisible(bool(offers or skipped))
        self.skipped.setText("\n".join((translate("LibraryPage", "Cannot be used:"), *skipped)))
        self.skipped.setVisible(bool(skipped))
        total = size(sum(row.size_bytes for row in rows if not row.in_place and not row.missing))
        if had_focus:  # what had it is gone; who walks by keys stays where he was
            same = next((line for line in self.lines if line.row.key == key and line.chat.isEnabled()), None)
            if same is not None:
                same.show()  # what is not shown yet cannot take the focus
            (same.chat if same else self._own_file).setFocus()
        number = len(rows)
        self.words.setText(
            translate("LibraryPage", "%n models · {total} in the models folder", None, number).format(total=total)
            if rows
            else ""
        )

    def _offer(self, offer: OfferRow) -> QFrame:
        frame = QFrame()
        frame.setObjectName("card")
        name = ElidedLabel(offer.name)
        name.setToolTip(as_written(offer.path))
        place = ElidedLabel(offer.owner)
        place.setProperty("kind", "caption")
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(name)
        words.addWidget(place)
        add = button(
            translate("LibraryPage", "Add"),
            lambda: self._requests.offer_taken.emit(offer.path),
            name=translate("LibraryPage", "Add {name}").format(name=offer.name),
        )
        self.offer_buttons.append(add)
        row = QHBoxLayout(frame)
        row.setContentsMargins(16, 10, 10, 10)
        row.setSpacing(16)
        row.addLayout(words, 1)
        figure = label(size(offer.size_bytes))
        figure.setFont(self._theme.font(0))
        row.addWidget(figure)
        row.addWidget(add)
        return frame

    def _ask_file(self) -> None:
        ask_model_file(self.window(), translate("LibraryPage", "Model"), self._requests.add_requested.emit)


def _use_words(role: str) -> str:
    if role == "draft":
        return translate("LibraryLine", "In use as draft")
    return translate("LibraryLine", "In use as target")
