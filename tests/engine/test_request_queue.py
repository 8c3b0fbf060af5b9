"""Tests the order of requests, the effect of a cancel, and which requests end others."""

import queue

import pytest

from engine.records import ChatRequest, LoadRequest
from engine.request_queue import RequestQueue
from engine.requests import ForgetPast, Request, RunJob, SetDraft


class NoJob:
    """Never run here."""

    def run(self, *_: object) -> None:
        raise NotImplementedError


class Bench:
    """A queue, and its interrupts."""

    def __init__(self, *requests: Request) -> None:
        self.interrupted: list[int | None] = []
        self.num_resumed = 0
        self.queue = RequestQueue(self._interrupt, self._resume)
        self.put(*requests)

    def _interrupt(self, request: Request | None) -> None:
        self.interrupted.append(None if request is None else request.request_id)

    def _resume(self) -> None:
        self.num_resumed += 1

    def put(self, *requests: Request) -> None:
        for request in requests:
            self.queue.put(request, lambda _event: None)

    def rest(self) -> list[int]:
        """Take all requests; returns the numbers, negative if cancelled."""
        numbers = []
        while True:
            try:
                asked = self.queue.take(0.0)
            except queue.Empty:
                return numbers
            if asked is None:
                return numbers
            numbers.append(-asked.number if asked.is_cancelled else asked.number)
            self.queue.remove(asked)


def answer(number: int) -> ChatRequest:
    return ChatRequest(request_id=number)


def load(number: int) -> LoadRequest:
    return LoadRequest("model.gguf", request_id=number)


def job(number: int, *, background: bool = False) -> RunJob:
    return RunJob(NoJob(), background, number)


def test_the_background_comes_last() -> None:
    bench = Bench(job(1, background=True), answer(3), job(4), ForgetPast(5))
    assert bench.rest() == [3, 4, 5, 1]
    assert bench.interrupted == []


@pytest.mark.parametrize(
    ("requests", "cancelled", "left"),
    [
        ((load(1), answer(2)), 2, [-1, -2]),
        ((load(1), answer(2), answer(3)), 2, [1, -2, 3]),  # the other one waits for it
        ((load(1), answer(2), answer(3)), 3, [1, 2, -3]),
        ((answer(1), load(2)), 1, [-1, 2]),
        ((load(1), SetDraft("d", 2), answer(3)), 3, [-1, -2, -3]),
        ((load(1), answer(2)), 1, [-1, 2]),
        ((job(1), answer(2)), 2, [1, -2]),
        ((answer(1),), 9, [1]),
    ],
)
def test_a_cancelled_answer_cancels_the_loads_that_only_it_needs(
    requests: tuple[Request, ...], cancelled: int, left: list[int]
) -> None:
    bench = Bench(*requests)
    bench.queue.cancel(cancelled)
    assert bench.rest() == left


@pytest.mark.parametrize(
    ("requests", "left"),
    [
        ((load(1), load(2)), [-1, 2]),
        ((load(1), SetDraft("d", 2), load(3)), [-1, -2, 3]),
        ((load(1), answer(2), load(3)), [1, 2, 3]),
        ((load(1), SetDraft("d", 2)), [1, 2]),
        ((job(1), load(2)), [-1, 2]),
        ((job(1), SetDraft("d", 2)), [-1, 2]),
        ((job(1, background=True), load(2)), [2, 1]),
    ],
)
def test_other_models_end_jobs_and_the_loads_that_nobody_waits_for(
    requests: tuple[Request, ...], left: list[int]
) -> None:
    assert Bench(*requests).rest() == left


def test_what_runs_is_interrupted_and_what_waits_is_not() -> None:
    bench = Bench(answer(1), answer(2))
    first = bench.queue.take(0.0)
    assert first is not None
    assert bench.num_resumed == 1
    bench.queue.cancel(2)
    assert bench.interrupted == []
    bench.queue.cancel(1)
    assert bench.interrupted == [1]
    assert first.is_cancelled
    bench.queue.remove(first)
    bench.queue.cancel(1)
    assert bench.interrupted == [1]
    assert bench.rest() == [-2]
    assert bench.num_resumed == 1, "one that is cancelled needs no pass"


def test_one_that_ends_leaves_a_later_one_of_the_same_number() -> None:
    bench = Bench(answer(1))
    first = bench.queue.take(0.0)
    assert first is not None
    bench.put(answer(1))
    bench.queue.remove(first)
    assert bench.rest() == [1]


def test_idle_work_ends_for_what_somebody_waits_for() -> None:
    bench = Bench()
    assert bench.queue.begin_idle()
    bench.put(ForgetPast(2))
    assert bench.interrupted == []
    bench.put(job(3, background=True))
    assert bench.interrupted == [None]
    bench.queue.end_idle()
    bench.put(answer(4))
    assert bench.interrupted == [None]
    assert not bench.queue.begin_idle()
