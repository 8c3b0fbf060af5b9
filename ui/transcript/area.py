"""The messages' scroll area: creates their cards and menus, marks tokens, and forwards signals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QMenu, QPlainTextEdit, QScrollArea, QTextEdit, QWidget

from app.core.domain.context import SummaryView
from app.core.domain.engine_view import TargetChoice
from app.core.domain.messages import MessageView
from app.core.domain.seeds import SeedChoice
from engine.records import Mode, Source
from ui.text.formatting import count, escape_mnemonics, mode_label, tooltip, without_markup
from ui.text.language import Translator, translate
from ui.text.mode_words import mode_summary
from ui.text.model_titles import title_of
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.tool_card import ToolCard
from ui.transcript.cards.user_card import UserCard
from ui.transcript.column import COLUMN_PX
from ui.transcript.excerpt import Excerpt, ExcerptPart, part_of
from ui.transcript.recycling.recycler import CardPool
from ui.transcript.selection import Entry, SelectableArea, TranscriptSelection
from ui.widgets.building import button, hbox, label, vbox, wrap_viewport
from ui.widgets.popups import Menu

tr = Translator("MessageMenu")

# A layout that grows also changes its parents, up to the page, whose scroll bar may then narrow all of them.
LAYOUT_ROUNDS = 6
CARD_PADDING_PX = 76  # column and card margins around the text


def make_menu(card: MessageCard, targets: Sequence[TargetChoice] = (), modes: Mapping[Mode, str] | None = None) -> Menu:
    """Create a card's menu with the actions that apply.

    ``targets``: models that can regenerate an answer; ``modes``: offered modes; a mode that cannot run has a reason.
    """
    menu, theme = Menu(card), card.theme
    if isinstance(card, AnswerCard):
        _add_actions(menu, card, targets, dict.fromkeys(Mode, "") if modes is None else modes)
    else:
        menu.addAction(theme.icon("copy"), tr("Copy"), card.copy_text)
        if isinstance(card, UserCard):
            menu.addAction(theme.icon("pencil"), tr("Edit"), card.begin_edit)
    race = tr("Race this question…")
    menu.addAction(theme.icon("flag"), race, lambda: card.race_requested.emit(card.message_id))
    branch = tr("New chat from here")
    menu.addAction(theme.icon("message-square"), branch, lambda: card.branch_requested.emit(card.message_id))
    menu.addSeparator()
    delete_one = tr("Delete this message")
    menu.addAction(theme.icon("trash-2"), delete_one, lambda: card.delete_one_requested.emit(card.message_id))
    delete = tr("Delete from here on")
    menu.addAction(delete, lambda: card.delete_requested.emit(card.message_id))
    return menu


def _add_actions(menu: Menu, card: AnswerCard, targets: Sequence[TargetChoice], modes: Mapping[Mode, str]) -> None:
    theme = card.theme
    menu.addAction(theme.icon("copy"), tr("Copy as Markdown"), card.copy_text)
    as_text = tr("Copy as text")
    menu.addAction(as_text, lambda: Excerpt(part_of(ExcerptPart("assistant", card.raw_text)).text).to_clipboard())
    if card.reasoning is not None:
        whole = tr("Copy with reasoning")
        menu.addAction(whole, lambda: QApplication.clipboard().setText(card.text_with_reasoning))
    menu.addAction(theme.icon("pencil"), tr("Edit"), card.begin_edit)
    menu.addSeparator()
    again = menu.add_submenu(tr("Regenerate in mode"), theme.icon("refresh-cw"))
    again.setToolTipsVisible(True)
    for mode, reason in modes.items():
        action = again.addAction(mode_label(mode), partial(card.regenerate_in_mode.emit, card.message_id, mode))
        action.setEnabled(not reason)
        action.setToolTip(tooltip(reason or mode_summary(mode)))
    if targets:
        others = menu.add_submenu(tr("Regenerate with model"), theme.icon("cpu"))
        for choice, told in zip(targets, _distinct_titles([choice.name for choice in targets]), strict=True):
            name = escape_mnemonics(told)
            label = tr("{name} (in use)").format(name=name) if choice.loaded else name
            action = others.addAction(label, partial(card.regenerate_with.emit, card.message_id, choice.path))
            action.setToolTip(without_markup(choice.path))
    _add_seed(menu, card)
    if card.can_continue:
        go_on = tr("Continue")
        menu.addAction(theme.icon("play"), go_on, lambda: card.continue_requested.emit(card.message_id))


def _distinct_titles(names: Sequence[str]) -> list[str]:
    """Model titles; models with equal titles are named by their files."""
    titles = [title_of(name) for name in names]
    return [title if titles.count(title) == 1 else name for name, title in zip(names, titles, strict=True)]


def _add_seed(menu: Menu, card: AnswerCard) -> None:
    """Add the seed actions; none at temperature 0, where all seeds give the same answer."""
    drawn = card.view.drawn
    if drawn is not None and drawn.is_greedy:
        return
    seed = drawn.seed if drawn is not None else None

    def add(words: str, choice: SeedChoice, meaning: str) -> None:
        action = seeds.addAction(words, partial(card.seed_requested.emit, card.message_id, choice))
        action.setToolTip(tooltip(meaning))

    with_seed, without = tr("Seed {seed}"), tr("Seed")
    title = without if seed is None else with_seed.format(seed=seed)
    seeds = menu.add_submenu(title, card.theme.icon("dices"))
    seeds.setToolTipsVisible(True)
    another = tr("With the settings of this answer.")
    if seed is None:
        unseeded = seeds.addAction(tr("Generated without a seed: not repeatable"))
        unseeded.setEnabled(False)
        add(tr("Ask again with a seed"), SeedChoice.ANOTHER, another)
        keep = tr("Every answer from now on can be repeated. Fewer drafted tokens are accepted.")
        add(tr("Use a seed in this chat"), SeedChoice.KEEP, keep)
        return
    same = tr("The same answer in every mode, unless model or messages have changed.")
    add(tr("Repeat with this seed"), SeedChoice.REPEAT, same)
    add(tr("Ask again with another seed"), SeedChoice.ANOTHER, another)
    keep = tr("Every answer from now on uses it.")
    add(tr("Use this seed in this chat"), SeedChoice.KEEP, keep)
    copy = tr("Copy the seed")
    seeds.addAction(copy, lambda: QApplication.clipboard().setText(str(seed)))


class SummaryLine(QFrame):
    """A summary of messages, finished or being written."""

    undo_requested = Signal()  # send the original messages again
    skip_requested = Signal()  # do not summarise this time
    expanded = Signal(bool)  # the summary was unfolded (True) or folded

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("summaryLine")
        self.icon = QLabel()
        self.words = label("", "caption", wrap=True)
        self.text = label(wrap=True)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setAccessibleName(translate("SummaryLine", "Summary"))
        self.show_button = button("", self._toggle, kind="link")
        self.undo_button = button(
            translate("SummaryLine", "Undo"),
            self.undo_requested.emit,
            kind="link",
            name=translate("SummaryLine", "Undo the summary"),
            tip=translate("SummaryLine", "Send the original messages again, as far as they fit"),
        )
        self.skip_button = button(
            translate("SummaryLine", "Skip"),
            self.skip_requested.emit,
            kind="link",
            name=translate("SummaryLine", "Skip the summary"),
            tip=translate("SummaryLine", "Answer without a summary; the oldest messages are left out"),
        )
        middle = Qt.AlignmentFlag.AlignVCenter
        buttons = ((each, 0, middle) for each in (self.show_button, self.undo_button, self.skip_button))
        row = hbox((self.icon, 0, middle), (self.words, 1), *buttons, spacing=8)
        vbox(row, self.text, parent=self, margins=(12, 4, 4, 4), spacing=4)
        self.text.setContentsMargins(24, 0, 8, 8)
        self.text.hide()
        theme.changed.connect(self._recolor)
        self._recolor()

    def show_summary(self, view: SummaryView) -> None:
        if view.writing:
            words = self._progress(view)
        else:
            words = translate("SummaryLine", "The messages above are sent as this summary")
        self.words.setText(words)
        self.text.setText(view.text)
        self.setAccessibleName(words)
        self.setAccessibleDescription(view.text)
        self.undo_button.setVisible(not view.writing)
        self.skip_button.setVisible(view.writing)
        self.show_button.setVisible(bool(view.text))
        self._name_toggle()

    @staticmethod
    def _progress(view: SummaryView) -> str:
        words = translate("SummaryLine", "Summarising the %n oldest messages", None, view.num_messages)
        if view.text:
            written = translate("SummaryLine", "%n words", None, len(view.text.split()))
            return f"{words}: {written}"
        if view.total:
            read = translate("SummaryLine", "reading {done} of {total} tokens")
            return f"{words}: {read.format(done=count(view.done), total=count(view.total))}"
        return words

    def _toggle(self) -> None:
        self.set_expanded(self.text.isHidden())
        self.expanded.emit(not self.text.isHidden())

    def set_expanded(self, expanded: bool) -> None:
        self.text.setVisible(expanded)
        self._name_toggle()

    def _name_toggle(self) -> None:
        shown = not self.text.isHidden()
        self.show_button.setText(translate("SummaryLine", "Hide") if shown else translate("SummaryLine", "Show"))
        self.show_button.setAccessibleName(
            translate("SummaryLine", "Hide the summary") if shown else translate("SummaryLine", "Show the summary")
        )

    def _recolor(self) -> None:
        pixmap = self._theme.pixmap("layers", self._theme.tokens.text_muted, 16, self.devicePixelRatioF())
        self.icon.setPixmap(pixmap)


class SummaryLines(QObject):
    """Places each summary line below the last message that it covers, once that message is built."""

    undo_requested = Signal(int)  # the last message that the summary covers
    skip_requested = Signal()  # skip the running summary

    def __init__(self, theme: Theme, cards: Callable[[], Sequence[MessageCard]]) -> None:
        super().__init__()
        self._theme = theme
        self._cards = cards
        self._views: dict[int, SummaryView] = {}
        self._expanded: set[int] = set()  # message ids; the lines may be deleted and created again

    def set_views(self, views: Mapping[int, SummaryView]) -> None:
        self._views = dict(views)
        self._expanded &= self._views.keys()
        for card in self._cards():
            self.attach_line(card)

    def line_of(self, card: MessageCard) -> SummaryLine | None:
        line = card.findChild(SummaryLine, "summaryLine", Qt.FindChildOption.FindDirectChildrenOnly)
        return line if isinstance(line, SummaryLine) else None

    def attach_line(self, card: MessageCard) -> None:
        view, line = self._views.get(card.message_id), self.line_of(card)
        if view is None:
            if line is not None:
                line.setObjectName("")
                line.hide()
                line.deleteLater()
            return
        layout = card.layout()
        if line is None and layout is not None:
            line = SummaryLine(self._theme)
            message_id = card.message_id
            line.undo_requested.connect(lambda: self.undo_requested.emit(message_id))
            line.skip_requested.connect(self.skip_requested)
            layout.addWidget(line)
            line.set_expanded(message_id in self._expanded)
            line.expanded.connect(lambda expanded: self._record_expanded(message_id, expanded=expanded))
        if line is not None:
            line.show_summary(view)

    def _record_expanded(self, message_id: int, *, expanded: bool) -> None:
        if expanded:
            self._expanded.add(message_id)
        else:
            self._expanded.discard(message_id)


class MessageMenus:
    def __init__(self, selection: TranscriptSelection) -> None:
        self._selection = selection
        self._targets: Callable[[], Sequence[TargetChoice]] = tuple
        self._modes = dict.fromkeys(Mode, "")  # offered modes, and why each cannot run now

    def set_target_source(self, source: Callable[[], Sequence[TargetChoice]]) -> None:
        """Set the function that returns the models that can regenerate an answer. It is called for each menu."""
        self._targets = source

    def set_modes(self, offered: Collection[Mode], reasons: Mapping[Mode, str]) -> None:
        self._modes = {mode: reasons.get(mode, "") for mode in Mode if mode in offered}

    def connect_card(self, card: MessageCard) -> None:
        card.menu_requested.connect(self._open_below_button)
        card.context_menu_requested.connect(self._open_over_text)

    def _open_below_button(self, card: MessageCard) -> None:
        button = card.more_button
        self._pop_up(make_menu(card, self._targets(), self._modes), button.mapToGlobal(QPoint(0, button.height())))

    def _open_over_text(self, card: MessageCard, event: QContextMenuEvent) -> None:
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        view = _text_at(QApplication.focusWidget() if by_key else card.childAt(event.pos()))
        place = event.globalPos()
        if by_key and view is not None:
            place = view.viewport().mapToGlobal(view.cursorRect().bottomLeft())
        menu = self._menu(card)
        if view is not None and card.isAncestorOf(view):
            self._add_text_actions(menu, view.anchorAt(view.viewport().mapFromGlobal(place)))
        self._pop_up(menu, place)

    def _add_text_actions(self, menu: QMenu, address: str) -> None:
        """Add actions for the selected text and link above the message's actions."""
        first = menu.actions()[0]
        if self._selection:
            menu.insertAction(first, _action(menu, tr("Copy selection"), self._selection.copy))
        if address:
            link = tr("Copy link address")
            menu.insertAction(first, _action(menu, link, lambda: QApplication.clipboard().setText(address)))
        if menu.actions()[0] is not first:
            menu.insertSeparator(first)

    def _menu(self, card: MessageCard) -> QMenu:
        return make_menu(card, self._targets(), self._modes)

    @staticmethod
    def _pop_up(menu: QMenu, place: QPoint) -> None:
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)


