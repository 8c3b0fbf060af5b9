"""Keys for versions, regenerate, continue, edit and passes. They act on the focused message, else the last one."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextEdit, QToolTip, QWidget
from shiboken6 import isValid

from app.core.domain.messages import MessageView
from ui.text.language import mark, translate
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.user_card import UserCard
from ui.transcript.marks.pass_tip import pass_tip, pass_words
from ui.transcript.marks.provenance import PassView
from ui.transcript.selection import show_caret, views_of
from ui.transcript.transcript import Transcript
from ui.widgets.commands import CHAT, Commands

USER_INPUT_EVENTS = (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress)  # after such input the focus is not moved
TIP_MS = 600_000  # a tool tip that was opened by keyboard stays until it is closed by keyboard
TIP_OFFSET_PX = 4


class TranscriptKeys(QObject):
    def __init__(self, transcript: Transcript, commands: Commands) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        commands.add(CHAT, mark("Commands", "Edit the last question"), "Ctrl+E", self._edit)
        commands.add(CHAT, mark("Commands", "Regenerate the last answer"), "Ctrl+R", self._regenerate)
        commands.add(CHAT, mark("Commands", "Continue a cut-off answer"), "Ctrl+Shift+Return", self._continue)
        commands.add(CHAT, mark("Commands", "Previous version of a message"), "Alt+Left", lambda: self._step(-1))
        commands.add(CHAT, mark("Commands", "Next version of a message"), "Alt+Right", lambda: self._step(1))

    def _card(self, fits: Callable[[MessageView], bool]) -> MessageCard | None:
        """The focused card if ``fits`` accepts its message, else the last card that it accepts."""
        focus = QApplication.focusWidget()
        cards = (card for card in self._transcript.cards if focus is not None and card.isAncestorOf(focus))
        in_focus = next((card for card in cards if fits(card.view)), None)
        return in_focus or self._transcript.last_card(fits)

    def _step(self, by: int) -> None:
        card = self._card(lambda view: len(view.versions) > 1)
        if card is not None and card.versions is not None:
            card.versions.step(by)

    def _answer(self) -> AnswerCard | None:
        card = self._card(lambda view: view.role == "assistant")
        return card if isinstance(card, AnswerCard) else None

    def _regenerate(self) -> None:
        answer = self._answer()
        if answer is not None and answer.regenerate_button.isEnabled():
            answer.regenerate_requested.emit(answer.message_id)

    def _continue(self) -> None:
        answer = self._transcript.last_answer()
        if answer is not None and answer.can_continue:
            answer.continue_requested.emit(answer.message_id)

    def _edit(self) -> None:
        question = self._card(lambda view: view.role == "user")
        if isinstance(question, UserCard):
            self._transcript.ensureWidgetVisible(question)
            question.begin_edit()


class VersionFocusKeeper(QObject):
    """Keeps the focus at a message while its versions are switched.

    Showing another version replaces the page and its focused widget. Create this object before connecting the handler
    that shows the version: it must record the focus first.
    """

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._wanted: int | None = None
        self._direction = 0  # direction of the pressed arrow; 0 if the focus was elsewhere in the message
        transcript.version_requested.connect(self._record_focus)
        transcript.jump_finished.connect(self._on_arrived)

    def _record_focus(self, message_id: int) -> None:
        focus = QApplication.focusWidget()
        card = next((card for card in self._transcript.cards if focus is not None and card.isAncestorOf(focus)), None)
        switch = card.versions if card is not None else None
        on_switch = switch is not None and switch.isAncestorOf(focus)  # type: ignore[arg-type]
        by_pointer = on_switch and switch is not None and not switch.pressed_by_key
        self._wanted = message_id if card is not None and not by_pointer else None
        self._direction = 0 if not on_switch or switch is None else -1 if focus is switch.back else 1
        if self._wanted is not None:
            QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave the focus alone if the user presses a key or clicks before the message is visible."""
        if event.type() in USER_INPUT_EVENTS:
            self._forget()
        return super().eventFilter(watched, event)

    def _forget(self) -> None:
        self._wanted = None
        QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]

    def _on_arrived(self, message_id: int) -> None:
        wanted = self._wanted
        self._forget()
        if message_id != wanted:
            return
        card = next((card for card in self._transcript.cards if card.message_id == message_id), None)
        target = self._target(card) if card is not None else None
        if target is not None:
            target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _target(self, card: MessageCard) -> QWidget | None:
        texts = views_of(card)
        if (self._direction or not texts) and card.versions is not None:
            # The arrow of this direction, or the other arrow if this one is disabled.
            switch = card.versions
            first, other = (switch.back, switch.forth) if self._direction < 0 else (switch.forth, switch.back)
            return first if first.isEnabled() else other
        return texts[0] if texts else None


class PassTipKeys(QObject):
    """Shows the pass of the token at the caret, like on hover; follows the caret."""

    def __init__(self, transcript: Transcript, commands: Commands) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._view: QTextEdit | QPlainTextEdit | None = None  # the view with a shown pass
        self._announced: PassView | None = None
        words = mark("Commands", "Show details of the pass at the cursor")
        commands.add(CHAT, words, "Ctrl+I", self.show_pass)
        commands.describe(CHAT, mark("Commands", "Move the cursor through the messages"), ("Up", "Down"))

    def show_pass(self) -> None:
        """Show the pass at the caret; without a caret, first move it into the last answer."""
        view = self._focused() or self._last_text()
        if view is None:
            return
        if not view.hasFocus():
            view.setFocus(Qt.FocusReason.ShortcutFocusReason)
            show_caret(self._transcript, view)
        if view is not self._view:
            self._hide_tip()
            self._view = view
            view.cursorPositionChanged.connect(self._show_at_caret)
            view.installEventFilter(self)
        self._announced = None
        self._show(view)

    def _show_at_caret(self) -> None:
        view = self._view
        if view is not None and view.hasFocus() and QToolTip.isVisible():
            self._show(view)
        else:
            self._hide_tip()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._view and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if not QToolTip.isVisible():
                return False
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self._hide_tip()
                QToolTip.hideText()
            return True
        return False

    def _hide_tip(self) -> None:
        view, self._view = self._view, None
        if view is not None and isValid(view):
            view.cursorPositionChanged.disconnect(self._show_at_caret)
            view.removeEventFilter(self)

    def _show(self, view: QTextEdit | QPlainTextEdit) -> None:
        card = self._card_of(view)
        found = card.pass_at_caret(view) if card is not None else None
        none = translate("PassTipKeys", "No pass is recorded here.")
        place = view.viewport().mapToGlobal(view.cursorRect().bottomLeft())
        place.setY(place.y() + TIP_OFFSET_PX)
        QToolTip.showText(place, none if found is None else pass_tip(found), view, QRect(), TIP_MS)
        if found is None or found != self._announced:
            said = none if found is None else pass_words(found)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, said))
        self._announced = found

    def _focused(self) -> QTextEdit | QPlainTextEdit | None:
        focus = QApplication.focusWidget()
        is_text = isinstance(focus, QTextEdit | QPlainTextEdit)
        return focus if is_text and self._card_of(focus) is not None else None  # type: ignore[return-value, arg-type]

    def _card_of(self, view: QTextEdit | QPlainTextEdit) -> AnswerCard | None:
        cards = (card for card in self._transcript.cards if isinstance(card, AnswerCard))
        return next((card for card in cards if view in views_of(card)), None)

    def _last_text(self) -> QTextEdit | QPlainTextEdit | None:
        answer = self._transcript.last_answer()
        texts = views_of(answer) if answer is not None else []
        return texts[0] if texts else None
