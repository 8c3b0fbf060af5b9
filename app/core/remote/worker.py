"""The thread for remote servers. A load checks that the server has the model; an answer is streamed.

Its events are the same as the local engine's, so that receivers need not distinguish them.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from app.core.domain.engines import KIND_NAMES, RemoteModel, ServerRecord, split_remote
from app.core.remote.answer import RemoteAnswer
from app.core.remote.client import RemoteClient
from app.core.remote.detection import ReasoningMode, reasoning_modes
from app.core.remote.errors import ContextExceededError, ModelNotOfferedError, RemoteError
from app.core.remote.server_list import RemoteServerList
from engine.errors import LoadCancelledError, PacelineError
from engine.prompt.overflow import TrimmedMessages, without_oldest, without_unanswered
from engine.records import (
    FROM_MODEL,
    AnswerEvent,
    ChatRequest,
    EngineFailed,
    EngineReady,
    Finished,
    FinishReason,
    LoadRequest,
    Message,
    Mode,
    ModelInfo,
    Overflow,
    Problem,
    RunStats,
    StatsUpdate,
    TextChunk,
)
from engine.request_queue import QueuedRequest, RequestQueue
from engine.requests import OnEvent, Request
from engine.sentences import i18n
from engine.session.summarising import CONTEXT_DIVISOR

log = logging.getLogger(__name__)

UNEXPECTED = Problem(
    "Something went wrong with the remote server",
    "An unexpected error stopped this step; the log has the details.",
    "Try again; if it happens again, restart Paceline.",
)
DECIDED_BY_SERVER = i18n("The server decides how it drafts; its card under Models, Remote servers shows the details.")


@dataclass(frozen=True, slots=True)
class _SelectedModel:
    record: ServerRecord
    model: RemoteModel
    modes: tuple[ReasoningMode, ...] = ()


class RemoteWorker:
    """Implements `engine.requests.Engine` for loads and answers. Runs one answer at a time, in order."""

    def __init__(self, on_event: OnEvent, open_engines: Callable[[], RemoteServerList]) -> None:
        """``open_engines`` returns the list of servers; it is called on the worker's thread."""
        self._on_event = on_event
        self._open_engines = open_engines
        self._queue = RequestQueue(lambda _request: self._abort())
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._client: RemoteClient | None = None  # the client of the running request
        self._selected: _SelectedModel | None = None

    def start(self) -> None:
        """Does nothing: the thread starts with the first request, since most users have no remote server."""

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """Queue a request. A load selects a model of a server."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="remote engine", daemon=True)
                self._thread.start()
        self._queue.put(request, on_event or self._on_event)

    def cancel(self, number: int) -> None:
        self._queue.cancel(number)

    def skip_summary(self, number: int) -> None: ...

    def close(self, timeout_s: float) -> bool:
        """End the thread; False if it does not end within ``timeout_s`` seconds."""
        self._queue.close()
        thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_s)
        return not thread.is_alive()

    def _abort(self) -> None:
        client = self._client
        if client is not None:
            client.abort()

    # ---- on its thread ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while (queued := self._queue.take()) is not None:
            try:
                if isinstance(queued.request, ChatRequest):
                    self._answer(queued, queued.request)
                else:
                    assert isinstance(queued.request, LoadRequest)  # noqa: S101  (nothing else comes here)
                    self._load(queued, queued.request)
            except PacelineError as error:
                was_cancelled = isinstance(error, LoadCancelledError)
                queued.on_event(EngineFailed(error.problem, queued.number, was_cancelled=was_cancelled))
            except Exception:  # the thread must survive, and the error must be reported
                log.exception("unexpected error with an engine")
                queued.on_event(EngineFailed(UNEXPECTED, queued.number))
            finally:
                self._client = None
                self._queue.remove(queued)

    def _begin(self, queued: QueuedRequest, record: ServerRecord, engines: RemoteServerList) -> RemoteClient:
        client = self._client = engines.client(record)
        if queued.is_cancelled:
            client.abort()
        return client

    def _load(self, queued: QueuedRequest, request: LoadRequest) -> None:
        """Check that the server has the model.

        Raises:
            RemoteError: the server lacks the model or is unreachable.
            LoadCancelledError: the load was cancelled.
        """
        url, name = split_remote(request.target)
        engines = self._open_engines()
        try:
            if queued.is_cancelled:
                raise LoadCancelledError(i18n("Loading {path} was cancelled.", path=name))
            client = self._begin(queued, engines.find(url), engines)
            record = engines.refresh(url, client)
        except RemoteError:
            if queued.is_cancelled:
                raise LoadCancelledError(i18n("Loading {path} was cancelled.", path=name)) from None
            raise
        model = next((model for model in record.facts.models if model.name == name), None)
        if model is None:
            raise ModelNotOfferedError(i18n("{host} does not offer the model.", host=record.host))
        modes = reasoning_modes(client, record.facts.kind, model.name)
        self._selected = _SelectedModel(record, model, modes)
        unavailable: dict[Mode, str] = {mode: DECIDED_BY_SERVER for mode in Mode if mode is not Mode.OFF}
        info = ModelInfo(
            path=request.target,
            name=model.title,
            architecture=record.facts.title,
            num_params=0,  # sizes are unknown
            size_bytes=0,
            n_vocab=0,
            n_ctx=model.n_ctx,
            n_ctx_train=model.n_ctx,
            threads=0,
            gpu_layers=0,
            template_name=FROM_MODEL,
            engine_url=record.url,
            inexact_reason=i18n("The same question may get another answer: that depends on the remote server."),
            reasoning_start_tag=modes[0].option.reasoning_start_tag if modes else "",
            thinking=tuple(mode.option for mode in modes),
            has_vision=model.has_vision,
        )
        queued.on_event(EngineReady(info, unavailable=unavailable, request_id=queued.number))

    def _answer(self, queued: QueuedRequest, request: ChatRequest) -> None:
        """Run an answer.

        Raises:
            RemoteError: it failed, or broke off.
        """
        selected = self._selected
        if selected is None or queued.is_cancelled:
            queued.on_event(Finished(request.request_id, FinishReason.CANCELLED, RunStats()))
            return
        client = self._begin(queued, selected.record, self._open_engines())
        model, kind = selected.model, selected.record.facts.kind
        usual = [ReasoningMode(mode.option, {}) for mode in selected.modes[:1]]
        mode = next((mode for mode in selected.modes if mode.option.name == request.thinking), next(iter(usual), None))

        def answering(fitting: ChatRequest) -> RemoteAnswer:
            return RemoteAnswer(client, fitting, model.name, kind, model.n_ctx, mode)

        log.info("asking %s", KIND_NAMES[kind])
        for event in FittingAnswer(answering, request, model.n_ctx).events(lambda: queued.is_cancelled):
            queued.on_event(event)


CHARS_PER_TOKEN = 3.0  # low for English, so that enough is omitted
MIN_ANSWER_TOKENS = 32  # minimum number of tokens for the answer
MAX_TRIES = 8
_TEMPLATE_CHARS = 8  # characters that a template adds to a message
_PICTURE_CHARS = 1_500  # estimate for a picture, in characters; models use from 64 tokens to some thousands


class FittingAnswer:
    """The answer to a request. A request that exceeds the server's context is shortened if its settings allow it.

    ``answering`` makes the answer to a request. ``n_ctx``: the server's context size; 0 if unknown.
    """

    def __init__(self, answering: Callable[[ChatRequest], RemoteAnswer], request: ChatRequest, n_ctx: int = 0) -> None:
        self._answering, self._request, self._n_ctx = answering, request, n_ctx
        self._left_out = self._unanswered = 0

    def events(self, should_stop: Callable[[], bool]) -> Iterator[AnswerEvent]:
        """Run the answer.

        Raises:
            RemoteError: see `app.core.remote.answer.RemoteAnswer.events`.
        """
        request, shorter = self._request, None
        for _try in range(MAX_TRIES):
            begun = False
            try:
                for event in self._answering(request).events(should_stop):
                    begun = begun or isinstance(event, TextChunk)
                    yield self._with_notice(event)
            except ContextExceededError:
                if begun or should_stop():
                    raise
                if request.max_tokens is not None:  # some servers add max_tokens to the prompt's tokens
                    request = replace(request, max_tokens=None)
                    continue
                shorter = shorter or self._shorter(request)
                kept = next(shorter, None)
                if kept is None:
                    raise
                request = replace(request, messages=kept.messages)
            else:
                return
        raise ContextExceededError("The conversation does not fit the remote server's context.")

    def _with_notice(self, event: AnswerEvent) -> AnswerEvent:
        """The event with a notice about omitted messages."""
        if not isinstance(event, StatsUpdate | Finished):
            return event
        stats = replace(event.stats, left_out=self._left_out, unanswered=self._unanswered)
        return replace(event, stats=stats)

    # ---- what may go -----------------------------------------------------------------------------------------------

    def _shorter(self, request: ChatRequest) -> Iterator[TrimmedMessages]:
        """Yield shorter conversations that the request's settings allow, longest first."""
        measure = _TokenEstimate(request.messages, self._n_ctx)
        capacity = measure.n_ctx - max(MIN_ANSWER_TOKENS, measure.n_ctx // CONTEXT_DIVISOR)
        if request.raw_prompt is not None or request.continues_text or not request.messages:
            return
        answerable = without_unanswered(request.messages)
        self._unanswered = answerable.num_left_out
        if answerable.num_left_out and measure.total(answerable.messages) <= capacity:
            yield answerable
        if request.overflow is Overflow.STOP:
            return
        found = without_oldest(answerable.messages, measure.count, measure.n_ctx)
        for place, kept in enumerate(found):
            if measure.total(kept.messages) <= capacity or place == len(found) - 1:
                self._left_out = kept.num_left_out
                yield kept


class _TokenEstimate:
    """Estimates tokens of messages that are too long together for a context of ``n_ctx`` tokens (0 if unknown)."""

    def __init__(self, messages: Sequence[Message], n_ctx: int) -> None:
        chars = max(sum(map(_chars, messages)), 1)
        num_tokens = max(ceil(chars / CHARS_PER_TOKEN), n_ctx + 1)
        self.n_ctx = n_ctx or num_tokens
        self._per_char = num_tokens / chars

    def count(self, message: Message) -> int:
        return ceil(_chars(message) * self._per_char)

    def total(self, messages: Sequence[Message]) -> int:
        return sum(map(self.count, messages))


def _chars(message: Message) -> int:
    return len(message.content) + _TEMPLATE_CHARS + _PICTURE_CHARS * len(message.pictures)
