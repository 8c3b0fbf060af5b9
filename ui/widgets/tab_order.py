"""The order of Tab in what is laid out: as it is read, whenever it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QLayout, QWidget

from ui.widgets.pyside_wrappers import invalidate_item
from ui.widgets.segment_layout import SegmentLayout

REST_MS = 250  # nobody presses Tab while somebody scrolls


def tab_stops(layout: QLayout | None) -> Iterator[QWidget]:
    """All that Tab stops at in a layout, and in those of its widgets, in their order."""
    for widget, inner in _parts_of(layout) if layout is not None else ():
        if widget is not None and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            yield widget
        yield from tab_stops(inner if widget is None else widget.layout())


def _parts_of(layout: QLayout) -> Iterator[tuple[QWidget | None, QLayout | None]]:
    """Each widget or inner layout of a layout, in order."""
    if isinstance(layout, SegmentLayout):
        yield from ((widget, None) for widget in layout.widgets)
    for index in range(layout.count()):
        item = layout.itemAt(index)
        if item is not None:
            found = item.widget(), item.layout()
            invalidate_item(item)
            yield found


def set_tab_order(widgets: Iterable[QWidget], after: QWidget | None = None) -> None:
    """Have Tab go through what is laid out in these, one after another, behind ``after``; else the first stop stays."""
    first = [] if after is None else [after]
    stops = [*first, *(stop for widget in widgets for stop in tab_stops(widget.layout()))]
    for before, stop in pairwise(stops):  # asking for the next in the chain would tie its wrapper's life to this one's
        QWidget.setTabOrder(before, stop)


class TabOrder(QObject):
    """Puts what is laid out in ``widgets`` in order once nothing has come for a while, or before Tab is followed.

    It comes behind ``parent``, whose parts these are: else Tab would reach what is made late behind all of the window.
    """

    def __init__(self, parent: QWidget, widgets: Callable[[], Sequence[QWidget]]) -> None:
        super().__init__(parent)
        self._parent = parent
        self._widgets = widgets
        self._timer = QTimer(self, singleShot=True, interval=REST_MS)
        self._timer.timeout.connect(lambda: set_tab_order(self._widgets(), self._parent))

    @property
    def is_due(self) -> bool:
        """Whether something was added that has no place in the order yet."""
        return self._timer.isActive()

    def schedule(self, rest_ms: int = REST_MS) -> None:
        """Something was added: set the order once nothing was added for so long."""
        self._timer.start(rest_ms)

    def apply_now(self) -> None:
        """Set the order now, if it is due: Tab was pressed."""
        if self.is_due:
            self._timer.stop()
            set_tab_order(self._widgets(), self._parent)
