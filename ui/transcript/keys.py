"""Keys for the messages: versions, regenerate, continue, edit; on the message in focus, or else on the last one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.core.domain.messages import MessageView
from ui.text.language import mark
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.user_card import UserCard
from ui.transcript.transcript import Transcript
from ui.widgets.commands import CHAT, Commands


class TranscriptKeys(QObject):
    """Lives as long as its transcript."""

    def __init__(self, transcript: Transcript, commands: Commands) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        commands.add(CHAT, mark("Commands", "Edit the last question"), "Ctrl+E", self._edit)
        commands.add(CHAT, mark("Commands", "Regenerate the last answer"), "Ctrl+R", self._regenerate)
        commands.add(CHAT, mark("Commands", "Continue a cut-off answer"), "Ctrl+Shift+Return", self._continue)
        commands.add(CHAT, mark("Commands", "Previous version of a message"), "Alt+Left", lambda: self._step(-1))
        commands.add(CHAT, mark("Commands", "Next version of a message"), "Alt+Right", lambda: self._step(1))

    def _card(self, fits: Callable[[MessageView], bool]) -> MessageCard | None:
        """The card in focus where its message fits, or else the last one that does."""
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
