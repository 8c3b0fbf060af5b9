"""Recycles the cards of messages far from the viewport, and restores them before they come near.

So memory follows what can be seen, not what was looked at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QScrollArea

from app.core.domain.messages import MessageView
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.card_state import CardState
from ui.transcript.column import MessageColumn
from ui.widgets.offscreen_scheduler import OffscreenScheduler

PREFETCH_PAGES = 3  # heights of the page above and below the viewport within which all cards are whole
RECYCLE_PAGES = 5  # beyond these cards are recycled; more than the messages that are built ahead
NUM_LAST = 2  # the last question and answer stay: keys act on them from anywhere
SETTLE_MS = 250


@dataclass(frozen=True, slots=True)
class _Missing:
    """A message that is not whole, and how many heights of the page away from what is in sight."""

    index: int
    pages: float


class CardRecycler(QObject):
    """Watches the scroll bar of the transcript.

    ``make`` puts a card in the place of the spacer at an index; ``prefetch`` does one step of what can be done before
    that, and returns whether there was one; ``recycle`` takes a card that was removed. ``building`` is the card that
    the transcript fills for the first time: it is not recycled until it is whole.

    Signals:
        restored_above: a card above what is in sight is whole again; its height may be another now.
        restored(object): a card is whole again, and is to be laid out before it is painted.
        layout_changed: layouts are to be carried out.
        settled: nothing has changed for a while.
    """

    restored_above = Signal()
    restored = Signal(object)
    layout_changed = Signal()
    settled = Signal()

    def __init__(
        self,
        page: QScrollArea,
        column: Callable[[], MessageColumn],
        make: Callable[[int], MessageCard],
        prefetch: Callable[[MessageView], bool],
        recycle: Callable[[MessageCard], None],
        scheduler: OffscreenScheduler,
    ) -> None:
        super().__init__(page)
        self._page = page
        self._column = column
        self._make = make
        self._prefetch = prefetch
        self._recycle = recycle
        self._scheduler = scheduler
        self.building: MessageCard | None = None
        self._restoring: dict[MessageCard, CardState] = {}  # cards that are not whole yet
        self._filled: set[MessageCard] = set()  # of these, those that only have to be laid out
        self._restore_timer = QTimer(self, singleShot=True)
        self._restore_timer.timeout.connect(lambda: scheduler.run(self._restore_timer, self._restore_near))
        self._recycle_timer = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._recycle_timer.timeout.connect(lambda: scheduler.run(self._recycle_timer, self._recycle_far))
        self._check_timer = QTimer(self, singleShot=True, interval=0)  # when all has its place
        self._check_timer.timeout.connect(self.check)
        page.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        page.verticalScrollBar().rangeChanged.connect(lambda *_range: self._check_timer.start())

    def reset(self) -> None:
        """Other messages take the place of all."""
        self._restoring, self._filled, self.building = {}, set(), None

    @property
    def pages_above(self) -> float:
        """How many heights of the page there are above what is in sight."""
        return self._page.verticalScrollBar().value() / max(self._page.viewport().height(), 1)

    @property
    def pause_ms(self) -> int:
        """How long the event loop is left alone between two slices of work on messages out of sight."""
        nearest, pages_above = self._nearest_missing(), self.pages_above
        return self._scheduler.pause_ms(pages_above if nearest is None else min(pages_above, nearest.pages))

    def _on_scrolled(self) -> None:
        self._scheduler.scrolled_to(self.pages_above)
        self.check()

    def check(self) -> None:
        """Restore what is in the viewport now, what is near soon; recycle what is far later."""
        missing = self._nearest_missing()
        while missing is not None and not missing.pages:
            self.restore(missing.index)
            missing = self._nearest_missing()
        if missing is not None and not self._restore_timer.isActive():
            self._restore_timer.start(self._scheduler.pause_ms(missing.pages))
        if not self._recycle_timer.isActive():
            self._recycle_timer.start(SETTLE_MS)

    def restore(self, index: int) -> MessageCard:
        """Make the card of a message whole, if it is not, and return it."""
        card = self._begin_restore(index)
        while card in self._restoring:
            self._build_step(card)
        return card

    def _begin_restore(self, index: int) -> MessageCard:
        entry = self._column().entries[index]
        if isinstance(entry, MessageCard):
            return entry
        card = self._make(index)
        self._restoring[card] = entry
        return card

    def _build_step(self, card: MessageCard) -> bool:
        """One step; False where the last or the last but one is done: each of these takes a turn of its own."""
        if card not in self._filled:
            if card.build_next():
                return True
            self._filled.add(card)
            return False
        self._filled.remove(card)
        state, column = self._restoring.pop(card), self._column()
        # What is in it is laid out while its height is still fixed: the page would shrink and grow.
        self.layout_changed.emit()
        card.release_height()
        if column.top_of(column.entries.index(card)) < self._page.verticalScrollBar().value():
            self.restored_above.emit()
        self.restored.emit(card)
        card.finish_restore(state)
        return False

    def _restore_near(self) -> None:
        near = self._nearest_missing()
        if near is None:
            self._recycle_timer.start(SETTLE_MS)
            return
        entry = self._column().entries[near.index]
        until = self._scheduler.own_s() + self._scheduler.slice_s(near.pages)
        # A card without its parts takes a turn of its own; and before it, one that is far is recycled, since its card
        # can be that of this message.
        if isinstance(entry, MessageCard):
            while self._build_step(entry) and self._scheduler.own_s() < until:
                pass
        elif not (self.recycle_one() or self._prefetch(entry.view)):
            self._begin_restore(near.index)
        self._restore_timer.start(self._scheduler.pause_ms(near.pages))

    def _recycle_far(self) -> None:
        """One card a turn."""
        if self.recycle_one():
            self._recycle_timer.start(self.pause_ms)
        elif not self._restoring:
            self.settled.emit()

    def recycle_one(self) -> bool:
        """Recycle the card of one message that is far from the viewport; False where there is none."""
        if not self._is_long():
            return False
        column = self._column()
        first, last = self._index_range(RECYCLE_PAGES)
        for index in (*range(first), *range(last, len(column.entries) - NUM_LAST)):
            card = column.entries[index]
            if not isinstance(card, MessageCard) or card is self.building or self._is_beside_focus(index):
                continue
            state = self._restoring.pop(card, None) or card.save_state()
            self._filled.discard(card)
            if state is not None:
                self._recycle(column.replace_with_spacer(index, state))
                self.layout_changed.emit()
                return True
        return False

    def _is_long(self) -> bool:
        """Whether any message can be far: a cheap test, for it is made while an answer grows."""
        bar, distance = self._page.verticalScrollBar(), RECYCLE_PAGES * self._page.viewport().height()
        return bar.value() > distance or bar.maximum() - bar.value() > distance

    def _is_beside_focus(self, index: int) -> bool:
        """The caret may go on from a text into the one before or after it."""
        entries = self._column().entries
        around = entries[max(index - 1, 0) : index + 2]
        return any(isinstance(entry, MessageCard) and entry.has_focus for entry in around)

    def _nearest_missing(self) -> _Missing | None:
        """The near message to be made whole next: in the viewport first, then one that is begun, then the nearest."""
        if not self._restoring and all(isinstance(entry, MessageCard) for entry in self._column().entries):
            return None
        height, top = self._page.viewport().height(), self._page.verticalScrollBar().value()
        column = self._column()
        found: list[tuple[bool, bool, float, int]] = []
        index, last = self._index_range(PREFETCH_PAGES)
        below = column.top_of(index) if index < last else 0
        while index < last:
            entry, above = column.entries[index], below
            below = column.top_of(index + 1) if index + 1 < len(column.entries) else above + height
            is_recycled = isinstance(entry, CardState)
            if is_recycled or entry in self._restoring:
                pages = max(top - below, above - top - height, 0) / max(height, 1)
                found.append((pages > 0, is_recycled, pages, index))
            index += 1
        return _Missing(min(found)[3], min(found)[2]) if found else None

    def _index_range(self, num_pages: float) -> tuple[int, int]:
        """The half-open range of messages within a number of page heights around the viewport."""
        height, top = self._page.viewport().height(), self._page.verticalScrollBar().value()
        column = self._column()
        places = range(len(column.entries))
        first = max(bisect_right(places, top - num_pages * height, key=column.top_of) - 1, 0)
        return first, bisect_left(places, top + (num_pages + 1) * height, first, key=column.top_of)
