"""Recycles the cards of distant messages, and restores them before they become visible.

So memory depends on the visible messages only.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtWidgets import QScrollArea, QWidget

from ui.transcript.cards.card import CardState, MessageCard
from ui.transcript.cards.page_growth import layouts_disabled, updates_disabled
from ui.transcript.column import MessageColumn
from ui.widgets.offscreen_scheduler import OffscreenScheduler

PREFETCH_PAGES = 3  # pages above and below the viewport within which all cards are complete
RECYCLE_PAGES = 5  # pages beyond which cards are recycled; more pages than are built ahead
NUM_LAST = 2  # the last question and answer are never recycled: keys act on them from anywhere
SETTLE_MS = 250
_IS_OPAQUE = Qt.WidgetAttribute.WA_OpaquePaintEvent
RESIZE_PAUSE_MS = 100  # wait for the end of a drag, which resizes the window sixty times a second


@dataclass(frozen=True, slots=True)
class _ScrollAnchor:
    """The message at the upper edge of the viewport, and the fraction of it above the edge.

    Identified by id, since older messages may be inserted above.
    """

    message_id: int
    share: float


class ReadingPosition(QObject):
    """Keeps the reading position when width or style change; recycled messages keep their old heights until restored.

    Call `record` when idle, and `begin_relayout` and `end_relayout` around a change.
    """

    layout_changed = Signal()  # run the layouts

    def __init__(self, page: QScrollArea, column: Callable[[], MessageColumn], at_end: Callable[[], bool]) -> None:
        super().__init__(page)
        self._page, self._column, self._at_end = page, column, at_end
        self._anchor: _ScrollAnchor | None = None
        self._maximum = 0  # the scroll bar's maximum at the last check
        self._in_relayout = False
        self._settle_timer = QTimer(self, singleShot=True, interval=RESIZE_PAUSE_MS)
        self._settle_timer.timeout.connect(self._settle)
        self._range_timer = QTimer(self, singleShot=True, interval=0)
        self._range_timer.timeout.connect(self._on_range_settled)
        page.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        page.verticalScrollBar().rangeChanged.connect(lambda *_range: self._range_timer.start())

    def record(self) -> None:
        if not self._settle_timer.isActive():
            self._anchor, self._maximum = self._current_anchor(), self._page.verticalScrollBar().maximum()

    def reset(self) -> None:
        self._anchor = None
        self._settle_timer.stop()

    def release_anchor(self) -> None:
        self._anchor = None

    def begin_relayout(self) -> None:
        """Call before width or style change. Until `end_relayout`, scrolling is not attributed to the user."""
        self._in_relayout = True
        self._anchor = self._anchor or self._current_anchor()

    def end_relayout(self, *, is_final: bool = True) -> None:
        """Restore the reading position after the cards were laid out.

        If not ``is_final``, more layouts follow, during which scrolling is not attributed to the user.
        """
        self._restore_anchor()
        self._in_relayout = not is_final
        self._settle_timer.start()

    def _on_scrolled(self) -> None:
        # A style change may have started a layout before `begin_relayout`: then the page height has changed already.
        maximum, before = self._page.verticalScrollBar().maximum(), self._maximum
        self._maximum = maximum
        if not self._in_relayout and maximum == before:
            self._anchor = None

    def _on_range_settled(self) -> None:
        """Called when all signals of a changed page height have arrived."""
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

    def _settle(self) -> None:
        self.begin_relayout()
        before = self._maximum
        self.layout_changed.emit()
        self._restore_anchor()
        self._maximum = self._page.verticalScrollBar().maximum()
        if self._maximum != before:  # cards are laid out once more in a later event loop iteration
            self._settle_timer.start()
            return
        self._in_relayout = False
        self.record()


@dataclass(frozen=True, slots=True)
class _MissingCard:
    """An incomplete message, and its distance from the viewport in page heights."""

    index: int
    pages: float


class CardRecycler(QObject):
    """Recycles and restores cards as the transcript scrolls.

    ``make`` replaces the spacer at an index by a card. ``building``: the card that is being filled, which is not
    recycled.
    """

    restored_above = Signal()  # a card above the viewport is complete; its height may have changed
    restored = Signal(object)  # a card is complete and must be laid out before painting
    layout_changed = Signal()  # run the layouts
    settled = Signal()  # nothing has changed for a while

    def __init__(
        self,
        page: QScrollArea,
        column: Callable[[], MessageColumn],
        make: Callable[[int], MessageCard],
        scheduler: OffscreenScheduler,
    ) -> None:
        super().__init__(page)
        self._page = page
        self._column = column
        self._make = make
        self._scheduler = scheduler
        self.building: MessageCard | None = None
        self._restoring: dict[MessageCard, CardState] = {}  # incomplete cards and the states to restore
        self._filled: set[MessageCard] = set()  # cards of `_restoring` that only need a layout
        self._restore_timer = QTimer(self, singleShot=True)
        self._restore_timer.timeout.connect(lambda: scheduler.run(self._restore_timer, self._restore_near))
        self._recycle_timer = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._recycle_timer.timeout.connect(lambda: scheduler.run(self._recycle_timer, self._recycle_distant))
        self._check_timer = QTimer(self, singleShot=True, interval=0)  # runs after the layouts
        self._check_timer.timeout.connect(self.check_viewport)
        page.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        page.verticalScrollBar().rangeChanged.connect(lambda *_range: self._check_timer.start())

    def reset(self) -> None:
        self._restoring, self._filled, self.building = {}, set(), None

    @property
    def pages_above(self) -> float:
        return self._page.verticalScrollBar().value() / max(self._page.viewport().height(), 1)

    @property
    def pause_ms(self) -> int:
        """The pause between two slices of offscreen work."""
        nearest, pages_above = self._nearest_missing(), self.pages_above
        return self._scheduler.pause_ms(pages_above if nearest is None else min(pages_above, nearest.pages))

    def _on_scrolled(self) -> None:
        self._scheduler.scrolled_to(self.pages_above)
        self.check_viewport()

    def check_viewport(self) -> None:
        """Restore visible messages now and near ones soon; recycle distant ones later."""
        missing = self._nearest_missing()
        while missing is not None and not missing.pages:
            self.restore(missing.index)
            missing = self._nearest_missing()
        if missing is not None and not self._restore_timer.isActive():
            self._restore_timer.start(self._scheduler.pause_ms(missing.pages))
        if not self._recycle_timer.isActive():
            self._recycle_timer.start(SETTLE_MS)

    def restore(self, index: int) -> MessageCard:
        """Complete the card of a message, and return it."""
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
        """Do one step; False before each of the last two steps, which need their own event loop iteration."""
        if card not in self._filled:
            if card.build_next():
                return True
            self._filled.add(card)
            return False
        self._filled.remove(card)
        del self._restoring[card]
        column = self._column()
        # Lay out the content while the height is still fixed: otherwise the page would shrink and grow.
        self.layout_changed.emit()
        card.release_height()
        if column.top_of(column.entries.index(card)) < self._page.verticalScrollBar().value():
            self.restored_above.emit()
        self.restored.emit(card)
        return False

    def _restore_near(self) -> None:
        near = self._nearest_missing()
        if near is None:
            self._recycle_timer.start(SETTLE_MS)
            return
        entry = self._column().entries[near.index]
        until = self._scheduler.worked_s() + self._scheduler.slice_s(near.pages)
        # Creating an empty card takes its own event loop iteration.
        if isinstance(entry, MessageCard):
            while self._build_step(entry) and self._scheduler.worked_s() < until:
                pass
        elif not self.recycle_one():
            self._begin_restore(near.index)
        self._restore_timer.start(self._scheduler.pause_ms(near.pages))

    def _recycle_distant(self) -> None:
        """Recycle one card per event loop iteration."""
        if self.recycle_one():
            self._recycle_timer.start(self.pause_ms)
        elif not self._restoring:
            self.settled.emit()

    def recycle_one(self) -> bool:
        """Recycle a distant card; False if there is none."""
        # Whether any message can be distant: a cheap test while an answer streams.
        bar, distance = self._page.verticalScrollBar(), RECYCLE_PAGES * self._page.viewport().height()
        if not (bar.value() > distance or bar.maximum() - bar.value() > distance):
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
                column.replace_with_spacer(index, state).deleteLater()
                self.layout_changed.emit()
                return True
        return False

    def _is_beside_focus(self, index: int) -> bool:
        """Whether the message is next to the focused one: the caret may move into it."""
        entries = self._column().entries
        around = entries[max(index - 1, 0) : index + 2]
        return any(isinstance(entry, MessageCard) and entry.has_focus for entry in around)

    def _nearest_missing(self) -> _MissingCard | None:
        """The next message to complete: visible ones first, then begun ones, then the nearest."""
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
        return _MissingCard(min(found)[3], min(found)[2]) if found else None

    def _index_range(self, num_pages: float) -> tuple[int, int]:
        """The half-open index range within a number of page heights around the viewport."""
        height, top = self._page.viewport().height(), self._page.verticalScrollBar().value()
        column = self._column()
        places = range(len(column.entries))
        first = max(bisect_right(places, top - num_pages * height, key=column.top_of) - 1, 0)
        return first, bisect_left(places, top + (num_pages + 1) * height, first, key=column.top_of)


def show_above(
    page: QScrollArea, content: QWidget, card: QWidget, others: Iterable[QWidget], lay_out: Callable[[], None]
) -> None:
    """Show a hidden card above ``others`` in the same layout, outside the viewport.

    Qt alone would lay out and paint twice, since the content moves down and the page scrolls up by the same amount.
    Here the page scrolls by its growth, and only content that moved within the viewport is repainted.
    """
    viewport, others = page.viewport(), list(others)
    around = list(_ancestors_between(card, content))
    beside = content.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    before, fills = are_any_visible(viewport, others), content.autoFillBackground()
    card.resize(card.width(), _wanted_height(card))  # at another height its parts would be laid out twice
    with updates_disabled([viewport, content, *beside, *around, card, *others]):
        content.setAutoFillBackground(False)  # otherwise Qt would move its pixels when scrolling
        content.setAttribute(_IS_OPAQUE, False)
        with layouts_disabled([*around, content]):
            card.show()
        for widget in (card, *around):
            widget.updateGeometry()
        content.resize(content.width(), max(_wanted_height(content), content.height()))
        lay_out()
        content.setAttribute(_IS_OPAQUE)
        content.setAutoFillBackground(fills)
    if are_any_visible(viewport, others) != before:
        content.update()


def _ancestors_between(card: QWidget, content: QWidget) -> Iterable[QWidget]:
    around = card.parentWidget()
    while around is not None and around is not content:
        yield around
        around = around.parentWidget()


def _wanted_height(content: QWidget) -> int:
    layout = content.layout()
    if layout is None:
        return content.height()
    flows = layout.hasHeightForWidth()
    return layout.totalHeightForWidth(content.width()) if flows else layout.totalSizeHint().height()


def are_any_visible(viewport: QWidget, widgets: Iterable[QWidget]) -> dict[QWidget, QRect]:
    shown = [widget for widget in widgets if not widget.isHidden()]
    places = {widget: QRect(widget.mapTo(viewport, QPoint(0, 0)), widget.size()) & viewport.rect() for widget in shown}
    return {widget: place for widget, place in places.items() if not place.isEmpty()}
