"""The first run: the built-in pair, a small real model, a file of one's own, or three pairs for this machine."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.domain.models import CatalogRow, FirstModelView, Hardware, ModelRef
from ui.models.first_model_card import FirstModelCard
from ui.models.parts import StatusMark, WrappingRow, button, empty_layout, label, scrolled
from ui.models.requests import ModelsRequests
from ui.models.words import bytes_or_unknown
from ui.settings.rows import ask_model_file
from ui.text.builtin_models import TINY_NOTE
from ui.text.formatting import size
from ui.text.language import mark, translate
from ui.theme.theme import Theme
from ui.widgets.styling import set_style_property

WIDTH_PX = 860
SIDE_PX = 24
NUM_SUGGESTED = 3
NONE_FITS = mark(
    "WelcomePage",
    "None of the recommended pairs fits in the free memory and disk space. Start with the quick demo.",
)
NOT_CHECKED = mark(
    "WelcomePage",
    "From a list included with Paceline. Names and sizes are checked with the hub before anything is downloaded.",
)


def hardware_lines(hardware: Hardware) -> list[tuple[str, str, str]]:
    """Icon, name and words of each thing found."""
    cores = hardware.num_cores
    memory = translate("WelcomePage", "{total}, {free} free").format(
        total=size(hardware.memory_bytes), free=size(hardware.free_memory_bytes)
    )
    lines = [
        ("cpu", translate("WelcomePage", "Processor"), translate("WelcomePage", "%n cores", None, cores)),
        ("memory-stick", translate("WelcomePage", "Memory"), memory),
    ]
    for gpu in hardware.gpus:
        figures = bytes_or_unknown(gpu.total_bytes)
        free = (
            translate("WelcomePage", ", {size} free").format(size=size(gpu.free_bytes))
            if gpu.free_bytes is not None
            else ""
        )
        lines.append(("layers", translate("WelcomePage", "Graphics"), f"{gpu.name}, {figures}{free}"))
    if not hardware.gpus:
        lines.append(
            (
                "layers",
                translate("WelcomePage", "Graphics"),
                translate("WelcomePage", "No supported GPU; models run on the CPU"),
            )
        )
    lines.append(
        (
            "hard-drive",
            translate("WelcomePage", "Disk"),
            translate("WelcomePage", "{size} free").format(size=bytes_or_unknown(hardware.free_disk_bytes)),
        )
    )
    return lines


class SuggestionCard(QFrame):
    """One pair with one click to have it."""

    def __init__(self, theme: Theme, requests: ModelsRequests, row: CatalogRow) -> None:
        super().__init__()
        self.setObjectName("card")
        pair = row.pair
        mark = StatusMark(theme)
        fits = (
            translate("SuggestionCard", "Should fit (by listed size)")
            if row.checked and not pair.is_here
            else translate("SuggestionCard", "Fits this computer")
        )
        mark.show_fit(row.fit, fits if row.fit.value == "fits" else "")
        weight = label(
            translate("SuggestionCard", "already downloaded")
            if pair.is_here
            else (
                translate("SuggestionCard", "About {weight} to download")
                if row.checked
                else translate("SuggestionCard", "{weight} to download")
            ).format(weight=bytes_or_unknown(pair.missing_bytes))
        )
        weight.setFont(theme.font(0))
        licence = label(
            translate("SuggestionCard", "Licence {licence}").format(licence=row.licence) if row.licence else "",
            "caption",
            wrap=True,
        )
        self._requests, self._pair = requests, pair
        self.action_button = button(
            translate("SuggestionCard", "Chat") if pair.is_here else translate("SuggestionCard", "Download and chat"),
            self._begin,
            name=(
                translate("SuggestionCard", "Chat with {name}")
                if pair.is_here
                else translate("SuggestionCard", "Download {name} and chat")
            ).format(name=row.name),
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(6)
        column.addWidget(label(row.name, "strong", wrap=True))
        column.addWidget(label(row.good_for, "muted", wrap=True))
        column.addStretch(1)
        column.addWidget(mark)
        column.addWidget(weight)
        if row.expected:
            column.addWidget(label(row.expected, "caption", wrap=True))
        column.addWidget(licence)
        column.addSpacing(4)
        column.addWidget(self.action_button, 0, Qt.AlignmentFlag.AlignRight)  # as wide as its words, not as the card

    def _begin(self) -> None:
        target, draft = self._pair.target.ref, self._pair.draft.ref if self._pair.draft else None
        if self._pair.is_here:
            self._requests.chat_requested.emit(target, draft)
        else:
            self._requests.pull_requested.emit((target, draft) if draft else (target,), True)


class WelcomePage(QWidget):
    """Shown once, and again when asked for."""

    def __init__(self, theme: Theme, requests: ModelsRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._requests = theme, requests
        self.mark = QLabel()
        self.hardware = QGridLayout()
        self.hardware.setHorizontalSpacing(12)
        self.hardware.setVerticalSpacing(8)
        self.pairs = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.pairs.setSpacing(12)
        self.cards: list[SuggestionCard] = []
        self.is_looking = True  # for pairs
        self.words = label(translate("WelcomePage", "Looking for models that fit this computer…"), "caption", wrap=True)
        # The first choice until there is a real model to offer.
        self.builtin_button = button(
            translate("WelcomePage", "Quick demo"), requests.builtin_requested.emit, kind="primary"
        )
        self.own_button = button(translate("WelcomePage", "I have a GGUF file…"), self._ask_file)
        self.first = FirstModelCard(theme, requests)
        self.first_title = label(translate("WelcomePage", "A small real model"), "section")
        self.first_gap = QWidget()
        self.first_gap.setFixedHeight(8)
        self.first_title.hide()
        self.first_gap.hide()
        self.skip_button = button(translate("WelcomePage", "Skip"), requests.welcome_done.emit)
        self._icons: list[tuple[QLabel, str]] = []
        self._arrange()
        theme.changed.connect(self._recolor)

    def _arrange(self) -> None:
        frame = QFrame()
        frame.setObjectName("card")
        frame.setLayout(self.hardware)
        self.hardware.setContentsMargins(16, 14, 16, 14)
        self.hardware.setColumnStretch(2, 1)
        others = WrappingRow()
        others.add(self.own_button)
        others.add_gap()
        others.add(self.skip_button)
        holder = QWidget()
        holder.setMaximumWidth(WIDTH_PX)
        column = QVBoxLayout(holder)
        column.setContentsMargins(SIDE_PX, 32, SIDE_PX, 24)
        column.setSpacing(8)
        column.addStretch(1)
        column.addWidget(self.mark)
        column.addSpacing(8)
        column.addWidget(label(translate("WelcomePage", "Welcome to Paceline"), "title"))
        text = translate(
            "WelcomePage",
            "Choose a model to chat with. A small model drafts, the large one checks every word: the same "
            "answers, faster.",
        )
        column.addWidget(label(text, "muted", wrap=True))
        column.addSpacing(16)
        column.addWidget(self.first_title)
        column.addWidget(self.first)
        column.addWidget(self.first_gap)
        column.addWidget(label(translate("WelcomePage", "No download needed"), "section"))
        column.addWidget(self._demo_card())
        column.addWidget(others)
        column.addSpacing(16)
        column.addWidget(label(translate("WelcomePage", "This computer"), "section"))
        column.addWidget(frame)
        column.addSpacing(16)
        column.addWidget(label(translate("WelcomePage", "Recommended for this computer"), "section"))
        column.addWidget(self.words)
        column.addLayout(self.pairs)
        column.addStretch(2)
        content = QWidget()
        outer = QHBoxLayout(content)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addStretch(1)
        outer.addWidget(holder, 1000)
        outer.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(scrolled(content, translate("WelcomePage", "Welcome")))

    def _demo_card(self) -> QFrame:
        card = QFrame()
        card.setObjectName("card")
        row = QHBoxLayout(card)
        row.setContentsMargins(16, 14, 16, 14)
        row.setSpacing(16)
        row.addWidget(label(translate("Header", TINY_NOTE), "muted", wrap=True), 1)
        row.addWidget(self.builtin_button, 0, Qt.AlignmentFlag.AlignVCenter)
        return card

    def start(self) -> None:
        """The page is seen."""
        first = self.builtin_button if self.first.isHidden() else self.first.action_button
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_hardware(self, hardware: Hardware) -> None:
        """Say what was found."""
        empty_layout(self.hardware)
        self._icons = []
        for line, (icon, name, words) in enumerate(hardware_lines(hardware)):
            picture = QLabel()
            picture.setFixedSize(16, 16)
            self._icons.append((picture, icon))
            figures = label(words, "", wrap=True)
            figures.setFont(self._theme.font(0))
            self.hardware.addWidget(picture, line, 0)
            self.hardware.addWidget(label(name, "muted"), line, 1)
            self.hardware.addWidget(figures, line, 2)
        self._recolor()

    def set_first_model(self, view: FirstModelView) -> None:
        """Offer the small real model, or show how far it is. It is the first choice then."""
        is_new = self.first.isHidden()
        self.first_title.show()
        self.first_gap.show()
        self.first.set_view(view)
        if is_new:
            set_style_property(self.builtin_button, "kind", "")
            if self.builtin_button.hasFocus():
                self.start()

    def set_pairs(self, rows: Sequence[CatalogRow], words: str = "") -> None:
        """Suggest up to three; ``words`` say why there are fewer, or what is not known."""
        empty_layout(self.pairs)
        self.cards = [SuggestionCard(self._theme, self._requests, row) for row in rows[:NUM_SUGGESTED]]
        for made in self.cards:
            self.pairs.addWidget(made, 1)
        unchecked = any(row.checked and not row.pair.is_here for row in rows[:NUM_SUGGESTED])
        text = words or (translate("WelcomePage", NOT_CHECKED) if unchecked else "")
        self._place_cards()
        self.is_looking = False
        self.words.setText(text)
        self.words.setVisible(bool(text))

    def _ask_file(self) -> None:
        ask_model_file(self.window(), translate("WelcomePage", "Target"), self._take)

    def _take(self, path: str) -> None:
        self._requests.add_requested.emit(path)
        self._requests.chat_requested.emit(ModelRef(path=path), None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cards stand below one another where their words find no room beside one another."""
        super().resizeEvent(event)
        self._place_cards()

    def _place_cards(self) -> None:
        room = min(self.width(), WIDTH_PX) - 2 * SIDE_PX
        widest = max((card.sizeHint().width() for card in self.cards), default=0)
        fits = len(self.cards) * (widest + self.pairs.spacing()) <= room
        self.pairs.setDirection(QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom)

    def showEvent(self, event: QShowEvent) -> None:
        """Icons are drawn for the screen they appear on."""
        super().showEvent(event)
        self._recolor()

    def _recolor(self) -> None:
        self._place_cards()  # the text may have another size
        ratio = self.devicePixelRatioF()
        self.mark.setPixmap(self._theme.application_icon().pixmap(QSize(44, 44), ratio))
        for picture, icon in self._icons:
            picture.setPixmap(self._theme.pixmap(icon, self._theme.tokens.text_muted, 16, ratio))
