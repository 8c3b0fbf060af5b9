"""The widgets of an answer from top to bottom, each as far below the one above it as it was told. Knows no text.

A layout of Qt's looks at each of its items several times whenever one of them changed, and a long answer has many, of
which only the last one grows. This one asks each for its height once, and moves those that are to be elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


@dataclass(slots=True, eq=False)
class _Item:
    """A widget; pixels above it, of its least width and of the one it would like."""

    widget: QWidget
    least: int
    liked: int
    gap: int = 0
    place: tuple[int, int, int, int] | None = None  # where it was put: left, top, width, height


class SegmentColumn(QLayout):
    """A gap of its own above every widget, where a layout has the same between all."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self._items: list[_Item] = []
        self._hint: QSize | None = None  # of what it is now

    @property
    def widgets(self) -> list[QWidget]:
        """From top to bottom. They are no items, which Qt would go through at every change."""
        return [item.widget for item in self._items]

    def put(self, index: int, widget: QWidget) -> None:
        """Add a widget before the one that was at ``index``, without a gap."""
        self.addChildWidget(widget)
        self._items.insert(index, _Item(widget, widget.minimumSizeHint().width(), widget.sizeHint().width()))
        self.invalidate()

    def take(self, index: int) -> None:
        """Let go of a widget and its gap."""
        self._items.pop(index)
        self.invalidate()

    def set_gap(self, index: int, pixels: int) -> bool:
        """Keep a widget so far from the one above it; 0 for the first. Returns whether it was not so far before."""
        item, wanted = self._items[index], pixels if index else 0
        if item.gap == wanted:
            return False
        item.gap = wanted
        self.invalidate()
        return True

    def invalidate(self) -> None:
        """Called when a widget wants another size."""
        self._hint = None
        super().invalidate()

    def sizeHint(self) -> QSize:
        """As wide as the widest widget likes to be, and as high as all of them and their gaps."""
        if self._hint is None:
            width = max((item.liked for item in self._items), default=0)
            self._hint = QSize(width, sum(item.gap + _height_of(item.widget) for item in self._items))
        return self._hint

    def minimumSize(self) -> QSize:
        """The height is not for others to choose."""
        return QSize(max((item.least for item in self._items), default=0), self.sizeHint().height())

    def expandingDirections(self) -> Qt.Orientation:
        """Lines may be as long as there is room."""
        return Qt.Orientation.Horizontal

    def setGeometry(self, rect: QRect) -> None:
        """Put the widgets where they belong. What becomes wider may become lower at once."""
        super().setGeometry(rect)
        left, top, width = rect.left(), rect.top(), rect.width()
        for item in self._items:
            top += item.gap
            height = _height_of(item.widget)
            if item.place != (left, top, width, height):
                item.widget.setGeometry(left, top, width, height)
                height = _height_of(item.widget)
                item.place = (left, top, width, height)
            top += height

    def addItem(self, item: QLayoutItem) -> None:
        """Widgets are put here by `put` only."""
        raise NotImplementedError(f"not a widget: {item}")

    def count(self) -> int:
        """None: see `widgets`."""
        return 0

    def itemAt(self, _index: int) -> QLayoutItem | None:
        """None: see `widgets`."""
        return None

    def takeAt(self, _index: int) -> QLayoutItem | None:
        """None: see `widgets`."""
        return None


def _height_of(widget: QWidget) -> int:
    """The height that a widget wants, in pixels: prose fixes its own, code knows it from what is in it."""
    height = widget.minimumHeight()
    return height if height == widget.maximumHeight() else widget.sizeHint().height()
