"""Keeps the room of far messages right, and what is read in its place, when all messages get another width or look.

What the cards near sight became tells what the far ones are by now; exactly that is known when they come near again.
Knows sizes and places; nothing of texts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QScrollArea

from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.kept_card import KeptCard
from ui.transcript.column import MessageColumn

CALM_MS = 100  # an edge of the window that is dragged moves some sixty times a second
LEAST_PX = 24


@dataclass(frozen=True, slots=True)
class _Place:
    """What stands at the upper edge: a message, and how much of its height is above the edge.

    Not its number: older messages may come above it.
    """

    message_id: int
    share: float


class FarHeights(QObject):
    """Looks after the messages of a scrolled page. `note` is told whenever nothing has changed for a while.

    Signals:
        changed: what was given another height is to be laid out.
    """

    changed = Signal()

    def __init__(self, page: QScrollArea, column: Callable[[], MessageColumn], at_end: Callable[[], bool]) -> None:
        super().__init__(page)
        self._page, self._column, self._at_end = page, column, at_end
        self._sizes: dict[MessageCard, tuple[int, int]] = {}  # height, and how much of it is text that wraps
        self._kept: frozenset[KeptCard] = frozenset()  # as the sizes are
        self._place: _Place | None = None
        self._maximum = 0  # of the scroll bar, when it was looked at last
        self._is_moving = False
        self._soon = QTimer(self, singleShot=True, interval=CALM_MS)
        self._soon.timeout.connect(self._fit)
        self._look_soon = QTimer(self, singleShot=True, interval=0)
        self._look_soon.timeout.connect(self._look)
        page.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        page.verticalScrollBar().rangeChanged.connect(lambda *_range: self._look_soon.start())

    def note(self) -> None:
        """All is laid out as it is to stay: remember it, to be compared with what comes."""
        if not self._soon.isActive():
            entries = self._column().entries
            self._sizes = {card: _size(card) for card in self._column().cards if not card.is_being_made}
            self._kept = frozenset(entry for entry in entries if isinstance(entry, KeptCard))
            self._place, self._maximum = self._place_now(), self._page.verticalScrollBar().maximum()

    def forget(self) -> None:
        """Other messages take the place of all."""
        self._sizes, self._kept, self._place = {}, frozenset(), None
        self._soon.stop()

    def leave(self) -> None:
        """Somebody went elsewhere: what was read until now need not stay in its place."""
        self._place = None

    def begin(self) -> None:
        """Width or look are about to change: until `end` nobody scrolls by hand."""
        self._is_moving = True
        self._place = self._place or self._place_now()

    def end(self, *, settled: bool = True) -> None:
        """They have changed, and all near sight is laid out: what was read is where it was; the far ones follow.

        Not ``settled``: more will be laid out before they do, and nobody scrolls by hand until then.
        """
        self._go_back()
        self._is_moving = not settled
        self._soon.start()

    def _on_scrolled(self) -> None:
        # A look that changes may have laid out something before anybody is told: then the page is of another height.
        maximum, before = self._page.verticalScrollBar().maximum(), self._maximum
        self._maximum = maximum
        if not self._is_moving and maximum == before:
            self._place = None

    def _look(self) -> None:
        """All that came with another height of the page has come."""
        if not self._is_moving:
            self._maximum = self._page.verticalScrollBar().maximum()

    def _place_now(self) -> _Place | None:
        column, top = self._column(), self._page.verticalScrollBar().value()
        first = 1 if column.waits_above else 0
        num = len(column.entries)
        if num <= first or not top or self._at_end():
            return None
        index = next((number for number in range(num - 1, first, -1) if column.top_of(number) <= top), first)
        return _Place(column.entries[index].message_id, (top - column.top_of(index)) / max(column.height_of(index), 1))

    def _go_back(self) -> None:
        column = self._column()
        ids = [entry.message_id for entry in column.entries] if self._place is not None else []
        if self._place is not None and self._place.message_id in ids:
            index = ids.index(self._place.message_id)
            top = column.top_of(index) + round(self._place.share * column.height_of(index))
            self._page.verticalScrollBar().setValue(top)

    def _fit(self) -> None:
        """Give what is far the height that its cards would have, going by those that are there."""
        pairs = [(size, _size(card)) for card, size in self._sizes.items() if card in self._column().cards]
        wraps = _ratio([(old[1], new[1]) for old, new in pairs])
        rest = _ratio([(old[0] - old[1], new[0] - new[1]) for old, new in pairs])

        def fitted(kept: KeptCard) -> KeptCard:
            if kept not in self._kept:  # it was put away since
                return kept
            flowing = round(kept.flowing * wraps)
            height = flowing + round((kept.height - kept.flowing) * rest)
            return replace(kept, height=max(height, LEAST_PX), flowing=flowing)

        self.begin()
        if not wraps == rest == 1:
            self._column().fit_rooms(fitted)
            self._sizes = {card: _size(card) for card in self._sizes if card in self._column().cards}
            self._kept = frozenset(entry for entry in self._column().entries if isinstance(entry, KeptCard))
        before = self._maximum
        self.changed.emit()
        self._go_back()
        maximum = self._page.verticalScrollBar().maximum()
        if maximum != before:  # what is far follows in a later turn, or what is near does once more
            self._maximum = maximum
            self._soon.start()
            return
        self._is_moving = False
        self.note()


def _size(card: MessageCard) -> tuple[int, int]:
    return card.height(), card.flowing_px


def _ratio(pairs: list[tuple[int, int]]) -> float:
    old, new = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    return new / old if old > 0 and new > 0 else 1.0
