"""Runs answers, at most one per chat: from the submitted text to the stored answer."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from app.controllers.chat.context import ContextController
from app.controllers.chat.conversations import ConversationController
from app.controllers.chat.projects import ProjectController
from app.controllers.chat.tools import ToolController, ToolTurn
from app.controllers.models.models import NO_BUILTIN
from app.controllers.parts import Parts, PartsController
from app.controllers.state import ChatAnswer
from app.core.domain.engine_view import EngineState
from app.core.domain.engines import HOST_SEPARATOR
from app.core.domain.messages import MessageState, MessageView
from app.core.domain.projects import with_citations
from app.core.domain.requests import chat_request
from app.core.domain.seeds import SamplingRecord, continued_sampling, record_sampling
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.values import Settings
from app.core.domain.speed.pair_speed import answer_speed, credited_draft
from app.core.domain.sums import summed, used_draft
from app.core.domain.thinking import ThinkingTime
from app.core.paths import builtin_target
from app.core.storage.chats.answers import AnswerEnding, Generation
from app.core.storage.chats.store import AttachmentChanges, StoredTurn
from app.core.storage.pair_speeds import PairSpeeds
from app.core.tools.answer_parts import VisibleText
from app.core.tools.turn import MAX_UNREADABLE, LoopEnding, functions_of
from engine.records import (
    EngineFailed,
    Finished,
    FinishReason,
    Message,
    Mode,
    Overflow,
    PrefillProgress,
    Problem,
    RunStats,
    Source,
    StatsUpdate,
    TextChunk,
    TokenSpan,
)
from engine.requests import next_request_id
from engine.sentences import joined
from ui.text.language import Translator, mark, translate
from ui.text.problem_words import in_language
from ui.transcript.found_words import HitPieces

tr = Translator("AnswerController")

log = logging.getLogger(__name__)

AnswerEvent = PrefillProgress | TextChunk | StatsUpdate | Finished | EngineFailed

_UNPARSED_CALL_CHARS = 8  # held-back text of this length counts as a call: operators and brackets are shorter
_TRUNCATED = (FinishReason.LENGTH, FinishReason.CONTEXT)
NO_MODEL = Problem("No model is loaded", "A model is needed to answer.", "Open a GGUF file or start the quick demo.")
EMPTY_ANSWER = tr.mark("The model gave an empty answer. Ask again, or rephrase the question.")
ONE_AT_A_TIME = tr.mark("This chat is still writing an answer. Wait for it, or stop it.")
UNREADABLE = mark(
    "ToolController",
    "The model wrote {count} invalid tool calls in a row, so the answer ends here. Ask again, or try another model.",
)
LENGTH_NOTICE = tr.mark("Stopped at the maximum length set in the settings.")
LOOP_NOTICE = tr.mark("Stopped because the model repeated itself. A repeat penalty helps: see Chat settings.")
# How to continue when the context is full, by the setting for a full context.
CONTEXT_FULL = {
    Overflow.DROP: tr.mark("Stopped because the context is full. Continue leaves out the oldest messages."),
    Overflow.SUMMARISE: tr.mark("Stopped because the context is full. Continue summarises the oldest messages first."),
    Overflow.STOP: tr.mark(
        "Stopped because the context is full. To continue, have the oldest messages left out or summarised "
        "(at the context meter), or choose a larger context in the settings."
    ),
}
FULL_WITH_ONE_TURN = tr.mark(
    "Stopped: this question alone fills the context. To continue, choose a larger context in the settings."
)


@dataclass(slots=True)
class _StreamingAnswer:
    """An answer that is being generated.

    ``abandoned``: its chat was deleted; the answer is being stopped. ``settings`` and ``title`` are its chat's, which
    need not be open. ``instead_of``: the message of which it is another version. ``before``: the answer that it
    continues. ``values``: override the chat's settings. ``repeats``: the answer that its seed should reproduce.
    """

    request_id: int
    conversation_id: int
    answer_id: int
    settings: Settings
    title: str
    instead_of: int | None = None
    before: MessageView | None = None
    values: Mapping[str, SettingValue] = field(default_factory=dict)
    repeats: MessageView | None = None
    drawn: SamplingRecord | None = None
    mode: Mode = Mode.OFF
    state: EngineState = EngineState.READING
    progress: PrefillProgress | None = None
    stats: RunStats | None = None
    is_sent: bool = False  # the request was sent to the engine
    engine_url: str = ""  # the engine that got the request; empty for the local one
    has_begun: bool = False  # the engine has started the request
    has_text: bool = False
    has_words: bool = False  # text other than white space
    abandoned: bool = False
    thinking: ThinkingTime = field(default_factory=ThinkingTime)
    temperature: float = 0.0
    full: str = ""  # notice to show if the context fills up
    target: str = ""  # name of the model, known before the first token
    draft: str = ""  # name of the draft that was loaded when the answer began
    visible: VisibleText | None = None  # separates text from calls if the answer may call tools


class AnswerController(PartsController):
    """Manages running answers, at most one per chat; they continue in the background when another chat is opened."""

    def __init__(
        self,
        parts: Parts,
        conversations: ConversationController,
        context: ContextController,
        projects: ProjectController,
    ) -> None:
        super().__init__(parts)
        self._conversations, self._context, self._projects = conversations, context, projects
        self._speeds = PairSpeeds(parts.paths.pair_speeds_file)
        self._running: dict[int, _StreamingAnswer] = {}  # by request id, in the order of the requests
        self.tools = ToolController(parts, conversations, projects)
        self.tools.answer_requested.connect(self._request_next)
        self.tools.changed.connect(self._publish)
        self._left_out: dict[int, frozenset[int]] = {}  # by message: attachments that its next edit leaves out
        self._state.models_changed.connect(self._publish)
        self._state.chat_shown.connect(self._show)
        page = self._window.transcript
        self._window.composer.submitted.connect(self.submit)
        page.edited.connect(self.edit)
        page.regenerate_requested.connect(self.regenerate)
        page.regenerate_in_mode.connect(self.regenerate)
        page.continue_requested.connect(self.continue_answer)
        page.attachments_removed.connect(self._left_out.__setitem__)

    def _publish(self) -> None:
        answers = {
            each.conversation_id: ChatAnswer(each.state, not each.has_begun, self._titles_before(each), each.abandoned)
            for each in reversed(self._running.values())
        }
        # Chats whose turn runs a tool or asks the user.
        running = {chat: ChatAnswer(EngineState.ANSWERING) for chat in self.tools.turns}
        self._state.set_answers({**running, **answers})

    def submit(self, text: str) -> None:
        """Store the question and request its answer; if that fails, the text returns to the composer.

        The request is sent before the page is drawn, so that prompt processing overlaps with drawing.
        """
        if not self._state.models.usable:
            self._window.show_problem(NO_MODEL if builtin_target().exists() else NO_BUILTIN)
            self._window.restore_composer(text)
            return
        chat, conversations = self._state.chat, self._conversations
        found = self._projects.passages_for(text)
        changes = AttachmentChanges(found=found)
        turn = self._begin(lambda: self._store.begin_turn(chat.id, text, None, changes))
        if turn is None:
            self._window.restore_composer(text)
            return
        if chat.id is None:
            conversations.on_stored(turn.conversation_id)
        self._request(self._new_answer(turn), turn, chat.mode)
        if chat.id is None:
            conversations.show_first(turn)
        else:
            self._window.add_message(turn.question)
            conversations.unsent.sent(turn.conversation_id)
        self._window.begin_answer(replace(turn.answer, cites=bool(found)))
        self._show()
        self._publish()
        conversations.refresh()

    def edit(self, message_id: int, text: str) -> None:
        """Store the edited question as another version of the message and request its answer."""
        chat, without = self._state.chat, self._left_out.pop(message_id, frozenset())
        changes = AttachmentChanges(without, self._projects.passages_for(text))
        turn = self._begin(lambda: self._store.begin_turn(chat.id, text, message_id, changes))
        if turn is not None:
            self._conversations.edits.sent(message_id)
            self._conversations.show()
            self._request_shown(self._new_answer(turn), turn, chat.mode)
            self._conversations.refresh()

    def regenerate(
        self,
        answer_id: int,
        mode: Mode | None = None,
        *,
        values: Mapping[str, SettingValue] | None = None,
        repeats: MessageView | None = None,
    ) -> None:
        """Generate another version of an answer in the open chat; the old one stays.

        ``mode`` and ``values`` override the chat's settings. ``repeats``: the answer that the seed should reproduce.
        """
        chat, chats = self._state.chat, self._conversations
        conversation_id = chat.id
        if conversation_id is None:
            return
        turn = self._begin(lambda: self._store.begin_answer(conversation_id, answer_id))
        if turn is not None:
            chats.show()
            streaming = self._new_answer(turn)
            streaming.instead_of, streaming.values, streaming.repeats = answer_id, values or {}, repeats
            self._request_shown(streaming, turn, chat.mode if mode is None else chats.runnable(mode))

    def continue_answer(self, answer_id: int) -> None:
        conversation_id = self._state.chat_id
        if conversation_id is None:
            return
        views = self._attempt(lambda: self._store.messages(conversation_id)) or ()
        before = views[-1] if views and views[-1].id == answer_id else None
        if before is None or not before.can_continue:
            self._window.show_notice(tr("Only the last answer can be continued, if it was cut off."))
            return
        turn = self._begin(lambda: self._store.continue_answer(conversation_id, answer_id))
        if turn is not None:
            self._conversations.show()
            streaming = self._new_answer(turn)
            streaming.before = before
            self._request_shown(streaming, turn, self._state.chat.mode)

    def stop(self, conversation_id: int) -> None:
        streaming = self._answer_in(conversation_id)
        if streaming is None:
            self.tools.stop(conversation_id)
            return
        waits = self.tools.stop_waiting(conversation_id) or bool(self._titles_before(streaming))
        self._worker.cancel(streaming.request_id)
        if waits:  # it is queued: end it now, not after the answers before it
            self._on_end(streaming, Finished(streaming.request_id, FinishReason.CANCELLED, RunStats()))
            self._publish()

    def abandon(self, conversation_id: int) -> None:
        """Stop the answer of a conversation that is about to be deleted for good."""
        if (streaming := self._answer_in(conversation_id)) is not None:
            streaming.abandoned = True
            self._publish()
        self.stop(conversation_id)

    def close(self) -> None:
        """Store running answers as interrupted, as the app closes."""
        for streaming in self._running.values():
            if not streaming.abandoned:
                ending = self._with_counters(streaming, AnswerEnding(MessageState.INTERRUPTED, streaming.stats))
                self._store.finish_answer(streaming.answer_id, ending)
        self._running.clear()
        self.tools.close()

    def _show(self) -> None:
        streaming = self._answer_in(self._state.chat_id)
        if streaming is None:
            return
        if not streaming.is_sent:
            self._window.transcript.show_servers_starting()
        if streaming.progress is not None:
            self._window.transcript.show_prefill(streaming.progress.done, streaming.progress.total)
        if streaming.stats is not None:
            self._window.stats.now.show_stats(streaming.stats)

    def on_event(self, event: AnswerEvent) -> None:
        streaming = self._running.get(event.request_id)
        if streaming is None:
            log.info("%s of an answer that is no longer awaited", type(event).__name__)
            return
        streaming.has_begun = True
        if isinstance(event, PrefillProgress):
            streaming.progress = event
            if self._is_shown(streaming):
                self._window.transcript.show_prefill(event.done, event.total)
                self._window.speech.reading()
        elif isinstance(event, TextChunk):
            self._on_text(streaming, event)
        elif isinstance(event, StatsUpdate):
            streaming.stats = event.stats
            if self._is_shown(streaming):
                self._window.stats.now.show_stats(event.stats)
        else:
            self._on_end(streaming, event)
            if isinstance(event, Finished):
                self._state.model_answered.emit()
        self._publish()

    def _answer_in(self, conversation_id: int | None) -> _StreamingAnswer | None:
        return next((each for each in self._running.values() if each.conversation_id == conversation_id), None)

    def _titles_before(self, streaming: _StreamingAnswer) -> tuple[str, ...]:
        """Titles of the chats whose answers the engine generates first; empty if this one is next."""
        numbers = list(self._running)
        asked = (self._running[number] for number in numbers[: numbers.index(streaming.request_id)])
        before = [each.title for each in asked if each.is_sent and each.engine_url == streaming.engine_url]
        waits = streaming.is_sent and not streaming.has_begun and len(before) >= self._state.models.num_parallel
        return tuple(before) if waits else ()

    def _new_answer(self, turn: StoredTurn) -> _StreamingAnswer:
        settings = self._state.chat.settings
        return _StreamingAnswer(next_request_id(), turn.conversation_id, turn.answer.id, settings, turn.title)

    def _begin(self, store_it: Callable[[], StoredTurn]) -> StoredTurn | None:
        """Call ``store_it``; None if the open chat has a running answer or storing fails."""
        if self._state.answer is not None:
            self._window.show_notice(tr(ONE_AT_A_TIME))
            return None
        if self._state.is_racing:
            self._window.show_notice(tr("A race is using the model. Wait until it is over, or stop it."))
            return None
        turn = self._attempt(store_it)
        if turn is not None:
            self._window.problem_banner.hide()
        return turn

    def _request_next(self, tool_turn: ToolTurn, after: int) -> None:
        conversation_id = tool_turn.conversation_id
        turn = self._attempt(lambda: self._store.begin_next(conversation_id, after))
        if turn is None:
            self.tools.stop(conversation_id)
            return
        if conversation_id == self._state.chat_id:
            self._window.problem_banner.hide()
            self._window.begin_answer(with_citations((*turn.history, turn.answer))[-1])
        streaming = _StreamingAnswer(next_request_id(), conversation_id, turn.answer.id, tool_turn.settings, turn.title)
        streaming.values = tool_turn.values
        self._request_shown(streaming, turn, tool_turn.mode, tool_turn)

    def _request_shown(
        self, streaming: _StreamingAnswer, turn: StoredTurn, mode: Mode, tools: ToolTurn | None = None
    ) -> None:
        """Request an answer whose card is on the page."""
        self._request(streaming, turn, mode, tools)
        self._show()
        self._publish()

    def _request(
        self, streaming: _StreamingAnswer, turn: StoredTurn, mode: Mode, tools: ToolTurn | None = None
    ) -> None:
        """Submit to the engine now, or as soon as the tool servers have started."""
        self._running[streaming.request_id] = streaming
        streaming.mode = mode

        def send_late() -> None:
            self._send(streaming, turn)
            self._publish()

        if tools is not None or not self.tools.wait_for_servers(turn.conversation_id, streaming.settings, send_late):
            self._send(streaming, turn, tools)

    def _send(self, streaming: _StreamingAnswer, turn: StoredTurn, tools: ToolTurn | None = None) -> None:
        mode, settings = streaming.mode, streaming.settings
        self._running[streaming.request_id] = self._running.pop(streaming.request_id)  # move it to the end
        tools = tools or self.tools.begin(turn.conversation_id, mode, settings)
        self._store_models(streaming)
        before = streaming.before
        streaming.thinking = ThinkingTime(turn.answer.text, before.thinking_ms if before else None)
        drawn = before.drawn if before is not None else None
        # Continue an answer with its seed if its chat has none.
        seed = {"seed": drawn.seed} if drawn is not None and settings.integer("seed") is None else {}
        settings = replace(settings, values={**settings.values, **seed, **streaming.values})
        request = chat_request(settings, turn.history, mode, streaming.request_id, self._parts.decode)
        begun = (Message("assistant", turn.answer.text),) if turn.answer.text else ()
        request = replace(request, messages=(*request.messages, *begun))
        if tools is not None:
            tools.values = streaming.values
            streaming.visible = VisibleText(tools.definitions, tools.loop.tool_format, turn.answer.text)
            functions, holds = functions_of(tools.definitions), bool(settings.values["hold_calls"])
            request = replace(request, tools=functions, constrains_calls=holds)
        request = self._context.prepare(request, turn)
        # An answer that is continued with other settings has no record of its sampling.
        now = record_sampling(settings)
        streaming.drawn = now if before is None else continued_sampling(drawn, now)
        self._store.set_sampling(streaming.answer_id, streaming.drawn)
        has_one_turn = sum(message.role == "user" for message in request.messages) < 2
        streaming.full = FULL_WITH_ONE_TURN if has_one_turn else CONTEXT_FULL[request.overflow]
        streaming.temperature = request.sampling.temperature
        streaming.is_sent = True
        streaming.engine_url = self._state.models.engine_url
        self._worker.submit(request)
        if not self._store.is_persistent:  # show again that this chat is not saved
            self._window.show_notice(tr("Chats cannot be saved. This chat is kept only until Paceline is closed."))

    def _on_text(self, streaming: _StreamingAnswer, event: TextChunk) -> None:
        streaming.state = EngineState.ANSWERING
        if streaming.abandoned:
            return
        text, spans = event.text, event.spans
        if not streaming.has_text:
            streaming.has_text = True
            self._store_models(streaming)
            tag = event.reasoning_start_tag
            if tag and streaming.before is None and not text.lstrip().startswith(tag.strip()):
                text, spans = tag + text, (TokenSpan(len(tag), Source.TARGET), *spans)
        if streaming.visible is not None:
            text, spans = streaming.visible.feed(text, spans)
            if not text and streaming.visible.num_held >= _UNPARSED_CALL_CHARS and self._is_shown(streaming):
                self._window.transcript.show_calling()
        self._show_text(streaming, text, spans)

    def _show_text(self, streaming: _StreamingAnswer, text: str, spans: tuple[TokenSpan, ...]) -> None:
        if not text:
            return
        streaming.has_words = streaming.has_words or not text.isspace()
        streaming.thinking.feed(text)
        self._store.append(streaming.answer_id, text, spans, streaming.thinking.thinking_ms)
        if self._is_shown(streaming):
            self._window.transcript.append_text(text, spans)
            self._window.speech.add_text(text)

    def _on_end(self, streaming: _StreamingAnswer, event: Finished | EngineFailed) -> None:
        if isinstance(event, Finished) and self._end_with_calls(streaming, event):
            return
        del self._running[streaming.request_id]
        self.tools.drop_turn(streaming.conversation_id)
        if streaming.abandoned:
            self._store.discard_answer(streaming.answer_id)
        elif isinstance(event, EngineFailed):
            self._fail(streaming, event)
        elif streaming.has_text or (streaming.instead_of is None and streaming.before is None):
            state = MessageState.STOPPED if event.reason is FinishReason.CANCELLED else MessageState.COMPLETE
            cut = event.reason in _TRUNCATED
            is_wordless = state is MessageState.COMPLETE and not (cut or streaming.has_words or streaming.before)
            notice = tr(EMPTY_ANSWER) if is_wordless else _notice(event, streaming.full)
            if streaming.repeats is not None:
                written = self._store.unwritten(streaming.answer_id)
                given = MessageView(0, "assistant", written.text if written is not None else "", state, cut=cut)
                notice = f"{repeat_notice(streaming.repeats, given)} {notice}".strip()
            self._end(streaming, AnswerEnding(state, event.stats, notice, cut=cut))
        else:
            self._restore(streaming)

    def _end_with_calls(self, streaming: _StreamingAnswer, event: Finished) -> bool:
        """Finish an answer with tool calls and store them; False if it has no calls."""
        visible, turn = streaming.visible, self.tools.turns.get(streaming.conversation_id)
        if visible is None or turn is None or streaming.abandoned or event.reason is FinishReason.CANCELLED:
            return False
        said, calls = self.tools.calls_of(turn, visible.raw, is_cut=event.reason in _TRUNCATED)
        text, spans = (visible.rest_of(said), ()) if calls else visible.rest()
        # Text without spans is attributed to the target.
        self._show_text(streaming, text, spans or (TokenSpan(len(text), Source.TARGET),))
        if not calls:
            return False
        answer_id, conversation_id = streaming.answer_id, streaming.conversation_id
        views = self._attempt(lambda: self._store.calls.begin(conversation_id, answer_id, calls))
        if views is None:
            return False
        del self._running[streaming.request_id]
        cut = event.reason in _TRUNCATED
        notice = _notice(event, streaming.full)
        if turn.loop.next_step is LoopEnding.UNREADABLE:
            notice = translate("ToolController", UNREADABLE).format(count=MAX_UNREADABLE)
        self._end(streaming, AnswerEnding(MessageState.COMPLETE, event.stats, notice, cut=cut))
        self.tools.run_calls(turn, views)
        return True

    def _end(self, streaming: _StreamingAnswer, ending: AnswerEnding) -> None:
        view = self._store.finish_answer(streaming.answer_id, self._with_counters(streaming, ending))
        if self._is_shown(streaming):
            target = view.target or streaming.target
            self._window.finish_answer(replace(view, target=target, drawn=streaming.drawn))
        if HOST_SEPARATOR in self._state.models.names[0]:
            self._conversations.refresh()  # the list marks chats whose text was sent to a remote server
        self._state.answer_ended.emit(streaming.conversation_id)

    def _fail(self, streaming: _StreamingAnswer, event: EngineFailed) -> None:
        problem, state = event.problem, MessageState.INTERRUPTED if event.engine_ended else MessageState.FAILED
        is_reported = event.engine_ended  # `ModelController` reports it and reloads the models
        if streaming.has_text or (streaming.instead_of is None and streaming.before is None):
            words = problem.message if is_reported else joined([problem.message, problem.advice])
            is_reported = is_reported or self._is_shown(streaming)
            self._end(streaming, AnswerEnding(state, streaming.stats, in_language(words)))
        else:
            self._restore(streaming)
        if not is_reported:
            self._window.show_problem(problem, of_chat=True)

    def _restore(self, streaming: _StreamingAnswer) -> None:
        before = streaming.before
        if before is None:
            self._store.discard_answer(streaming.answer_id)
        else:
            ending = AnswerEnding(
                before.state, before.stats, before.notice, cut=before.cut, thinking_ms=before.thinking_ms
            )
            self._store.finish_answer(streaming.answer_id, ending)
        if self._is_shown(streaming):
            self._conversations.show()

    def _with_counters(self, streaming: _StreamingAnswer, ending: AnswerEnding) -> AnswerEnding:
        """Add this run's counters to the totals, and to the counters of the answer that it continues."""
        stats, before = ending.stats, streaming.before
        ending = replace(ending, thinking_ms=streaming.thinking.thinking_ms)
        if stats is None:
            return ending if before is None else replace(ending, stats=before.stats)
        # Use the models that the answer began with: after a crash of the engine none is loaded.
        models = streaming.target, used_draft(stats.mode, streaming.draft)
        run = Generation(*models, stats, is_continuation=before is not None)
        self._record_speed(run, streaming.temperature)
        return replace(ending, stats=stats if before is None else summed(before.stats, stats), run=run)

    def _record_speed(self, run: Generation, temperature: float) -> None:
        """Save the statistics of a run with a draft or n-grams, on the storage thread."""
        if run.stats.mode is Mode.OFF or not run.target or run.stats.looped:
            return
        speed = answer_speed(run.stats, temperature, time.time())
        draft = credited_draft(run.stats, run.draft)
        self._store.run_on_writer_thread(lambda: self._speeds.add_answer(run.target, draft, speed))

    def _store_models(self, streaming: _StreamingAnswer) -> None:
        """Record the loaded models when an answer is requested, and again when it starts: they may have changed.

        A continued answer keeps its models until it starts.
        """
        if streaming.before is not None and not streaming.has_text:
            streaming.target = streaming.before.target
            return
        streaming.target, streaming.draft = self._state.models.names
        draft = used_draft(streaming.mode, streaming.draft)
        self._store.set_models(streaming.answer_id, streaming.target, draft)

    def _is_shown(self, streaming: _StreamingAnswer) -> bool:
        return streaming.conversation_id == self._state.chat_id and not streaming.abandoned