def _text_at(widget: QWidget | None) -> QTextEdit | QPlainTextEdit | None:
    while widget is not None and not isinstance(widget, QTextEdit | QPlainTextEdit):
        widget = widget.parentWidget()
    return widget


def _action(menu: QMenu, words: str, slot: Callable[[], object]) -> QAction:
    action = QAction(words, menu)
    action.triggered.connect(lambda: slot())  # noqa: PLW0108 (the signal brings an argument of its own)
    return action


class MessageArea(SelectableArea, QScrollArea):
    """The scroll area of the messages. Marks apply to all cards, including later ones."""

    # regenerate an answer: as another version; in another mode; with another target
    regenerate_requested = Signal(int)
    regenerate_in_mode = Signal(int, object)
    regenerate_with = Signal(int, str)
    seed_requested = Signal(int, object)  # see `AnswerCard`
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

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        wrap_viewport(self)
        self._theme = theme
        self._marked: frozenset[Source] = frozenset()
        self._shows_rejected = False
        self.edits: dict[int, str] = {}  # unsaved edits by message id; the cards of these messages open an editor
        self.pool = CardPool()
        self.selection = TranscriptSelection(theme, self, lambda: self.entries)
        self.menus = MessageMenus(self.selection)
        self.summaries = SummaryLines(theme, lambda: self.cards)
        theme.changed.connect(self._refresh_marks)

    @property
    def cards(self) -> list[MessageCard]:
        raise NotImplementedError

    @property
    def entries(self) -> Sequence[Entry]:
        raise NotImplementedError

    def mark_sources(self, wanted: frozenset[Source]) -> None:
        self._marked = wanted
        for card in self.cards:
            if isinstance(card, AnswerCard):
                card.mark_sources(wanted)

    def show_rejected(self, wanted: bool) -> None:
        """Show or hide rejected tokens, struck through, in every answer."""
        self._shows_rejected = wanted
        for card in self.cards:
            if isinstance(card, AnswerCard):
                card.show_rejected(wanted)
        self.lay_out()

    def _refresh_marks(self) -> None:
        if self._marked or self._shows_rejected:
            # after the answers have applied the palette
            QTimer.singleShot(0, self, lambda: self.mark_sources(self._marked))

    def make_card(self, view: MessageView) -> MessageCard:
        """Create a message's card, connected and marked. The caller adds it to a layout; `build_next` fills it."""
        width = min(self.width(), COLUMN_PX) - CARD_PADDING_PX
        card = self.pool.take(view, width)
        if card is None:
            card = self._create_card(view, width)
        if isinstance(card, AnswerCard):
            card.mark_sources(self._marked)
            card.show_rejected(self._shows_rejected)
        if isinstance(card, UserCard | AnswerCard) and (typed := self.edits.get(view.id)):
            card.resume_edit(typed)
        self.summaries.attach_line(card)
        return card

    def make_empty_card(self, view: MessageView) -> MessageCard:
        """Create a card for the pool, of the class that `make_card` uses for this message."""
        return self._create_card(view, min(self.width(), COLUMN_PX) - CARD_PADDING_PX)

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
            answer.regenerate_with.connect(self.regenerate_with)
            answer.seed_requested.connect(self.seed_requested)
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
        if self.summaries.line_of(card) is not None or not self.pool.recycle(card):
            card.deleteLater()

    def on_unfolded(self, card: AnswerCard) -> None:
        raise NotImplementedError

    @staticmethod
    def lay_out() -> None:
        """Run pending layout requests, so that no partial layout is painted."""
        for _ in range(LAYOUT_ROUNDS):
            QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
