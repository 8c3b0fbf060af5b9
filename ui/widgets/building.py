"""Widgets and layouts in one expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ui.text.formatting import hover

PAGE_BAR_PX = 48


@dataclass(frozen=True, slots=True)
class Stretch:
    factor: int = 1


Alignment = Qt.AlignmentFlag
# A number is a gap in pixels; in a tuple stand a widget or layout, its stretch factor, and its alignment.
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
    """A plain text label; ``kind`` is the stylesheet's selector."""
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
    """Make a button that calls ``action``; ``name`` is for screen readers, where the text is not enough."""
    made = QPushButton(text)
    if kind:
        made.setProperty("kind", kind)
    made.setAccessibleName(name or text.strip())
    made.setAutoDefault(False)
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    if tip:
        made.setToolTip(hover(tip))
    if action is not None:
        made.clicked.connect(lambda _checked=False: action())
    return made


def line_edit(name: str, placeholder: str = "") -> QLineEdit:
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(placeholder)
    return made


def read_only_text(text: str, name: str, height_px: int | None = None) -> QPlainTextEdit:
    """A read-only text box that Tab leaves; ``name`` is its accessible name."""
    made = QPlainTextEdit(text)
    made.setReadOnly(True)
    made.setProperty("kind", "field")
    made.setTabChangesFocus(True)
    made.setAccessibleName(name)
    if height_px is not None:
        made.setFixedHeight(height_px)
    return made


def bar(name: str) -> QProgressBar:
    made = QProgressBar()
    made.setTextVisible(False)
    made.setRange(0, 1000)
    made.setAccessibleName(name)
    return made


def card(*parts: Part, spacing: int = 8) -> QFrame:
    """A raised frame with these parts in a column."""
    frame = QFrame()
    frame.setObjectName("card")
    vbox(*parts, parent=frame, margins=(16, 14, 16, 14), spacing=spacing)
    return frame


def page_bar(*widgets: QWidget, wide: QWidget) -> QFrame:
    """The bar above a page; ``wide`` takes the remaining space."""
    frame = QFrame()
    frame.setObjectName("header")
    frame.setMinimumHeight(PAGE_BAR_PX)
    hbox(*((widget, 1 if widget is wide else 0) for widget in widgets), parent=frame, margins=(12, 6, 12, 6), spacing=8)
    return frame


def page_column(*parts: Part, width_px: int, spacing: int, margins: Margins = 24, at_left: bool = False) -> QWidget:
    """A page with a column of at most ``width_px``, centred or ``at_left``."""
    column, page = QWidget(), QWidget()
    column.setMaximumWidth(width_px)
    vbox(*parts, Stretch(), parent=column, margins=margins, spacing=spacing)
    before = () if at_left else (Stretch(),)
    hbox(*before, (column, 1000), Stretch(), parent=page, margins=0)
    return page


def scrolled(content: QWidget, name: str, *, sideways: bool = True) -> QScrollArea:
    area = QScrollArea()
    if not sideways:
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    content.setObjectName("page")
    area.setWidget(content)
    area.setWidgetResizable(True)
    area.setAccessibleName(name)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the focus
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


def put_in_order(box: QBoxLayout, before: Sequence[QWidget], widgets: Sequence[QWidget]) -> None:
    """Replace the widgets ``before`` by these; unmoved ones are not touched, others are deleted."""
    for widget in before:
        if widget not in widgets:
            box.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
    for place, widget in enumerate(widgets):
        if box.indexOf(widget) != place:
            box.insertWidget(place, widget)
