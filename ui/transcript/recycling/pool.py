"""A pool of recycled cards: creating a card takes many times longer."""

from __future__ import annotations

from app.core.domain.messages import MessageView
from ui.transcript.cards.card import MessageCard

MAX_CARDS = 5  # of questions, and of answers: more come only when many are recycled at once


class CardPool:
    """Its cards stay hidden children of the column."""

    def __init__(self) -> None:
        self._cards: list[MessageCard] = []

    def recycle(self, card: MessageCard) -> bool:
        """Keep a hidden card; False if the pool is full or it cannot be reused."""
        if sum(type(one) is type(card) for one in self._cards) >= MAX_CARDS or not card.reset():
            return False
        self._cards.append(card)
        return True

    def has_card_for(self, view: MessageView) -> bool:
        return any(card.can_show(view) for card in self._cards)

    def take(self, view: MessageView, text_width: int) -> MessageCard | None:
        """A card showing this message; None without a suitable one."""
        for card in reversed(self._cards):
            if card.can_show(view):
                self._cards.remove(card)
                card.rebind(view, text_width)
                return card
        return None

    def clear(self) -> list[MessageCard]:
        cards, self._cards = self._cards, []
        return cards
