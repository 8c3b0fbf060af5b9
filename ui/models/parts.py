"""Small pieces that the pages share: labels, buttons, marks with an icon and a word, invitations of empty pages."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.core.domain.models import FitLevel
from ui.models.words import FIT_ICONS, FIT_WORDS
from ui.text.formatting import hover
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.pyside_wrappers import invalidate_item
from ui.widgets.styling import set_style_property

TEXT_PX, LEAST_TEXT_PX = 420, 160
BESIDE_PX = 24
PAGE_BAR_PX = 48


def label(text: str = "", kind: str = "", *, wrap: bool = False) -> QLabel:
    """A label of plain text; nothing from the hub is ever interpreted."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if kind:
        made.setProperty("kind", kind)
    return made


def button(text: str, action: Callable[[], object], *, kind: str = "", name: str = "", tip: str = "") -> QPushButton:
    """A button with its name for screen readers."""
    made = QPushButton(text)
    if kind:
        made.setProperty("kind", kind)
    made.setAccessibleName(name or text.strip())
    made.setAutoDefault(False)
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    if tip:
        made.setToolTip(hover(tip))
    made.clicked.connect(lambda _checked=False: action())
    return made


def bar(name: str) -> QProgressBar:
    """A thin line of progress; the words beside it carry the figures."""
    made = QProgressBar()
    made.setTextVisible(False)
    made.setRange(0, 1000)
    made.setAccessibleName(name)
    return made


def card() -> tuple[QFrame, QVBoxLayout]:
    """A raised frame and its column."""
    frame = QFrame()
    frame.setObjectName("card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(16, 14, 16, 14)
    column.setSpacing(8)
    return frame, column


def page_bar(*widgets: QWidget, wide: QWidget) -> QFrame:
    """The bar above a page: ``widgets`` in a row, of which ``wide`` takes the space that is left."""
    frame = QFrame()
    frame.setObjectName("header")
    frame.setMinimumHeight(PAGE_BAR_PX)
    row = QHBoxLayout(frame)
    row.setContentsMargins(12, 6, 12, 6)
    row.setSpacing(8)
    for widget in widgets:
        row.addWidget(widget, 1 if widget is wide else 0)
    return frame


def page_column(width_px: int, spacing_px: int) -> tuple[QWidget, QVBoxLayout]:
    """A column of at most ``width_px``, for `centred`, and its layout."""
    column = QWidget()
    column.setMaximumWidth(width_px)
    layout = QVBoxLayout(column)
    layout.setContentsMargins(24, 24, 24, 24)
    layout.setSpacing(spacing_px)
    return column, layout


def centred(column: QWidget) -> QWidget:
    """A widget with ``column``, as wide as it may be, in its middle."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.addStretch(1)
    row.addWidget(column, 1000)
    row.addStretch(1)
    return holder


def scrolled(content: QWidget, name: str) -> QScrollArea:
    """``content`` in an area that scrolls up and down only."""
    area = QScrollArea()
    content.setObjectName("page")
    area.setWidget(content)
    area.setWidgetResizable(True)
    area.setAccessibleName(name)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return area


def empty_layout(layout: QLayout) -> None:
    """Take everything out; widgets go when Qt is back in its loop."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            empty_layout(inner)


class StatusMark(QWidget):
    """An icon and a word in one colour: never the colour alone. With ``wrap`` it takes all the width for sentences."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, wrap: bool = False) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon, self._tone = "", "muted"
        self.picture = QLabel()
        self.picture.setFixedSize(16, 16)
        self.text = label(wrap=wrap)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
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
        """Show a verdict on size; ``text`` replaces its usual word."""
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
        """The icon is drawn for the screen it appears on."""
        super().showEvent(event)
        self._recolor()


class WrappingRow(QWidget):
    """Controls side by side; one below the other where there is no room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.setSpacing(8)

    def clear(self) -> None:
        """Take all away."""
        empty_layout(self._line)

    def add(self, control: QWidget) -> None:
        """One more, at the end."""
        self._line.addWidget(control)
        self._turn()

    def add_gap(self) -> None:
        """What follows stands at the right."""
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
        """As narrow as the widest control."""
        return QSize(max(self._widths(), default=0), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may need another arrangement."""
        super().resizeEvent(event)
        self._turn()


class EmptyPagePlaceholder(QWidget):
    """What an empty page says, and the one or two things it offers."""

    def __init__(self, theme: Theme, icon: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._icon = theme, icon
        self.picture = QLabel()
        self.title = label("", "heading", wrap=True)
        self.text = label("", "muted", wrap=True)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(8)
        for piece in (self.picture, self.title, self.text):
            piece.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text.setFixedWidth(TEXT_PX)
        column = QVBoxLayout(self)
        column.setContentsMargins(BESIDE_PX, 24, BESIDE_PX, 24)
        column.setSpacing(8)
        column.addStretch(2)
        column.addWidget(self.picture)
        column.addSpacing(4)
        column.addWidget(self.title)
        line = QHBoxLayout()  # an aligned label would be given the height of the column's width, not of its own
        line.addStretch(1)
        line.addWidget(self.text)
        line.addStretch(1)
        column.addLayout(line)
        column.addSpacing(8)
        column.addLayout(self.buttons)
        column.addStretch(3)
        theme.changed.connect(self._recolor)
        self._recolor()

    def minimumSizeHint(self) -> QSize:
        """As narrow as what cannot wrap; the words follow."""
        least = max(self.title.minimumSizeHint().width(), self.buttons.minimumSize().width(), LEAST_TEXT_PX)
        return QSize(least + 2 * BESIDE_PX, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The words are at most as wide as can be read well."""
        super().resizeEvent(event)
        self.text.setFixedWidth(max(min(TEXT_PX, event.size().width() - 2 * BESIDE_PX), LEAST_TEXT_PX))

    def say(self, title: str, text: str, *offers: QPushButton) -> None:
        """Show the words and put the offers below them."""
        self.title.setText(title)
        self.text.setText(text)
        empty_layout(self.buttons)
        self.buttons.addStretch(1)
        for offer in offers:
            self.buttons.addWidget(offer)
        self.buttons.addStretch(1)

    def set_icon_name(self, icon: str) -> None:
        """Show another icon."""
        self._icon = icon
        self._recolor()

    def _recolor(self) -> None:
        tokens = self._theme.tokens
        self.picture.setPixmap(
            self._theme.icon(self._icon, tokens.text_disabled, 32).pixmap(QSize(32, 32), self.devicePixelRatioF())
        )
