"""Keys for the messages: versions, regenerate, continue, edit; on the message in focus, or else on the last one."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from ui.answer_card import AnswerCard
from ui.commands import CHAT, Commands
from ui.language import mark
from ui.message_card import MessageCard
from ui.transcript import Transcript
from ui.user_card import UserCard


class TranscriptKeys(QObject):
    """Lives as long as its transcript."""

    def __init__(self, transcript: Transcript, commands: Commands) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        commands.add(CHAT, mark("Commands", "Edit the last question"), "Ctrl+E", self._edit)
        commands.add(CHAT, mark("Commands", "Regenerate the last answer"), "Ctrl+R", self._regenerate)
        commands.add(CHAT, mark("Commands", "Continue an answer that was cut"), "Ctrl+Shift+Return", self._continue)
        commands.add(CHAT, mark("Commands", "Previous version of a message"), "Alt+Left", lambda: self._step(-1))
        commands.add(CHAT, mark("Commands", "Next version of a message"), "Alt+Right", lambda: self._step(1))

    def _cards(self) -> list[MessageCard]:
        """The card in focus, then the others from the last up."""
        cards = self._transcript.cards[::-1]
        focus = QApplication.focusWidget()
        return sorted(cards, key=lambda card: focus is None or not card.isAncestorOf(focus))

    def _step(self, by: int) -> None:
        switch = next((card.versions for card in self._cards() if card.versions is not None), None)
        if switch is not None:
            switch.step(by)

    def _answer(self) -> AnswerCard | None:
        return next((card for card in self._cards() if isinstance(card, AnswerCard)), None)

    def _regenerate(self) -> None:
        answer = self._answer()
        if answer is not None and answer.regenerate_button.isEnabled():
            answer.regenerate_requested.emit(answer.message_id)

    def _continue(self) -> None:
        answer = self._transcript.last_answer()
        if answer is not None and answer.can_go_on:
            answer.continue_requested.emit(answer.message_id)

    def _edit(self) -> None:
        question = next((card for card in self._cards() if isinstance(card, UserCard)), None)
        if question is not None:
            self._transcript.ensureWidgetVisible(question)
            question.begin_edit()
