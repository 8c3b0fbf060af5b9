"""A pool of recycled cards, kept to show other messages: making a card anew takes many times as long."""

from __future__ import annotations

from app.core.domain.messages import MessageView
from ui.transcript.cards.card import MessageCard

MAX_CARDS = 5  # of questions, and of answers: more come only when many are recycled at once


class CardPool:
    """Its cards stay hidden children of the column until they are taken."""

    def __init__(self) -> None:
        self._cards: list[MessageCard] = []

    def recycle(self, card: MessageCard) -> bool:
        """Keep a card that is hidden and in no layout; False where it is one too many, or cannot be used again."""
        if sum(type(one) is type(card) for one in self._cards) >= MAX_CARDS or not card.reset():
            return False
        self._cards.append(card)
        return True

    def has_card_for(self, view: MessageView) -> bool:
        """Whether there is a card that can show this message."""
        return any(card.can_show(view) for card in self._cards)

    def take(self, view: MessageView, text_width: int) -> MessageCard | None:
        """A card that shows this message from now on; None where there is none that can."""
        for card in reversed(self._cards):
            if card.can_show(view):
                self._cards.remove(card)
                card.rebind(view, text_width)
                return card
        return None

    def clear(self) -> list[MessageCard]:
        """Empty the pool; returns its cards, to be deleted."""
        cards, self._cards = self._cards, []
        return cards
