"""The base of message cards: author, actions on hover and focus, versions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QContextMenuEvent, QEnterEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QWidget

from app.core.domain.messages import MessageView
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.transcript.cards.page_growth import allow_updates
from ui.transcript.cards.text_part import TextPart
from ui.transcript.excerpt import Excerpt, ExcerptPart, portable_part
from ui.widgets.building import ElidedLabel, hbox, label
from ui.widgets.icon_button import IconButton

tr = Translator("VersionSwitch")

ARROW_INSET_PX = 9  # from the edge of a button to its arrow: border, padding, and the rim of the icon
LABEL_GAP_PX = 3


class VersionSwitch(QWidget):
    """Switches between versions of a message. Always visible if there are several.

    ``pressed_by_key``: whether an arrow was last pressed by keyboard, not by pointer.
    """

    wanted = Signal(int)  # the id of the version to show

    def __init__(self, theme: Theme, versions: Sequence[int], current: int) -> None:
        super().__init__()
        self.setObjectName("versionSwitch")
        self._versions = tuple(versions)
        self._at = self._versions.index(current)
        self.pressed_by_key = False
        self.back = IconButton(theme, "chevron-left", tr("Previous version (Alt+Left)"), partial(self.step, -1))
        self.forth = IconButton(theme, "chevron-right", tr("Next version (Alt+Right)"), partial(self.step, 1))
        self.label = label(tr("{number} of {total}").format(number=self._at + 1, total=len(self._versions)), "caption")
        self.label.setContentsMargins(LABEL_GAP_PX, 0, LABEL_GAP_PX, 0)  # keeps the label off the buttons' focus rings
        self.label.setFont(theme.font(-1))
        self.label.setAccessibleName(
            tr("Version {number} of {total}").format(number=self._at + 1, total=len(self._versions))
        )
        self.back.setEnabled(self._at > 0)
        self.forth.setEnabled(self._at + 1 < len(self._versions))
        for arrow in (self.back, self.forth):
            arrow.installEventFilter(self)
        hbox(self.back, self.label, self.forth, parent=self, margins=0, spacing=0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Record whether an arrow was pressed by keyboard, to keep the focus on it."""
        if event.type() in (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress):
            self.pressed_by_key = event.type() == QEvent.Type.KeyPress
        return super().eventFilter(watched, event)

    def step(self, by: int) -> None:
        """Request the previous (-1) or next (1) version, if any."""
        if 0 <= self._at + by < len(self._versions):
            self.wanted.emit(self._versions[self._at + by])


@dataclass(frozen=True, slots=True, eq=False)
class CardState:
    """A message, the height of its card in pixels, and the user's changes to the card."""

    view: MessageView
    height: int
    expanded: bool = False  # whether the reasoning is unfolded

    @property
    def message_id(self) -> int:
        return self.view.id


MAX_HEIGHT = 16_777_215  # QWIDGETSIZE_MAX: unlimited


class MessageCard(QFrame):
    """The author line, and actions that appear on hover and keyboard focus."""

    version_requested = Signal(int)  # show another version of this message
    # the message with all after it; the message alone
    delete_requested = Signal(int)
    delete_one_requested = Signal(int)
    race_requested = Signal(int)  # race the question of this message, or the one that it answers
    branch_requested = Signal(int)  # copy the chat up to this message into a new one
    menu_requested = Signal(object)  # open this card's menu
    context_menu_requested = Signal(object, object)  # this card, and the context menu event

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
        """The message; for a running answer its initial state."""
        return self._view

    @property
    def text(self) -> str:
        raise NotImplementedError

    @property
    def role(self) -> str:
        return self._view.role

    @property
    def raw_text(self) -> str:
        return self._view.text

    @property
    def parts(self) -> Sequence[TextPart]:
        return ()

    @property
    def shows_reasoning(self) -> bool:
        return False

    def set_wholly_selected(self, *, selected: bool) -> None:
        """Highlight parts without text if the whole message is selected."""

    def add_action(self, icon: str, name: str, action: Callable[[], object]) -> IconButton:
        button = IconButton(self.theme, icon, name, action)
        button.set_revealed(False)
        self._actions.append(button)
        return button

    def add_copy_action(self, name: str) -> IconButton:
        def copy() -> None:
            self.copy_text()
            made.confirm(translate("AnswerCard", "Copied"))

        made = self.add_action("copy", name, copy)
        return made

    def add_more_actions(self) -> None:
        """Add less frequent buttons when the actions are first shown."""
        raise NotImplementedError

    def ensure_more_actions(self) -> None:
        """Add the less frequent buttons only once, although showing a button sends another enter event."""
        if not self._has_more_actions:
            self._has_more_actions = True
            self.add_more_actions()

    def insert_action_after(
        self, icon: str, name: str, action: Callable[[], object], before: IconButton, row: QHBoxLayout
    ) -> IconButton:
        """Add an action after ``before`` in the row and the Tab order."""
        button = self.add_action(icon, name, action)
        row.insertWidget(row.indexOf(before) + 1, button)
        QWidget.setTabOrder(before, button)
        allow_updates(button)  # the card may be growing, with updates disabled
        button.show()
        return button

    @property
    def more_button(self) -> IconButton:
        self.ensure_more_actions()
        if self._more is None:
            raise RuntimeError("a card added no button for its menu")
        return self._more

    def add_menu_button(self, before: IconButton, row: QHBoxLayout) -> None:
        name = translate("MessageCard", "More actions for this message")
        self._more = self.insert_action_after("ellipsis", name, lambda: self.menu_requested.emit(self), before, row)

    def copy_text(self) -> None:
        Excerpt(self.text, portable_part(ExcerptPart(self._view.role, self.raw_text)).html).to_clipboard()

    def build_next(self) -> bool:
        """Build one more part; False if all are built."""
        return False

    @property
    def has_focus(self) -> bool:
        """Whether a child has the focus, or will have it when the window is activated."""
        focus = self.window().focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    @property
    def is_in_use(self) -> bool:
        """Whether the card must not be recycled: it has the focus, an open menu, or a selected label."""
        above = QApplication.activePopupWidget()
        while above is not None and above is not self:
            above = above.parentWidget()
        if above is self or self.has_focus:
            return True
        return any(one.hasSelectedText() for one in self.findChildren(QLabel))

    def save_state(self) -> CardState | None:
        layout = self.layout()
        if self.is_in_use or layout is None:
            return None
        # the card's own height may be too small until the page has grown
        flows = layout.hasHeightForWidth()
        height = layout.totalHeightForWidth(self.width()) if flows else layout.totalSizeHint().height()
        return CardState(self.view, height)

    def restore_state(self, state: CardState) -> None:
        """Restore the user's changes to a former card of the message, before the first `build_next`."""

    def release_height(self) -> None:
        self.setMinimumHeight(0)
        self.setMaximumHeight(MAX_HEIGHT)

    def set_revealed(self, revealed: bool) -> None:
        if revealed:
            self.ensure_more_actions()
        self._is_revealed = revealed
        for button in self._actions:
            button.set_revealed(revealed or button in self._always_shown)

    def always_show(self, buttons: Sequence[IconButton]) -> None:
        """Show these actions permanently. The others keep their space, so that nothing moves."""
        self._always_shown = buttons
        for button in self._actions:
            button.set_revealed(self._is_revealed or button in buttons)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the context menu, by the right mouse button or the menu key."""
        self.context_menu_requested.emit(self, event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.set_revealed(True)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the actions unless the card has the focus."""
        focus = QApplication.focusWidget()
        self.set_revealed(focus is not None and self.isAncestorOf(focus))
        super().leaveEvent(event)
