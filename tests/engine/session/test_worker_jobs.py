"""Tests jobs on the engine's thread: one at a time, ended by a stop or another model, never delaying answers.

Background jobs come after the owner's requests, and stopping one does not stop the other.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

import pytest

from app.core.paths import builtin_target
from engine.errors import DecodeError
from engine.records import (
    ChatRequest,
    CountRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    JobEvent,
    LoadRequest,
    RunStats,
    TokensCounted,
)
from engine.requests import JobEnded
from engine.session.session import Session
from engine.session.worker import UNEXPECTED, EngineWorker, OnEvent
from tests.engine.driver import WAIT_S, Driver, Events, question


@dataclass(frozen=True, slots=True)
class Done(JobEvent):
    """The event of these jobs."""

    words: str


@dataclass
class WaitingJob:
    """Waits until it is stopped or released; then reports which."""

    began: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)
    takes_steps: bool = False
    error: Exception | None = None

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> None:
        self.began.set()
        if self.error is not None:
            raise self.error
        while not should_stop() and not self.let_go.wait(0.005):
            if self.takes_steps:
                between_steps()
        on_event(Done("stopped" if should_stop() else "let go"))


class PassingJob(WaitingJob):
    """Makes one long pass after another without checking for a stop."""

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> None:
        beside = session.another_session(512)
        assert beside._target is not None
        sequence = beside._target.sequence
        try:
            with session.interrupt.attached_to(beside._contexts()):
                self.began.set()
                while not self.let_go.is_set():
                    sequence.forward([0] * 64, 1)
                    sequence.clear()
            on_event(Done("let go"))
        except DecodeError:
            on_event(Done("in a pass"))
        finally:
            beside.close()


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def worker(events: Events) -> Iterator[Driver]:
    made = Driver(EngineWorker(events.put, Session))
    made.start()
    made.load(LoadRequest(str(builtin_target()), n_ctx=512))
    events.wait_for(EngineReady)
    yield made
    assert made.close(10)


def test_a_pass_of_a_job_ends_in_the_middle(worker: Driver, events: Events) -> None:
    job = PassingJob()
    worker.run_job(job)
    assert job.began.wait(WAIT_S)
    worker.stop_jobs()
    assert events.wait_for(Done) == Done("in a pass")


def test_an_unexpected_error_in_a_job_is_reported_with_its_number(worker: Driver, events: Events) -> None:
    for error, title in (
        (RuntimeError("a bug"), UNEXPECTED.title),
        (DecodeError("The pass failed."), DecodeError.title),
    ):
        number = worker.run_job(WaitingJob(error=error))
        failed = events.wait_for(EngineFailed)
        assert (failed.request_id, failed.problem.title) == (number, title)
    worker.generate(question(1))
    events.wait_for(Finished)


class Flag(threading.Event):
    """An interrupt."""


class QuietSession:
    """Answers at once, unless it waits for ``gate``."""

    parallel = 1

    def __init__(self) -> None:
        self.interrupt = Flag()
        self.needs_measuring = self.has_idle_work = False
        self.is_load_cancelled: Callable[[], bool] = lambda: False
        self.gate = threading.Event()
        self.gate.set()
        self.begun = threading.Semaphore(0)

    def generate(self, request: ChatRequest, should_stop: Callable[[], bool], *_: object) -> Iterator[Event]:
        self.begun.release()
        while not self.gate.wait(0.005) and not should_stop():
            pass
        reason = FinishReason.CANCELLED if should_stop() else FinishReason.END
        yield Finished(request.request_id, reason, RunStats())

    def count_tokens(self, text: str) -> int:
        return len(text)

    def close(self) -> None:
        pass


@dataclass
class SteppedJob:
    """Runs until it is released; takes a step for each token in a queue."""

    name: str
    order: list[str]
    begun: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    steps: queue.SimpleQueue[bool] = field(default_factory=queue.SimpleQueue)

    def run(self, _session: object, _should_stop: object, _on_event: object, between_steps: Callable[[], None]) -> None:
        self.order.append(self.name)
        self.begun.set()
        while self.steps.get(timeout=WAIT_S):
            between_steps()
        self.ended.set()


@dataclass
class Bench:
    """A worker, its events, and the order of actions."""

    session: QuietSession = field(default_factory=QuietSession)
    events: Events = field(default_factory=Events)
    order: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.worker = Driver(EngineWorker(self.take, lambda: cast("Session", self.session)))
        self.worker.start()

    def take(self, event: Event) -> None:
        if isinstance(event, Finished):
            self.order.append(f"answer {event.request_id}")
        if not isinstance(event, JobEnded):
            self.events.put(event)

    def run_job(self, name: str) -> SteppedJob:
        job = SteppedJob(name, self.order)
        self.worker.run_job(job, in_background=True)
        return job


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.session.gate.set()
    assert bench.worker.close(WAIT_S)


def test_stopping_a_job_ends_the_waiting_at_once(bench: Bench) -> None:
    job = bench.run_job("job")
    assert job.begun.wait(WAIT_S)
    bench.worker.generate(ChatRequest(request_id=1))
    bench.worker.stop()
    bench.worker.generate(ChatRequest(request_id=2))
    assert not bench.session.interrupt.is_set(), "the pass of another's answer goes on"
    job.steps.put(True)
    ended = bench.events.wait_for(Finished)
    assert (ended.request_id, ended.reason) == (1, FinishReason.CANCELLED)
    assert not job.ended.is_set()
    job.steps.put(False)
    later = bench.events.wait_for(Finished)
    assert (later.request_id, later.reason) == (2, FinishReason.END)
    assert bench.session.begun.acquire(timeout=WAIT_S)
    assert not bench.session.begun.acquire(timeout=0.05), "the stopped one never began"


def test_loads_that_were_given_up_end_in_a_job_and_texts_are_counted(bench: Bench) -> None:
    job = bench.run_job("job")
    assert job.begun.wait(WAIT_S)
    bench.worker.load(LoadRequest("model.gguf"))
    bench.worker.stop_loading()
    bench.worker.count(CountRequest(7, ("four",)))
    job.steps.put(True)
    answers = [bench.events.next() for _ in range(2)]
    assert TokensCounted(7, (4,)) in answers
    (failed,) = [answer for answer in answers if isinstance(answer, EngineFailed)]
    assert failed.was_cancelled
    job.steps.put(False)
    assert job.ended.wait(WAIT_S)


class BreakingJob:
    """Fails."""

    def run(self, *_: object) -> None:
        raise ValueError


def test_a_failing_or_impossible_job_is_reported_to_its_owner() -> None:
    def no_session() -> Session:
        raise OSError

    heard = Events()
    worker = Driver(EngineWorker(lambda _event: None, no_session))
    worker.start()
    number = worker.run_job(BreakingJob(), in_background=True, on_event=heard.put)
    assert heard.wait_for(EngineFailed).request_id == number
    assert worker.close(WAIT_S)

    bench = Bench()
    number = bench.worker.run_job(BreakingJob(), in_background=True, on_event=heard.put)
    assert heard.wait_for(EngineFailed).request_id == number
    assert bench.worker.close(WAIT_S)
    assert bench.events.empty()


def test_the_end_does_not_wait_for_jobs(bench: Bench) -> None:
    job, never = bench.run_job("job"), bench.run_job("never")
    assert job.begun.wait(WAIT_S)
    ends = threading.Thread(target=lambda: bench.worker.close(WAIT_S))
    ends.start()
    assert bench.session.interrupt.wait(WAIT_S), "its pass ends"
    job.steps.put(False)
    ends.join(WAIT_S)
    assert not ends.is_alive()
    assert not never.begun.is_set()
