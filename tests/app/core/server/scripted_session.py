"""A session whose answers and timing are controlled by the test, and the server application around it."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from starlette.testclient import TestClient

from app.core.server.access import AllowedHosts
from app.core.server.application import make_application
from app.core.server.embeddings import EmbeddingSource
from app.core.server.library import LoadableModel, ModelSwitch
from app.core.server.protocol import ServedModel
from app.core.server.scheduler import Scheduler
from engine.errors import PromptError
from engine.records import (
    ChatRequest,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Mode,
    ModelInfo,
    RunStats,
    Source,
    TextChunk,
    TokenSpan,
)
from engine.requests import Engine
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.app.core.server.sharing_engine import SharingEngine

KEY = "the-key-of-these-tests"
N_CTX = 1000
PATIENCE_S = 60.0
CHAT = "/v1/chat/completions"
HELLO: dict[str, object] = {"model": "tiny", "messages": [{"role": "user", "content": "Hello"}]}
STATS = RunStats(
    mode=Mode.AUTO,
    prompt_tokens=10,
    prompt_cached_tokens=4,
    prompt_s=0.5,
    tokens=9,
    passes=3,
    proposed=8,
    accepted=6,
    provenance={Source.NGRAM: 2, Source.DRAFT: 4, Source.RECOVERED: 3},
    decode_s=2.0,
    decisions=("auto at depth 3",),
)


def info(name: str) -> ModelInfo:
    return ModelInfo(
        path=str(Path("models") / f"{name}.gguf"),
        name=name,
        architecture="llama",
        num_params=1000,
        size_bytes=2000,
        n_vocab=100,
        n_ctx=N_CTX,
        n_ctx_train=N_CTX,
        threads=1,
        gpu_layers=0,
        template_name="from the model",
    )


def served(**unavailable: str) -> ServedModel:
    ready = EngineReady(info("tiny"), info("tinier"), {Mode(word): reason for word, reason in unavailable.items()})
    return ServedModel("tiny", ready, ChatRequest(mode=Mode.AUTO))


class ScriptedInterrupt:
    def __init__(self) -> None:
        self.event = threading.Event()

    def set(self) -> None:
        self.event.set()

    def clear(self) -> None:
        self.event.clear()


class NoStates:
    """A state cache that is always empty."""

    def set_limit(self, disk_bytes: int) -> None: ...

    def forget(self, owner: int) -> None: ...

    def forget_external(self) -> None: ...


class ScriptedPrompts:
    """A tokenizer whose tokens are bytes."""

    def text_of(self, request: ChatRequest) -> str:
        return "".join(f"<{message.role}>{message.content}" for message in request.messages)

    def tokens_of(self, text: str, special: bool, add_bos: bool) -> list[int]:
        """Each byte is a token; 1 is the BOS token. With ``special``, "<s>" is the BOS token, too."""
        pieces = text.encode().split(b"<s>") if special else [text.encode()]
        return [1, *b"\1".join(pieces)] if add_bos else [*b"\1".join(pieces)]

    def bytes_of(self, ids: Sequence[int]) -> list[bytes]:
        return [b"<s>" if one == 1 else bytes([one]) for one in ids]


class ScriptedSession:
    """Answers each request with ``pieces``; ``gate`` releases each piece, and a stop takes effect between pieces.

    ``echo``: the answer repeats the question, one token per character. The loaded model reports ``parallel`` as its
    number of parallel answers.
    """

    def __init__(self, pieces: Iterable[str] = ("Good ", "day"), *, echo: bool = False, parallel: int = 1) -> None:
        self.pieces = pieces
        self.echo = echo
        self.parallel = parallel
        self.gate = threading.Event()
        self.gate.set()
        self.one_more = threading.Semaphore(0)
        self.begun = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)
        self.requests: list[ChatRequest] = []
        self.reasons: list[FinishReason] = []
        self.failure: Exception | None = None
        self.late_failure: Exception | None = None
        self.interrupt = ScriptedInterrupt()
        self.needs_measuring = False
        self.has_idle_work = self.is_closed = False
        self.loaded = EngineReady(replace(info("tiny"), parallel=parallel), info("tinier"))
        self.loads: list[str] = []
        self.request = LoadRequest("")
        self.load_failure: Exception | None = None
        self.is_load_cancelled: Callable[[], bool] = lambda: False
        self.states = NoStates()
        self.prompts = ScriptedPrompts()
        self.measured = threading.Semaphore(0)
        self.num_prompt_tokens = 10

    def release_piece(self) -> None:
        """Release the next piece."""
        self.one_more.release()

    def measure(self, *, should_stop: Callable[[], bool]) -> None:
        self.measured.release()
        while not should_stop() and not self.interrupt.event.wait(0.005):
            pass

    @property
    def is_loaded(self) -> bool:
        return self.loads[-1:] != ["unloaded"]

    def unload(self) -> None:
        self.loads.append("unloaded")

    def load(self, request: LoadRequest, _progress: object = None) -> EngineReady:
        """Pretend to load another target."""
        if self.load_failure is not None:
            raise self.load_failure
        self.request = request
        self.loads.append(Path(request.target).stem)
        target = replace(info(Path(request.target).stem), path=request.target, parallel=self.parallel)
        self.loaded = EngineReady(target, info("tinier"))
        return self.loaded

    def ready(self) -> EngineReady:
        return self.loaded

    def close(self) -> None:
        self.is_closed = True

    def prompt_ids(self, request: ChatRequest) -> list[int]:
        if isinstance(self.failure, PromptError):
            raise self.failure
        return [1] * self.num_prompt_tokens

    def generate(self, request: ChatRequest, should_stop: Callable[[], bool], *_: object) -> Iterator[Event]:
        self.requests.append(request)
        self.begun.release()
        try:
            if self.failure is not None:
                raise self.failure
            pieces = request.messages[-1].content[: request.max_tokens] if self.echo else self.pieces
            for piece in pieces:
                while not self.gate.wait(0.005) and not should_stop() and not self.one_more.acquire(blocking=False):
                    pass
                if should_stop():
                    self.reasons.append(FinishReason.CANCELLED)
                    yield Finished(request.request_id, FinishReason.CANCELLED, STATS)
                    return
                yield TextChunk(request.request_id, piece, (TokenSpan(len(piece), Source.TARGET),))
            if self.late_failure is not None:
                raise self.late_failure
            self.reasons.append(FinishReason.END)
            tokens = len(request.messages[-1].content[: request.max_tokens]) if self.echo else STATS.tokens
            yield Finished(request.request_id, FinishReason.END, replace(STATS, tokens=tokens))
        finally:
            self.ended.release()


def named_events(raw: list[bytes]) -> list[dict[str, Any]]:
    """The data of server-sent events that also have their type as a name."""
    found = []
    for event in raw:
        kind, data, *rest = event.decode().split("\n")
        assert rest == ["", ""]
        fields = json.loads(data.removeprefix("data: "))
        assert kind == f"event: {fields['type']}"
        found.append(fields)
    return found


def started_worker(session: ScriptedSession) -> EngineWorker:
    """Start an engine's thread with this session."""
    worker = EngineWorker(lambda _event: None, lambda: cast("Session", session))
    worker.start()
    return worker


