"""Grows an answer at its end with little repainting: scrolled pixels are moved, and only changed areas are painted.

Qt moves pixels only if no update is pending. So widgets are filled and laid out with updates disabled, and changes are
requested afterwards.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, cast

from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

# A layout that grows also changes its parents, up to the page, whose scroll bar may then narrow all of them.
LAYOUT_ROUNDS = 6
_UPDATES_DISABLED = Qt.WidgetAttribute.WA_UpdatesDisabled  # `setUpdatesEnabled(True)` would repaint everything


def run_layouts() -> None:
    """Run pending layout requests, so that no partial layout is painted."""
    for _ in range(LAYOUT_ROUNDS):
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)


@contextmanager
def updates_disabled(widgets: Iterable[QWidget], made: Callable[[], Iterable[QWidget]] = tuple) -> Iterator[None]:
    """In this context these widgets, and those that ``made`` returns, request no updates."""
    ours = list(widgets)
    for widget in ours:
        widget.setAttribute(_UPDATES_DISABLED)
    try:
        yield
    finally:
        known = {id(widget) for widget in ours}
        fresh = [widget for widget in made() if id(widget) not in known]
        for widget in (*ours, *with_children(fresh)):  # new widgets inherit the attribute from their parents
            if isValid(widget):
                widget.setAttribute(_UPDATES_DISABLED, False)


@contextmanager
def layouts_disabled(widgets: Iterable[QWidget]) -> Iterator[None]:
    """In this context the layouts of these widgets are disabled.

    Showing a widget activates the layouts around it at the old height, so the content above would move up and back.
    """
    layouts = [layout for widget in widgets if (layout := widget.layout()) is not None]
    for layout in layouts:
        layout.setEnabled(False)
    try:
        yield
    finally:
        for layout in layouts:
            layout.setEnabled(True)


def inherit_no_updates(widget: QWidget) -> None:
    """Disable the updates of a new widget if its parent's are disabled."""
    home = widget.parentWidget()
    if home is not None and home.testAttribute(_UPDATES_DISABLED):
        allow_updates(widget, allowed=False)


def allow_updates(widget: QWidget, *, allowed: bool = True) -> None:
    """Allow or disable updates of a widget and its children. Children may be removed and reused meanwhile."""
    for each in with_children([widget]):
        each.setAttribute(_UPDATES_DISABLED, not allowed)


def ancestors_between(widget: QWidget, page: QWidget) -> Iterator[QWidget]:
    """The widget and its ancestors below the page."""
    around: QWidget | None = widget
    while around is not None and around is not page:
        yield around
        around = around.parentWidget()


def with_children(widgets: Iterable[QWidget]) -> Iterator[QWidget]:
    for widget in widgets:
        yield widget
        yield from widget.findChildren(QWidget)


class GrowingBody(Protocol):
    """A widget that grows at its end."""

    def growing(self) -> Iterable[QWidget]:
        """The widgets that may change."""

    def pop_changed_top(self) -> int | None:
        """The top of the changed area in pixels; None if nothing changed."""

    def only_grows(self) -> AbstractContextManager[None]:
        """In this context only the widgets of `growing` change."""


def grow(
    page: QWidget, body: QWidget, change: Callable[[], None], lay_out: Callable[[], None], *, only_words: bool = False
) -> None:
    """Grow a body on a page by ``change``, run the layouts, and request the changed area.

    ``only_words``: only words are added, which usually fit on the last line, so that nothing moves.
    """
    with cast("GrowingBody", body).only_grows():
        if only_words:
            with updates_disabled(cast("GrowingBody", body).growing()):
                change()
            if body.sizeHint().height() == body.height():
                _ask_for_paint(page, body, moved=False)
                return
            change = _nothing
        _grow_and_move(page, body, change, lay_out)


def _grow_and_move(page: QWidget, body: QWidget, change: Callable[[], None], lay_out: Callable[[], None]) -> None:
    card = cast("QWidget", body.parent())
    before = body.height(), card.height(), page.height()

    beside = card.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)  # widgets that move down
    with updates_disabled(
        [*ancestors_between(body, page), *beside, *cast("GrowingBody", body).growing()],
        cast("GrowingBody", body).growing,
    ):
        with layouts_disabled([*ancestors_between(body, page), page]):
            change()
        more = body.sizeHint().height() - body.height()
        if more > 0:  # make space first, or the layouts would shrink other messages for a moment
            for widget in ancestors_between(body, page):
                widget.updateGeometry()
            page.resize(page.width(), page.height() + more)
        lay_out()
    _ask_for_paint(page, body, moved=(body.height(), card.height(), page.height()) != before)


def _ask_for_paint(page: QWidget, body: QWidget, *, moved: bool) -> None:
    """Request painting of the changed area, and of the area below if it ``moved``."""
    top = cast("GrowingBody", body).pop_changed_top()
    if top is None:
        return
    place = body.mapTo(page, QPoint(0, top))
    if moved:
        page.update(QRect(0, place.y(), page.width(), max(page.height() - place.y(), 0)))
    else:
        page.update(QRect(place.x(), place.y(), body.width(), body.height() - top))


def _nothing() -> None: ...
