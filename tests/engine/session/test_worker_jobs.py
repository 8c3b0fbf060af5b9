"""Jobs on the engine's thread: one at a time, ended by a stop or by other models, never in the way of answers."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from app.paths import builtin_draft, builtin_target
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
    Mode,
    SamplingParams,
    TokensCounted,
)
from engine.session.session import Session
from engine.session.worker import UNEXPECTED, EngineWorker, OnEvent
from tests.engine.driver import Driver

WAIT_S = 60.0
REQUEST = ChatRequest(
    raw_prompt="Once", mode=Mode.OFF, sampling=SamplingParams(temperature=0.0), max_tokens=8, request_id=1
)


@dataclass(frozen=True, slots=True)
class Done(JobEvent):
    """The event of the jobs of these tests."""

    words: str


@dataclass
class WaitingJob:
    """Waits until it is to stop, or is let go; then reports which."""

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
    """Makes one long pass after another, and asks for nothing."""

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> None:
        beside = session.beside(512)
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


Events = queue.Queue[Event]


@pytest.fixture
def events() -> Events:
    return queue.Queue()


@pytest.fixture
def worker(events: Events) -> Iterator[Driver]:
    made = Driver(EngineWorker(events.put, Session))
    made.start()
    made.load(LoadRequest(str(builtin_target()), n_ctx=512))
    wait_for(events, EngineReady)
    yield made
    assert made.close(10)


def wait_for(events: Events, kind: type[Event]) -> Event:
    while not isinstance(event := events.get(timeout=WAIT_S), kind):
        pass
    return event


def test_a_job_has_the_thread_and_answers_follow_it(worker: Driver, events: Events) -> None:
    job = WaitingJob()
    worker.run_job(job)
    assert job.began.wait(WAIT_S)
    worker.generate(REQUEST)
    job.let_go.set()
    assert wait_for(events, Done) == Done("let go")
    ended = wait_for(events, Finished)
    assert isinstance(ended, Finished)
    assert ended.reason is not FinishReason.CANCELLED


def test_stopping_answers_does_not_stop_a_job_and_the_other_way_round(worker: Driver, events: Events) -> None:
    job = WaitingJob()
    worker.run_job(job)
    assert job.began.wait(WAIT_S)
    worker.generate(REQUEST)
    worker.stop()
    assert not job.let_go.wait(0.05)
    worker.stop_jobs()
    assert wait_for(events, Done) == Done("stopped")
    stopped = wait_for(events, Finished)
    assert isinstance(stopped, Finished)
    assert stopped.reason is FinishReason.CANCELLED
    worker.generate(REQUEST)
    whole = wait_for(events, Finished)
    assert isinstance(whole, Finished)
    assert whole.stats.tokens > 0


def test_a_job_that_was_stopped_before_it_began_is_told_so(worker: Driver, events: Events) -> None:
    first, second = WaitingJob(), WaitingJob()
    worker.run_job(first)
    worker.run_job(second)
    worker.stop_jobs()
    assert [wait_for(events, Done), wait_for(events, Done)] == [Done("stopped")] * 2
    third = WaitingJob()
    worker.run_job(third)
    third.let_go.set()
    assert wait_for(events, Done) == Done("let go")


@pytest.mark.parametrize("change", ["load", "draft"])
def test_other_models_end_a_job_that_uses_these(worker: Driver, events: Events, change: str) -> None:
    job = WaitingJob()
    worker.run_job(job)
    assert job.began.wait(WAIT_S)
    if change == "load":
        worker.load(LoadRequest(str(builtin_target()), n_ctx=512))
    else:
        worker.set_draft(str(builtin_draft()))
    assert wait_for(events, Done) == Done("stopped")
    assert isinstance(wait_for(events, EngineReady), EngineReady)


def test_a_pass_of_a_job_ends_in_the_middle(worker: Driver, events: Events) -> None:
    job = PassingJob()
    worker.run_job(job)
    assert job.began.wait(WAIT_S)
    worker.stop_jobs()
    assert wait_for(events, Done) == Done("in a pass")


def test_closing_ends_a_job(events: Events) -> None:
    worker = Driver(EngineWorker(events.put, Session))
    worker.start()
    job = WaitingJob()
    worker.run_job(job)
    assert job.began.wait(WAIT_S)
    assert worker.close(10)
    assert wait_for(events, Done) == Done("stopped")


def test_texts_are_counted_where_a_job_takes_steps(worker: Driver, events: Events) -> None:
    job = WaitingJob(takes_steps=True)
    worker.run_job(job)
    assert job.began.wait(WAIT_S)
    worker.count(CountRequest(7, ("Once upon a time",)))
    counted = wait_for(events, TokensCounted)
    assert isinstance(counted, TokensCounted)
    assert counted.counts is not None
    job.let_go.set()
    assert wait_for(events, Done) == Done("let go")


def test_a_surprise_in_a_job_is_reported_with_its_number_and_the_thread_goes_on(worker: Driver, events: Events) -> None:
    for error, title in (
        (RuntimeError("a bug"), UNEXPECTED.title),
        (DecodeError("The pass failed."), DecodeError.title),
    ):
        number = worker.run_job(WaitingJob(error=error))
        failed = wait_for(events, EngineFailed)
        assert isinstance(failed, EngineFailed)
        assert (failed.request_id, failed.problem.title) == (number, title)
    worker.generate(REQUEST)
    assert isinstance(wait_for(events, Finished), Finished)
