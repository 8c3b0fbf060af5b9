"""Shows a message above what is read without repainting that: it stays where it is.

Qt would lay everything out twice, in the old height first, and paint it as often: all moves down by what appeared, and
the page up by as much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QScrollArea, QWidget

from ui.transcript.cards.page_growth import layouts_disabled, updates_disabled

_IS_OPAQUE = Qt.WidgetAttribute.WA_OpaquePaintEvent


def show_above(
    page: QScrollArea, content: QWidget, card: QWidget, others: Iterable[QWidget], lay_out: Callable[[], None]
) -> None:
    """Show a hidden card out of sight, above ``others``, which are in the same layout in ``content``, which scrolls.

    The page is to be scrolled by as much as it grows. Where what is in sight moved all the same, it is painted.
    """
    viewport, others = page.viewport(), list(others)
    around = list(_between(card, content))
    beside = content.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    before, fills = _in_sight(viewport, others), content.autoFillBackground()
    card.resize(card.width(), _wanted_height(card))  # in another height its parts would be laid out twice
    with updates_disabled([viewport, content, *beside, *around, card, *others]):
        content.setAutoFillBackground(False)  # or its pixels would be moved
        content.setAttribute(_IS_OPAQUE, False)
        with layouts_disabled([*around, content]):
            card.show()
        for widget in (card, *around):
            widget.updateGeometry()
        content.resize(content.width(), max(_wanted_height(content), content.height()))
        lay_out()
        content.setAttribute(_IS_OPAQUE)
        content.setAutoFillBackground(fills)
    if _in_sight(viewport, others) != before:
        content.update()


def _between(card: QWidget, content: QWidget) -> Iterable[QWidget]:
    around = card.parentWidget()
    while around is not None and around is not content:
        yield around
        around = around.parentWidget()


def _wanted_height(content: QWidget) -> int:
    layout = content.layout()
    if layout is None:
        return content.height()
    flows = layout.hasHeightForWidth()
    return layout.totalHeightForWidth(content.width()) if flows else layout.totalSizeHint().height()


def _in_sight(viewport: QWidget, widgets: Iterable[QWidget]) -> dict[QWidget, QRect]:
    """The rectangles of the widgets in the viewport."""
    shown = [widget for widget in widgets if not widget.isHidden()]
    places = {widget: QRect(widget.mapTo(viewport, QPoint(0, 0)), widget.size()) & viewport.rect() for widget in shown}
    return {widget: place for widget, place in places.items() if not place.isEmpty()}
