"""Lets an answer grow at its end with little to paint: what scrolls is moved as it is, and only what changed is drawn.

Qt moves pixels only where nothing waits to be painted. So the widgets that are filled and laid out anew ask for nothing
meanwhile, and what changed is asked for afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, cast

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

_UPDATES_DISABLED = Qt.WidgetAttribute.WA_UpdatesDisabled  # as an attribute: to end it does not repaint everything


@contextmanager
def updates_disabled(widgets: Iterable[QWidget], made: Callable[[], Iterable[QWidget]] = tuple) -> Iterator[None]:
    """Within it none of these widgets asks to be painted, nor those that are ``made`` meanwhile."""
    ours = list(widgets)
    for widget in ours:
        widget.setAttribute(_UPDATES_DISABLED)
    try:
        yield
    finally:
        known = {id(widget) for widget in ours}
        fresh = [widget for widget in made() if id(widget) not in known]
        for widget in (*ours, *with_children(fresh)):  # what was made has taken it from those that it is in
            if isValid(widget):
                widget.setAttribute(_UPDATES_DISABLED, False)


@contextmanager
def layouts_disabled(widgets: Iterable[QWidget]) -> Iterator[None]:
    """Within it the layouts of these widgets are disabled.

    To show a widget carries out those around it: in the old height, where everything above would have to move up to
    make room for it, and back.
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
    """Disable the updates of a widget that was just added where those of its parent are disabled."""
    home = widget.parentWidget()
    if home is not None and home.testAttribute(_UPDATES_DISABLED):
        allow_updates(widget, allowed=False)


def allow_updates(widget: QWidget, *, allowed: bool = True) -> None:
    """Of a widget and all that is in it: one that goes again while it may not ask for any may come back later."""
    for each in with_children([widget]):
        each.setAttribute(_UPDATES_DISABLED, not allowed)


def between(widget: QWidget, page: QWidget) -> Iterator[QWidget]:
    """A widget and those that it is in, up to the page and without it."""
    around: QWidget | None = widget
    while around is not None and around is not page:
        yield around
        around = around.parentWidget()


def with_children(widgets: Iterable[QWidget]) -> Iterator[QWidget]:
    """Widgets and all that is in them."""
    for widget in widgets:
        yield widget
        yield from widget.findChildren(QWidget)


class Growing(Protocol):
    """What grows at its end."""

    def growing(self) -> Iterable[QWidget]:
        """The widgets that may change."""

    def take_changed_top(self) -> int | None:
        """From which of its pixels on it changed; None: nowhere."""

    def only_grows(self) -> AbstractContextManager[None]:
        """Meanwhile nothing but `growing` changes."""


def grow(
    page: QWidget, body: QWidget, change: Callable[[], None], lay_out: Callable[[], None], *, only_words: bool = False
) -> None:
    """Let a body on a page grow by ``change``, carry the layouts out, and ask for what changed to be painted.

    Where ``only_words`` are added to what is there, most often a line is long enough for them, and nothing moves.
    """
    with cast("Growing", body).only_grows():
        if only_words:
            with updates_disabled(cast("Growing", body).growing()):
                change()
            if body.sizeHint().height() == body.height():
                _ask_for_paint(page, body, moved=False)
                return
            change = _nothing
        _grow_and_move(page, body, change, lay_out)


def _grow_and_move(page: QWidget, body: QWidget, change: Callable[[], None], lay_out: Callable[[], None]) -> None:
    card = cast("QWidget", body.parent())
    before = body.height(), card.height(), page.height()

    beside = card.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)  # moves down
    with updates_disabled(
        [*between(body, page), *beside, *cast("Growing", body).growing()], cast("Growing", body).growing
    ):
        with layouts_disabled([*between(body, page), page]):
            change()
        more = body.sizeHint().height() - body.height()
        if more > 0:  # else the layouts would take the room from the other messages first, and give it back
            for widget in between(body, page):
                widget.updateGeometry()
            page.resize(page.width(), page.height() + more)
        lay_out()
    _ask_for_paint(page, body, moved=(body.height(), card.height(), page.height()) != before)


def _ask_for_paint(page: QWidget, body: QWidget, *, moved: bool) -> None:
    """Of what changed, and of what is below it where that ``moved``."""
    top = cast("Growing", body).take_changed_top()
    if top is None:
        return
    place = body.mapTo(page, QPoint(0, top))
    if moved:
        page.update(QRect(0, place.y(), page.width(), max(page.height() - place.y(), 0)))
    else:
        page.update(QRect(place.x(), place.y(), body.width(), body.height() - top))


def _nothing() -> None:
    """What is done where all is done."""
