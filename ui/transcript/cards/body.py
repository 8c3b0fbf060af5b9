"""Shows an answer's Markdown as widgets; only widgets whose text changed are updated."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QHelpEvent
from PySide6.QtWidgets import QPlainTextEdit, QToolTip, QWidget

from engine.records import Source
from ui.markdown.blocks import Block, BlockStream, Segment, SlicedParser, plan_segments, plan_tail
from ui.markdown.source_map import SourceMap
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.page_growth import allow_updates, inherit_no_updates
from ui.transcript.cards.part_prefetcher import IdleTimer, PartPrefetcher, polish_widgets
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.cards.text_part import TextPart
from ui.transcript.marks.pass_tip import pass_tip, pass_words
from ui.transcript.marks.provenance import RangeLocator, SourceRuns, formula_units
from ui.widgets.building import wrap_viewport
from ui.widgets.segment_layout import SegmentLayout

SEGMENT_SPACING = 10
MAX_UNJOINED = 12  # consecutive slow chunks after which the prefetcher runs anyway
JOIN_MS = 5  # pause after the frame that painted the closed block
MAX_POOLED = 8  # maximum number of pooled prose views, and of pooled code blocks


@dataclass(slots=True, eq=False)
class BodyPart(TextPart):
    widget: ProseView | CodeBlock
    widgets: tuple[QWidget, ...]  # widgets that are painted
    has_more: bool = False  # the next part continues the same list or table
    marked: SourceMap | None = None
    locator: RangeLocator = field(default_factory=lambda: RangeLocator(SourceRuns()))


def view_of(widget: ProseView | CodeBlock) -> ProseView | QPlainTextEdit:
    return widget.view if isinstance(widget, CodeBlock) else widget


def painted_widgets(widget: ProseView | CodeBlock) -> tuple[QWidget, ...]:
    """The widgets that paint a part; for prose without its scroll bars, which are never shown."""
    if isinstance(widget, ProseView):
        wrap_viewport(widget)
        return widget, widget.viewport()
    return widget, *widget.findChildren(QWidget)


class PartPool:
    """Reusable widgets: creating and styling one takes longer than filling it."""

    def __init__(self) -> None:
        self._parts: list[ProseView | CodeBlock] = []

    def __len__(self) -> int:
        return len(self._parts)

    def has(self, kind: type) -> bool:
        return any(isinstance(one, kind) for one in self._parts)

    def add(self, part: ProseView | CodeBlock) -> None:
        part.hide()
        self._parts.append(part)

    def recycle(self, part: ProseView | CodeBlock) -> None:
        """Reset a hidden part and keep it; delete it if it cannot be reset or the pool is full."""
        part.hide()
        allow_updates(part)
        num_alike = sum(type(one) is type(part) for one in self._parts)
        if num_alike < MAX_POOLED and part.reset():
            self._parts.append(part)
        else:
            part.deleteLater()

    def take(self, kind: type) -> ProseView | CodeBlock | None:
        """A hidden part of this class; None if there is none."""
        found = next((one for one in self._parts if isinstance(one, kind)), None)
        if found is not None:
            self._parts.remove(found)
        return found

    def clear(self) -> None:
        for part in self._parts:
            part.deleteLater()
        self._parts = []


def _apply_now(_body: QWidget, change: Callable[[], None]) -> None:
    change()


class AnswerBody(QWidget):
    """Shows text that arrives in chunks.

    The open block has a separate view below the run that it will join, which looks like a part of that run. So only
    this block is laid out again while it grows.
    """

    link_activated = Signal(str)  # a link of the answer

    def __init__(self, theme: Theme, parent: QWidget | None = None, text_width: int = 0) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text_width = text_width  # the expected width, so that the first layout is right
        self.cites = ""  # prefix of the address of citations, see `BlockStream`
        self._stream = BlockStream()
        self.prefetcher = PartPrefetcher(theme, self)  # creates widgets while text arrives
        self._open_blocks: list[Block] = []  # closed blocks in a run that may still grow
        self._closed: list[Block] = []  # closed blocks that are still shown in the separate view
        self._separate_index: int | None = None  # index of the separate part, if later text cannot join its run
        self._join_timer = IdleTimer(self, lambda: self.grow_in(self, self._join_parts))
        self._sealed_blocks = 0  # number of widgets that can no longer change
        self._parts: list[BodyPart] = []
        self._final_plan: list[Segment] = []  # segments of the open blocks
        self._num_marked = 0  # number of marked widgets that can no longer change
        self._reading: SlicedParser | None = None  # parses a whole text in slices
        self._waiting: list[Segment] = []  # segments of a whole text that have no widget yet
        self._pool = PartPool()  # keeps the widgets of joined blocks for the next block
        self._unpolished: list[QWidget] = []  # unstyled widgets of the last prefetched part
        self._provenance: tuple[str, SourceRuns, frozenset[Source]] = ("", SourceRuns(), frozenset())
        self._num_slow = 0  # consecutive chunks that were parsed or closed a block
        self._num_settled = 0  # number of sealed widgets at the last `pop_changed_top`
        self._changed: tuple[int, int] | None = None  # first changed part, and its first changed pixel row
        self.grow_in: Callable[[QWidget, Callable[[], None]], None] = _apply_now  # runs a change that adds height
        self._column = SegmentLayout(self)

    @property
    def segments(self) -> list[ProseView | CodeBlock]:
        return [part.widget for part in self._parts]

    @property
    def parts(self) -> Sequence[TextPart]:
        return self._parts

    def accepts_words(self, text: str) -> bool:
        """Whether this text would only add words to the last widget."""
        return self._stream.accepts_words(text)

    def append(self, text: str) -> None:
        if self._parts and self.isVisible():
            self._text_width = self.width()  # the expected width may differ by a scroll bar
        self._closed += self._stream.feed(text)
        self._show(self._stream.words)
        if self._closed and not self._join_timer.isActive():
            self._join_timer.begin(JOIN_MS)
            self.prefetcher.postpone()
        self._num_slow = self._num_slow + 1 if self._closed or self._stream.was_parsed else 0
        if not (0 < self._num_slow < MAX_UNJOINED or (self._pool.has(ProseView) and self._pool.has(CodeBlock))):
            self.prefetcher.prefetch()

    def finish(self) -> None:
        self._closed += self._stream.finish()
        self._finish_closed()
        self._show()
        self.prefetcher.clear()
        self._pool.clear()
        self.grow_in = _apply_now

    def restart(self, base: int = 0) -> None:
        """Clear the body; the next chunk starts at ``base`` of the raw text."""
        while self._parts:
            self._drop_parts(len(self._parts) - 1)
        self._stream, self._open_blocks, self._final_plan, self._waiting = BlockStream(base, self.cites), [], [], []
        self._closed, self._separate_index, self._reading = [], None, None
        self._join_timer.stop()
        self._sealed_blocks = self._num_marked = self._num_settled = 0

    def set_text(self, text: str, base: int = 0) -> None:
        self.prepare(text, base)
        while self.build_next():
            pass

    def expect_width(self, text_width: int) -> None:
        self._text_width = text_width

    def prepare(self, text: str, base: int = 0) -> None:
        """Parse a whole text that starts at ``base`` of the raw text; `build_next` creates its widgets."""
        self.restart()
        self._reading = SlicedParser(text, base, self.cites)

    def show_segments(self, segments: Sequence[Segment]) -> None:
        self.restart()
        self._waiting, self._sealed_blocks = list(segments), len(segments)
        while self.build_next():
            pass

    def build_next(self) -> bool:
        """Parse a slice or create the next missing widget; False if all exist."""
        if self._reading is not None:
            segments = self._reading.read_next()
            if segments is not None:
                self._reading, self._waiting, self._sealed_blocks = None, segments, len(segments)
            return True
        if not self._waiting:
            return False
        if self._prepare_part(self._waiting[-1]):
            return True
        segment = self._waiting.pop()
        self._make_part(segment, 0)
        self._fill_part(0, segment)
        if len(self._parts) > 1:
            self._set_gap(1)
        return True

    def _prepare_part(self, segment: Segment) -> bool:
        """Create or style a part for this segment; False when done."""
        kind = CodeBlock if segment.is_code else ProseView
        if not self.window().isVisible():
            return False  # the styles are not known before the window is shown
        if not self._pool.has(kind):
            widget = self._make_widget(segment)
            self._pool.add(widget)
            self._unpolished = [*reversed(widget.findChildren(QWidget)), widget]
            return True
        return polish_widgets(self._unpolished)

    def reset(self) -> None:
        """Clear the body, keeping its widgets."""
        self.restart()
        self._set_provenance("", SourceRuns(), frozenset())

    def mark_new_tokens(self, raw: str, runs: SourceRuns, wanted: frozenset[Source]) -> None:
        """Set the sources that new widgets are marked with; ``raw`` is the text so far."""
        self._set_provenance(raw, runs, wanted)

    def mark(self, raw: str, runs: SourceRuns, wanted: frozenset[Source], *, afresh: bool = True) -> None:
        """Mark the tokens of the wanted sources; ``raw`` is the whole text.

        If not ``afresh``, widgets that can no longer change keep their marks.
        """
        if afresh:
            self._num_marked = 0
        self._set_provenance(raw, runs, wanted)
        for part in self._parts[self._num_marked :]:
            if afresh or part.marked is not part.source_map:
                self._mark_one(part)
        self._num_marked = min(self._sealed_blocks, len(self._parts))

    def mark_next(self, raw: str, runs: SourceRuns, wanted: frozenset[Source]) -> bool:
        """Mark the next unmarked widget of a whole text; False if none is left."""
        self._set_provenance(raw, runs, wanted)
        part = next((part for part in self._parts if part.marked is not part.source_map), None)
        if part is not None:
            self._mark_one(part)
        return part is not None

    def _set_provenance(self, raw: str, runs: SourceRuns, wanted: frozenset[Source]) -> None:
        self._provenance = (raw, runs, wanted)

    def _mark_one(self, part: BodyPart) -> None:
        raw, runs, wanted = self._provenance
        part.marked = part.source_map
        if part.locator.runs is not runs:
            part.locator = RangeLocator(runs)
        text = part.view.toPlainText()
        fits = len(runs.sources) == len(raw)
        found = part.locator.locate(text, part.source_map) if wanted and fits else []
        ranges = found if len(wanted) == len(Source) else [item for item in found if item.source in wanted]
        if isinstance(part.widget, CodeBlock):
            self._note_change(self._parts.index(part), part.widget.mark(ranges))
            return
        units = formula_units(text)
        words = [item for item in ranges if item.start not in units] if units else ranges
        self._note_change(self._parts.index(part), part.widget.mark_words(words))
        part.widget.mark_formulas({item.start: item.source for item in ranges if item.start in units})

    def event(self, event: QEvent) -> bool:
        """Handle the tool tips of all texts: a marked token shows its pass."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._provenance[2]:
            self._show_tip(event.globalPos())
            return True
        return super().event(event)

    def _show_tip(self, pointer: QPoint) -> None:
        raw, runs, _ = self._provenance
        ports = [(part, part.view.viewport()) for part in self._parts]
        part = next((part for part, port in ports if port.rect().contains(port.mapFromGlobal(pointer))), None)
        found = None
        if part is not None:
            place = part.view.viewport().mapFromGlobal(pointer)
            cursor = part.view.cursorForPosition(place)
            # A cursor is between two characters: if the pointer is left of it, it is over the character before.
            unit = cursor.position() - (1 if place.x() < part.view.cursorRect(cursor).x() else 0)
            found = part.pass_at(unit, raw, runs)
        if part is None or found is None:
            QToolTip.hideText()
            return
        QToolTip.showText(pointer, pass_tip(found), part.view)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(part.view, pass_words(found)))

    def _note_change(self, index: int, top: int | None) -> None:
        if top is not None:
            self._changed = min(self._changed or (index, top), (index, top))

    def pop_changed_top(self) -> int | None:
        """The y position in pixels from which the body changed since the last call; None if it did not change."""
        changed, self._changed, self._num_settled = self._changed, None, self._sealed_blocks
        if changed is None:
            return None
        index, top = min(changed[0], len(self._parts)), changed[1]
        if top and index < len(self._parts):
            return self._parts[index].widget.y() + top
        return self._parts[index - 1].widget.geometry().bottom() + 1 if index else 0

    def only_grows(self) -> AbstractContextManager[None]:
        """In this context only growing widgets change their size."""
        return self._column.only_end_changes(self._num_settled)

    def growing(self) -> list[QWidget]:
        """The widgets that more text may change, with their children."""
        return [widget for part in self._parts[self._num_settled :] for widget in part.widgets]

    def _join_parts(self) -> None:
        """Join closed text to the run above. Called later, since it lays out the whole run again."""
        height, changed = self.sizeHint().height(), self._changed
        shows_more = bool(self._provenance[2])
        self._finish_closed()
        self._show()
        if shows_more:
            self.mark(*self._provenance, afresh=False)
        # The text looks as before except for the edges of marks, which are rounded relative to their document's top.
        if not shows_more and self.sizeHint().height() == height and not self.isAncestorOf(self.focusWidget()):
            self._changed = changed

    def _finish_closed(self) -> None:
        self._join_timer.stop()
        if self._closed:
            self._open_blocks += self._closed
            self._closed = []
            self._final_plan = plan_segments(self._open_blocks)

    def _show(self, words: str = "") -> None:
        rest = [*self._closed, *self._stream.tail]
        tail, apart = plan_tail(self._open_blocks, rest), self._separate_index
        joins: int | None  # index of the part that looks like a continuation of the part above
        if tail is not None:
            plan, self._separate_index = [*self._final_plan, tail], None
            joins = self._sealed_blocks + len(plan) - 1
        else:
            plan = self._plan_separate(rest)
            joins = self._separate_index
            if apart is not None and apart != self._separate_index and apart < len(self._parts):
                self._drop_parts(apart)  # its blocks were joined to the run above; the parts below stay
        for index, segment in enumerate(plan, start=self._sealed_blocks):
            self._put_segment(index, segment, words)
        while len(self._parts) > self._sealed_blocks + len(plan):
            self._drop_parts(len(self._parts) - 1)
        for index in range(max(self._sealed_blocks, 1), len(self._parts)):
            self._set_gap(index, joins=index == joins)
        if self._separate_index is None:
            self._drop_final_blocks(plan)

    def _plan_separate(self, rest: Sequence[Block]) -> list[Segment]:
        """Plan separate segments for blocks until they are closed and joined."""
        plan = plan_segments([*self._open_blocks, *rest])
        num_final, known = len(self._final_plan), sum(segment.num_blocks for segment in self._final_plan)
        num_joining = sum(segment.num_blocks for segment in plan[:num_final]) - known
        self._separate_index = None
        if num_joining <= 0:
            return plan
        self._separate_index = self._sealed_blocks + num_final
        return [*self._final_plan, *plan_segments(rest[:num_joining]), *plan[num_final:]]

    def _drop_final_blocks(self, plan: list[Segment]) -> None:
        """Drop the blocks of segments before the last closed block: no later text can join them."""
        num_before = self._sealed_blocks
        for segment in plan[:-1]:
            if segment.num_blocks >= len(self._open_blocks):
                break
            self._open_blocks = self._open_blocks[segment.num_blocks :]
            self._sealed_blocks += 1
        self._final_plan = self._final_plan[self._sealed_blocks - num_before :]

    def _put_segment(self, index: int, segment: Segment, words: str) -> None:
        existing = self._parts[index].widget if index < len(self._parts) else None
        if existing is not None and isinstance(existing, CodeBlock) != segment.is_code:
            for position in range(len(self._parts) - 1, index - 1, -1):
                self._drop_parts(position)
            existing = None
        if existing is None:
            self._make_part(segment, index)
        changed = self._fill_part(index, segment, words)
        if changed is not None and self._provenance[2] and not segment.is_code:
            self._mark_one(self._parts[index])

    def _fill_part(self, index: int, segment: Segment, words: str = "") -> int | None:
        part = self._parts[index]
        part.source_map, part.has_more = segment.source_map, segment.has_more
        if isinstance(part.widget, CodeBlock):
            changed = part.widget.set_code(segment.code, segment.language, closed=segment.closed)
        elif segment.is_plain:
            part.widget.set_plain(segment.code)
            changed = 0
        else:
            changed = part.widget.set_html(segment.html, words)
        self._note_change(index, changed)
        return changed

    def _make_part(self, segment: Segment, index: int) -> None:
        kind = CodeBlock if segment.is_code else ProseView
        widget = self._pool.take(kind) or self._make_widget(segment)
        if self._text_width > 0:  # otherwise its text would be laid out twice
            widget.resize(self._text_width, widget.height())
        if isinstance(widget, ProseView):
            widget.fit(self._text_width)
        self._parts.insert(index, BodyPart(view_of(widget), segment.source_map, widget, painted_widgets(widget)))
        self._column.insert_widget(index, widget)
        inherit_no_updates(widget)
        widget.show()  # a layout would show it only in the next event loop iteration

    def _make_widget(self, segment: Segment) -> ProseView | CodeBlock:
        widget: ProseView | CodeBlock
        if segment.is_code:
            widget = self.prefetcher.code()
        else:
            widget = self.prefetcher.prose()
            widget.setProperty("kind", self.property("kind"))
            widget.setAccessibleName(self.accessibleName() or translate("AnswerBody", "Answer text"))
            widget.link_activated.connect(self.link_activated)
            widget.redrawn.connect(partial(self._on_redrawn, widget))
        view_of(widget).setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # the message has its own menu
        return widget

    def _set_gap(self, index: int, *, joins: bool = False) -> None:
        """Set the gap above a part: that within one document if the parts belong together."""
        above, part = self._parts[index - 1], self._parts[index]
        pixels = SEGMENT_SPACING
        if (joins or above.has_more) and isinstance(above.widget, ProseView) and isinstance(part.widget, ProseView):
            pixels = above.widget.gap_to(part.widget)
        if self._column.set_gap(index, pixels):
            self._note_change(index, 0)

    def _on_redrawn(self, widget: ProseView) -> None:
        part = next((part for part in self._parts if part.widget is widget), None)
        if part is not None and self._provenance[2]:
            self._mark_one(part)

    def _drop_parts(self, index: int) -> None:
        self._note_change(index, 0)
        self._column.remove_at(index)
        self._pool.recycle(self._parts.pop(index).widget)
