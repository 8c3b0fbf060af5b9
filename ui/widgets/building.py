"""Widgets and layouts in one expression: labels, buttons, rows and columns, what scrolls."""

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
    """Space that takes what the parts beside it leave, shared by the factors."""

    factor: int = 1


Alignment = Qt.AlignmentFlag
# A number is a gap in pixels; in a tuple stand a widget or layout, its stretch factor, and its alignment.
Part = QWidget | QLayout | Stretch | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Alignment]
Margins = int | tuple[int, int, int, int]


def hbox(
    *parts: Part, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Make a row of these parts, the layout of ``parent`` if one is given; what is None stays as the style has it.

    Args:
        parts: from left to right, see `Part`.
        parent: what is laid out by it.
        margins: left, top, right and bottom in pixels; one number for all four.
        spacing: pixels between two parts.
    """
    box = QHBoxLayout() if parent is None else QHBoxLayout(parent)
    _fill(box, parts, margins, spacing)
    return box


def vbox(
    *parts: Part, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Make a column of these parts from top to bottom, as `hbox` makes a row."""
    box = QVBoxLayout() if parent is None else QVBoxLayout(parent)
    _fill(box, parts, margins, spacing)
    return box


def grid(*, gaps: tuple[int, int], parent: QWidget | None = None, margins: Margins | None = None) -> QGridLayout:
    """Make an empty grid with these gaps in pixels between columns and between rows."""
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
    """Make a label of plain text, in which nothing is ever interpreted; ``kind`` is what the stylesheet selects by."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if kind:
        made.setProperty("kind", kind)
    return made


def show_text(shown: QLabel, text: str) -> None:
    """Show a text in a label, which is hidden where there is none."""
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
    """Make a field of one line; ``name`` is for screen readers, ``placeholder`` is seen while it is empty."""
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(placeholder)
    return made


def read_only_text(text: str, name: str, height_px: int | None = None) -> QPlainTextEdit:
    """Make a box of text to read and copy, for which Tab goes on; ``name`` is for screen readers."""
    made = QPlainTextEdit(text)
    made.setReadOnly(True)
    made.setProperty("kind", "field")
    made.setTabChangesFocus(True)
    made.setAccessibleName(name)
    if height_px is not None:
        made.setFixedHeight(height_px)
    return made


def bar(name: str) -> QProgressBar:
    """Make a thin line of progress; the words beside it carry the figures."""
    made = QProgressBar()
    made.setTextVisible(False)
    made.setRange(0, 1000)
    made.setAccessibleName(name)
    return made


def card(*parts: Part, spacing: int = 8) -> QFrame:
    """Make a raised frame with these parts in a column."""
    frame = QFrame()
    frame.setObjectName("card")
    vbox(*parts, parent=frame, margins=(16, 14, 16, 14), spacing=spacing)
    return frame


def page_bar(*widgets: QWidget, wide: QWidget) -> QFrame:
    """Make the bar above a page: ``widgets`` in a row, of which ``wide`` takes the space that is left."""
    frame = QFrame()
    frame.setObjectName("header")
    frame.setMinimumHeight(PAGE_BAR_PX)
    hbox(*((widget, 1 if widget is wide else 0) for widget in widgets), parent=frame, margins=(12, 6, 12, 6), spacing=8)
    return frame


def page_column(*parts: Part, width_px: int, spacing: int, margins: Margins = 24, at_left: bool = False) -> QWidget:
    """Make a page whose parts stand in a column of at most ``width_px`` in its middle, or ``at_left``."""
    column, page = QWidget(), QWidget()
    column.setMaximumWidth(width_px)
    vbox(*parts, Stretch(), parent=column, margins=margins, spacing=spacing)
    before = () if at_left else (Stretch(),)
    hbox(*before, (column, 1000), Stretch(), parent=page, margins=0)
    return page


def scrolled(content: QWidget, name: str, *, sideways: bool = True) -> QScrollArea:
    """Put ``content`` in an area that scrolls; ``sideways`` too, where it is wider than there is room."""
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
    """Take everything out; widgets go when Qt is back in its loop."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            empty_layout(inner)


def put_in_order(box: QBoxLayout, before: Sequence[QWidget], widgets: Sequence[QWidget]) -> None:
    """Have these in place of those ``before`` in a row or column; what stands right stays untouched, others go."""
    for widget in before:
        if widget not in widgets:
            box.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
    for place, widget in enumerate(widgets):
        if box.indexOf(widget) != place:
            box.insertWidget(place, widget)
