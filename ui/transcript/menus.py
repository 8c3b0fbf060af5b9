"""Opens the menus of messages: below their button, or where the pointer or a key asks for one over their text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QPlainTextEdit, QTextEdit, QWidget

from app.core.domain.engine_view import TargetChoice
from engine.records import Mode
from ui.text.language import translate
from ui.transcript.cards.card import MessageCard
from ui.transcript.menu import make_menu


class MessageMenus:
    """Serves the cards of one transcript."""

    def __init__(self) -> None:
        self._targets: Callable[[], Sequence[TargetChoice]] = tuple
        self._modes = dict.fromkeys(Mode, "")  # that are offered, and why each cannot run now

    def ask_targets_of(self, source: Callable[[], Sequence[TargetChoice]]) -> None:
        """Ask this function for the models that can give an answer whenever a menu lists them."""
        self._targets = source

    def set_modes(self, offered: Collection[Mode], reasons: Mapping[Mode, str]) -> None:
        """Which modes are offered, and why some of them cannot run now."""
        self._modes = {mode: reasons.get(mode, "") for mode in Mode if mode in offered}

    def connect_card(self, card: MessageCard) -> None:
        """Open the menus of a card from now on."""
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
            _offer_of_text(menu, view, view.viewport().mapFromGlobal(place))
        self._pop_up(menu, place)

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


def _offer_of_text(menu: QMenu, view: QTextEdit | QPlainTextEdit, place: QPoint) -> None:
    """Put what can be done with a text at this place above what can be done with the message."""
    first = menu.actions()[0]
    if view.textCursor().hasSelection():
        copy = translate("MessageMenu", "Copy selection")
        menu.insertAction(first, _action(menu, copy, view.copy))
    address = view.anchorAt(place)
    if address:
        link = translate("MessageMenu", "Copy link address")
        clipboard = QApplication.clipboard()
        menu.insertAction(first, _action(menu, link, lambda: clipboard.setText(address)))
    if menu.actions()[0] is not first:
        menu.insertSeparator(first)


def _action(menu: QMenu, words: str, slot: Callable[[], object]) -> QAction:
    action = QAction(words, menu)
    action.triggered.connect(lambda: slot())  # noqa: PLW0108 (the signal brings an argument of its own)
    return action
