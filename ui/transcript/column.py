"""The messages in one centred column: cards, and spacers for recycled ones.

A column that another one replaces is deleted, and gets no new style before.
"""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QSpacerItem, QWidget

from ui.transcript.cards.card import CardState, MessageCard
from ui.widgets.building import GUTTER_PX, Stretch, hbox, invalidate_item, vbox

COLUMN_PX = 760  # includes about 24 px on both sides, partly taken by the gutters


class MessageColumn(QWidget):
    """The messages from top to bottom, at most `COLUMN_PX` wide; the left margin matches the scroll bar.

    ``entries``: each message's card, or the state of a recycled one; each is a layout item.
    """

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[MessageCard | CardState] = []
        column = self._inner = QWidget()
        column.setObjectName("messageList")
        column.setMaximumWidth(COLUMN_PX - 2 * GUTTER_PX)
        self._layout = vbox(Stretch(), parent=column, margins=(24 - GUTTER_PX, 20, 24 - GUTTER_PX, 16), spacing=12)
        hbox(Stretch(), (column, 1000), Stretch(), parent=self, margins=(GUTTER_PX, 0, 0, 0))

    @property
    def cards(self) -> list[MessageCard]:
        return [entry for entry in self.entries if isinstance(entry, MessageCard)]

    @property
    def has_hidden_first(self) -> bool:
        """Whether the first card is still hidden and has no space in the layout."""
        first = self.entries[0] if self.entries else None
        return isinstance(first, MessageCard) and first.isHidden()

    def add(self, card: MessageCard) -> None:
        self._layout.insertWidget(len(self.entries), card)
        self.entries.append(card)
        card.show()  # a layout would show it only in the next event loop iteration

    def add_above(self, card: MessageCard, *, shown: bool) -> None:
        """Add a card at the top, hidden unless ``shown``."""
        self.entries.insert(0, card)
        card.setVisible(False)
        self._layout.insertWidget(0, card)
        # A reused card is at another message's position, and a new card has the wrong width.
        margins = self._layout.contentsMargins()
        width = self._inner.width() - margins.left() - margins.right()
        card.setGeometry(0, 0, width, card.height())
        card.setVisible(shown)

    def remove(self, index: int) -> None:
        self._layout.takeAt(index)
        entry = self.entries.pop(index)
        if isinstance(entry, MessageCard):
            entry.hide()
            entry.deleteLater()

    def replace_with_spacer(self, index: int, state: CardState) -> MessageCard:
        """Replace a card by a spacer; returns the card, hidden."""
        card, place = self.entries[index], self._geometry(index)
        if not isinstance(card, MessageCard):
            raise TypeError(f"message {index} is recycled already")
        card.hide()
        self._layout.takeAt(index)
        # A layout adds no spacing beside a spacer, so the spacer includes the spacing below the card.
        height = state.height + self._layout.spacing()
        room = QSpacerItem(0, height, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self._layout.insertSpacerItem(index, room)
        room.setGeometry(QRect(place.left(), place.top(), place.width(), height))
        self.entries[index] = state
        return card

    def replace_spacer(self, index: int, card: MessageCard, height: int) -> None:
        """Replace a spacer by a card, which may be incomplete, at the spacer's height."""
        place = self._geometry(index)
        self._layout.takeAt(index)
        self.entries[index] = card
        card.setFixedHeight(height)
        self._layout.insertWidget(index, card)
        card.setGeometry(QRect(place.left(), place.top(), place.width(), height))
        card.show()

    def height_of(self, index: int) -> int:
        return self._geometry(index).height()

    def top_of(self, index: int) -> int:
        return self._geometry(index).top()

    def _geometry(self, index: int) -> QRect:
        item = self._layout.itemAt(index)
        if item is None:
            raise IndexError(f"there are {len(self.entries)} messages, none is number {index}")
        place = item.geometry()
        invalidate_item(item)
        return place


class TranscriptContent(QWidget):
    """The scroll area's content. A replaced column is hidden, not removed: removing would restyle it all."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("transcriptContent")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # otherwise scrolling would repaint everything
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)  # otherwise a new line would repaint everything
        self.column = MessageColumn()
        self._layout = vbox(self.column, parent=self, margins=0)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), self.palette().window())

    def start_new_column(self) -> list[QWidget]:
        """Start an empty column; returns the widgets to delete, the last ones first."""
        old = self.column
        old.hide()
        self._layout.removeWidget(old)
        self.column = MessageColumn()
        self._layout.addWidget(self.column)
        self.column.show()
        return [old, *old.cards]