def started_engine(session: ScriptedSession) -> Engine:
    """Start an engine thread; if the session allows parallel answers, an engine with one thread per answer."""
    return SharingEngine(session, session.parallel) if session.parallel > 1 else started_worker(session)


class OneModel(ModelSwitch):
    """The model of a scripted server, and those that can be loaded in its place."""

    def __init__(self, model: ServedModel | None = None, *others: LoadableModel) -> None:
        super().__init__()
        self._current = model
        self._others = {Path(other.request.target).stem: other for other in others}

    def others(self) -> list[str]:
        return list(self._others)

    def _find(self, name: str) -> LoadableModel | None:
        return self._others.get(name)


@dataclass
class ScriptedServer:
    """The server application without a socket, and a client that sends the key."""

    session: ScriptedSession = field(default_factory=ScriptedSession)
    model: ServedModel = field(default_factory=served)
    max_waiting: int = 4
    embedder: EmbeddingSource | None = None

    def __post_init__(self) -> None:
        self.worker: Engine = started_engine(self.session)
        self.scheduler = Scheduler(self.worker, OneModel(self.model), max_waiting=self.max_waiting)
        self.app = make_application(self.scheduler, KEY, AllowedHosts("127.0.0.1"), embedder=self.embedder)
        self.client = TestClient(
            self.app,
            base_url="http://127.0.0.1:8080",
            headers={"Authorization": f"Bearer {KEY}"},
            raise_server_exceptions=False,
        )

    def close(self) -> None:
        self.scheduler.close()
        self.session.gate.set()
        assert self.worker.close(PATIENCE_S)
        self.client.close()
