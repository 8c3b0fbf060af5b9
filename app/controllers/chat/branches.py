"""Which version of a message is shown, and how a message of another branch is opened."""

from __future__ import annotations

from app.controllers.chat.answers import ONE_AT_A_TIME, AnswerController
from app.controllers.chat.conversations import ConversationController
from app.controllers.parts import Parts
from ui.text.language import mark, translate
from ui.transcript.found_words import Excerpt

EDITED = mark("BranchController", "Edited by you.")


class BranchController:
    """Moves the shown path of the open conversation."""

    def __init__(self, parts: Parts, conversations: ConversationController, answers: AnswerController) -> None:
        self._window = parts.window
        self._store = parts.store
        self._succeeds = parts.succeeds
        self._conversations = conversations
        self._answers = answers
        self._window.transcript.version_requested.connect(self.show_version)
        self._window.transcript.branch_requested.connect(self.branch_off)
        self._window.transcript.answer_edited.connect(self.edit_answer)
        self._attempt = parts.attempt

    def show_version(self, message_id: int) -> None:
        """Show another version of a message, with what followed it."""
        if self._is_free() and self._succeeds(lambda: self._store.show_message(message_id)):
            self._conversations.show()
            self._window.transcript.go_to(message_id)

    def edit_answer(self, answer_id: int, words: str) -> None:
        """Show other words in the place of an answer, which stays as a version beside them; the chat goes on there."""
        if not self._is_free():
            return
        edited = self._attempt(lambda: self._store.edit_answer(answer_id, words, translate("BranchController", EDITED)))
        if edited is not None:
            self._conversations.edits.sent(answer_id)
            self._conversations.show()
            self._window.transcript.go_to(edited)

    def branch_off(self, message_id: int) -> None:
        """Go on from a message in a chat of its own; the open one stays as it is."""
        if not self._is_free():
            return
        copied = self._attempt(lambda: self._store.library.branch_off(message_id))
        if copied is not None:
            self._conversations.select(copied)
            self._window.show_notice(
                translate("BranchController", "This is a copy up to here; the other chat is as it was.")
            )

    def open_at(self, conversation_id: int, message_id: int | None, found: Excerpt = ()) -> None:
        """Open a conversation where a message is, in whatever branch it stands; ``found`` are the parts of a hit."""
        if (
            message_id is not None
            and not self._answers.is_answering_in(conversation_id)
            and not self._succeeds(lambda: self._store.show_message(message_id))
        ):
            return
        self._conversations.select(conversation_id)
        if message_id is not None:
            self._window.transcript.go_to(message_id, found)

    def _is_free(self) -> bool:
        """Whether nothing is being written here; say so where something is."""
        if self._answers.is_answering_in(self._conversations.current_id):
            self._window.show_notice(translate("AnswerController", ONE_AT_A_TIME))
            return False
        return True
