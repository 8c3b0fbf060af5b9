"""Shows the use of the context in the window; handles its overflow, summaries and cached states."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from app.controllers.chat.conversations import ConversationController
from app.controllers.parts import Parts, PartsController
from app.core.domain.context import ContextParts, SummaryView, estimated_picture_tokens, estimated_tokens
from app.core.domain.messages import MessageState, MessageView
from app.core.domain.model_name import model_name
from app.core.domain.requests import Decode, picture_sizes, prompt_parts
from app.core.domain.settings.table import KEPT_CACHES, MIB
from app.core.storage.chats import summaries
from app.core.storage.chats.store import StoredTurn
from engine.records import (
    MIN_ANSWER_TOKENS,
    ChatRequest,
    EngineFailed,
    Finished,
    Message,
    RunStats,
    StatsUpdate,
    SummaryUpdate,
)
from engine.requests import SetStateLimit
from engine.session.summarising import with_summary
from ui.composer.context_meter import TEMPLATE_TOKENS_PER_MESSAGE, ContextMeter
from ui.text.language import translate
from ui.text.problem_words import in_language


@dataclass(frozen=True, slots=True)
class CondensedMessages:
    """Messages without a system prompt, each with the id of the last stored message that it contains.

    ``summary_at``: the last stored message that the summary covers; None without a summary.
    """

    messages: tuple[Message, ...]
    last_ids: tuple[int, ...]
    summary_at: int | None = None
    summary: str = ""


def condensed_messages(
    views: Sequence[MessageView], summaries: Mapping[int, str], decode: Decode | None = None
) -> CondensedMessages:
    """Replace the messages that the latest summary covers with the summary.

    ``summaries``: texts by the last message that each covers. Summaries of other branches are ignored.
    """
    parts = prompt_parts(views, decode)
    messages, ids = tuple(message for message, _ in parts), tuple(number for _, number in parts)
    for place in range(len(parts) - 2, -1, -1):
        if ids[place] in summaries and messages[place + 1].role == "user":
            text = summaries[ids[place]]
            return CondensedMessages(with_summary(messages, place + 1, text), ids[place + 1 :], ids[place], text)
    return CondensedMessages(messages, ids)


@dataclass(slots=True)
class _SummaryRequest:
    """A submitted request: the stored messages of its prompt, and the answer's id.

    ``writing``: the summary in progress: the last message that it covers, and its text so far.
    """

    request_id: int
    conversation_id: int
    last_ids: tuple[int, ...]
    answer_id: int
    writing: tuple[int, SummaryView] | None = None
    stats: RunStats | None = None  # of its answer so far


class ContextController(PartsController):
    """Updates the context meter in the header and the summary lines of the transcript."""

    def __init__(self, parts: Parts, conversations: ConversationController) -> None:
        super().__init__(parts)
        self._conversations = conversations
        self._summary_requests: dict[int, _SummaryRequest] = {}  # the last request of each conversation
        self._size, self._target = 0, ""
        self._system_prompt = ""
        self._shown_tools = ""
        self._refused: dict[int, int] = {}  # tokens of prompts that were too long, by answer id
        meter = ContextMeter(self._window.theme)
        self._window.header.add_indicator(meter)
        meter.clicked.connect(lambda: self._window.chat_settings.open_at("overflow"))
        self.meter = meter
        lines = self._window.transcript.summaries
        lines.undo_requested.connect(self.undo_summary)
        lines.skip_requested.connect(self.skip_summary)
        self._state.models_changed.connect(self._on_models)
        self._state.settings_changed.connect(self._on_settings)
        self._state.chat_settings_changed.connect(self._on_chat_changed)
        self._state.tools_changed.connect(self._on_chat_changed)
        self._state.chat_shown.connect(self.show)

    def start(self) -> None:
        self._worker.submit(SetStateLimit((self._state.settings.integer(KEPT_CACHES) or 0) * MIB))

    def _on_settings(self, changed: Collection[str]) -> None:
        if KEPT_CACHES in changed:
            self.start()

    def _on_models(self) -> None:
        target = self._state.models.loaded.target if self._state.models.loaded is not None else None
        now = (target.n_ctx, model_name(target)) if target is not None else (0, "")
        if now != (self._size, self._target):
            self._size, self._target = now
            self.show()

    def _on_chat_changed(self) -> None:
        held = self._state.chat.settings
        if held.text("system_prompt") != self._system_prompt or self._state.tools_text != self._shown_tools:
            self.show()

    def prepare(self, request: ChatRequest, turn: StoredTurn) -> ChatRequest:
        """Put a stored summary in place of the messages it covers, and set the conversation key."""
        conversation_id = turn.conversation_id
        stored = self._attempt(lambda: self._store.read(lambda db: summaries.of_conversation(db, conversation_id)))
        short = condensed_messages(turn.history, stored or {}, self._parts.decode)
        num_before = len(condensed_messages(turn.history, {}).messages)
        first = 1 if request.messages and request.messages[0].role == "system" else 0
        messages = (*request.messages[:first], *short.messages, *request.messages[first + num_before :])
        self._summary_requests[conversation_id] = _SummaryRequest(
            request.request_id, conversation_id, short.last_ids, turn.answer.id
        )
        if conversation_id == self._state.chat_id:
            self.meter.set_parts(replace(self.meter.parts, refused=0))
        return replace(request, messages=messages, conversation_id=conversation_id)

    def on_summary(self, event: SummaryUpdate) -> None:
        asked = self._summary_request(event.request_id)
        if asked is None:
            return
        asked.writing = None
        if event.failure:
            sentence = translate("ContextController", "The oldest messages could not be summarised: {why}")
            self._window.show_notice(sentence.format(why=in_language(event.failure)))
        elif 0 < event.num_messages <= len(asked.last_ids):
            message_id = asked.last_ids[event.num_messages - 1]
            if event.complete:
                self._attempt(lambda: self._store.write(lambda db: summaries.put(db, message_id, event.text)))
            else:
                asked.writing = message_id, SummaryView(event.text, True, event.num_messages, event.done, event.total)
        if asked.conversation_id == self._state.chat_id:
            self._show_lines(self._shown_messages())

    def skip_summary(self) -> None:
        asked = self._summary_requests.get(self._state.chat_id or 0)
        if asked is not None:
            self._worker.skip_summary(asked.request_id)

    def _summary_request(self, request_id: int) -> _SummaryRequest | None:
        return next((each for each in self._summary_requests.values() if each.request_id == request_id), None)

    def undo_summary(self, message_id: int) -> None:
        """Remove a summary, so that the messages themselves are sent again."""
        self._attempt(lambda: self._store.write(lambda db: summaries.remove(db, message_id)))
        self.show()

    def show(self) -> None:
        views = self._shown_messages()
        short = self._show_lines(views)
        system = self._system_prompt = self._state.chat.settings.text("system_prompt")
        self._shown_tools = self._state.tools_text
        if not self._size:
            self._set_parts(ContextParts())
            return
        last = views[-1] if views else None
        answer = last.text if last is not None and last.role == "assistant" else ""
        of_messages = [estimated_tokens(_text_of(one)) + TEMPLATE_TOKENS_PER_MESSAGE for one in short.messages]
        said = sum(of_messages)
        if self._parts.decode is not None:  # pictures that remain in the prompt after a summary
            ids = [view.id for view in views]
            rest = views[ids.index(short.summary_at) + 1 if short.summary_at is not None else 0 :]
            said += sum(estimated_picture_tokens(*size) for size in picture_sizes(rest))
        tokens = estimated_tokens(system + self._shown_tools), said, estimated_tokens(answer), self._size
        parts = ContextParts(*tokens, is_estimate=True, has_tools=bool(self._shown_tools))
        if last is not None and last.state is MessageState.FAILED and not answer:
            needed = self._refused.get(last.id, parts.used)
            if needed > self._size - MIN_ANSWER_TOKENS:  # this question is left out of the next prompt
                self._set_parts(replace(parts, conversation=said - sum(of_messages[-1:]), refused=needed))
                return
        shown, asked = self._window.transcript.last_answer(), self._summary_requests.get(self._state.chat_id or 0)
        stats = shown.view.stats if shown is not None and shown.view.target in ("", self._target) else None
        if self._state.answer is not None and asked is not None and asked.stats is not None:
            stats = asked.stats
            parts = replace(parts, last_answer=stats.tokens)
        self._set_parts(self._with_total(parts, stats.context_used if stats is not None else 0))

    def _set_parts(self, parts: ContextParts) -> None:
        self.meter.set_parts(parts)
        self._window.composer.set_context(parts.used, parts.size)

    def on_failed(self, event: EngineFailed) -> None:
        """Show how many tokens a question that was too long needs; discard an unfinished summary."""
        asked = self._summary_request(event.request_id)
        if asked is None:
            return
        was_writing, asked.writing = asked.writing is not None, None
        is_shown = asked.conversation_id == self._state.chat_id
        if was_writing and is_shown:
            self._show_lines(self._shown_messages())
        if event.tokens_needed:
            self._refused[asked.answer_id] = event.tokens_needed
            if is_shown:
                self.show()

    def on_stats(self, event: StatsUpdate | Finished) -> None:
        asked, stats = self._summary_request(event.request_id), event.stats
        if asked is None or not stats.context_size:
            return
        asked.stats = stats
        if asked.conversation_id == self._state.chat_id:
            parts = replace(self.meter.parts, last_answer=stats.tokens, size=stats.context_size)
            self._set_parts(self._with_total(parts, stats.context_used))

    @staticmethod
    def _with_total(parts: ContextParts, used: int) -> ContextParts:
        """Use the engine's total, if known: the conversation is ``used`` minus the other parts."""
        if not used:
            return parts
        return replace(parts, conversation=max(used - parts.system - parts.last_answer, 0), is_estimate=False)

    def _shown_messages(self) -> tuple[MessageView, ...]:
        conversation_id = self._state.chat_id
        if conversation_id is None:
            return ()
        views = self._attempt(lambda: self._store.history(conversation_id)) or ()
        return tuple(view for view in views if view.state is not MessageState.STREAMING)

    def _show_lines(self, views: tuple[MessageView, ...]) -> CondensedMessages:
        conversation_id = self._state.chat_id
        stored: dict[int, str] = {}
        if conversation_id is not None:
            read = self._attempt(lambda: self._store.read(lambda db: summaries.of_conversation(db, conversation_id)))
            stored = read or {}
        short = condensed_messages(views, stored)
        lines = {} if short.summary_at is None else {short.summary_at: SummaryView(short.summary)}
        asked = self._summary_requests.get(conversation_id or 0)
        if asked is not None and asked.writing is not None:
            message_id, written = asked.writing
            lines[message_id] = written
        self._window.transcript.summaries.set_views(lines)
        return short


def _text_of(message: Message) -> str:
    return "".join((message.content, *(f"{call.name}{call.arguments}" for call in message.tool_calls)))
