"""What every message of the transcript shares: who wrote it, its actions on hover and focus, its versions."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QContextMenuEvent, QEnterEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QWidget

from ui.icon_button import IconButton
from ui.language import translate
from ui.records import MessageView
from ui.theme import Theme
from ui.version_switch import VersionSwitch


class MessageCard(QFrame):
    """What both kinds share: the author's line, and actions that appear on hover and on keyboard focus.

    Signals:
        version_wanted(int): another version of this message is to be shown.
        delete_requested(int), menu_requested(object): the message and all after it; this card.
        context_menu_requested(object, object): this card, and the event that asks for what can be done with it.
    """

    version_wanted = Signal(int)
    delete_requested = Signal(int)
    menu_requested = Signal(object)
    context_menu_requested = Signal(object, object)

    def __init__(self, theme: Theme, view: MessageView, author: str) -> None:
        super().__init__()
        self.theme = theme
        self.message_id = view.id
        self._actions: list[IconButton] = []
        self._more: IconButton | None = None
        self.author = QLabel(author)
        self.author.setProperty("kind", "section")
        self.setAccessibleName(translate("MessageCard", "Message from {author}").format(author=author))
        self.versions: VersionSwitch | None = None
        if len(view.versions) > 1:
            self.versions = VersionSwitch(theme, view.versions, view.id)
            self.versions.wanted.connect(self.version_wanted)

    @property
    def text(self) -> str:
        """The message as it would be copied."""
        raise NotImplementedError

    def add_action(self, icon: str, name: str) -> IconButton:
        """One more small button, out of sight until it is wanted."""
        button = IconButton(self.theme, icon, name)
        button.set_revealed(False)
        self._actions.append(button)
        return button

    def add_more(self) -> None:
        """Add the buttons that are wanted less often, the first time that the actions are shown."""
        raise NotImplementedError

    def add_beside(self, icon: str, name: str, before: IconButton, row: QHBoxLayout) -> IconButton:
        """One more action, after ``before`` in the row and for the Tab key."""
        button = self.add_action(icon, name)
        row.insertWidget(row.indexOf(before) + 1, button)
        QWidget.setTabOrder(before, button)
        button.show()
        return button

    @property
    def more_button(self) -> IconButton:
        """The button of the menu; made when it is first needed, since long chats have hundreds."""
        if self._more is None:
            self.add_more()
        if self._more is None:
            raise RuntimeError("a card added no button for its menu")
        return self._more

    def add_menu_button(self, before: IconButton, row: QHBoxLayout) -> None:
        """The button of the menu, after ``before``."""
        self._more = self.add_beside("ellipsis", translate("MessageCard", "More for this message"), before, row)
        self._more.clicked.connect(lambda: self.menu_requested.emit(self))

    def copy_text(self) -> None:
        """Put the message on the clipboard."""
        QApplication.clipboard().setText(self.text)

    def build_one(self) -> bool:
        """Make one more part of the message; False where none is missing."""
        return False

    def set_revealed(self, revealed: bool) -> None:
        """Show the actions or not."""
        if revealed and self._more is None:
            self.add_more()
        for button in self._actions:
            button.set_revealed(revealed)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The other mouse button, or the menu key, anywhere in the message."""
        self.context_menu_requested.emit(self, event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """The pointer came."""
        self.set_revealed(True)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer went; the keyboard may still be here."""
        focus = QApplication.focusWidget()
        self.set_revealed(focus is not None and self.isAncestorOf(focus))
        super().leaveEvent(event)
