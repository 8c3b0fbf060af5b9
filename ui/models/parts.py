"""Shared parts of the model pages: status marks, offers, empty pages."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from app.core.domain.models import FitLevel, Offer
from ui.models.words import FIT_ICONS, FIT_WORDS
from ui.text.formatting import size
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, empty_layout, hbox, label, vbox
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.pyside_wrappers import invalidate_item
from ui.widgets.styling import set_style_property

TEXT_PX, LEAST_TEXT_PX = 420, 160
BESIDE_PX = 24


class StatusMark(QWidget):
    """An icon and a word in one colour: never colour alone. ``wrap`` for sentences."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, wrap: bool = False) -> None:
        super().__init__(parent)
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
        tones = {FitLevel.FITS: "good", FitLevel.TIGHT: "warn", FitLevel.TOO_LARGE: "bad"}
        self.show_mark(FIT_ICONS[level], text or translate("Words", FIT_WORDS[level]), tones.get(level, "muted"))

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
    """A model of another app, usable in place by one click."""

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
    """Controls side by side; stacked in a narrow page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._line = hbox(parent=self, margins=0, spacing=8)

    def clear(self) -> None:
        empty_layout(self._line)

    def add(self, control: QWidget) -> None:
        self._line.addWidget(control)
        self._turn()

    def add_gap(self) -> None:
        """The following controls are at the right."""
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

    def _turn(self) -> None:
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
        self._turn()


class EmptyPagePlaceholder(QWidget):
    """The text and actions of an empty page."""

    def __init__(self, theme: Theme, icon: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._icon = theme, icon
        self.picture = QLabel()
        self.title = label("", "heading", wrap=True)
        self.text = label("", "muted", wrap=True)
        self.buttons = hbox(spacing=8)
        for piece in (self.picture, self.title, self.text):
            piece.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text.setFixedWidth(TEXT_PX)
        line = hbox(
            Stretch(), self.text, Stretch()
        )  # an aligned label would be given the height of the column's width, not of its own
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
            margins=(BESIDE_PX, 24, BESIDE_PX, 24),
            spacing=8,
        )
        theme.changed.connect(self._recolor)
        self._recolor()

    def minimumSizeHint(self) -> QSize:
        """As narrow as what cannot wrap."""
        least = max(self.title.minimumSizeHint().width(), self.buttons.minimumSize().width(), LEAST_TEXT_PX)
        return QSize(least + 2 * BESIDE_PX, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Limit the text to a readable width."""
        super().resizeEvent(event)
        self.text.setFixedWidth(max(min(TEXT_PX, event.size().width() - 2 * BESIDE_PX), LEAST_TEXT_PX))

    def say(self, title: str, text: str, *offers: QPushButton) -> None:
        self.title.setText(title)
        self.text.setText(text)
        empty_layout(self.buttons)
        self.buttons.addStretch(1)
        for offer in offers:
            self.buttons.addWidget(offer)
        self.buttons.addStretch(1)

    def set_icon_name(self, icon: str) -> None:
        self._icon = icon
        self._recolor()

    def _recolor(self) -> None:
        tokens = self._theme.tokens
        self.picture.setPixmap(
            self._theme.icon(self._icon, tokens.text_disabled, 32).pixmap(QSize(32, 32), self.devicePixelRatioF())
        )
