"""The chat page: message cards in a centred column that follows its end unless the user scrolled up.

Long conversations are built from the end in slices, so that the event loop is not blocked.
"""

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QToolButton, QWidget

from app.core.domain.messages import MessageState, MessageView
from engine.records import Source, TokenSpan
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.page_growth import grow, run_layouts
from ui.transcript.cards.tool_card import ToolCard
from ui.transcript.cards.user_card import UserCard
from ui.transcript.column import COLUMN_PX, MessageColumn, TranscriptContent
from ui.transcript.found_words import FoundWords, HitPieces, forget_found
from ui.transcript.message_menus import MessageMenus
from ui.transcript.recycling.recycler import CardRecycler, ReadingPosition, show_above
from ui.transcript.selection import Entry, SelectableArea, TranscriptSelection
from ui.transcript.summaries import SummaryLines
from ui.widgets.building import reserve_scroll_bar, wrap_viewport
from ui.widgets.focus_ring import FocusRing
from ui.widgets.offscreen_scheduler import BETWEEN_SLICES_MS, OffscreenScheduler
from ui.widgets.tab_order import REST_MS, TabOrder

tr = Translator("Transcript")

NEAR_END_PX = 32
CARD_PADDING_PX = 76  # column and card margins around the text
BUILD_AHEAD_PAGES = 3  # pages built above the visible part; older messages follow as the user scrolls up
FIRST_SLICE_S = 0.020  # if the visible part can be built in this time, it appears at once
GO_TO_MARGIN_PX = 16
JUMP_MARGIN_PX = 12
FIRST_FRAME_S = 0.060  # an incomplete first frame is better than a late one
FIRST_FRAME_SLICE_S = 0.004


