"""A session without weights for the engine's process; words in model names and prompts make it fail, wait or abort.

The other process imports this module, so its actions are recorded in a file.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from engine.errors import ModelLoadError
from engine.records import (
    ChatRequest,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadProgress,
    LoadRequest,
    ModelInfo,
    RunStats,
    Source,
    TextChunk,
    TokenSpan,
)

log = logging.getLogger(__name__)
ABORT, FAIL, WAIT = "abort", "fail", "wait"


def info(path: str) -> ModelInfo:
    return ModelInfo(path, path, "llama", 1000, 2000, 64, 512, 512, 1, 0, "from the model")


class States:
    """Records the owners to forget."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def set_limit(self, disk_bytes: int) -> None:
        self._note(f"limit {disk_bytes}")

    def forget(self, owner: int) -> None:
        self._note(f"forget {owner}")

    def forget_external(self) -> None:
        self._note("forget guests")


class ScriptedSession:
    """Answers a prompt with its words. The word or target `ABORT` ends the process, `WAIT` waits for a stop."""

    parallel = 1
    needs_measuring = has_idle_work = False

    def __init__(self, notes: Path) -> None:
        self._notes = notes
        self.interrupt = threading.Event()
        self.states = States(self._note)
        self.is_load_cancelled: Callable[[], bool] = lambda: False
        self._ready: EngineReady | None = None
        self.request = LoadRequest("")
        sys.stdout.write("a library that prints: it goes nowhere near the events\n")
        sys.stdout.flush()

    def _note(self, line: str) -> None:
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    @property
    def is_loaded(self) -> bool:
        return self._ready is not None

    def unload(self) -> None:
        self._note("unload")
        self._ready = None

    def load(self, request: LoadRequest, progress: Callable[[str, float], bool]) -> EngineReady:
        progress(request.target, 0.5)
        if ABORT in request.target:
            os.abort()
        if FAIL in request.target:
            raise ModelLoadError(f"{request.target} is none.")
        self.request = request
        self._ready = EngineReady(info(request.target), info(request.draft) if request.draft else None)
        return self._ready

    def ready(self) -> EngineReady:
        if self._ready is None:
            raise ModelLoadError("Nothing is loaded.")
        return self._ready

    def prompt_ids(self, request: ChatRequest) -> list[int]:
        return list(range(len(request.raw_prompt or "")))

    def generate(
        self, request: ChatRequest, should_stop: Callable[[], bool], *_: Callable[[], bool]
    ) -> Iterator[Event]:
        tokens = 0
        for word in (request.raw_prompt or "").split():
            if word == ABORT:
                time.sleep(0.1)  # earlier events are still being sent
                os.abort()
            if word == FAIL:
                log.error("it fails")
                raise ValueError("a chat: " + str(request.raw_prompt))
            while word == WAIT and not should_stop():
                time.sleep(0.005)
            if should_stop():
                yield Finished(request.request_id, FinishReason.CANCELLED, RunStats(tokens=tokens))
                return
            tokens += 1
            yield TextChunk(request.request_id, word + " ", (TokenSpan(len(word) + 1, Source.TARGET),))
        yield Finished(request.request_id, FinishReason.END, RunStats(tokens=tokens))

    def forget_past(self) -> None:
        self._note("forget past")

    def close(self) -> None:
        self._note("closed")


def no_session() -> ScriptedSession:
    raise ModelLoadError("There is no engine.")


def session_maker(notes: Path) -> Callable[[], ScriptedSession]:
    """The session factory for the other process."""
    return partial(ScriptedSession, notes)


class ScriptedJob:
    """Emits its words; may end the process between two words."""

    def __init__(self, words: str) -> None:
        self._words = words

    def run(
        self,
        session: object,
        should_stop: Callable[[], bool],
        on_event: Callable[[Event], None],
        between_steps: Callable[[], None],
    ) -> int:
        for word in self._words.split():
            if word == ABORT:
                os.abort()
            if word == FAIL:
                raise ValueError(word)
            while word == WAIT and not should_stop():
                time.sleep(0.005)
            on_event(LoadProgress(word, 0.0))
            between_steps()
        assert isinstance(session, ScriptedSession)
        return len(self._words)
