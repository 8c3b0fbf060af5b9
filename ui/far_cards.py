"""Puts the cards of messages far from what is in sight away, and has them made again before they come near.

So memory follows what can be seen, not what was looked at. Knows where messages stand; nothing of their text.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QScrollArea

from ui.kept_card import KeptCard
from ui.message_card import MessageCard
from ui.message_column import MessageColumn

NEAR_PAGES = 2  # as many heights of the page above and below it: these are whole
FAR_PAGES = 6  # beyond these they rest; more than the messages that are built ahead
NUM_LAST = 2  # the last question and answer stay: keys act on them from anywhere
CALM_MS = 250
SLICE_S = 0.003
BETWEEN_SLICES_MS = 2


class FarCards(QObject):
    """Looks at the messages of a scrolled page.

    ``make`` puts a card in the place of what was kept of the message at an index.

    Signals:
        woken_above: a card above what is in sight is whole again; its height may be another now.
        woken(object): a card is whole again, and is to be laid out before it is painted.
        changed: something else is to be laid out.
    """

    woken_above = Signal()
    woken = Signal(object)
    changed = Signal()

    def __init__(
        self, page: QScrollArea, column: Callable[[], MessageColumn], make: Callable[[int], MessageCard]
    ) -> None:
        super().__init__(page)
        self._page = page
        self._column = column
        self._make = make
        self._waking: dict[MessageCard, KeptCard] = {}  # cards that are not whole yet
        self._wake_soon = QTimer(self, singleShot=True, interval=BETWEEN_SLICES_MS)
        self._wake_soon.timeout.connect(self._wake_near)
        self._rest_soon = QTimer(self, singleShot=True, interval=CALM_MS)
        self._rest_soon.timeout.connect(self._rest_one)
        self._look_soon = QTimer(self, singleShot=True, interval=0)  # when all has its place
        self._look_soon.timeout.connect(self.look)
        page.verticalScrollBar().valueChanged.connect(self.look)
        page.verticalScrollBar().rangeChanged.connect(lambda *_range: self._look_soon.start())

    def forget(self) -> None:
        """Other messages take the place of all."""
        self._waking = {}

    def look(self) -> None:
        """What is in sight is made whole at once; what is near soon, and what is far may rest."""
        missing = self._missing_within(0)
        while missing:
            self.wake(missing[0])
            missing = self._missing_within(0)
        if self._missing_within(NEAR_PAGES):
            self._wake_soon.start()
        if not self._rest_soon.isActive():
            self._rest_soon.start()

    def wake(self, index: int) -> MessageCard:
        """Make the card of a message whole, if it is not, and return it."""
        card = self._begin(index)
        while card in self._waking and self._go_on(card):
            pass
        return card

    def _begin(self, index: int) -> MessageCard:
        entry = self._column().entries[index]
        if isinstance(entry, MessageCard):
            return entry
        card = self._make(index)
        self._waking[card] = entry
        return card

    def _go_on(self, card: MessageCard) -> bool:
        if card.build_one():
            return True
        kept, column = self._waking.pop(card), self._column()
        self.changed.emit()  # what is in it finds its place while its height is kept: the page would shrink and grow
        card.free_height()
        if column.top_of(column.entries.index(card)) < self._page.verticalScrollBar().value():
            self.woken_above.emit()
        self.woken.emit(card)
        card.settle(kept)
        return False

    def _wake_near(self) -> None:
        until = time.perf_counter() + SLICE_S
        near = self._missing_within(NEAR_PAGES)
        if not near:
            return
        entry = self._column().entries[near[0]]
        card = self._begin(near[0])  # a card without its parts takes a turn of its own, and so does its last step
        while isinstance(entry, MessageCard) and self._go_on(card) and time.perf_counter() < until:
            pass
        self._wake_soon.start()

    def _rest_one(self) -> None:
        """One a turn: the deleting takes its time too."""
        column = self._column()
        first, last = self._within(FAR_PAGES)
        for index in (*range(first), *range(last, len(column.entries) - NUM_LAST)):
            card = column.entries[index]
            if not isinstance(card, MessageCard) or self._is_beside_focus(index):
                continue
            kept = self._waking.pop(card, None) or card.keep()
            if kept is not None:
                column.put_away(index, kept)
                self.changed.emit()
                self._rest_soon.start(BETWEEN_SLICES_MS)
                return

    def _is_beside_focus(self, index: int) -> bool:
        """The caret may go on from a text into the one before or after it."""
        entries = self._column().entries
        around = entries[max(index - 1, 0) : index + 2]
        return any(isinstance(entry, MessageCard) and entry.has_focus for entry in around)

    def _missing_within(self, num_pages: int) -> list[int]:
        """What is not whole there: what is being made comes first, then what is nearest."""
        first, last = self._within(num_pages)
        entries, at = self._column().entries, self._within(0)[0]
        missing = [n for n in range(first, last) if isinstance(entries[n], KeptCard) or entries[n] in self._waking]
        return sorted(missing, key=lambda n: (isinstance(entries[n], KeptCard), abs(n - at)))

    def _within(self, num_pages: int) -> tuple[int, int]:
        """From which message to before which one they stand in so many heights of the page around it."""
        height, top = self._page.viewport().height(), self._page.verticalScrollBar().value()
        column = self._column()
        places = range(len(column.entries))
        first = bisect_right(places, top - num_pages * height, key=column.top_of) - 1
        return max(first, 0), bisect_left(places, top + (num_pages + 1) * height, key=column.top_of)
