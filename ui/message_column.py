"""Holds the message cards in one centred column, and lets go of a replaced column without restyling it."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ui.message_card import MessageCard

COLUMN_PX = 760


class MessageColumn(QWidget):
    """The cards from top to bottom, at most `COLUMN_PX` wide."""

    def __init__(self) -> None:
        super().__init__()
        self.cards: list[MessageCard] = []
        column = QWidget()
        column.setMaximumWidth(COLUMN_PX)
        self._layout = QVBoxLayout(column)
        self._layout.setContentsMargins(24, 20, 24, 16)
        self._layout.setSpacing(12)
        self._layout.addStretch(1)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
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
