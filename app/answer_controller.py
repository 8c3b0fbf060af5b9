"""One answer at a time: from a submitted text to the stored, finished answer.

Knows the window, the store and the engine's events about answers; knows no model file.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from app.conversation_controller import ConversationController
from app.errors import StorageError
from app.parts import Parts
from app.requests import chat_request
from engine.records import (
    EngineFailed,
    Finished,
    FinishReason,
    PrefillProgress,
    Problem,
    RunStats,
    StatsUpdate,
    TextChunk,
)
from ui.records import EngineState, MessageState, MessageView

log = logging.getLogger(__name__)

AnswerEvent = PrefillProgress | TextChunk | StatsUpdate | Finished | EngineFailed

_NOTICES = {
    FinishReason.LENGTH: "Ended at the longest answer that the settings allow.",
    FinishReason.CONTEXT: "Ended because the context is full: start a new chat, or choose a larger context.",
}


@dataclass(slots=True)
class _Growing:
    """The answer in the making. ``abandoned``: its conversation is deleted, only its end is awaited."""

    request_id: int
    conversation_id: int
    answer_id: int
    replaces: int | None = None
    state: EngineState = EngineState.READING
    stats: RunStats | None = None
    has_text: bool = False
    abandoned: bool = False


class AnswerController:
    """Owns the answer in the making, which goes on in the background when another conversation is opened."""

    def __init__(self, parts: Parts, conversations: ConversationController) -> None:
        self._window = parts.window
        self._worker = parts.worker
        self._store = parts.store
        self._keeper = parts.keeper
        self._conversations = conversations
        self._growing: _Growing | None = None
        self._num_requests = 0

    @property
    def state(self) -> EngineState | None:
        """What the engine does for the answer in the making; None where there is none."""
        return self._growing.state if self._growing else None

    def submit(self, text: str) -> None:
        """Store the question and ask for its answer; where that cannot be, the text goes back to the composer."""
        chat = self._conversations
        if self._growing is not None:
            self._window.show_notice("One answer at a time: wait for the other one, or stop it.")
            self._window.restore_composer(text)
            return
        try:
            turn = self._store.begin_turn(chat.current_id, text, chat.mode, chat.depth)
        except StorageError as error:
            self._window.show_problem(error.problem)
            self._window.restore_composer(text)
            return
        if chat.current_id is None:
            chat.opened(turn)
        else:
            self._window.add_message(turn.question)
        self._window.begin_answer(turn.answer)
        self._ask(_Growing(self._next_id(), turn.conversation_id, turn.answer.id), turn.history)
        chat.refresh()

    def regenerate(self, answer_id: int) -> None:
        """Ask again for the last answer of the open conversation; the old one stays until the new one is whole."""
        conversation_id = self._conversations.current_id
        if self._growing is not None or conversation_id is None:
            self._window.show_notice("One answer at a time: wait for the other one, or stop it.")
            return
        try:
            views = self._store.messages(conversation_id)
            if not views or views[-1].id != answer_id:
                self._window.show_notice("Only the last answer can be given again.")
                return
            answer = self._store.begin_answer(conversation_id, replaces=answer_id)
        except StorageError as error:
            self._window.show_problem(error.problem)
            return
        self._conversations.show()
        self._ask(_Growing(self._next_id(), conversation_id, answer.id, replaces=answer_id), views[:-1])

    def stop(self) -> None:
        """Stop the answer in the making; what is there stays."""
        if self._growing is not None:
            self._worker.stop()

    def abandon(self, conversation_id: int) -> None:
        """Stop the answer in the making if it belongs to this conversation, which is about to be deleted."""
        if self._growing is not None and self._growing.conversation_id == conversation_id:
            self._growing.abandoned = True
            self._worker.stop()

    def close(self) -> None:
        """Store the answer in the making as interrupted: the app is closing."""
        growing = self._growing
        # One that was to replace another is left to the next start, which keeps both.
        if growing is not None and not growing.abandoned and growing.replaces is None:
            notice = "Interrupted: Paceline was closed in the middle of this answer."
            self._store.finish_answer(growing.answer_id, MessageState.INTERRUPTED, growing.stats, notice)
        self._growing = None

    def on_event(self, event: AnswerEvent) -> None:
        """Take what the engine says about an answer."""
        growing = self._growing
        if growing is None or event.request_id != growing.request_id:
            log.info("%s of an answer that is no longer awaited", type(event).__name__)
            return
        if isinstance(event, PrefillProgress):
            if self._is_shown(growing):
                self._window.show_prefill(event.done, event.total)
        elif isinstance(event, TextChunk):
            self._on_text(growing, event)
        elif isinstance(event, StatsUpdate):
            growing.stats = event.stats
            if self._is_shown(growing):
                self._window.show_stats(event.stats)
        else:
            self._on_end(growing, event)

    def _ask(self, growing: _Growing, views: tuple[MessageView, ...]) -> None:
        self._growing = growing
        chat = self._conversations
        request = chat_request(self._keeper.current, views, chat.mode, chat.depth, growing.request_id)
        self._worker.generate(request)

    def _on_text(self, growing: _Growing, event: TextChunk) -> None:
        growing.state = EngineState.ANSWERING
        if growing.abandoned:
            return
        growing.has_text = True
        self._store.append(growing.answer_id, event.text, event.spans)
        if self._is_shown(growing):
            self._window.append_text(event.text, event.spans)

    def _on_end(self, growing: _Growing, event: Finished | EngineFailed) -> None:
        self._growing = None
        if growing.abandoned:
            self._store.discard_answer(growing.answer_id)
        elif isinstance(event, EngineFailed):
            self._fail(growing, event.problem)
        elif growing.replaces is not None and not growing.has_text:
            self._give_back(growing)
        else:
            state = MessageState.STOPPED if event.reason is FinishReason.CANCELLED else MessageState.COMPLETE
            self._end(growing, state, event.stats, _NOTICES.get(event.reason, ""))

    def _end(self, growing: _Growing, state: MessageState, stats: RunStats | None, notice: str) -> None:
        view = self._store.finish_answer(growing.answer_id, state, stats, notice)
        if self._is_shown(growing):
            self._window.finish_answer(view)

    def _fail(self, growing: _Growing, problem: Problem) -> None:
        if growing.replaces is None:
            self._end(growing, MessageState.FAILED, growing.stats, problem.message)
        else:
            self._give_back(growing)
        self._window.show_problem(problem)

    def _give_back(self, growing: _Growing) -> None:
        """Drop an answer that was to replace another, which is back."""
        self._store.discard_answer(growing.answer_id)
        if self._is_shown(growing):
            self._conversations.show()

    def _is_shown(self, growing: _Growing) -> bool:
        return growing.conversation_id == self._conversations.current_id and not growing.abandoned

    def _next_id(self) -> int:
        self._num_requests += 1
        return self._num_requests
