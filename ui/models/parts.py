"""Shared parts of the model pages: requests, columns, status marks, offers, empty pages, and other ways to models."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.core.domain.models import Offer
from engine.records import FitLevel, Problem
from ui.models.words import FIT
from ui.text.formatting import size
from ui.text.language import translate
from ui.text.problem_words import explanation, in_words
from ui.theme.theme import Theme
from ui.widgets.building import (
    ElidedLabel,
    Stretch,
    button,
    empty_layout,
    hbox,
    invalidate_item,
    label,
    scroll_area,
    set_style_property,
    vbox,
)
from ui.widgets.dialogs import open_dialog


class ModelsRequests(QObject):
    closed = Signal()  # return to the chat
    # "recommended", "search", "library", "downloads", "engines" or "welcome"
    page_requested = Signal(str)
    page_shown = Signal(str)
    search_requested = Signal(str)
    repo_requested = Signal(str)  # show the details of a repository
    # access token for gated models
    token_entered = Signal(str)
    token_removed = Signal()
    catalog_requested = Signal(str)  # a recommended pair was opened
    recommendations_requested = Signal()  # reload the recommended pairs
    pull_requested = Signal(object, bool)  # download `ModelRef`s (a tuple, the target first); True: chat afterwards
    # the key of a download, and "pause", "resume" or "cancel"
    download_action_requested = Signal(str, str)
    chat_requested = Signal(object, object)  # load a target and a draft (`ModelRef` or None)
    draft_requested = Signal(object)  # use this `ModelRef` as the draft of the target in use
    # requests of the library; the user has confirmed removing
    reveal_requested = Signal(str)
    remove_requested = Signal(str)
    add_requested = Signal(str)
    offer_taken = Signal(str)
    scan_requested = Signal(str)  # search a folder
    link_dialog_requested = Signal()  # open the link dialog
    # requests of the first run
    builtin_requested = Signal()
    welcome_done = Signal()
    link_requested = Signal(str)  # open a page of the hub
    engine_added = Signal(str, str, bool)  # URL and key of a remote server; whether the key may be sent unencrypted
    # URL of a server
    refresh_requested = Signal(str)
    engine_removed = Signal(str)
    engine_chat_requested = Signal(str)  # path of a server's model


WELCOME = "welcome"


TEXT_PX, MIN_TEXT_PX = 420, 160
SIDE_TEXT_PX = 24


class StatusMark(QWidget):
    """An icon and a word in one colour: never colour alone. ``wrap``: for sentences."""

    def __init__(self, theme: Theme, *, wrap: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self._icon, self._tone = "", "muted"
        self.picture = QLabel()
        self.picture.setFixedSize(16, 16)
        self.text = label(wrap=wrap)
        row = hbox(parent=self, margins=0, spacing=6)
        if wrap:
            row.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(self.text, 1)
        else:
            row.addWidget(self.picture)
            row.addWidget(self.text)
            row.addStretch(1)
        theme.changed.connect(self._recolor)

    def show_mark(self, icon: str, text: str, tone: str) -> None:
        """``tone`` is "good", "warn", "bad" or "muted"."""
        self._icon, self._tone = icon, tone
        self.text.setText(text)
        self.setAccessibleName(text)
        self._recolor()

    def show_fit(self, level: FitLevel, text: str = "") -> None:
        sign = FIT[level]
        self.show_mark(sign.icon, text or sign.words, sign.tone)

    def _recolor(self) -> None:
        if not self._icon:
            return
        tokens = self._theme.tokens
        colors = {"good": tokens.good, "warn": tokens.caution, "bad": tokens.danger}
        color = colors.get(self._tone, tokens.text_muted)
        self.picture.setPixmap(self._theme.pixmap(self._icon, color, 16, self.devicePixelRatioF()))
        set_style_property(self.text, "kind", f"tone-{self._tone}")

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._recolor()


class OfferCard(QFrame):
    """A model of another app that can be used in place."""

    def __init__(
        self, theme: Theme, offer: Offer, text: str, action: Callable[[], object], *, name: str, in_list: bool
    ) -> None:
        """``name``: the accessible name of the button; ``in_list``: styled as a library row."""
        super().__init__()
        self.offer = offer
        self.setObjectName("card")
        title = ElidedLabel(offer.name, "" if in_list else "strong", tip=offer.path)
        words = vbox(title, ElidedLabel(offer.found_in, "caption"), spacing=1)
        weight = label(size(offer.size_bytes))
        weight.setFont(theme.font(0))
        self.action_button = button(text, action, name=name.format(name=offer.name))
        margins = (16, 10, 10 if in_list else 16, 10)
        hbox((words, 1), weight, self.action_button, parent=self, margins=margins, spacing=16)


class WrappingRow(QWidget):
    """Controls side by side; stacked on a narrow page."""

    def __init__(self) -> None:
        super().__init__()
        self._line = hbox(parent=self, margins=0, spacing=8)

    def clear(self) -> None:
        empty_layout(self._line)

    def add(self, control: QWidget) -> None:
        self._line.addWidget(control)
        self._reflow()

    def add_gap(self) -> None:
        """Align the following controls at the right."""
        self._line.addStretch(1)

    def _widths(self) -> list[int]:
        widths = []
        for place in range(self._line.count()):
            item = self._line.itemAt(place)
            control = item.widget() if item is not None else None
            invalidate_item(item)
            if control is not None:
                widths.append(control.sizeHint().width())
        return widths

    def _reflow(self) -> None:
        widths = self._widths()
        fits = sum(widths) + (len(widths) - 1) * self._line.spacing() <= self.width()
        direction = QHBoxLayout.Direction.LeftToRight if fits else QHBoxLayout.Direction.TopToBottom
        if direction is not self._line.direction():
            self._line.setDirection(direction)
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        return QSize(max(self._widths(), default=0), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._reflow()


class EmptyPagePlaceholder(QWidget):
    def __init__(self, theme: Theme, icon: str) -> None:
        super().__init__()
        self._theme, self._icon = theme, icon
        self.picture = QLabel()
        self.title = label("", "heading", wrap=True)
        self.text = label("", "muted", wrap=True)
        self.buttons = hbox(spacing=8)
        for piece in (self.picture, self.title, self.text):
            piece.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text.setFixedWidth(TEXT_PX)
        # Aligned without this row, the text would get the height that it needs at the column's width.
        line = hbox(Stretch(), self.text, Stretch())
        vbox(
            Stretch(2),
            self.picture,
            4,
            self.title,
            line,
            8,
            self.buttons,
            Stretch(3),
            parent=self,
            margins=(SIDE_TEXT_PX, 24, SIDE_TEXT_PX, 24),
            spacing=8,
        )
        theme.changed.connect(self._recolor)
        self._recolor()

    def minimumSizeHint(self) -> QSize:
        """As narrow as the widest control."""
        least = max(self.title.minimumSizeHint().width(), self.buttons.minimumSize().width(), MIN_TEXT_PX)
        return QSize(least + 2 * SIDE_TEXT_PX, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.text.setFixedWidth(max(min(TEXT_PX, event.size().width() - 2 * SIDE_TEXT_PX), MIN_TEXT_PX))

    def show_text(self, title: str, text: str, *offers: QPushButton) -> None:
        self.title.setText(title)
        self.text.setText(text)
        empty_layout(self.buttons)
        self.buttons.addStretch(1)
        for offer in offers:
            self.buttons.addWidget(offer)
        self.buttons.addStretch(1)

    def show_problem(self, problem: Problem, again: Callable[[], object], kind: str = "primary") -> None:
        offer = button(translate("RecommendedPage", "Try again"), again, kind=kind)
        self.show_text(in_words(problem).title, explanation(problem), offer)

    def set_icon_name(self, icon: str) -> None:
        self._icon = icon
        self._recolor()

    def _recolor(self) -> None:
        tokens = self._theme.tokens
        self.picture.setPixmap(
            self._theme.icon(self._icon, tokens.text_disabled, 32).pixmap(QSize(32, 32), self.devicePixelRatioF())
        )


LIST_PX, MIN_LIST_PX = 340, 316
LIST_LINES, MIN_LIST_LINES = 22.5, 19.0  # width in line heights, so that it grows with the text
CARD_PX = 640


class _ListSide(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("hubList")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        theme.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        line = self._theme.text_height()
        self.setMinimumWidth(max(MIN_LIST_PX, round(MIN_LIST_LINES * line)))
        self.setMaximumWidth(max(LIST_PX, round(LIST_LINES * line)))


def list_side(theme: Theme, top_px: int, spacing_px: int) -> tuple[QWidget, QVBoxLayout]:
    side = _ListSide(theme)
    column = vbox(parent=side, margins=(12, top_px, 12, 0), spacing=spacing_px)
    return side, column


def verdict_side(empty: QWidget, pieces: Sequence[QWidget], name: str) -> QStackedWidget:
    """The right side of a page: ``empty`` at first, then the ``pieces`` in a scrolling column."""
    content = QWidget()
    column = vbox(parent=content, margins=(24, 20, 24, 24), spacing=12)
    for piece in pieces:
        piece.setMaximumWidth(CARD_PX)
        column.addWidget(piece)
    column.addStretch(1)
    side = QStackedWidget()
    side.addWidget(empty)
    side.addWidget(scroll_area(content, name))
    return side


def put_side_by_side(page: QWidget, left: QWidget, right: QWidget) -> None:
    hbox((left, 2), (right, 5), parent=page, margins=0, spacing=0)


class OtherModelSources:
    """The buttons for other ways to get models; the page lays them out."""

    def __init__(self, requests: ModelsRequests) -> None:
        self._requests = requests
        self.folder_button = button(
            translate("OtherModelSources", "Search a folder…"),
            self.ask_folder,
            tip=translate("OtherModelSources", "Finds GGUF files, and Ollama's models. Nothing is copied or changed."),
        )
        self.link_button = button(
            translate("OtherModelSources", "From a link…"),
            requests.link_dialog_requested.emit,
            tip=translate("OtherModelSources", "Downloads a GGUF file from any https address."),
        )

    def ask_folder(self) -> QFileDialog:
        dialog = QFileDialog(self.folder_button.window(), translate("OtherModelSources", "Search a folder for models"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self._requests.scan_requested.emit)
        return open_dialog(dialog, "models")
