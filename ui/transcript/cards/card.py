"""What every message of the transcript shares: who wrote it, its actions on hover and focus, its versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QContextMenuEvent, QEnterEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QWidget

from app.core.domain.messages import MessageView
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.transcript.cards.card_state import CardState
from ui.transcript.cards.page_growth import allow_updates
from ui.transcript.cards.text_part import TextPart
from ui.transcript.cards.version_switch import VersionSwitch
from ui.transcript.excerpt import Excerpt, Piece, part_of
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.icon_button import IconButton

MAX_HEIGHT = 16_777_215  # QWIDGETSIZE_MAX: none


class MessageCard(QFrame):
    """What both kinds share: the author's line, and actions that appear on hover and on keyboard focus.

    Signals:
        version_requested(int): another version of this message is to be shown.
        delete_requested(int), delete_one_requested(int): the message goes, and all after it; the message alone.
        menu_requested(object): this card's menu is to open.
        branch_requested(int): a chat is to begin with all that is above this message, and with it.
        race_requested(int): the question that this is, or that this answers, is to be raced.
        context_menu_requested(object, object): this card, and the event that asks for what can be done with it.
    """

    version_requested = Signal(int)
    delete_requested = Signal(int)
    delete_one_requested = Signal(int)
    race_requested = Signal(int)
    branch_requested = Signal(int)
    menu_requested = Signal(object)
    context_menu_requested = Signal(object, object)

    def __init__(self, theme: Theme, view: MessageView, author: str) -> None:
        super().__init__()
        self.theme = theme
        self.message_id = view.id
        self._view = view
        self._actions: list[IconButton] = []
        self._always_shown: Sequence[IconButton] = ()
        self._is_revealed = False
        self._more: IconButton | None = None
        self._has_more_actions = False
        self.author = ElidedLabel("", "section")
        self.set_author(author)
        self.versions: VersionSwitch | None = None
        if len(view.versions) > 1:
            self.versions = VersionSwitch(theme, view.versions, view.id)
            self.versions.wanted.connect(self.version_requested)

    def set_author(self, author: str) -> None:
        if author != self.author.text():
            self.author.setText(author)
            self.setAccessibleName(translate("MessageCard", "Message from {author}").format(author=author))

    @property
    def view(self) -> MessageView:
        """The message; of an answer in the making, as it began."""
        return self._view

    @property
    def text(self) -> str:
        """The message as it would be copied."""
        raise NotImplementedError

    @property
    def role(self) -> str:
        return self._view.role

    @property
    def raw_text(self) -> str:
        """What the places of its parts are counted in."""
        return self._view.text

    @property
    def parts(self) -> Sequence[TextPart]:
        """The texts of it that can be read now, from top to bottom."""
        return ()

    @property
    def shows_reasoning(self) -> bool:
        return False

    def set_wholly_selected(self, *, selected: bool) -> None:
        """All of the message is selected, or not; for what is no text of its own."""

    def add_action(self, icon: str, name: str, action: Callable[[], object]) -> IconButton:
        """One more small button, out of sight until it is wanted."""
        button = IconButton(self.theme, icon, name, action)
        button.set_revealed(False)
        self._actions.append(button)
        return button

    def add_copy_action(self, name: str) -> IconButton:
        """Add the button that copies the message, and says so."""

        def copy() -> None:
            self.copy_text()
            made.confirm(translate("AnswerCard", "Copied"))

        made = self.add_action("copy", name, copy)
        return made

    def add_more_actions(self) -> None:
        """Add the buttons that are wanted less often, the first time that the actions are shown."""
        raise NotImplementedError

    def ensure_more_actions(self) -> None:
        """Add these buttons, once: Qt sends another enter event when one is shown, which would ask for them again."""
        if not self._has_more_actions:
            self._has_more_actions = True
            self.add_more_actions()

    def insert_action_after(
        self, icon: str, name: str, action: Callable[[], object], before: IconButton, row: QHBoxLayout
    ) -> IconButton:
        """Add one more action, after ``before`` in the row and for the Tab key."""
        button = self.add_action(icon, name, action)
        row.insertWidget(row.indexOf(before) + 1, button)
        QWidget.setTabOrder(before, button)
        allow_updates(button)  # the pointer may come upon a card that is just growing
        button.show()
        return button

    @property
    def more_button(self) -> IconButton:
        """The button of the menu; made when it is first needed, since long chats have hundreds."""
        self.ensure_more_actions()
        if self._more is None:
            raise RuntimeError("a card added no button for its menu")
        return self._more

    def add_menu_button(self, before: IconButton, row: QHBoxLayout) -> None:
        """The button of the menu, after ``before``."""
        name = translate("MessageCard", "More actions for this message")
        self._more = self.insert_action_after("ellipsis", name, lambda: self.menu_requested.emit(self), before, row)

    def copy_text(self) -> None:
        """Put the message on the clipboard: as it is written, and as HTML."""
        Excerpt(self.text, part_of(Piece(self._view.role, self.raw_text)).html).to_clipboard()

    def build_next(self) -> bool:
        """Make one more part of the message; False where none is missing."""
        return False

    @property
    def has_focus(self) -> bool:
        """Whether the keyboard is in it, or will be when the window has it again."""
        focus = self.window().focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    @property
    def is_in_use(self) -> bool:
        """Whether it must stay: the keyboard is in it, its menu is open, a label of it is selected."""
        above = QApplication.activePopupWidget()
        while above is not None and above is not self:
            above = above.parentWidget()
        if above is self or self.has_focus:
            return True
        return any(one.hasSelectedText() for one in self.findChildren(QLabel))

    def save_state(self) -> CardState | None:
        """The state from which a card like this one can be made; None where this one must stay."""
        layout = self.layout()
        if self.is_in_use or layout is None:
            return None
        # Its height itself may be a little less for a moment, where the page has not grown yet.
        flows = layout.hasHeightForWidth()
        height = layout.totalHeightForWidth(self.width()) if flows else layout.totalSizeHint().height()
        return CardState(self.view, height, self.wrapping_px)

    @property
    def wrapping_px(self) -> int:
        """How much of its height is text that wraps at its width."""
        return 0

    @property
    def is_incomplete(self) -> bool:
        """Whether parts of it are still to come."""
        return False

    def can_show(self, view: MessageView) -> bool:  # noqa: ARG002
        """Whether a card that was `reset` can become that of this message."""
        return False

    def reset(self) -> bool:
        """Forget the message, to be pooled; False where this card cannot be used again."""
        return False

    def rebind(self, view: MessageView, text_width: int) -> None:  # noqa: ARG002
        """Become the card of this message, as if made for it; after `reset`, where it `can_show` it."""
        self._view, self.message_id = view, view.id

    def restore_state(self, state: CardState) -> None:
        """Take the saved state of the message's former card, before the first `build_next`."""

    def finish_restore(self, state: CardState) -> None:
        """Restore what of the state needs the card to be laid out."""

    def release_height(self) -> None:
        """End a fixed height: be as high as what is in it."""
        self.setMinimumHeight(0)
        self.setMaximumHeight(MAX_HEIGHT)

    def set_revealed(self, revealed: bool) -> None:
        if revealed:
            self.ensure_more_actions()
        self._is_revealed = revealed
        for button in self._actions:
            button.set_revealed(revealed or button in self._always_shown)

    def keep_shown(self, buttons: Sequence[IconButton]) -> None:
        """Show these actions without hover and focus too. All keep their place, so nothing moves."""
        self._always_shown = buttons
        for button in self._actions:
            button.set_revealed(self._is_revealed or button in buttons)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The other mouse button, or the menu key, anywhere in the message."""
        self.context_menu_requested.emit(self, event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.set_revealed(True)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer went; the keyboard may still be here."""
        focus = QApplication.focusWidget()
        self.set_revealed(focus is not None and self.isAncestorOf(focus))
        super().leaveEvent(event)