def _notice(event: Finished, full: str) -> str:
    """A notice for the user: messages that the model did not see, or why the answer ended."""
    count = event.stats.left_out
    parts = []
    if count:
        parts.append(tr("The context is full: the %n oldest messages were left out.", None, count))
    waiting = event.stats.unanswered
    if waiting:
        parts.append(tr("The context is full: %n earlier questions without an answer were left out.", None, waiting))
    if event.reason is FinishReason.LENGTH:
        parts.append(tr(LENGTH_NOTICE))
    elif event.reason is FinishReason.CONTEXT:
        parts.append(tr(full))
    elif event.reason is FinishReason.LOOP:
        parts.append(tr(LOOP_NOTICE))
    return " ".join(parts)


SAME = mark("Repeat", "Seed {seed} gave the same answer again.")
SAME_SO_FAR = mark("Repeat", "Seed {seed} gave the same text, up to the end of the shorter answer.")
OTHER = mark(
    "Repeat",
    "Seed {seed} gave another answer than before: the model, the tools or the messages before it have changed, or this "
    "model does not repeat answers exactly.",
)


def repeat_notice(before: MessageView, after: MessageView) -> str:
    """A sentence: whether an answer equals the one that its seed should reproduce; empty without a seed."""
    seed = before.drawn.seed if before.drawn is not None else None
    one, other = sorted((before, after), key=lambda view: len(view.text))
    is_begun = one.cut or one.state is not MessageState.COMPLETE
    found = SAME_SO_FAR if is_begun and other.text.startswith(one.text.rstrip()) else OTHER
    return "" if seed is None else translate("Repeat", SAME if before.text == after.text else found).format(seed=seed)


EDITED = mark("BranchController", "Edited by you.")


class VersionController(PartsController):
    """Switches versions in the open chat and regenerates answers by seed."""

    def __init__(self, parts: Parts, conversations: ConversationController, answers: AnswerController) -> None:
        super().__init__(parts)
        self._conversations, self._answers = conversations, answers
        page = self._window.transcript
        page.version_requested.connect(self.show_version)
        page.branch_requested.connect(self.branch_off)
        page.answer_edited.connect(self.edit_answer)
        page.repeat_requested.connect(self.repeat)
        self._window.sidebar.results.hit_chosen.connect(self.open_at)

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

    def repeat(self, answer_id: int) -> None:
        """Generate an answer again as another version, with its seed and settings."""
        conversation_id = self._state.chat_id
        views = self._attempt(lambda: self._store.messages(conversation_id)) if conversation_id is not None else None
        view = next((each for each in views or () if each.id == answer_id), None)
        if view is not None and view.drawn is not None:
            self._answers.regenerate(answer_id, values=view.drawn.values, repeats=view)
