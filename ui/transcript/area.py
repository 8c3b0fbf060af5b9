"""The scroll area of the messages: makes their cards, marks tokens in them, and forwards their signals."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from app.core.domain.messages import MessageView
from engine.records import Source
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.tool_card import ToolCard
from ui.transcript.cards.user_card import UserCard
from ui.transcript.column import COLUMN_PX
from ui.transcript.context_summary import SummaryLines
from ui.transcript.menus import MessageMenus
from ui.transcript.recycling.pool import CardPool
from ui.widgets.pyside_wrappers import wrap_viewport

# A layout that has grown asks the one around it, up to the page, whose scroll bar may then narrow them all again.
LAYOUT_ROUNDS = 6
CARD_PADDING_PX = 76  # column and card margins around the text


class MessageArea(QScrollArea):
    """What is marked is marked in all cards, also in those made later.

    Signals:
        regenerate_requested(int), regenerate_in_mode(int, object), regenerate_with(int, str): another version of an
            answer is wanted, in another mode, from another target.
        seed_wanted(int, object): as `AnswerCard` has it.
        continue_requested(int): an answer that was cut short is to go on.
        edited(int, str): a question is to be asked in other words, as another version.
        answer_edited(int, str): other words are to stand beside an answer, as another version.
        edit_typed(int, str): a message and what its editor holds; empty where it was left.
        attachment_opened(int), attachments_left_out(int, object): as `UserCard` has them.
        version_requested(int): another version is to be shown.
        delete_requested(int), delete_one_requested(int): a message goes, and all after it; a message alone.
        branch_requested(int): a chat of its own is to go on from a message.
        race_requested(int): the question of a message is to be raced.
        call_decided(int, str, str), call_repeated(int): as `ToolCard` has them.
        link_activated(str): a link was activated; nothing has been opened.
    """

    regenerate_requested = Signal(int)
    regenerate_in_mode = Signal(int, object)
    regenerate_with = Signal(int, str)
    seed_wanted = Signal(int, object)
    continue_requested = Signal(int)
    edited = Signal(int, str)
    edit_typed = Signal(int, str)
    answer_edited = Signal(int, str)
    attachment_opened = Signal(int)
    attachments_left_out = Signal(int, object)
    version_requested = Signal(int)
    delete_requested = Signal(int)
    delete_one_requested = Signal(int)
    race_requested = Signal(int)
    branch_requested = Signal(int)
    call_decided = Signal(int, str, str)
    call_repeated = Signal(int)
    link_activated = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        wrap_viewport(self)
        self._theme = theme
        self._marked: frozenset[Source] = frozenset()
        self._shows_refused = False
        self.edits: dict[int, str] = {}  # what editors hold, by message: the cards of these open theirs
        self.pool = CardPool()
        self.menus = MessageMenus()
        self.summaries = SummaryLines(theme, lambda: self.cards)
        theme.changed.connect(self._mark_again)

    @property
    def cards(self) -> list[MessageCard]:
        """The cards that there are, from top to bottom."""
        raise NotImplementedError

    def mark_sources(self, wanted: frozenset[Source]) -> None:
        """Mark the tokens of these sources in every answer, until others are wanted."""
        self._marked = wanted
        for card in self.cards:
            if isinstance(card, AnswerCard):
                card.mark_sources(wanted)

    def show_refused(self, wanted: bool) -> None:
        """Show refused proposals struck through in every answer, or not."""
        self._shows_refused = wanted
        for card in self.cards:
            if isinstance(card, AnswerCard):
                card.show_refused(wanted)
        self.lay_out()

    def _mark_again(self) -> None:
        if self._marked or self._shows_refused:
            # After the answers have taken the palette themselves.
            QTimer.singleShot(0, self, lambda: self.mark_sources(self._marked))

    def make_card(self, view: MessageView) -> MessageCard:
        """The card of a message, connected and marked; it is in no layout, and `build_next` fills it."""
        width = min(self.width(), COLUMN_PX) - CARD_PADDING_PX
        card = self.pool.take(view, width)
        if card is None:
            card = self._create_card(view, width)
        if isinstance(card, AnswerCard):
            card.mark_sources(self._marked)
            card.show_refused(self._shows_refused)
        if isinstance(card, UserCard | AnswerCard) and (typed := self.edits.get(view.id)):
            card.resume_edit(typed)
        self.summaries.attach_line(card)
        return card

    def make_empty_card(self, view: MessageView) -> MessageCard:
        """A card for the pool, as `make_card` would make it for this message."""
        return self._create_card(view, min(self.width(), COLUMN_PX) - CARD_PADDING_PX)

    def _create_card(self, view: MessageView, width: int) -> MessageCard:
        card: MessageCard
        if view.role == "user":
            card = question = UserCard(self._theme, view, width)
            question.edited.connect(self.edited)
            question.edit_typed.connect(self._on_edit_typed)
            question.attachment_opened.connect(self.attachment_opened)
            question.attachments_left_out.connect(self.attachments_left_out)
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
            answer.regenerate_with.connect(self.regenerate_with)
            answer.seed_wanted.connect(self.seed_wanted)
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

    def recycle_card(self, card: MessageCard) -> None:
        """Take a card that is hidden and in no layout into the pool, or delete it."""
        if self.summaries.line_of(card) is not None or not self.pool.recycle(card):
            card.deleteLater()

    def on_unfolded(self, card: AnswerCard) -> None:
        """The reasoning of an answer was opened."""
        raise NotImplementedError

    @staticmethod
    def lay_out() -> None:
        """Carry out pending layout requests: nothing half laid out is ever painted."""
        for _ in range(LAYOUT_ROUNDS):
            QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
