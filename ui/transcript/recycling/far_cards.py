"""Puts the cards of messages far from what is in sight away, and has them made again before they come near.

So memory follows what can be seen, not what was looked at. Knows where messages stand; nothing of their text.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QScrollArea

from app.domain.messages import MessageView
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.kept_card import KeptCard
from ui.transcript.column import MessageColumn
from ui.widgets.far_turns import FarTurns

NEAR_PAGES = 3  # as many heights of the page above and below it: these are whole
FAR_PAGES = 5  # beyond these they rest; more than the messages that are built ahead
NUM_LAST = 2  # the last question and answer stay: keys act on them from anywhere
CALM_MS = 250


@dataclass(frozen=True, slots=True)
class _Missing:
    """A message that is not whole, and how many heights of the page away from what is in sight."""

    index: int
    pages: float


class FarCards(QObject):
    """Looks at the messages of a scrolled page.

    ``make`` puts a card in the place of what was kept of the message at an index; ``ready`` does one step of what can
    be done before that, and says whether there was one; ``put_by`` takes one that was put away. ``building`` is a card
    that is filled for the first time, by somebody else: it stays until then.

    Signals:
        woken_above: a card above what is in sight is whole again; its height may be another now.
        woken(object): a card is whole again, and is to be laid out before it is painted.
        changed: something else is to be laid out.
        calm: nothing has changed for a while.
    """

    woken_above = Signal()
    woken = Signal(object)
    changed = Signal()
    calm = Signal()

    def __init__(
        self,
        page: QScrollArea,
        column: Callable[[], MessageColumn],
        make: Callable[[int], MessageCard],
        ready: Callable[[MessageView], bool],
        put_by: Callable[[MessageCard], None],
        turns: FarTurns,
    ) -> None:
        super().__init__(page)
        self._page = page
        self._column = column
        self._make = make
        self._ready = ready
        self._put_by = put_by
        self._turns = turns
        self.building: MessageCard | None = None
        self._waking: dict[MessageCard, KeptCard] = {}  # cards that are not whole yet
        self._filled: set[MessageCard] = set()  # of these, those that only have to be laid out
        self._wake_soon = QTimer(self, singleShot=True)
        self._wake_soon.timeout.connect(lambda: turns.take(self._wake_soon, self._wake_near))
        self._rest_soon = QTimer(self, singleShot=True, interval=CALM_MS)
        self._rest_soon.timeout.connect(lambda: turns.take(self._rest_soon, self._rest_far))
        self._look_soon = QTimer(self, singleShot=True, interval=0)  # when all has its place
        self._look_soon.timeout.connect(self.look)
        page.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        page.verticalScrollBar().rangeChanged.connect(lambda *_range: self._look_soon.start())

    def forget(self) -> None:
        """Other messages take the place of all."""
        self._waking, self._filled, self.building = {}, set(), None

    @property
    def room(self) -> float:
        """How many heights of the page there are above what is in sight."""
        return self._page.verticalScrollBar().value() / max(self._page.viewport().height(), 1)

    @property
    def pause_ms(self) -> int:
        """How long the event loop is left alone between two slices of work on messages out of sight."""
        nearest, room = self._nearest_missing(), self.room
        return self._turns.pause_ms(room if nearest is None else min(room, nearest.pages))

    def _on_scrolled(self) -> None:
        self._turns.stepped(self.room)
        self.look()

    def look(self) -> None:
        """What is in sight is made whole at once; what is near soon, and what is far may rest."""
        missing = self._nearest_missing()
        while missing is not None and not missing.pages:
            self.wake(missing.index)
            missing = self._nearest_missing()
        if missing is not None and not self._wake_soon.isActive():
            self._wake_soon.start(self._turns.pause_ms(missing.pages))
        if not self._rest_soon.isActive():
            self._rest_soon.start(CALM_MS)

    def wake(self, index: int) -> MessageCard:
        """Make the card of a message whole, if it is not, and return it."""
        card = self._begin(index)
        while card in self._waking:
            self._go_on(card)
        return card

    def _begin(self, index: int) -> MessageCard:
        entry = self._column().entries[index]
        if isinstance(entry, MessageCard):
            return entry
        card = self._make(index)
        self._waking[card] = entry
        return card

    def _go_on(self, card: MessageCard) -> bool:
        """One step; False where the last or the last but one is done: each of these takes a turn of its own."""
        if card not in self._filled:
            if card.build_one():
                return True
            self._filled.add(card)
            return False
        self._filled.remove(card)
        kept, column = self._waking.pop(card), self._column()
        self.changed.emit()  # what is in it finds its place while its height is kept: the page would shrink and grow
        card.free_height()
        if column.top_of(column.entries.index(card)) < self._page.verticalScrollBar().value():
            self.woken_above.emit()
        self.woken.emit(card)
        card.settle(kept)
        return False

    def _wake_near(self) -> None:
        near = self._nearest_missing()
        if near is None:
            self._rest_soon.start(CALM_MS)
            return
        entry = self._column().entries[near.index]
        until = time.thread_time() + self._turns.slice_s(near.pages)
        # A card without its parts takes a turn of its own; and before it, one that is far rests, since its card can be
        # that of this message.
        if isinstance(entry, MessageCard):
            while self._go_on(entry) and time.thread_time() < until:
                pass
        elif not (self.rest_one() or self._ready(entry.view)):
            self._begin(near.index)
        self._wake_soon.start(self._turns.pause_ms(near.pages))

    def _rest_far(self) -> None:
        """One a turn."""
        if self.rest_one():
            self._rest_soon.start(self.pause_ms)
        elif not self._waking:
            self.calm.emit()

    def rest_one(self) -> bool:
        """Put the card of one message that is far away, if there is one."""
        if not self._reaches_far():
            return False
        column = self._column()
        first, last = self._within(FAR_PAGES)
        for index in (*range(first), *range(last, len(column.entries) - NUM_LAST)):
            card = column.entries[index]
            if not isinstance(card, MessageCard) or card is self.building or self._is_beside_focus(index):
                continue
            kept = self._waking.pop(card, None) or card.keep()
            self._filled.discard(card)
            if kept is not None:
                self._put_by(column.put_away(index, kept))
                self.changed.emit()
                return True
        return False

    def _reaches_far(self) -> bool:
        """Whether the page goes on so far above or below that any message may be far: asked while an answer grows."""
        bar, far = self._page.verticalScrollBar(), FAR_PAGES * self._page.viewport().height()
        return bar.value() > far or bar.maximum() - bar.value() > far

    def _is_beside_focus(self, index: int) -> bool:
        """The caret may go on from a text into the one before or after it."""
        entries = self._column().entries
        around = entries[max(index - 1, 0) : index + 2]
        return any(isinstance(entry, MessageCard) and entry.has_focus for entry in around)

    def _nearest_missing(self) -> _Missing | None:
        """What is not whole and near: what is in sight comes first, then what is being made, then what is nearest."""
        if not self._waking and all(isinstance(entry, MessageCard) for entry in self._column().entries):
            return None
        height, top = self._page.viewport().height(), self._page.verticalScrollBar().value()
        column = self._column()
        found: list[tuple[bool, bool, float, int]] = []
        index, last = self._within(NEAR_PAGES)
        below = column.top_of(index) if index < last else 0
        while index < last:
            entry, above = column.entries[index], below
            below = column.top_of(index + 1) if index + 1 < len(column.entries) else above + height
            is_kept = isinstance(entry, KeptCard)
            if is_kept or entry in self._waking:
                pages = max(top - below, above - top - height, 0) / max(height, 1)
                found.append((pages > 0, is_kept, pages, index))
            index += 1
        return _Missing(min(found)[3], min(found)[2]) if found else None

    def _within(self, num_pages: float) -> tuple[int, int]:
        """From which message to before which one they stand in so many heights of the page around it."""
        height, top = self._page.viewport().height(), self._page.verticalScrollBar().value()
        column = self._column()
        places = range(len(column.entries))
        first = max(bisect_right(places, top - num_pages * height, key=column.top_of) - 1, 0)
        return first, bisect_left(places, top + (num_pages + 1) * height, first, key=column.top_of)
