"""Creates widgets and layouts in one expression; sets properties for the stylesheet; handles PySide's wrappers."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import shiboken6
from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
    QWidgetItem,
)

from ui.text.formatting import tooltip, without_markup
from ui.text.one_line import elided

VIEWPORT_NAME = "qt_scrollarea_viewport"  # Qt's object name for viewports


def wrap_viewport(area: QAbstractScrollArea) -> None:
    area.findChild(QWidget, VIEWPORT_NAME, Qt.FindChildOption.FindDirectChildrenOnly)


def preload_wrappers() -> None:
    """Create the wrappers while idle; this takes about twenty milliseconds."""
    QScrollArea().viewport()


def invalidate_item(item: QLayoutItem | None) -> None:
    """Invalidate PySide's wrapper of a layout item that `QLayout.itemAt` returned.

    Qt deletes the item with its widget, but PySide keeps the wrapper and would use it for a new object at the same
    address, as happened with a scroll bar.
    """
    if isinstance(item, QWidgetItem) and not shiboken6.createdByPython(item):
        shiboken6.invalidate(item)


def set_style_property(widget: QWidget, name: str, value: str) -> None:
    """Set a property that selectors of the stylesheet use, and restyle the widget."""
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def separator() -> QFrame:
    made = QFrame()
    made.setObjectName("rule")
    return made


PAGE_BAR_PX = 48


@dataclass(frozen=True, slots=True)
class Stretch:
    factor: int = 1


Alignment = Qt.AlignmentFlag
# A number is a gap in pixels; a tuple is a widget or layout with its stretch factor and alignment.
Part = QWidget | QLayout | Stretch | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Alignment]
Margins = int | tuple[int, int, int, int]


def hbox(
    *parts: Part, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """A row of these parts, as the layout of ``parent`` if given; None keeps the style's default.

    Args:
        parts: from left to right, see `Part`.
        parent: the widget to lay out.
        margins: left, top, right and bottom in pixels; one number for all four.
        spacing: pixels between two parts.
    """
    box = QHBoxLayout() if parent is None else QHBoxLayout(parent)
    _fill(box, parts, margins, spacing)
    return box


def vbox(
    *parts: Part, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """A column of these parts, see `hbox`."""
    box = QVBoxLayout() if parent is None else QVBoxLayout(parent)
    _fill(box, parts, margins, spacing)
    return box


def grid(*, gaps: tuple[int, int], parent: QWidget | None = None, margins: Margins | None = None) -> QGridLayout:
    made = QGridLayout() if parent is None else QGridLayout(parent)
    made.setHorizontalSpacing(gaps[0])
    made.setVerticalSpacing(gaps[1])
    _set_margins(made, margins)
    return made


def _fill(box: QBoxLayout, parts: tuple[Part, ...], margins: Margins | None, spacing: int | None) -> None:
    _set_margins(box, margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if isinstance(part, Stretch):
            box.addStretch(part.factor)
        elif isinstance(part, int):
            box.addSpacing(part)
        else:
            _add(box, *part) if isinstance(part, tuple) else _add(box, part)


def _add(box: QBoxLayout, piece: QWidget | QLayout, stretch: int = 0, alignment: Alignment | None = None) -> None:
    if isinstance(piece, QLayout):
        box.addLayout(piece, stretch)
    elif alignment is None:
        box.addWidget(piece, stretch)
    else:
        box.addWidget(piece, stretch, alignment)


def _set_margins(layout: QLayout, margins: Margins | None) -> None:
    if margins is not None:
        left, top, right, bottom = (margins,) * 4 if isinstance(margins, int) else margins
        layout.setContentsMargins(left, top, right, bottom)


def label(text: str = "", kind: str = "", *, wrap: bool = False, selectable: bool = False) -> QLabel:
    """A plain text label; ``kind`` is a selector of the stylesheet."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if kind:
        made.setProperty("kind", kind)
    return made


def show_text(shown: QLabel, text: str) -> None:
    shown.setText(text)
    shown.setVisible(bool(text))


def button(
    text: str, action: Callable[[], object] | None = None, *, kind: str = "", name: str = "", tip: str = ""
) -> QPushButton:
    """A button that calls ``action``. ``name``: the accessible name, if ``text`` is not enough."""
    made = QPushButton(text)
    if kind:
        made.setProperty("kind", kind)
    made.setAccessibleName(name or text.strip())
    made.setAutoDefault(False)
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    if tip:
        made.setToolTip(tooltip(tip))
    if action is not None:
        made.clicked.connect(lambda _checked=False: action())
    return made


def line_edit(name: str, placeholder: str = "") -> QLineEdit:
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(placeholder)
    return made


def read_only_text(text: str, name: str, height_px: int | None = None) -> QPlainTextEdit:
    """A read-only text box; Tab leaves it. ``name``: the accessible name."""
    made = QPlainTextEdit(text)
    made.setReadOnly(True)
    made.setProperty("kind", "field")
    made.setTabChangesFocus(True)
    made.setAccessibleName(name)
    if height_px is not None:
        made.setFixedHeight(height_px)
    return made