class Transcript(SelectableArea, QScrollArea):
    """The page with the messages of a chat. Marks apply to all cards, including later ones."""

    # regenerate an answer: as another version; in another mode
    regenerate_requested = Signal(int)
    regenerate_in_mode = Signal(int, object)
    repeat_requested = Signal(int)  # see `AnswerCard`
    continue_requested = Signal(int)  # continue a truncated answer
    edited = Signal(int, str)  # an edited question, as another version
    edit_typed = Signal(int, str)  # a message and its editor's text; empty if it was closed
    answer_edited = Signal(int, str)  # an edited answer, as another version
    # see `UserCard`
    attachment_opened = Signal(int)
    attachments_removed = Signal(int, object)
    version_requested = Signal(int)  # show another version
    # a message with all after it; a message alone
    delete_requested = Signal(int)
    delete_one_requested = Signal(int)
    race_requested = Signal(int)  # race the question of a message
    branch_requested = Signal(int)  # continue from a message in a new chat
    # see `ToolCard`
    call_decided = Signal(int, str, str)
    call_repeated = Signal(int)
    link_activated = Signal(str)  # a link was clicked or activated; nothing has been opened
    jump_finished = Signal(int)  # the requested message is visible
    card_restored = Signal(object)  # the card of a distant message is complete again

    lay_out = staticmethod(run_layouts)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        wrap_viewport(self)
        self._theme = theme
        self._marked: frozenset[Source] = frozenset()
        self.edits: dict[int, str] = {}  # unsaved edits by message id; the cards of these messages open an editor
        self.selection = TranscriptSelection(theme, self, lambda: self.entries)
        self.menus = MessageMenus(self.selection)
        self.summaries = SummaryLines(theme, lambda: self.cards)
        theme.changed.connect(self._refresh_marks)
        self._ring = FocusRing(theme, self, -2)
        self.follows_end = True
        self._last_maximum = 0
        self._grows_above = False
        self._waiting: list[MessageView] = []  # older messages not built yet, oldest first
        self._is_filled = False  # everything is built and only has to be shown
        self._discarded: list[QWidget] = []
        self._streaming: AnswerCard | None = None
        self._scroll_target: int | None = None  # a message to scroll to
        self._found = FoundWords(())  # words in the message that was last requested
        self._found_in: int | None = None
        self._scheduler = OffscreenScheduler()
        self._build_timer = QTimer(self, singleShot=True)
        self._build_timer.timeout.connect(lambda: self._scheduler.run(self._build_timer, self._build_slice))
        self._tab_order = TabOrder(self, lambda: self.cards)
        self.setObjectName("transcript")
        self.setAccessibleName(tr("Conversation"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        reserve_scroll_bar(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._content = TranscriptContent()
        self.setWidget(self._content)
        self.jump_button = JumpButton(theme, self, self._content)
        self.jump_button.clicked.connect(self.jump_to_end)
        self._recycler = CardRecycler(self, lambda: self._column, self._restore_card, self._scheduler)
        self._recycler.restored_above.connect(lambda: setattr(self, "_grows_above", True))
        self._recycler.restored.connect(self._on_restored)
        self._recycler.layout_changed.connect(self.lay_out)
        self._reading_position = ReadingPosition(self, lambda: self._column, lambda: self.follows_end)
        self._recycler.settled.connect(self._reading_position.record)
        self._reading_position.layout_changed.connect(self.lay_out)
        self._theme.changed.connect(self._on_theme_changed)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_value)
        bar.rangeChanged.connect(self._on_range)
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def mark_sources(self, wanted: frozenset[Source]) -> None:
        self._marked = wanted
        for card in self.cards:
            if isinstance(card, AnswerCard):
                card.mark_sources(wanted)

    def _refresh_marks(self) -> None:
        if self._marked:
            # after the answers have applied the palette
            QTimer.singleShot(0, self, lambda: self.mark_sources(self._marked))

    def make_card(self, view: MessageView) -> MessageCard:
        """Create a message's card, connected and marked. The caller adds it to a layout; `build_next` fills it."""
        card = self._create_card(view, min(self.width(), COLUMN_PX) - CARD_PADDING_PX)
        if isinstance(card, AnswerCard):
            card.mark_sources(self._marked)
        if isinstance(card, UserCard | AnswerCard) and (typed := self.edits.get(view.id)):
            card.resume_edit(typed)
        self.summaries.attach_line(card)
        return card

    def _create_card(self, view: MessageView, width: int) -> MessageCard:
        card: MessageCard
        if view.role == "user":
            card = question = UserCard(self._theme, view, width)
            question.edited.connect(self.edited)
            question.resized.connect(self.lay_out)
            question.edit_typed.connect(self._on_edit_typed)
            question.attachment_opened.connect(self.attachment_opened)
            question.attachments_removed.connect(self.attachments_removed)
        elif view.role == "tool":
            card = tool = ToolCard(self._theme, view)
            tool.decided.connect(self.call_decided)
            tool.repeat_requested.connect(self.call_repeated)
            tool.attachment_opened.connect(self.attachment_opened)
            tool.resized.connect(self.lay_out)
        else:
            card = answer = AnswerCard(self._theme, view, width)
            answer.regenerate_requested.connect(self.regenerate_requested)
            answer.regenerate_in_mode.connect(self.regenerate_in_mode)
            answer.repeat_requested.connect(self.repeat_requested)
            answer.edited.connect(self.answer_edited)
            answer.edit_typed.connect(self._on_edit_typed)
            answer.unfolded.connect(self.on_unfolded)
            answer.continue_requested.connect(self.continue_requested)
            answer.link_activated.connect(self.link_activated)
        card.version_requested.connect(self.version_requested)
        card.delete_requested.connect(self.delete_requested)
        card.delete_one_requested.connect(self.delete_one_requested)
        card.race_requested.connect(self.race_requested)
        card.branch_requested.connect(self.branch_requested)
        self.menus.connect_card(card)
        return card

    def _on_edit_typed(self, message_id: int, text: str) -> None:
        self.edits[message_id] = text
        self.edit_typed.emit(message_id, text)

    def _on_theme_changed(self) -> None:
        """Adapt the cards to a changed text size or palette, in this event loop iteration."""
        self._reading_position.begin_relayout()
        QTimer.singleShot(0, self, self._on_theme_applied)

    def _on_theme_applied(self) -> None:
        self.lay_out()
        self._reading_position.end_relayout(is_final=False)

    @property
    def _column(self) -> MessageColumn:
        return self._content.column

    @property
    def cards(self) -> list[MessageCard]:
        return self._column.cards

    @property
    def entries(self) -> list[Entry]:
        return [*self._waiting, *self._column.entries]

    @property
    def is_building(self) -> bool:
        return self._recycler.building is not None or (bool(self._waiting) and not self._fills_viewport())

    def _fills_viewport(self) -> bool:
        if self._streaming is not None and self.follows_end and self.verticalScrollBar().maximum() > 0:
            return self._scroll_target is None  # the user reads the end, so older messages can wait
        return (
            self._scroll_target is None
            and self.verticalScrollBar().value() > BUILD_AHEAD_PAGES * self.viewport().height()
        )

    def _schedule_build(self) -> None:
        if self.is_building and not self._build_timer.isActive():
            self._build_timer.start(0)

    def show_messages(self, messages: Sequence[MessageView]) -> None:
        """Replace all messages; the last ones appear at once."""
        self.selection.clear()
        old, *cards = self._content.start_new_column()
        self._discarded += [old, *cards]
        self._recycler.reset()
        self._reading_position.reset()
        self._streaming = None
        self.follows_end, self._last_maximum, self._grows_above = True, 0, True
        self._scroll_target = None
        self.jump_button.hide()
        self._waiting = list(messages)
        self._build_slice(FIRST_SLICE_S)

    def add(self, view: MessageView) -> None:
        self._grows_above = False
        card = self._make_card(view)
        while card.build_next():
            pass
        self._column.add(card)
        self._update_last()
        self.follows_end = True
        self._reading_position.release_anchor()
        self.lay_out()
        self._tab_order.schedule(0)

    def fill_viewport(self) -> None:
        """Build the visible messages at the window's size before its first frame.

        Building is fastest while the window is hidden; later it would compete with the work of the first frame.
        """
        self.lay_out()
        until = self._scheduler.worked_s() + FIRST_FRAME_S
        while self.is_building and self.verticalScrollBar().maximum() == 0 and self._scheduler.worked_s() < until:
            self._build_slice(FIRST_FRAME_SLICE_S)

    def begin_answer(self, view: MessageView) -> None:
        self._remove(view.id)
        self.add(view)
        card = self._column.entries[-1]
        self._streaming = card if isinstance(card, AnswerCard) else None

    def append_text(self, text: str, spans: Iterable[TokenSpan] = ()) -> None:
        if self._streaming is not None:
            self._grows_above = False
            card = self._streaming
            if card.body.segments:
                self._grow(card.body, lambda: card.append(text, spans), only_words=card.body.accepts_words(text))
            else:  # more than the last words may change
                card.append(text, spans)
                card.body.grow_in = self._grow
                self.lay_out()
                self.selection.refresh(card)

    def _grow(self, body: QWidget, change: Callable[[], None], *, only_words: bool = False) -> None:
        grow(self._content, body, change, self.lay_out, only_words=only_words)
        if self.selection:
            self.selection.refresh(self._streaming)

    def show_prefill(self, done: int, total: int) -> None:
        if self._streaming is not None:
            self._streaming.show_prefill(done, total)

    def show_calling(self) -> None:
        if self._streaming is not None:
            self._streaming.show_calling()
            self.lay_out()

    def show_servers_starting(self) -> None:
        if self._streaming is not None:
            self._streaming.show_servers_starting()

    def show_waiting(self, waits: bool, loaded: float | None = None, chats: Sequence[str] = ()) -> None:
        """Show whether the running answer waits for another program's answer or for its model.

        ``loaded``: loaded fraction of the model. ``chats``: titles of chats whose answers come first.
        """
        if self._streaming is not None:
            self._streaming.show_waiting(waits, loaded, chats)

    def finish_answer(self, view: MessageView) -> None:
        if self._streaming is not None:
            self._streaming.finish(view)
            self._streaming = None
            self.lay_out()
            self.selection.refresh()
            self._tab_order.schedule(0)
            self._schedule_build()  # building waited for the answer

    def update_call(self, view: MessageView) -> None:
        self._waiting = [view if one.id == view.id else one for one in self._waiting]
        for index, entry in enumerate(self._column.entries):
            if entry.message_id == view.id:
                card = self._recycler.restore(index)
                if isinstance(card, ToolCard):
                    self._grows_above = False
                    card.show_call(view)
                    self.lay_out()

    @property
    def is_streaming(self) -> bool:
        return self._streaming is not None

    def last_answer(self) -> AnswerCard | None:
        card = self.last_card(lambda view: view.role == "assistant")
        return card if isinstance(card, AnswerCard) else None

    def last_card(self, fits: Callable[[MessageView], bool]) -> MessageCard | None:
        """The card of the last message that ``fits`` accepts, restored if recycled."""
        places = range(len(self._column.entries) - 1, -1, -1)
        index = next((place for place in places if fits(self._column.entries[place].view)), None)
        return None if index is None else self._recycler.restore(index)

    def _make_card(self, view: MessageView) -> MessageCard:
        card = self.make_card(view)
        if isinstance(card, AnswerCard) and view.state is MessageState.STREAMING:
            self._streaming = card
        return card

    def _restore_card(self, index: int) -> MessageCard:
        """Replace a spacer by a card, which is not filled yet."""
        state = self._column.entries[index]
        if isinstance(state, MessageCard):
            return state
        card = self.make_card(state.view)
        card.restore_state(state)
        self._column.replace_spacer(index, card, state.height)
        self._update_last()
        return card

    def _on_restored(self, card: MessageCard) -> None:
        self.lay_out()
        self._tab_order.schedule()
        self.selection.refresh(card)
        if self._found and card.message_id == self._found_in and self._scroll_target is None:
            self._found.mark(card, self._theme.tokens)
        self.card_restored.emit(card)

    def on_unfolded(self, card: AnswerCard) -> None:
        if card is not self._streaming:
            self.follows_end = self._grows_above = False
        self.selection.refresh_soon()

    def go_to(self, message_id: int, found: HitPieces = ()) -> None:
        """Scroll to a message once it is built and stay there; ``found``: scroll to the words of a search hit."""
        self.go_to_words(message_id, FoundWords(found))

    def go_to_words(self, message_id: int, found: FoundWords) -> None:
        self.forget_found()
        self._scroll_target = self._found_in = message_id
        self._found = found
        self._scroll_to_target()

    def _scroll_to_target(self) -> None:
        ids = [entry.message_id for entry in self._column.entries]
        if self._scroll_target not in ids:
            self._schedule_build()
            return
        while self._recycler.building is not None:
            self._build_step()
        card = self._recycler.restore(ids.index(self._scroll_target))
        if self._found and not self._found.open(card):
            self._build_timer.start(BETWEEN_SLICES_MS)
            return
        self._scroll_target, self.follows_end = None, False
        self.lay_out()
        self.verticalScrollBar().setValue(max(0, self._target_top(card) - GO_TO_MARGIN_PX))
        self._reading_position.release_anchor()
        card.set_revealed(True)
        self.jump_finished.emit(card.message_id)

    def _target_top(self, card: MessageCard) -> int:
        """The top of a card, or of its found words if these would not be visible."""
        top, height = card.mapTo(self._content, card.rect().topLeft()).y(), self.viewport().height()
        found = self._found.mark(card, self._theme.tokens) if self._found else None
        if found is None:
            return top
        view, cursor = found
        words = view.viewport().mapTo(self._content, view.cursorRect(cursor).center()).y()
        return top if words - top < height * 2 // 3 else words - height // 3

    def texts(self) -> list[tuple[int, str, bool]]:
        """The messages from top to bottom, built or not: id, current text, and whether each is an answer."""
        entries: list[tuple[int, str, bool]] = [
            (view.id, view.text, view.role == "assistant") for view in self._waiting
        ]
        for entry in self._column.entries:
            text = entry.raw_text if isinstance(entry, AnswerCard) else entry.view.text
            entries.append((entry.message_id, text, entry.view.role == "assistant"))
        return entries

    def first_visible_message(self) -> int | None:
        top = self.verticalScrollBar().value()
        cards = (card for card in self.cards if card.mapTo(self._content, card.rect().bottomLeft()).y() > top)
        return next((card.message_id for card in cards), None)

    def forget_found(self) -> None:
        self._found_in = None
        forget_found(self.cards, self._theme.tokens)

    def _remove(self, message_id: int) -> None:
        self._waiting = [view for view in self._waiting if view.id != message_id]
        for index, entry in reversed(list(enumerate(self._column.entries))):
            if entry.message_id == message_id:
                if entry is self._recycler.building:
                    self._recycler.building = None
                self._column.remove(index)

    def _update_last(self) -> None:
        last = self._column.entries[-1] if self._column.entries else None
        for card in self.cards:
            if isinstance(card, AnswerCard):
                card.set_last(card is last)

    def _build_slice(self, budget_s: float = 0) -> None:
        """Build older messages from the end, then delete replaced ones, for a few milliseconds."""
        if self.is_building and self._recycler.building is None and self._recycler.recycle_one():
            self._build_timer.start(self._recycler.pause_ms)
            return
        until = self._scheduler.worked_s() + (budget_s or self._scheduler.slice_s(self._recycler.pages_above))
        self._grows_above = self._grows_above or self.is_building
        wanted = self.is_building or not self._column.entries  # otherwise only replaced cards are deleted
        while wanted and self._build_step() and self._scheduler.worked_s() < until:
            pass
        if not self.is_building and self._discarded:
            self._discarded.pop().deleteLater()  # one per event loop iteration, at whose end Qt deletes it
        self.lay_out()
        if self._scroll_target is not None:
            self._scroll_to_target()
        if self.is_building or self._discarded:
            self._build_timer.start(self._recycler.pause_ms)
        else:
            self._tab_order.schedule(REST_MS if self._scheduler.is_scrolling else 0)

    def _build_step(self) -> bool:
        """Do one step; False at the end, or after an offscreen step that needs its own event loop iteration."""
        card = self._recycler.building
        is_visible = self.verticalScrollBar().value() == 0
        if card is None and self._waiting:
            self._insert_above(self._waiting.pop(), is_visible=is_visible)
            return is_visible and self.is_building
        if card is not None and not self._is_filled:
            self._is_filled = not card.build_next()
            if not self._is_filled or card.isHidden():
                return not self._is_filled
        self._recycler.building = None
        if card is not None:
            self.selection.refresh(card)
        if card is not None and card.isHidden():
            show_above(self, self._content, card, [other for other in self.cards if other is not card], self.lay_out)
        return self.is_building

    def _insert_above(self, view: MessageView, *, is_visible: bool) -> None:
        card = self._recycler.building = self._make_card(view)
        self._is_filled = False
        # An offscreen card is shown when complete: each added part would lay out all visible cards.
        self._column.add_above(card, shown=is_visible)
        self._update_last()

    def jump_to_end(self) -> None:
        self.follows_end = True
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self._reading_position.release_anchor()
        self.jump_button.hide()

    def _on_value(self, value: int) -> None:
        self.follows_end = value >= self.verticalScrollBar().maximum() - NEAR_END_PX
        self._schedule_build()
        if self.jump_button.isHidden() != self.follows_end:
            self.jump_button.setVisible(not self.follows_end)
        self.jump_button.place()

    def _on_range(self, _minimum: int, maximum: int) -> None:
        grown, self._last_maximum = maximum - self._last_maximum, maximum
        bar = self.verticalScrollBar()
        with self._scheduler.auto_scrolling():
            if self.follows_end and not self.selection.is_dragging:
                bar.setValue(maximum)
            elif self._grows_above:
                # Older messages appear above: keep the reading position.
                bar.setValue(bar.value() + grown)

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        for card in self.cards:
            had = old is not None and card.isAncestorOf(old)
            has = new is not None and card.isAncestorOf(new)
            if had or has:
                card.set_revealed(has or card.underMouse())

    def focusNextPrevChild(self, forth: bool) -> bool:
        self._tab_order.apply_now()
        return super().focusNextPrevChild(forth)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._ring.on_focus(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._ring.on_focus(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the button to the lower edge; build the messages that a taller page also shows."""
        self._reading_position.begin_relayout()
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.lay_out()
        self._reading_position.end_relayout()
        self._ring.follow_widget()
        self.jump_button.place()
        self._recycler.check_viewport()


class JumpButton(QToolButton):
    """A button that jumps to the end. A child of the content: above the viewport it would force full repaints."""

    def __init__(self, theme: Theme, page: QScrollArea, content: QWidget) -> None:
        super().__init__(content)
        self._theme = theme
        self._page, self._content = page, content
        self.setObjectName("jump")
        self.setText(tr("Jump to latest"))
        self.setAccessibleName(tr("Jump to latest"))
        self.setToolTip(tr("Scroll to the end and stay there"))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(14, 14))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()
        theme.changed.connect(self._recolor)
        self._recolor()

    def _recolor(self) -> None:
        self.setIcon(self._theme.icon("arrow-down", size=14))

    def place(self) -> None:
        if self.isHidden():
            return
        self.adjustSize()
        page = self._page
        x = (page.width() - self.width()) // 2
        self.move(x, page.viewport().height() - self.height() - JUMP_MARGIN_PX - self._content.y())
        self.raise_()
