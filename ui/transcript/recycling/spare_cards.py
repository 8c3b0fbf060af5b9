"""Cards made before their messages come near, a step at a time: making and styling one takes as long as a frame.

Knows neither places nor texts.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.domain.messages import MessageView
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.spare_parts import style_some
from ui.transcript.column import MessageColumn
from ui.transcript.recycling.card_pool import CardPool

NOBODY = -1  # of whom a card without a message is


class SpareCards:
    """Puts cards that show nothing yet into a pool.

    ``make`` makes the card of a message; ``column`` is where it is styled, out of sight.
    """

    def __init__(
        self, pool: CardPool, make: Callable[[MessageView], MessageCard], column: Callable[[], MessageColumn]
    ) -> None:
        self._pool, self._make, self._column = pool, make, column
        self._blank: MessageCard | None = None
        self._unstyled: list[QWidget] = []
        self._made_for: int | None = None  # the message for which one was made last

    def ready_one(self, view: MessageView) -> bool:
        """One step towards a card that this message can have; False where there is one, or there cannot be."""
        if self._blank is not None:
            self._style_some(self._blank)
            return True
        if self._pool.has_for(view):
            return False
        if self._made_for == view.id:
            return False  # it has more than words, or the pool is full
        self._made_for = view.id
        self._blank = self._make(MessageView(NOBODY, view.role, ""))
        self._column().house(self._blank)
        self._unstyled = [*reversed(self._blank.findChildren(QWidget)), self._blank]
        return True

    def _style_some(self, blank: MessageCard) -> None:
        if not style_some(self._unstyled):
            self._blank = None
            if not self._pool.offer(blank):
                blank.deleteLater()

    def forget(self) -> list[MessageCard]:
        """Begin anew; what was half made is to be deleted."""
        half_made = [] if self._blank is None else [self._blank]
        self._blank, self._unstyled, self._made_for = None, [], None
        return half_made
