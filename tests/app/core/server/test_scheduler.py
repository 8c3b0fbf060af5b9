"""One answer at a time, in order of arrival; pass costs are measured in between."""

from __future__ import annotations

import threading
import time

import pytest

from app.core.domain.local_server import Activity
from app.core.server.errors import ApiError
from app.core.server.scheduler import JobEvent, Scheduler
from engine.records import ChatRequest, Finished, Message, RunStats, SamplingParams
from tests.app.core.server.scripted_session import PATIENCE_S, STATS, ScriptedSession, started_worker


class Listener:
    """Records the events of one request."""

    def __init__(self) -> None:
        self.events: list[JobEvent] = []
        self.ended = threading.Event()

    def __call__(self, event: JobEvent) -> None:
        self.events.append(event)
        if isinstance(event, Finished | ApiError):
            self.ended.set()


def asked(seed: int) -> ChatRequest:
    return ChatRequest((Message("user", "Hello"),), sampling=SamplingParams(seed=seed))


def test_requests_are_answered_in_their_order_and_counted() -> None:
    session, stats = ScriptedSession(), list[RunStats]()
    session.gate.clear()
    worker = started_worker(session)
    scheduler = Scheduler(worker)
    scheduler.on_answer = stats.append
    listeners = [Listener() for _ in range(5)]
    for seed, listener in enumerate(listeners):
        scheduler.submit(asked(seed), listener)
    assert session.begun.acquire(timeout=PATIENCE_S)
    assert scheduler.activity == Activity(0, 4, 1)
    session.gate.set()
    assert all(listener.ended.wait(PATIENCE_S) for listener in listeners)
    scheduler.close()
    assert worker.close(PATIENCE_S)
    assert [request.sampling.seed for request in session.requests] == [0, 1, 2, 3, 4]
    assert stats == [STATS] * 5
    assert scheduler.activity == Activity(5, 0, 0)


def test_cancelling_reaches_the_pass_of_its_own_answer_only() -> None:
    session = ScriptedSession()
    session.gate.clear()
    worker = started_worker(session)
    scheduler = Scheduler(worker)
    running, waiting = Listener(), Listener()
    first = scheduler.submit(asked(1), running)
    second = scheduler.submit(asked(2), waiting)
    assert session.begun.acquire(timeout=PATIENCE_S)
    scheduler.cancel(second)
    assert not session.interrupt.event.is_set()
    scheduler.cancel(first)
    assert session.interrupt.event.is_set()
    assert running.ended.wait(PATIENCE_S)
    third = Listener()
    job = scheduler.submit(asked(3), third)
    assert session.begun.acquire(timeout=PATIENCE_S)
    assert not session.interrupt.event.is_set(), "the next pass may run"
    scheduler.cancel(first)
    assert not session.interrupt.event.is_set(), "an answer that ended stops nobody"
    scheduler.cancel(job)
    scheduler.close()
    assert worker.close(PATIENCE_S)
    assert not waiting.events


def test_a_queue_of_none_refuses_and_a_closed_one_too() -> None:
    worker = started_worker(ScriptedSession())
    scheduler = Scheduler(worker, max_waiting=0)
    with pytest.raises(ApiError) as caught:
        scheduler.submit(asked(1), Listener())
    assert caught.value.status == 429
    scheduler.close()
    with pytest.raises(ApiError) as caught:
        scheduler.submit(asked(1), Listener())
    assert caught.value.status == 503
    assert worker.close(PATIENCE_S)


def test_measuring_ends_for_who_asks_and_begins_again() -> None:
    session = ScriptedSession()
    session.needs_measuring = True
    worker = started_worker(session)
    scheduler = Scheduler(worker)
    for seed in range(2):
        assert session.measured.acquire(timeout=PATIENCE_S)
        listener = Listener()
        asked_at = time.perf_counter()
        scheduler.submit(asked(seed), listener)
        assert listener.ended.wait(PATIENCE_S)
        assert time.perf_counter() - asked_at < PATIENCE_S
    scheduler.close()
    assert worker.close(PATIENCE_S)


def test_a_measurement_that_fails_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    session = ScriptedSession()
    session.needs_measuring = True
    tried = threading.Semaphore(0)

    def measure(**_options: object) -> None:
        tried.release()
        raise RuntimeError

    monkeypatch.setattr(session, "measure", measure)
    worker = started_worker(session)
    scheduler = Scheduler(worker)
    assert tried.acquire(timeout=PATIENCE_S)
    assert not tried.acquire(timeout=1.0), "three tries, if it went on"
    scheduler.close()
    assert worker.close(PATIENCE_S)


def test_further_requests_of_a_job_come_before_others_and_end_with_it() -> None:
    session = ScriptedSession()
    session.gate.clear()
    worker = started_worker(session)
    scheduler = Scheduler(worker, max_waiting=2)
    several, other = Listener(), Listener()
    job = scheduler.submit(asked(1), several, more=[asked(2), asked(3)])
    scheduler.submit(asked(4), other)
    for number in range(2):  # the first answer ends, the second begins
        assert session.begun.acquire(timeout=PATIENCE_S)
        if not number:
            session.release_piece()
            session.release_piece()
    assert [request.sampling.seed for request in session.requests] == [1, 2]
    scheduler.cancel(job)
    session.gate.set()
    assert other.ended.wait(PATIENCE_S)
    assert [request.sampling.seed for request in session.requests] == [1, 2, 4]
    scheduler.close()
    assert worker.close(PATIENCE_S)
