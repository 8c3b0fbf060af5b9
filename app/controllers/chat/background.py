"""The marks in the list of chats: which have an answer in the making, and which one that was not looked at yet.

They are kept for as long as the app runs.
"""

from __future__ import annotations

from app.controllers.chat.answers import AnswerController
from app.controllers.chat.conversations import ConversationController
from app.controllers.parts import Parts


class BackgroundController:
    """Compare the background answers with the last state; report only changes to the list."""

    def __init__(self, parts: Parts, conversations: ConversationController, answers: AnswerController) -> None:
        self._window = parts.window
        self._conversations = conversations
        self._answers = answers
        self._shown: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
        self._unseen: set[int] = set()
        answers.on_ended = self._unseen.add

    def look(self) -> None:
        """See what the answers are at, and which chat is open."""
        is_open = self._conversations.current_id
        if is_open is not None:
            self._unseen.discard(is_open)
        signs = self._answers.answering, frozenset(self._unseen)
        if signs != self._shown:
            self._shown = signs
            self._show()

    def _show(self) -> None:
        self._window.sidebar.list.set_activity(*self._shown)
