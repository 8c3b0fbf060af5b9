"""The menus of messages: below their button, and over their text for a selection or a link."""

from collections.abc import Callable, Collection, Mapping
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QPlainTextEdit, QTextEdit, QWidget

from engine.records import Mode
from ui.text.formatting import mode_label, tooltip
from ui.text.language import Translator
from ui.text.mode_words import mode_summary
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.user_card import UserCard
from ui.transcript.excerpt import Excerpt, ExcerptPart, portable_part
from ui.transcript.selection import TranscriptSelection
from ui.widgets.popups import Menu

tr = Translator("MessageMenu")


def make_menu(card: MessageCard, modes: Mapping[Mode, str] | None = None) -> Menu:
    """Create a card's menu with the actions that apply.

    ``modes``: offered modes; a mode that cannot run has a reason.
    """
    menu, theme = Menu(card), card.theme
    if isinstance(card, AnswerCard):
        _add_actions(menu, card, dict.fromkeys(Mode, "") if modes is None else modes)
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


def _add_actions(menu: Menu, card: AnswerCard, modes: Mapping[Mode, str]) -> None:
    theme = card.theme
    menu.addAction(theme.icon("copy"), tr("Copy as Markdown"), card.copy_text)
    as_text = tr("Copy as text")
    menu.addAction(as_text, lambda: Excerpt(portable_part(ExcerptPart("assistant", card.raw_text)).text).to_clipboard())
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
    _add_seed(menu, card)
    if card.can_continue:
        go_on = tr("Continue")
        menu.addAction(theme.icon("play"), go_on, lambda: card.continue_requested.emit(card.message_id))


def _add_seed(menu: Menu, card: AnswerCard) -> None:
    """Add the seed actions; none without a seed, or at temperature 0, where all seeds give the same answer."""
    seed = card.view.drawn.seed if card.view.drawn is not None else None
    if seed is not None:
        words = tr("Repeat with seed {seed}").format(seed=seed)
        menu.addAction(card.theme.icon("dices"), words, lambda: card.repeat_requested.emit(card.message_id))
        menu.addAction(tr("Copy the seed"), lambda: QApplication.clipboard().setText(str(seed)))


class MessageMenus:
    def __init__(self, selection: TranscriptSelection) -> None:
        self._selection = selection
        self._modes = dict.fromkeys(Mode, "")  # offered modes, and why each cannot run now

    def set_modes(self, offered: Collection[Mode], reasons: Mapping[Mode, str]) -> None:
        self._modes = {mode: reasons.get(mode, "") for mode in Mode if mode in offered}

    def connect_card(self, card: MessageCard) -> None:
        card.menu_requested.connect(self._open_below_button)
        card.context_menu_requested.connect(self._open_over_text)

    def _open_below_button(self, card: MessageCard) -> None:
        button = card.more_button
        self._pop_up(make_menu(card, self._modes), button.mapToGlobal(QPoint(0, button.height())))

    def _open_over_text(self, card: MessageCard, event: QContextMenuEvent) -> None:
        by_key = event.reason() is QContextMenuEvent.Reason.Keyboard
        view = _text_at(QApplication.focusWidget() if by_key else card.childAt(event.pos()))
        place = event.globalPos()
        if by_key and view is not None:
            place = view.viewport().mapToGlobal(view.cursorRect().bottomLeft())
        menu = make_menu(card, self._modes)
        if view is not None and card.isAncestorOf(view):
            # Add actions for the selected text and link above the message's actions.
            address = view.anchorAt(view.viewport().mapFromGlobal(place))
            first = menu.actions()[0]
            if self._selection:
                menu.insertAction(first, _action(menu, tr("Copy selection"), self._selection.copy))
            if address:
                link = tr("Copy link address")
                menu.insertAction(first, _action(menu, link, lambda: QApplication.clipboard().setText(address)))
            if menu.actions()[0] is not first:
                menu.insertSeparator(first)
        self._pop_up(menu, place)

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
