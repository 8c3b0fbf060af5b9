"""Lets answers far from what is in sight give their widgets back, and has them made again before they come near.

So memory follows what can be seen, not what was looked at. Knows cards and where they stand; nothing of their text.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QPoint, QTimer, Signal
from PySide6.QtWidgets import QScrollArea, QWidget

from ui.answer_card import AnswerCard
from ui.message_card import MessageCard

NEAR_PAGES = 2  # as many heights of the page above and below it: these are whole
FAR_PAGES = 6  # beyond these they rest; more than the messages that are built ahead
CALM_MS = 250
SLICE_S = 0.003
BETWEEN_SLICES_MS = 2


class FarCards(QObject):
    """Looks at the cards of a scrolled page.

    Signals:
        woken_above: a card above what is in sight is about to be made again; its height may be another now.
        woken: a card is whole again, and is to be laid out before it is painted.
    """

    woken_above = Signal()
    woken = Signal()

    def __init__(self, page: QScrollArea, pages: QWidget, cards: Callable[[], Sequence[MessageCard]]) -> None:
        super().__init__(page)
        self._page, self._pages = page, pages
        self._cards = cards
        self._wake_soon = QTimer(self, singleShot=True, interval=BETWEEN_SLICES_MS)
        self._wake_soon.timeout.connect(self._wake_near)
        self._rest_soon = QTimer(self, singleShot=True, interval=CALM_MS)
        self._rest_soon.timeout.connect(self._rest_one)
        page.verticalScrollBar().valueChanged.connect(self.look)

    def look(self) -> None:
        """What is in sight is made whole at once; what is near soon, and what is far may rest."""
        for card in self._resting_within(0):
            self.wake(card)
        if self._resting_within(NEAR_PAGES):
            self._wake_soon.start()
        if not self._rest_soon.isActive():
            self._rest_soon.start()

    def wake(self, card: MessageCard) -> None:
        """Make a card whole, if it rests."""
        if isinstance(card, AnswerCard) and card.is_resting:
            while self._go_on(card):
                pass

    def _go_on(self, card: AnswerCard) -> bool:
        if self._place(card) < self._page.verticalScrollBar().value():
            self.woken_above.emit()
        more = card.wake_one()
        if not more:
            self.woken.emit()
        return more

    def _wake_near(self) -> None:
        until = time.perf_counter() + SLICE_S
        near = self._resting_within(NEAR_PAGES)
        while near and time.perf_counter() < until:
            if not self._go_on(near[0]):
                near.pop(0)
        if near:
            self._wake_soon.start()

    def _rest_one(self) -> None:
        """One a turn: the deleting takes its time too."""
        first, last = self._within(FAR_PAGES)
        cards = self._cards()
        if any(isinstance(card, AnswerCard) and card.rest() for card in (*cards[:first], *cards[last:])):
            self._rest_soon.start(BETWEEN_SLICES_MS)

    def _resting_within(self, num_pages: int) -> list[AnswerCard]:
        first, last = self._within(num_pages)
        cards = self._cards()[first:last]
        return [card for card in cards if isinstance(card, AnswerCard) and card.is_resting]

    def _within(self, num_pages: int) -> tuple[int, int]:
        """From which card to before which one they stand in so many heights of the page around it."""
        height, top = self._page.viewport().height(), self._page.verticalScrollBar().value()
        cards = self._cards()
        first = bisect_right(cards, top - num_pages * height, key=self._place) - 1
        return max(first, 0), bisect_left(cards, top + (num_pages + 1) * height, key=self._place)

    def _place(self, card: MessageCard) -> int:
        return card.mapTo(self._pages, QPoint(0, 0)).y()
