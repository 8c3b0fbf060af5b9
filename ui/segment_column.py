"""The widgets of an answer from top to bottom, each as far below the one above it as it was told. Knows no text."""

from __future__ import annotations

from PySide6.QtWidgets import QSizePolicy, QSpacerItem, QVBoxLayout, QWidget


class SegmentColumn(QVBoxLayout):
    """A gap of its own above every widget, where a layout has the same between all."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(0)
        self._gaps: list[QSpacerItem] = []  # each stands right before its widget

    def put(self, index: int, widget: QWidget) -> None:
        """Add a widget before the one that was at ``index``, without a gap."""
        gap = QSpacerItem(0, 0, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self._gaps.insert(index, gap)
        self.insertSpacerItem(2 * index, gap)
        self.insertWidget(2 * index + 1, widget)

    def take(self, index: int) -> None:
        """Let go of a widget and its gap."""
        self.takeAt(2 * index + 1)
        self.takeAt(2 * index)
        self._gaps.pop(index)

    def set_gap(self, index: int, pixels: int) -> bool:
        """Keep a widget so far from the one above it; 0 for the first. Returns whether it was not so far before."""
        gap, wanted = self._gaps[index], pixels if index else 0
        if gap.sizeHint().height() == wanted:
            return False
        gap.changeSize(0, wanted, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.invalidate()
        return True
