"""A vertical layout for an answer's widgets, with individual gaps.

Qt's layouts query each item several times after a change, but in a long answer only the last item grows. This layout
queries each height once, skips items above the growing end, and moves only changed items.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


@dataclass(slots=True, eq=False)
class _Item:
    """A widget with its minimum and preferred width and its gap, in pixels."""

    widget: QWidget
    minimum: int
    preferred: int
    gap: int = 0
    place: tuple[int, int, int, int] | None = None  # geometry: left, top, width, height


@dataclass(frozen=True, slots=True)
class _SegmentsAbove:
    """The leading widgets with known sizes: their number, height with gaps, and widths."""

    num: int = 0
    height: int = 0
    minimum: int = 0
    preferred: int = 0


@dataclass(frozen=True, slots=True)
class _PlacedSegments:
    """How many leading widgets are placed, down to which y, and the layout's geometry."""

    num: int
    bottom: int
    left: int
    top: int
    width: int


class SegmentLayout(QLayout):
    """Like QVBoxLayout with individual gaps."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._items: list[_Item] = []
        self._hint: QSize | None = None  # the current size hint
        self._known_above = _SegmentsAbove()  # measured widgets above the growing end
        self._placed: _PlacedSegments | None = None
        self._only_end = False
        self.setContentsMargins(0, 0, 0, 0)

    @property
    def widgets(self) -> list[QWidget]:
        """The widgets from top to bottom. They are no layout items, which Qt would query at every change."""
        return [item.widget for item in self._items]

    @property
    def gaps(self) -> list[int]:
        return [item.gap for item in self._items]

    def insert_widget(self, index: int, widget: QWidget) -> None:
        """Insert a widget without a gap."""
        self.addChildWidget(widget)
        self._items.insert(index, _Item(widget, widget.minimumSizeHint().width(), widget.sizeHint().width()))
        self._change(index)

    def remove_at(self, index: int) -> None:
        self._items.pop(index)
        self._change(index)

    def set_gap(self, index: int, pixels: int) -> bool:
        """Set the gap above a widget. Returns whether it changed."""
        item, wanted = self._items[index], pixels if index else 0
        if item.gap == wanted:
            return False
        item.gap = wanted
        self._change(index)
        return True

    @contextmanager
    def only_end_changes(self, first: int) -> Iterator[None]:
        """In this context no widget before ``first`` changes its size."""
        if self._known_above.num > first:
            self._forget_above()
        known = self._known_above
        more = self._items[known.num : first]
        self._known_above = _SegmentsAbove(
            known.num + len(more),
            known.height + sum(item.gap + _height_of(item.widget) for item in more),
            max((known.minimum, *(item.minimum for item in more))),
            max((known.preferred, *(item.preferred for item in more))),
        )
        self._only_end = True
        try:
            yield
        finally:
            self._only_end = False

    def _change(self, index: int) -> None:
        if index < self._known_above.num:
            self._forget_above()
        self.invalidate()

    def _forget_above(self) -> None:
        self._known_above, self._placed = _SegmentsAbove(), None

    def invalidate(self) -> None:
        """Called when the size hint of any widget changed; Qt does not say whose."""
        self._hint = None
        if not self._only_end:
            self._forget_above()
        super().invalidate()

    def sizeHint(self) -> QSize:
        if self._hint is None:
            above, rest = self._known_above, self._items[self._known_above.num :]
            width = max((above.preferred, *(item.preferred for item in rest)))
            self._hint = QSize(width, above.height + sum(item.gap + _height_of(item.widget) for item in rest))
        return self._hint

    def minimumSize(self) -> QSize:
        width = max((self._known_above.minimum, *(item.minimum for item in self._items[self._known_above.num :])))
        return QSize(width, self.sizeHint().height())

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation.Horizontal

    def setGeometry(self, rect: QRect) -> None:
        """Place the widgets. A widget that becomes wider may become lower at once."""
        super().setGeometry(rect)
        left, top, width = rect.left(), rect.top(), rect.width()
        if self._placed is None or (self._placed.left, self._placed.top, self._placed.width) != (left, top, width):
            self._forget_above()
        first, bottom = (self._placed.num, self._placed.bottom) if self._placed is not None else (0, top)
        num_above, above_bottom = self._known_above.num, bottom
        for index, item in enumerate(self._items[first:], start=first):
            bottom += item.gap
            height = _height_of(item.widget)
            if item.place != (left, bottom, width, height):
                item.widget.setGeometry(left, bottom, width, height)
                height = _height_of(item.widget)
                item.place = (left, bottom, width, height)
            bottom += height
            if index < num_above:
                above_bottom = bottom
        # A widget above the end may have changed its height with its width.
        is_known = self._known_above.num == num_above
        self._placed = _PlacedSegments(num_above, above_bottom, left, top, width) if is_known else None

    def addItem(self, item: QLayoutItem) -> None:
        """Widgets are added by `insert_widget` only."""
        raise NotImplementedError(f"not a widget: {item}")

    def count(self) -> int:
        return 0

    def itemAt(self, _index: int) -> QLayoutItem | None:
        return None

    def takeAt(self, _index: int) -> QLayoutItem | None:
        return None


def _height_of(widget: QWidget) -> int:
    """A widget's height in pixels: prose fixes its own, code follows its content."""
    height = widget.minimumHeight()
    return height if height == widget.maximumHeight() else widget.sizeHint().height()
