"""Holds the messages in one centred column: cards, and room of the same height for those that are far from sight.

Lets go of a replaced column without restyling it.
"""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSpacerItem, QVBoxLayout, QWidget

from ui.gutter import GUTTER_PX
from ui.kept_card import KeptCard
from ui.message_card import MessageCard

COLUMN_PX = 760  # with 24 px at both sides, some of which the gutters hold


class MessageColumn(QWidget):
    """The messages from top to bottom, at most `COLUMN_PX` wide; as far from the left edge as the scroll bar is wide.

    ``entries``: for each its card, or what is kept of it; each is one item of the layout.
    """

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[MessageCard | KeptCard] = []
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

    @property
    def cards(self) -> list[MessageCard]:
        """The cards that there are, from top to bottom."""
        return [entry for entry in self.entries if isinstance(entry, MessageCard)]

    def add(self, card: MessageCard, index: int | None = None) -> None:
        """Put a card at the end, or before the others at ``index``."""
        place = len(self.entries) if index is None else index
        self.entries.insert(place, card)
        self._layout.insertWidget(place, card)
        card.show()  # a layout would show it one turn of the event loop later

    def remove(self, index: int) -> None:
        """Take a message away."""
        self._layout.takeAt(index)
        self._discard(self.entries.pop(index))

    def put_away(self, index: int, kept: KeptCard) -> None:
        """Keep room in the place of a card, which goes."""
        card, place = self.entries[index], self._geometry(index)
        self._layout.takeAt(index)
        # A layout leaves no room of its own beside a spacer: what was below the card is part of it.
        height = kept.height + self._layout.spacing()
        room = QSpacerItem(0, height, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self._layout.insertSpacerItem(index, room)
        room.setGeometry(QRect(place.left(), place.top(), place.width(), height))
        self.entries[index] = kept
        self._discard(card)

    def bring_back(self, index: int, card: MessageCard, height: int) -> None:
        """Put a card, which may be incomplete, in the place of what was kept of it; it is as high as it was."""
        place = self._geometry(index)
        self._layout.takeAt(index)
        self.entries[index] = card
        card.setFixedHeight(height)
        self._layout.insertWidget(index, card)
        card.setGeometry(QRect(place.left(), place.top(), place.width(), height))
        card.show()

    def top_of(self, index: int) -> int:
        """Where a message begins, in pixels from the top of the page."""
        return self._geometry(index).top()

    def _geometry(self, index: int) -> QRect:
        item = self._layout.itemAt(index)
        if item is None:
            raise IndexError(f"there are {len(self.entries)} messages, none is number {index}")
        return item.geometry()

    @staticmethod
    def _discard(entry: MessageCard | KeptCard) -> None:
        if isinstance(entry, MessageCard):
            entry.hide()
            entry.deleteLater()


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
