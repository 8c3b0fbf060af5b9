"""Tests jobs of the Models panel: results are delivered once to the right receiver; replaced jobs deliver nothing."""

import threading
from collections.abc import Callable, Iterator

import pytest

from app.controllers.jobs import UNEXPECTED, JobRunner
from app.core.domain.errors import AppError
from engine.records import Problem

LIMIT_S = 30.0


class WindowThread:
    """Replaces the window's thread: deliveries wait until the test takes them."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.came = threading.Semaphore(0)
        self.results: list[object] = []
        self.problems: list[Problem] = []
        self.jobs = JobRunner(self.problems.append, self._take)

    def _take(self, function: Callable[[], None]) -> None:
        self.waiting.append(function)
        self.came.release()

    def run(self, name: str, work: Callable[[Callable[[], bool]], object]) -> None:
        self.jobs.run(name, work, self.results.append, writes=True)

    def deliver(self, number: int = 1) -> None:
        for _ in range(number):
            assert self.came.acquire(timeout=LIMIT_S)
            self.waiting.pop(0)()


@pytest.fixture
def window_thread() -> Iterator[WindowThread]:
    made = WindowThread()
    yield made
    assert made.jobs.close(LIMIT_S)


def test_a_result_is_delivered_where_it_is_shown(window_thread: WindowThread) -> None:
    window_thread.run("a", lambda _stop: 7)
    assert window_thread.results == []
    window_thread.deliver()
    assert window_thread.results == [7]


def test_a_newer_job_takes_the_place_of_an_older_one(window_thread: WindowThread) -> None:
    go, asked = threading.Event(), threading.Event()

    def slow(should_stop: Callable[[], bool]) -> str:
        asked.set()
        assert go.wait(LIMIT_S)
        return "stopped" if should_stop() else "old"

    window_thread.run("a", slow)
    assert asked.wait(LIMIT_S)
    window_thread.run("a", lambda _stop: "new")
    window_thread.run("b", lambda _stop: "other")
    go.set()
    window_thread.deliver(3)
    assert sorted(map(str, window_thread.results)) == ["new", "other"]


def test_a_result_that_waits_is_dropped_when_it_is_no_longer_wanted(window_thread: WindowThread) -> None:
    window_thread.run("a", lambda _stop: "old")
    assert window_thread.came.acquire(timeout=LIMIT_S)
    window_thread.jobs.cancel("a")
    window_thread.waiting.pop(0)()
    assert window_thread.results == []


def test_failures_are_problems(window_thread: WindowThread) -> None:
    def refuse(_stop: object) -> None:
        raise AppError("No.", "Ask later.")

    def break_disk(_stop: object) -> None:
        raise OSError("no such disk")

    window_thread.run("a", refuse)
    window_thread.deliver()
    window_thread.run("a", break_disk)
    window_thread.deliver()
    assert window_thread.problems[0] == Problem(AppError.title, "No.", "Ask later.")
    assert "no such disk" in window_thread.problems[1].message


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_leaves_nobody_waiting_and_is_not_hidden(
    window_thread: WindowThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))

    def bug(_stop: object) -> None:
        raise ZeroDivisionError

    window_thread.run("a", bug)
    window_thread.deliver()
    assert window_thread.problems == [UNEXPECTED]
    assert window_thread.jobs.close(LIMIT_S)
    assert seen == [ZeroDivisionError]


def test_closing_stops_what_is_under_way() -> None:
    window_thread, began = WindowThread(), threading.Event()

    def until_stopped(should_stop: Callable[[], bool]) -> None:
        began.set()
        while not should_stop():
            threading.Event().wait(0.01)

    window_thread.run("a", until_stopped)
    assert began.wait(LIMIT_S)
    assert window_thread.jobs.close(LIMIT_S)
    assert window_thread.waiting == window_thread.results == window_thread.problems == []


def test_a_job_that_outlives_the_app_tells_nobody() -> None:
    """The receiver is deleted, and a traceback would be the last output."""
    goes_on, ended = threading.Event(), threading.Event()
    told: list[object] = []
    jobs = JobRunner(told.append, told.append)

    def work(_should_stop: Callable[[], bool]) -> None:
        assert goes_on.wait(LIMIT_S)
        jobs.post(lambda: None)
        ended.set()

    jobs.run("long", work, told.append, writes=True)
    assert not jobs.close(0.0)
    goes_on.set()
    assert ended.wait(LIMIT_S)
    assert jobs.close(LIMIT_S)
    assert told == []
