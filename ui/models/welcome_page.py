"""The first run: offers a small real model, the built-in pair, the recommended pairs, or a local file."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from app.core.domain.models import CatalogRow, ModelRef, Offer
from ui.models.parts import ModelsRequests, OfferCard, OtherModelSources, StatusMark, WrappingRow
from ui.models.words import bytes_or_unknown
from ui.settings.rows import ask_model_file
from ui.text.language import Translator, translate
from ui.text.model_titles import TINY_NOTE
from ui.theme.theme import Theme
from ui.widgets.building import (
    button,
    card_frame,
    empty_layout,
    hbox,
    label,
    page_column,
    scroll_area,
    vbox,
)

tr = Translator("WelcomePage")

WIDTH_PX = 860
SIDE_PX = 24
MAX_LOCAL_MODELS = 3
MAX_SHARE = 0.8  # maximum share for weights, so that cache and buffers fit as well


class SuggestionCard(QFrame):
    """The small real model."""

    def __init__(self, theme: Theme, requests: ModelsRequests, row: CatalogRow) -> None:
        super().__init__()
        self.setObjectName("card")
        self._requests, self.row = requests, row
        here = row.pair.is_here
        mark = StatusMark(theme)
        mark.show_fit(row.fit, translate("SuggestionCard", "Fits this computer"))
        self.action_button = button(
            translate("SuggestionCard", "Chat") if here else translate("SuggestionCard", "Download and chat"),
            self._begin,
            name=(
                translate("SuggestionCard", "Chat with {name}")
                if here
                else translate("SuggestionCard", "Download {name} and chat")
            ).format(name=row.name),
            kind="primary",
        )
        facts = label(_weight_words(row), "", wrap=True)
        facts.setFont(theme.font(0))
        licence = translate("SuggestionCard", "Licence {licence}").format(licence=row.licence) if row.licence else ""
        words = vbox(
            label(row.name, "strong", wrap=True),
            label(row.good_for, "muted", wrap=True),
            mark,
            facts,
            label(licence, "caption", wrap=True),
            spacing=6,
        )
        hbox(
            (words, 1),
            (self.action_button, 0, Qt.AlignmentFlag.AlignVCenter),
            parent=self,
            margins=(16, 14, 16, 14),
            spacing=16,
        )

    def _begin(self) -> None:
        target = self.row.pair.target.ref
        if self.row.pair.is_here:
            self._requests.chat_requested.emit(target, None)
        else:
            self._requests.pull_requested.emit((target,), True)


def _weight_words(row: CatalogRow) -> str:
    if row.pair.is_here:
        return translate("SuggestionCard", "already downloaded")
    words = translate("SuggestionCard", "{weight} to download")
    return words.format(weight=bytes_or_unknown(row.pair.missing_bytes))


class WelcomePage(QWidget):
    """Shown at the first start and on request."""

    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self.mark = QLabel()
        self.builtin_button = button(tr("Quick demo"), requests.builtin_requested.emit)
        pairs = translate("LibraryPage", "See recommended pairs")
        self.pairs_button = button(pairs, lambda: requests.page_requested.emit("recommended"))
        self.own_button = button(tr("I have a GGUF file…"), self._ask_file)
        self.ways = OtherModelSources(requests)
        self.here = vbox(spacing=8)
        self.here_title = label(tr("Already on this computer"), "section")
        self.here_title.hide()
        self.here_cards: list[OfferCard] = []
        self.all_button = button("", lambda: requests.page_requested.emit("library"))
        self.all_button.hide()
        self.first: SuggestionCard | None = None  # the small real model, once it is offered
        self.first_column = vbox(spacing=8)
        self.first_title = label(tr("A small real model"), "section")
        for title in (self.here_title, self.first_title):
            title.setContentsMargins(0, 8, 0, 0)
        self.first_title.hide()
        self.skip_button = button(tr("Skip"), requests.welcome_done.emit)
        self._arrange()
        self.set_offers(())
        theme.changed.connect(self._recolor)

    def _arrange(self) -> None:
        text = tr(
            "Choose a model to chat with. A small model drafts, the large one checks every word: the same "
            "answers, faster."
        )
        demo = label(tr("No download needed"), "section")
        demo.setContentsMargins(0, 8, 0, 0)
        page = page_column(
            self.mark,
            8,
            label(tr("Welcome to Paceline"), "title"),
            label(text, "muted", wrap=True),
            16,
            self.here_title,
            self.here,
            (self.all_button, 0, Qt.AlignmentFlag.AlignLeft),
            self.first_title,
            self.first_column,
            demo,
            self._demo_card(),
            self._other_ways(),
            width_px=WIDTH_PX,
            margins=(SIDE_PX, 32, SIDE_PX, 24),
            spacing=8,
        )
        vbox(scroll_area(page, tr("Welcome")), parent=self, margins=0)

    def _other_ways(self) -> WrappingRow:
        others = WrappingRow()
        others.add(self.pairs_button)
        others.add(self.own_button)
        for way in (self.ways.folder_button, self.ways.link_button):
            others.add(way)
        others.add_gap()
        others.add(self.skip_button)
        return others

    def _demo_card(self) -> QFrame:
        words = vbox(
            label(translate("Header", "Quick demo"), "strong"),
            label(translate("Header", TINY_NOTE), "muted", wrap=True),
            spacing=6,
        )
        return card_frame(hbox((words, 1), (self.builtin_button, 0, Qt.AlignmentFlag.AlignVCenter), spacing=16))

    def start(self) -> None:
        chosen = self.first.action_button if self.first else self.builtin_button
        chosen.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_offers(self, offers: Sequence[Offer], free: int = 0) -> None:
        """Offer the models of other apps; the largest that is likely to run in the ``free`` bytes comes first."""
        usable = [row for row in offers if row.kind.runs_alone]
        usable.sort(key=lambda row: (bool(free) and row.size_bytes > MAX_SHARE * free, -row.size_bytes, row.name))
        shown = usable[:MAX_LOCAL_MODELS]
        if [made.offer for made in self.here_cards] != shown:
            empty_layout(self.here)
            self.here_cards = [self._offer_card(row) for row in shown]
            for made in self.here_cards:
                self.here.addWidget(made)
        self.here_title.setVisible(bool(shown))
        more = len(offers)
        self.all_button.setText(tr("Show all %n", None, more))
        self.all_button.setAccessibleName(tr("Show all %n models found here", None, more))
        self.all_button.setVisible(more > len(shown))

    def _offer_card(self, row: Offer) -> OfferCard:
        chat, named = translate("LibraryLine", "Chat"), translate("LibraryLine", "Chat with {name}")
        return OfferCard(self._theme, row, chat, lambda: self._choose_file(row.path), name=named, in_list=False)

    def set_first_model(self, row: CatalogRow) -> None:
        """Offer the small real model; also called when it was downloaded or removed."""
        if self.first is not None and self.first.row == row:
            return
        before = self.first.action_button if self.first else self.builtin_button
        was_focused = before.hasFocus()
        empty_layout(self.first_column)
        self.first = SuggestionCard(self._theme, self._requests, row)
        self.first_column.addWidget(self.first)
        self.first.show()
        self.first_title.show()
        if was_focused:
            self.start()

    def _ask_file(self) -> None:
        ask_model_file(self.window(), "", self._choose_file)

    def _choose_file(self, path: str) -> None:
        self._requests.add_requested.emit(path)
        self._requests.chat_requested.emit(ModelRef(path=path), None)

    def showEvent(self, event: QShowEvent) -> None:
        """Draw the icons for the current screen."""
        super().showEvent(event)
        self._recolor()

    def _recolor(self) -> None:
        ratio = self.devicePixelRatioF()
        self.mark.setPixmap(self._theme.application_icon().pixmap(QSize(44, 44), ratio))
