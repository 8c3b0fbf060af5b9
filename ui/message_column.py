"""Holds the message cards in one centred column, and lets go of a replaced column without restyling it."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ui.gutter import GUTTER_PX
from ui.message_card import MessageCard

COLUMN_PX = 760  # with 24 px at both sides, some of which the gutters hold


class MessageColumn(QWidget):
    """The cards from top to bottom, at most `COLUMN_PX` wide; as far from the left edge as the scroll bar is wide."""

    def __init__(self) -> None:
        super().__init__()
        self.cards: list[MessageCard] = []
        column = QWidget()
        column.setMaximumWidth(COLUMN_PX - 2 * GUTTER_PX)
        self._layout = QVBoxLayout(column)
        self._layout.setContentsMargins(24 - GUTTER_PX, 20, 24 - GUTTER_PX, 16)
        self._layout.setSpacing(12)
        self._layout.addStretch(1)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(GUTTER_PX, 0, 0, 0)
        outer.addStretch(1)
        outer.addWidget(column, 1000)
        outer.addStretch(1)

    def add(self, card: MessageCard, index: int | None = None) -> None:
        """Put a card at the end, or before the others at ``index``."""
        place = len(self.cards) if index is None else index
        self.cards.insert(place, card)
        self._layout.insertWidget(place, card)
        card.show()  # a layout would show it one turn of the event loop later


class MessagePages(QWidget):
    """Holds the column in sight. A replaced one is hidden, not taken out: that would restyle all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("transcriptContent")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.column = MessageColumn()
        self._layout.addWidget(self.column)

    def replace(self) -> list[QWidget]:
        """Begin with an empty column; returns what may be deleted, the last first."""
        old = self.column
        old.hide()
        self._layout.removeWidget(old)
        self.column = MessageColumn()
        self._layout.addWidget(self.column)
        self.column.show()
        return [old, *old.cards]