def progress_bar(name: str) -> QProgressBar:
    made = QProgressBar()
    made.setTextVisible(False)
    made.setRange(0, 1000)
    made.setAccessibleName(name)
    return made


def card_frame(*parts: Part) -> QFrame:
    """A raised frame with these parts in a column."""
    frame = QFrame()
    frame.setObjectName("card")
    vbox(*parts, parent=frame, margins=(16, 14, 16, 14), spacing=8)
    return frame


def page_bar(*widgets: QWidget, wide: QWidget) -> QFrame:
    """The bar above a page; ``wide`` takes the remaining space."""
    frame = QFrame()
    frame.setObjectName("header")
    frame.setMinimumHeight(PAGE_BAR_PX)
    hbox(*((widget, 1 if widget is wide else 0) for widget in widgets), parent=frame, margins=(12, 6, 12, 6), spacing=8)
    return frame


def page_column(*parts: Part, width_px: int, spacing: int, margins: Margins = 24, at_left: bool = False) -> QWidget:
    """A page with one column of at most ``width_px``, centred or ``at_left``."""
    column, page = QWidget(), QWidget()
    column.setMaximumWidth(width_px)
    vbox(*parts, Stretch(), parent=column, margins=margins, spacing=spacing)
    before = () if at_left else (Stretch(),)
    hbox(*before, (column, 1000), Stretch(), parent=page, margins=0)
    return page


def scroll_area(content: QWidget, name: str, *, sideways: bool = True) -> QScrollArea:
    area = QScrollArea()
    if not sideways:
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    content.setObjectName("page")
    area.setWidget(content)
    area.setWidgetResizable(True)
    area.setAccessibleName(name)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its content can take the focus
    return area


def empty_layout(layout: QLayout) -> None:
    """Remove all items; widgets are deleted later."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            empty_layout(inner)


def reorder(box: QBoxLayout, before: Sequence[QWidget], widgets: Sequence[QWidget]) -> None:
    """Replace the widgets ``before`` by ``widgets``. Unmoved ones are not touched; removed ones are deleted."""
    for widget in before:
        if widget not in widgets:
            box.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
    for place, widget in enumerate(widgets):
        if box.indexOf(widget) != place:
            box.insertWidget(place, widget)


GUTTER_PX = 12  # width of a scroll bar in the stylesheet


def reserve_scroll_bar(area: QAbstractScrollArea) -> None:
    """Always show the scroll bar; its handle appears only when needed."""
    area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    bar = area.verticalScrollBar()
    bar.rangeChanged.connect(lambda minimum, maximum: bar.setEnabled(maximum > minimum))
    bar.setEnabled(bar.maximum() > bar.minimum())


class ElidedLabel(QLabel):
    """A plain text label that can be narrower than its text. While elided it shows a tool tip, by default its text."""

    def __init__(self, text: str = "", kind: str = "", *, tip: str = "") -> None:
        """``kind``: a selector of the stylesheet; ``tip``: the tool tip."""
        super().__init__(text)
        if kind:
            self.setProperty("kind", kind)
        self.setToolTip(without_markup(tip))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def is_elided(self) -> bool:
        return QFontMetrics(self.font()).horizontalAdvance(self.text()) > self.contentsRect().width()

    def event(self, event: QEvent) -> bool:
        if not isinstance(event, QHelpEvent) or event.type() != QEvent.Type.ToolTip:
            return super().event(event)
        if self.toolTip() or not self.is_elided():
            return super().event(event)
        QToolTip.showText(event.globalPos(), tooltip(self.text()), self)
        return True

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        rect = self.contentsRect()
        shown = elided(self.text(), QFontMetrics(self.font()), rect.width())
        flags = self.alignment() | Qt.AlignmentFlag.AlignVCenter
        self.style().drawItemText(
            painter, rect, int(flags), self.palette(), self.isEnabled(), shown, self.foregroundRole()
        )


class PageSwitch(QFrame):
    """A row of page buttons: click or arrow keys choose one; the first is chosen initially."""

    chosen = Signal(object)  # key of the page that the user chose

    def __init__(
        self, name: str, choices: Sequence[tuple[Hashable, str]], *, spoken: str = "{page}", stretch: int = 0
    ) -> None:
        """``choices``: keys and labels; ``spoken``: pattern of the accessible names."""
        super().__init__()
        self.setObjectName("pageSwitch")
        self.setAccessibleName(name)
        group = QButtonGroup(self)
        self.buttons: dict[Hashable, QToolButton] = {}
        for key, words in choices:
            self.buttons[key] = made = QToolButton()
            made.setText(words)
            made.setAccessibleName(spoken.format(page=words))
            made.setCheckable(True)
            made.setChecked(len(self.buttons) == 1)
            made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            made.setCursor(Qt.CursorShape.PointingHandCursor)
            made.clicked.connect(lambda _checked=False, key=key: self.chosen.emit(key))
            group.addButton(made)
        hbox(*((made, stretch) for made in self.buttons.values()), parent=self, margins=0, spacing=0)
