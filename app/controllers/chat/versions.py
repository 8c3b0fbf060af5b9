"""Versions of messages: switches between them, regenerates by seed, and branches off chats."""

from app.controllers.chat.answers import ONE_AT_A_TIME, AnswerController
from app.controllers.chat.conversations import ConversationController
from app.controllers.parts import Parts, PartsController
from app.core.domain.seeds import SeedChoice, new_seed
from app.core.domain.settings.layers import Layer
from ui.text.language import mark, translate
from ui.transcript.found_words import HitPieces

EDITED = mark("BranchController", "Edited by you.")
SEED_KEPT = mark("SeedController", "This chat now uses seed {seed}. You can change it in the chat settings.")


class VersionController(PartsController):
    """Switches versions in the open chat and regenerates answers by seed."""

    def __init__(self, parts: Parts, conversations: ConversationController, answers: AnswerController) -> None:
        super().__init__(parts)
        self._conversations, self._answers = conversations, answers
        page = self._window.transcript
        page.version_requested.connect(self.show_version)
        page.branch_requested.connect(self.branch_off)
        page.answer_edited.connect(self.edit_answer)
        page.seed_requested.connect(self.apply_seed)
        self._window.sidebar.results.chosen.connect(self.open_at)

    def show_version(self, message_id: int) -> None:
        if self._can_change() and self._succeeds(lambda: self._store.show_message(message_id)):
            self._conversations.show()
            self._window.transcript.go_to(message_id)

    def edit_answer(self, answer_id: int, words: str) -> None:
        """Store an edited answer as another version; the chat continues from it."""
        if not self._can_change():
            return
        edited = self._attempt(lambda: self._store.edit_answer(answer_id, words, translate("BranchController", EDITED)))
        if edited is not None:
            self._conversations.edits.sent(answer_id)
            self._conversations.show()
            self._window.transcript.go_to(edited)

    def branch_off(self, message_id: int) -> None:
        if not self._can_change():
            return
        copied = self._attempt(lambda: self._store.library.branch_off(message_id))
        if copied is not None:
            self._conversations.select(copied)
            self._window.show_notice(
                translate("BranchController", "This chat is a copy up to here. The other chat has not changed.")
            )

    def open_at(self, conversation_id: int, message_id: int | None, found: HitPieces = ()) -> None:
        """Open a conversation at a message in any branch; ``found``: the parts of a search hit."""
        if (
            message_id is not None
            and conversation_id not in self._state.answers
            and not self._succeeds(lambda: self._store.show_message(message_id))
        ):
            return
        self._conversations.select(conversation_id)
        if message_id is not None:
            self._window.transcript.go_to(message_id, found)

    def _can_change(self) -> bool:
        """True if the open chat has no running answer; otherwise shows a notice."""
        if self._state.answer is not None:
            self._window.show_notice(translate("AnswerController", ONE_AT_A_TIME))
            return False
        return True

    def apply_seed(self, answer_id: int, choice: SeedChoice) -> None:
        """Apply a seed action; if it needs a seed, an answer without one gets one."""
        conversation_id = self._state.chat_id
        views = self._attempt(lambda: self._store.messages(conversation_id)) if conversation_id is not None else None
        view = next((each for each in views or () if each.id == answer_id), None)
        if view is None:
            return
        seed = view.drawn.seed if view.drawn is not None else None
        if choice is SeedChoice.KEEP:
            kept = new_seed() if seed is None else seed
            self._conversations.change(Layer.CHAT, {"seed": kept})
            self._window.show_notice(translate("SeedController", SEED_KEPT).format(seed=kept))
        elif choice is SeedChoice.REPEAT and view.drawn is not None and seed is not None:
            self._answers.regenerate(answer_id, values=view.drawn.values, repeats=view)
        else:
            values = view.drawn.values if view.drawn is not None else {}
            self._answers.regenerate(answer_id, values={**values, "seed": new_seed()})
