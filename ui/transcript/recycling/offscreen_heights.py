"""Estimates the heights of recycled messages, and keeps what is read in its place, when width or style change.

The estimate scales their heights as those of the cards that are there changed; exact they are once restored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QScrollArea

from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.card_state import CardState
from ui.transcript.column import MessageColumn

RESIZE_PAUSE_MS = 100  # an edge of the window that is dragged moves some sixty times a second
MIN_HEIGHT_PX = 24


@dataclass(frozen=True, slots=True)
class _ScrollAnchor:
    """What stands at the upper edge of the viewport: a message, and the share of its height above the edge.

    By its id rather than its index: older messages may come above it.
    """

    message_id: int
    share: float


class OffscreenHeights(QObject):
    """Call `record` whenever nothing has changed for a while, and `begin_relayout` and `end_relayout` around a change.

    Signals:
        layout_changed: spacers have another height; layouts are to be carried out.
    """

    layout_changed = Signal()

    def __init__(self, page: QScrollArea, column: Callable[[], MessageColumn], at_end: Callable[[], bool]) -> None:
        super().__init__(page)
        self._page, self._column, self._at_end = page, column, at_end
        self._sizes: dict[MessageCard, tuple[int, int]] = {}  # height, and how much of it is text that wraps
        self._recycled: frozenset[CardState] = frozenset()  # as the sizes are
        self._anchor: _ScrollAnchor | None = None
        self._maximum = 0  # of the scroll bar, when it was looked at last
        self._in_relayout = False
        self._rescale_timer = QTimer(self, singleShot=True, interval=RESIZE_PAUSE_MS)
        self._rescale_timer.timeout.connect(self._rescale)
        self._range_timer = QTimer(self, singleShot=True, interval=0)
        self._range_timer.timeout.connect(self._on_range_settled)
        page.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        page.verticalScrollBar().rangeChanged.connect(lambda *_range: self._range_timer.start())

    def record(self) -> None:
        """Remember the sizes as they are now, to be compared with those after a change."""
        if not self._rescale_timer.isActive():
            entries = self._column().entries
            self._sizes = {card: _size(card) for card in self._column().cards if not card.is_incomplete}
            self._recycled = frozenset(entry for entry in entries if isinstance(entry, CardState))
            self._anchor, self._maximum = self._current_anchor(), self._page.verticalScrollBar().maximum()

    def reset(self) -> None:
        """Other messages take the place of all."""
        self._sizes, self._recycled, self._anchor = {}, frozenset(), None
        self._rescale_timer.stop()

    def release_anchor(self) -> None:
        """The user went elsewhere: what was read until now need not stay in its place."""
        self._anchor = None

    def begin_relayout(self) -> None:
        """Width or style are about to change: until `end_relayout` scrolling is not the user's."""
        self._in_relayout = True
        self._anchor = self._anchor or self._current_anchor()

    def end_relayout(self, *, is_final: bool = True) -> None:
        """They have changed, and the cards are laid out: scroll what was read to its place; the spacers follow soon.

        Not ``is_final``: more will be laid out before that, and scrolling is not the user's until then.
        """
        self._restore_anchor()
        self._in_relayout = not is_final
        self._rescale_timer.start()

    def _on_scrolled(self) -> None:
        # A change of style may have laid out something before `begin_relayout`: then the page has another height.
        maximum, before = self._page.verticalScrollBar().maximum(), self._maximum
        self._maximum = maximum
        if not self._in_relayout and maximum == before:
            self._anchor = None

    def _on_range_settled(self) -> None:
        """All signals of a change of the page's height have come."""
        if not self._in_relayout:
            self._maximum = self._page.verticalScrollBar().maximum()

    def _current_anchor(self) -> _ScrollAnchor | None:
        column, top = self._column(), self._page.verticalScrollBar().value()
        first = 1 if column.has_hidden_first else 0
        num = len(column.entries)
        if num <= first or not top or self._at_end():
            return None
        index = next((number for number in range(num - 1, first, -1) if column.top_of(number) <= top), first)
        return _ScrollAnchor(
            column.entries[index].message_id, (top - column.top_of(index)) / max(column.height_of(index), 1)
        )

    def _restore_anchor(self) -> None:
        column = self._column()
        ids = [entry.message_id for entry in column.entries] if self._anchor is not None else []
        if self._anchor is not None and self._anchor.message_id in ids:
            index = ids.index(self._anchor.message_id)
            top = column.top_of(index) + round(self._anchor.share * column.height_of(index))
            self._page.verticalScrollBar().setValue(top)

    def _rescale(self) -> None:
        """Give the spacers the heights that their cards would have, as those of the cards that are there changed."""
        pairs = [(size, _size(card)) for card, size in self._sizes.items() if card in self._column().cards]
        wraps = _ratio([(old[1], new[1]) for old, new in pairs])
        rest = _ratio([(old[0] - old[1], new[0] - new[1]) for old, new in pairs])

        def rescaled(state: CardState) -> CardState:
            if state not in self._recycled:  # recycled since
                return state
            wrapping = round(state.wrapping * wraps)
            height = wrapping + round((state.height - state.wrapping) * rest)
            return replace(state, height=max(height, MIN_HEIGHT_PX), wrapping=wrapping)

        self.begin_relayout()
        if not wraps == rest == 1:
            self._column().resize_spacers(rescaled)
            self._sizes = {card: _size(card) for card in self._sizes if card in self._column().cards}
            self._recycled = frozenset(entry for entry in self._column().entries if isinstance(entry, CardState))
        before = self._maximum
        self.layout_changed.emit()
        self._restore_anchor()
        maximum = self._page.verticalScrollBar().maximum()
        if maximum != before:  # spacers follow in a later turn, or cards do once more
            self._maximum = maximum
            self._rescale_timer.start()
            return
        self._in_relayout = False
        self.record()


def _size(card: MessageCard) -> tuple[int, int]:
    return card.height(), card.wrapping_px


def _ratio(pairs: list[tuple[int, int]]) -> float:
    old, new = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    return new / old if old > 0 and new > 0 else 1.0
