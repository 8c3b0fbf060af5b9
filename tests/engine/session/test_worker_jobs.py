"""Tests jobs on the engine's thread: one at a time, ended by a stop or another model, never delaying answers.

Background jobs come after the owner's requests, and stopping one does not stop the other.
"""

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
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    RunStats,
)
from engine.requests import JobEnded
from engine.session.session import Session
from engine.session.worker import UNEXPECTED, EngineWorker
from tests.engine.driver import WAIT_S, Driver, Events


@dataclass
class PassingJob:
    """Makes one long pass after another without checking for a stop."""

    began: threading.Event = field(default_factory=threading.Event)

    def run(self, session: Session, *_: object) -> str:
        beside = session.another_session(512)
        assert beside._target is not None
        sequence = beside._target.sequence
        try:
            with session.interrupt.attached_to(beside._contexts()):
                self.began.set()
                while True:
                    sequence.forward([0] * 64, 1)
                    sequence.clear()
        except DecodeError:
            return "in a pass"
        finally:
            beside.close()


def test_a_pass_of_a_job_ends_in_the_middle() -> None:
    events, job = Events(), PassingJob()
    worker = Driver(EngineWorker(events.put, Session))
    worker.start()
    worker.load(LoadRequest(str(builtin_target()), n_ctx=512))
    events.wait_for(EngineReady)
    worker.run_job(job)
    assert job.began.wait(WAIT_S)
    worker.stop_jobs()
    assert events.wait_for(JobEnded).value == "in a pass"
    assert worker.close(10)


class QuietSession:
    """Answers at once."""

    parallel = 1

    def __init__(self) -> None:
        self.interrupt = threading.Event()
        self.needs_measuring = self.has_idle_work = False
        self.is_load_cancelled: Callable[[], bool] = lambda: False
        self.begun = threading.Semaphore(0)

    def generate(self, request: ChatRequest, should_stop: Callable[[], bool], *_: object) -> Iterator[Event]:
        self.begun.release()
        reason = FinishReason.CANCELLED if should_stop() else FinishReason.END
        yield Finished(request.request_id, reason, RunStats())

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


def test_loads_that_were_given_up_end_in_a_job(bench: Bench) -> None:
    job = bench.run_job("job")
    assert job.begun.wait(WAIT_S)
    bench.worker.load(LoadRequest("model.gguf"))
    bench.worker.stop_loading()
    job.steps.put(True)
    assert bench.events.wait_for(EngineFailed).was_cancelled
    job.steps.put(False)
    assert job.ended.wait(WAIT_S)


@dataclass
class BreakingJob:
    """Fails."""

    error: Exception

    def run(self, *_: object) -> None:
        raise self.error


def test_a_failing_or_impossible_job_is_reported_to_its_owner() -> None:
    def no_session() -> Session:
        raise OSError

    heard = Events()
    worker = Driver(EngineWorker(lambda _event: None, no_session))
    worker.start()
    number = worker.run_job(BreakingJob(ValueError()), in_background=True, on_event=heard.put)
    assert heard.wait_for(EngineFailed).request_id == number
    assert worker.close(WAIT_S)

    bench = Bench()
    failed = DecodeError("The pass failed.")
    for error, title in ((ValueError("a bug"), UNEXPECTED.title), (failed, failed.title)):
        number = bench.worker.run_job(BreakingJob(error), in_background=True, on_event=heard.put)
        told = heard.wait_for(EngineFailed)
        assert (told.request_id, told.problem.title) == (number, title)
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
