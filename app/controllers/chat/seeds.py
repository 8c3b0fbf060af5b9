"""The seed of an answer: give the answer again by it, give another one, or draw with it from now on."""

from __future__ import annotations

from app.controllers.chat.answers import AnswerController
from app.controllers.chat.conversations import ConversationController
from app.controllers.parts import Parts
from app.core.domain.seeds import SeedWish, new_seed
from app.core.domain.settings.layers import Layer
from ui.text.language import mark, translate

KEPT = mark("SeedController", "This chat now draws with seed {seed}. Change it in the chat settings.")


class SeedController:
    """What the menu of an answer offers about its seed."""

    def __init__(self, parts: Parts, conversations: ConversationController, answers: AnswerController) -> None:
        self._window, self._store, self._attempt = parts.window, parts.store, parts.attempt
        self._conversations = conversations
        self._answers = answers

    def act(self, answer_id: int, wish: SeedWish) -> None:
        """Do what is wanted. An answer that was drawn without a seed gets one where it needs one."""
        conversation_id = self._conversations.current_id
        views = self._attempt(lambda: self._store.messages(conversation_id)) if conversation_id is not None else None
        view = next((each for each in views or () if each.id == answer_id), None)
        if view is None:
            return
        seed = view.drawn.seed if view.drawn is not None else None
        if wish is SeedWish.KEEP:
            self._keep(new_seed() if seed is None else seed)
        elif wish is SeedWish.REPEAT and view.drawn is not None and seed is not None:
            self._answers.regenerate(answer_id, values=view.drawn.values, repeats=view)
        else:
            values = view.drawn.values if view.drawn is not None else {}
            self._answers.regenerate(answer_id, values={**values, "seed": new_seed()})

    def _keep(self, seed: int) -> None:
        self._conversations.change(Layer.CHAT, {"seed": seed})
        self._window.show_notice(translate("SeedController", KEPT).format(seed=seed))
