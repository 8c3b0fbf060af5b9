"""Tab order in reading order, for widgets that are created at any time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QLayout, QWidget

from ui.widgets.building import invalidate_item
from ui.widgets.segment_layout import SegmentLayout

REST_MS = 250  # the user does not press Tab while scrolling


def tab_stops(layout: QLayout | None) -> Iterator[QWidget]:
    """The tab stops of a layout and its descendants, in order."""
    for widget, inner in _parts_of(layout) if layout is not None else ():
        if widget is not None and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            yield widget
        yield from tab_stops(inner if widget is None else widget.layout())


def _parts_of(layout: QLayout) -> Iterator[tuple[QWidget | None, QLayout | None]]:
    if isinstance(layout, SegmentLayout):
        yield from ((widget, None) for widget in layout.widgets)
    for index in range(layout.count()):
        item = layout.itemAt(index)
        if item is not None:
            found = item.widget(), item.layout()
            invalidate_item(item)
            yield found


def set_tab_order(widgets: Iterable[QWidget], after: QWidget | None = None) -> None:
    """Set the tab order of the contents of these widgets, starting after ``after`` if given."""
    first = [] if after is None else [after]
    stops = [*first, *(stop for widget in widgets for stop in tab_stops(widget.layout()))]
    for before, stop in pairwise(stops):  # `nextInFocusChain` would tie the life of the next wrapper to this one's
        QWidget.setTabOrder(before, stop)


class TabOrder(QObject):
    """Orders the tab stops in ``widgets`` after a pause, or when Tab is pressed.

    They follow ``parent``; otherwise widgets created late would be last in the window.
    """

    def __init__(self, parent: QWidget, widgets: Callable[[], Sequence[QWidget]]) -> None:
        super().__init__(parent)
        self._parent = parent
        self._widgets = widgets
        self._timer = QTimer(self, singleShot=True, interval=REST_MS)
        self._timer.timeout.connect(lambda: set_tab_order(self._widgets(), self._parent))

    @property
    def is_due(self) -> bool:
        return self._timer.isActive()

    def schedule(self, rest_ms: int = REST_MS) -> None:
        """Order the tab stops after ``rest_ms`` without further calls."""
        self._timer.start(rest_ms)

    def apply_now(self) -> None:
        """Order the tab stops now if due, since Tab was pressed."""
        if self.is_due:
            self._timer.stop()
            set_tab_order(self._widgets(), self._parent)
