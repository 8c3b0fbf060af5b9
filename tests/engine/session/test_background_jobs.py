"""Jobs in the background: behind the owner's commands, and a stop of the one is none of the other."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

import pytest

from engine.records import (
    ChatRequest,
    CountRequest,
    EngineFailed,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    RunStats,
    TokensCounted,
)
from engine.requests import JobEnded
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.engine.driver import Driver

WAIT_S = 60.0


class Flag(threading.Event):
    """An interrupt."""


class QuietSession:
    """Answers at once, unless it is told to wait for ``gate``."""

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
    """Lasts until it is let go; it takes a step whenever one is put."""

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
    """A worker, what it said, and the order in which things were done."""

    session: QuietSession = field(default_factory=QuietSession)
    events: queue.SimpleQueue[Event] = field(default_factory=queue.SimpleQueue)
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


def test_the_owner_comes_next_and_jobs_keep_their_order(bench: Bench) -> None:
    first, second, third = (bench.run_job(name) for name in ("first", "second", "third"))
    assert first.begun.wait(WAIT_S)
    for number in (1, 2):
        bench.worker.generate(ChatRequest(request_id=number))
    for job in (first, second, third):
        job.steps.put(False)
    assert third.ended.wait(WAIT_S)
    assert bench.order == ["first", "answer 1", "answer 2", "second", "third"]


def test_a_stop_of_the_owner_is_none_of_the_job_and_what_waits_ends_at_once(bench: Bench) -> None:
    job = bench.run_job("job")
    assert job.begun.wait(WAIT_S)
    bench.worker.generate(ChatRequest(request_id=1))
    bench.worker.stop()
    bench.worker.generate(ChatRequest(request_id=2))
    assert not bench.session.interrupt.is_set(), "the pass of another's answer goes on"
    job.steps.put(True)
    ended = bench.events.get(timeout=WAIT_S)
    assert isinstance(ended, Finished)
    assert (ended.request_id, ended.reason) == (1, FinishReason.CANCELLED)
    assert not job.ended.is_set()
    job.steps.put(False)
    later = bench.events.get(timeout=WAIT_S)
    assert isinstance(later, Finished)
    assert (later.request_id, later.reason) == (2, FinishReason.END)
    assert bench.session.begun.acquire(timeout=WAIT_S)
    assert not bench.session.begun.acquire(timeout=0.05), "the stopped one never began"


def test_a_stop_reaches_the_owners_own_answer_still(bench: Bench) -> None:
    bench.session.gate.clear()
    bench.worker.generate(ChatRequest(request_id=1))
    assert bench.session.begun.acquire(timeout=WAIT_S)
    bench.worker.stop()
    assert bench.session.interrupt.is_set()
    ended = bench.events.get(timeout=WAIT_S)
    assert isinstance(ended, Finished)
    assert ended.reason is FinishReason.CANCELLED
    bench.worker.stop()
    job = bench.run_job("job")
    job.steps.put(False)
    assert job.ended.wait(WAIT_S)


def test_loads_that_were_given_up_end_in_a_job_and_texts_are_counted(bench: Bench) -> None:
    job = bench.run_job("job")
    assert job.begun.wait(WAIT_S)
    bench.worker.load(LoadRequest("model.gguf"))
    bench.worker.stop_loading()
    bench.worker.count(CountRequest(7, ("four",)))
    job.steps.put(True)
    answers = [bench.events.get(timeout=WAIT_S) for _ in range(2)]
    assert TokensCounted(7, (4,)) in answers
    (failed,) = [answer for answer in answers if isinstance(answer, EngineFailed)]
    assert failed.was_cancelled
    job.steps.put(False)
    assert job.ended.wait(WAIT_S)


def test_counting_does_not_wait_for_jobs_that_wait(bench: Bench) -> None:
    first, second = bench.run_job("first"), bench.run_job("second")
    assert first.begun.wait(WAIT_S)
    for number in range(3):
        bench.worker.count(CountRequest(number, ("one",)))
    first.steps.put(False)
    assert {bench.events.get(timeout=WAIT_S) for _ in range(3)} == {TokensCounted(number, (3,)) for number in range(3)}
    second.steps.put(False)
    assert second.ended.wait(WAIT_S)


class BreakingJob:
    """Fails."""

    def run(self, *_: object) -> None:
        raise ValueError


def test_a_job_that_fails_or_can_never_come_is_reported_to_who_asked_for_it() -> None:
    def no_session() -> Session:
        raise OSError

    heard: queue.SimpleQueue[Event] = queue.SimpleQueue()
    worker = Driver(EngineWorker(lambda _event: None, no_session))
    worker.start()
    number = worker.run_job(BreakingJob(), in_background=True, on_event=heard.put)
    failed = heard.get(timeout=WAIT_S)
    assert isinstance(failed, EngineFailed)
    assert failed.request_id == number
    assert worker.close(WAIT_S)

    bench = Bench()
    number = bench.worker.run_job(BreakingJob(), in_background=True, on_event=heard.put)
    failed = heard.get(timeout=WAIT_S)
    assert isinstance(failed, EngineFailed)
    assert failed.request_id == number
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
