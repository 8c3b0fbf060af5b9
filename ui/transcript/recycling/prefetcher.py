"""Cards made before their messages come near, a step at a time: making and styling one takes as long as a frame."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.core.domain.messages import MessageView
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.part_prefetcher import polish_some
from ui.transcript.column import MessageColumn
from ui.transcript.recycling.pool import CardPool

NO_MESSAGE = -1  # the id of what a card without a message shows


class CardPrefetcher:
    """Puts cards without a message into a pool.

    ``make`` makes the card of a message; ``column`` is where it is styled, out of sight.
    """

    def __init__(
        self, pool: CardPool, make: Callable[[MessageView], MessageCard], column: Callable[[], MessageColumn]
    ) -> None:
        self._pool, self._make, self._column = pool, make, column
        self._empty_card: MessageCard | None = None
        self._unpolished: list[QWidget] = []
        self._prefetched_for: int | None = None  # the id of the message for which a card was made last

    def prefetch_step(self, view: MessageView) -> bool:
        """One step towards a card for this message; False where the pool has one, or can have none."""
        if self._empty_card is not None:
            self._polish_some(self._empty_card)
            return True
        if self._pool.has_card_for(view):
            return False
        if self._prefetched_for == view.id:
            return False  # it has more than words, or the pool is full
        self._prefetched_for = view.id
        self._empty_card = self._make(MessageView(NO_MESSAGE, view.role, ""))
        self._column().adopt(self._empty_card)
        self._unpolished = [*reversed(self._empty_card.findChildren(QWidget)), self._empty_card]
        return True

    def _polish_some(self, card: MessageCard) -> None:
        if not polish_some(self._unpolished):
            self._empty_card = None
            if not self._pool.recycle(card):
                card.deleteLater()

    def reset(self) -> list[MessageCard]:
        """Begin anew; returns a card that was begun, to be deleted."""
        half_made = [] if self._empty_card is None else [self._empty_card]
        self._empty_card, self._unpolished, self._prefetched_for = None, [], None
        return half_made
