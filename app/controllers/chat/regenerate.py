"""Giving an answer again from another model of the library: that one is loaded first, and only then asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.controllers.chat.answers import ONE_AT_A_TIME, AnswerController
from app.controllers.chat.conversations import ConversationController
from app.controllers.models.models import ModelController
from app.controllers.parts import Parts
from app.core.domain.engine_view import TargetChoice
from app.core.storage.chats.messages import conversation_of
from engine.records import EngineReady
from ui.text.language import translate


@dataclass(frozen=True, slots=True)
class _Regeneration:
    """An answer that waits for its model."""

    conversation_id: int | None
    answer_id: int
    path: str


class RegenerateController:
    """``targets`` lists the models that can be loaded; ``load`` is asked for another one: its path, and "target"."""

    def __init__(
        self,
        parts: Parts,
        conversations: ConversationController,
        answers: AnswerController,
        models: ModelController,
        targets: Callable[[], Sequence[tuple[str, str]]],
    ) -> None:
        self._window = parts.window
        self._attempt = parts.attempt
        self._store = parts.store
        self._conversations = conversations
        self._answers = answers
        self._models = models
        self._targets = targets
        self.load: Callable[[str, str], None] = models.choose_file
        self._pending: _Regeneration | None = None
        self._window.transcript.menus.ask_targets_of(self.choices)

    def choices(self) -> tuple[TargetChoice, ...]:
        """The models of the library, with path, name, and whether it is the loaded one."""
        loaded = self._models.target_path
        return tuple(TargetChoice(path, name, path == loaded) for path, name in self._targets())

    def again_with(self, answer_id: int, path: str) -> None:
        """Give an answer again from the target of this path, as a further version."""
        if self._answers.is_answering_in(self._conversations.current_id):
            self._window.show_notice(translate("AnswerController", ONE_AT_A_TIME))
        elif path == self._models.target_path:
            self._answers.regenerate(answer_id)
        else:
            self._pending = _Regeneration(self._conversations.current_id, answer_id, path)
            self.load(path, "target")

    def on_ready(self, event: EngineReady) -> None:
        """A model is loaded: if an answer waits for it, is still there and its conversation still open, ask."""
        pending = self._pending
        if pending is not None and event.target.path != pending.path and self._models.is_loading:
            return  # that one was on its way before
        self._pending = None
        if pending is None or self._answers.is_answering_in(pending.conversation_id):
            return
        is_here = self._conversations.current_id == pending.conversation_id and self._is_there(pending)
        if is_here and event.target.path == pending.path:
            self._answers.regenerate(pending.answer_id)

    def _is_there(self, pending: _Regeneration) -> bool:
        """Whether the answer was not deleted meanwhile."""
        found = self._attempt(lambda: self._store.read(lambda db: conversation_of(db, pending.answer_id)))
        return found == pending.conversation_id

    def on_failed(self) -> None:
        """It could not be loaded; the answer stays as it is. Where it was another model, that one may still come."""
        if not self._models.is_loading:
            self._pending = None
