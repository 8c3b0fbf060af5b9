"""Tests the engine thread: commands in order, one end per answer, stops that affect only earlier requests."""

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.paths import builtin_draft
from engine.errors import DecodeError, SettingError
from engine.records import (
    ChatRequest,
    EngineFailed,
    Event,
    LoadRequest,
    TextChunk,
)
from engine.sandbox.machine_check import KERNELS_FILE, file_inspector
from engine.session.session import Session
from engine.session.worker import UNEXPECTED, EngineWorker
from tests.engine.driver import Driver, Events, question
from tests.engine.gguf_factory import tiny_llama
from tests.waiting import PATIENCE_S


@pytest.fixture
def events() -> Events:
    return Events()


class FailingSession(Session):
    """A session whose answers fail with ``error``."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def generate(self, request: ChatRequest, *_: Callable[[], bool]) -> Iterator[Event]:
        raise self.error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (DecodeError("The pass failed."), "The pass failed."),
        (SettingError("The draft length must be between 0 and 32."), "The draft length must be between 0 and 32."),
        (ValueError("a pass of 0 tokens"), UNEXPECTED.message),
        (RuntimeError("a surprise"), UNEXPECTED.message),
    ],
)
def test_every_error_becomes_one_event_and_our_own_faults_are_logged(
    events: Events, caplog: pytest.LogCaptureFixture, error: Exception, message: str
) -> None:
    worker = Driver(EngineWorker(events.put, lambda: FailingSession(error)))
    worker.start()
    worker.generate(question(4))
    failed = events.wait_for(EngineFailed)
    assert (failed.request_id, failed.problem.message) == (4, message)
    assert worker.close(10)
    assert [record.exc_info is not None for record in caplog.records] == [True] * (message == UNEXPECTED.message)


@pytest.mark.parametrize("where", ["needs_measuring", "has_idle_work"])
def test_the_thread_outlives_whatever_goes_wrong_in_idle_time(
    events: Events, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    tried = threading.Semaphore(0)

    def fails(*_args: object, **_kwargs: object) -> None:
        tried.release()
        raise RuntimeError("nobody thought of this")

    class Idle(Session):
        needs_measuring = where == "needs_measuring"
        has_idle_work = where == "has_idle_work"
        measure = fails
        use_idle_time = fails

    monkeypatch.setattr("engine.session.worker.IDLE_S", 0.01)
    worker = Driver(EngineWorker(events.put, Idle))
    worker.start()
    assert tried.acquire(timeout=60)
    worker.generate(question(7))
    assert events.wait_for(EngineFailed).request_id == 7
    assert worker.close(10)


def test_an_engine_that_cannot_start_says_so_to_whatever_is_asked(events: Events) -> None:
    """A library that llama.cpp needs is missing: the window must not wait forever."""

    def fail() -> Session:
        raise OSError("libgomp.so.1: cannot open shared object file")

    worker = Driver(EngineWorker(events.put, fail))
    worker.start()
    number = worker.load(LoadRequest("some.gguf"))
    worker.generate(question(7))
    assert events.next() == EngineFailed(UNEXPECTED, number)
    assert events.next() == EngineFailed(UNEXPECTED, 7)
    assert worker.close(10)


class ForgettingSession(Session):
    """Answers until it is released, and records what it had to forget."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.goes_on = threading.Event(), threading.Event()
        self.done: list[object] = []
        self.states.forget = self.done.append  # type: ignore[method-assign, assignment]
        self.states.set_limit = self.done.append  # type: ignore[method-assign]

    def generate(self, request: ChatRequest, *_: Callable[[], bool]) -> Iterator[Event]:
        self.done.append(request.request_id)
        self.began.set()
        assert self.goes_on.wait(PATIENCE_S)
        return iter(())

    def forget_past(self) -> None:
        self.done.append("past")

    def close(self) -> None:
        self.done.append("closed")


def test_states_are_forgotten_even_if_the_app_closes_meanwhile(events: Events) -> None:
    session = ForgettingSession()
    worker = Driver(EngineWorker(events.put, lambda: session))
    worker.start()
    worker.generate(question(1))
    assert session.began.wait(PATIENCE_S)
    worker.forget_state(7)
    worker.generate(question(2))
    worker.forget_past()
    worker.set_state_limit(0)
    assert not worker.close(0)
    session.goes_on.set()
    assert worker.close(20)
    assert session.done == [1, 7, "past", 0, "closed"]


class Broken(Session):
    """A session in which everything except answers fails."""

    def __init__(self) -> None:
        super().__init__()
        self.states.forget = self.fail  # type: ignore[method-assign]
        self.states.set_limit = self.fail  # type: ignore[method-assign]

    def fail(self, *_: object) -> None:
        raise ZeroDivisionError("nobody thought of this")

    def forget_past(self) -> None:
        self.fail()

    def generate(self, request: ChatRequest, *_: Callable[[], bool]) -> Iterator[Event]:
        for text in "abc":
            yield TextChunk(request.request_id, text, ())


@pytest.fixture
def broken(events: Events) -> Iterator[Driver]:
    worker = Driver(EngineWorker(events.put, Broken))
    yield worker
    assert worker.close(10)


def test_what_is_not_answered_does_not_fail_aloud(
    broken: Driver, events: Events, caplog: pytest.LogCaptureFixture
) -> None:
    """Otherwise a waiting load would be taken for failed."""
    broken.set_state_limit(1)
    broken.forget_state(1)
    broken.forget_past()
    broken.generate(ChatRequest(request_id=5))
    broken.start()
    assert [events.next() for _ in "abc"] == [TextChunk(5, text, ()) for text in "abc"]
    assert sum(record.exc_info is not None for record in caplog.records) == 3


def test_the_trial_of_the_kernels_does_not_keep_the_app_from_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = threading.Event()

    def sleeping(*_: str) -> list[str]:
        started.set()
        return [sys.executable, "-c", "import time; time.sleep(60)"]

    monkeypatch.setattr("engine.sandbox.helper.child_command", sleeping)
    sample = tiny_llama(seed=1).write(tmp_path / "sample.gguf")
    worker = Driver(EngineWorker(lambda _event: None, lambda: Session(file_inspector(tmp_path, sample))))
    worker.start()
    worker.load(LoadRequest(str(builtin_draft())))
    assert started.wait(PATIENCE_S)
    assert worker.close(20)
    assert not (tmp_path / KERNELS_FILE).exists()
