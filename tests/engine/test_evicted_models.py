"""The owner's model is reloaded before the owner needs it, whatever jobs loaded meanwhile."""

import threading
from collections.abc import Callable, Iterator
from typing import cast

import pytest

from engine.errors import LoadCancelledError, ModelLoadError
from engine.records import (
    ChatRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadProgress,
    LoadRequest,
    RunStats,
)
from engine.requests import JobEnded, RunJob, SetDraft
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.engine.driver import WAIT_S, Events
from tests.engine.process.scripted import info


class LoadingSession:
    """A session with the last loaded model; `gate` delays loads."""

    parallel = 1
    needs_measuring = has_idle_work = False

    def __init__(self) -> None:
        self.request = LoadRequest("")
        self.loads: list[LoadRequest] = []
        self.is_load_cancelled: Callable[[], bool] = lambda: False
        self.interrupt = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self.fails = False
        self.answered_by: list[str] = []

    @property
    def is_loaded(self) -> bool:
        return bool(self.request.target)

    def unload(self) -> None:
        self.request = LoadRequest("")

    def load(self, request: LoadRequest, progress: Callable[[str, float], bool]) -> EngineReady:
        while not self.gate.wait(0.005):
            if not progress(request.target, 0.5) or self.is_load_cancelled():
                raise LoadCancelledError("It was cancelled.")
        if self.fails:
            raise ModelLoadError("The file is gone.")
        self.request = request
        self.loads.append(request)
        return EngineReady(info(request.target), None)

    def set_draft(self, path: str | None, _progress: object) -> EngineReady:
        return EngineReady(info(self.request.target), info(path) if path else None)

    def generate(self, request: ChatRequest, *_: object) -> Iterator[Event]:
        self.answered_by.append(self.request.target)
        yield Finished(request.request_id, FinishReason.END, RunStats())

    def close(self) -> None:
        pass


class LoadJob:
    """A guest's job that loads another model."""

    def __init__(self, target: str) -> None:
        self.target = target

    def run(self, session: Session, _stops: object, _on_event: object, between_steps: Callable[[], None]) -> None:
        session.unload()
        session.load(LoadRequest(self.target), lambda _path, _fraction: True)
        between_steps()


class Bench:
    """A worker whose owner loaded "mine", and its events."""

    def __init__(self) -> None:
        self.session = LoadingSession()
        self.events = Events()
        self.worker = EngineWorker(self.events.put, lambda: cast("Session", self.session))
        self.worker.start()
        self.worker.submit(LoadRequest("mine", request_id=101))
        self.events.wait_for(EngineReady)

    def guest(self, target: str) -> None:
        """Let a background job load another model."""
        ended = threading.Event()
        self.worker.submit(
            RunJob(LoadJob(target), background=True),
            lambda event: ended.set() if isinstance(event, JobEnded) else None,
        )
        assert ended.wait(WAIT_S)

    def ask(self, number: int) -> None:
        self.worker.submit(ChatRequest(raw_prompt="x", request_id=number))


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.session.gate.set()
    assert made.worker.close(WAIT_S)


def test_an_answer_is_made_by_the_owners_model_after_a_guest_had_another(bench: Bench) -> None:
    bench.guest("theirs")
    assert bench.session.request.target == "theirs", "it stays for as long as nobody needs the owner's"
    bench.ask(1)
    assert bench.events.next() == LoadProgress("mine", 0.0, 1)
    assert isinstance(bench.events.next(), Finished), "nobody asked for a load"
    assert bench.session.answered_by == ["mine"]
    bench.ask(2)
    assert bench.events.next() == Finished(2, FinishReason.END, RunStats()), "it is loaded once"


def test_it_comes_back_with_the_draft_that_was_chosen_since(bench: Bench) -> None:
    bench.worker.submit(SetDraft("small"))
    bench.events.wait_for(EngineReady)
    bench.guest("theirs")
    bench.ask(1)
    bench.events.wait_for(Finished)
    assert bench.session.loads[-1] == LoadRequest("mine", "small")


def test_a_draft_is_chosen_for_the_owners_model(bench: Bench) -> None:
    bench.guest("another")
    bench.worker.submit(SetDraft("small"))
    assert bench.events.wait_for(EngineReady).target.path == "mine"


def test_a_failing_restore_fails_the_answer_and_is_tried_again(bench: Bench) -> None:
    bench.guest("theirs")
    bench.session.fails = True
    bench.ask(1)
    failed = bench.events.wait_for(EngineFailed)
    assert (failed.request_id, failed.problem.message) == (1, "The file is gone.")
    bench.session.fails = False
    bench.ask(2)
    bench.events.wait_for(Finished)
    assert bench.session.answered_by == ["mine"]


def test_a_stop_ends_the_wait_for_it(bench: Bench) -> None:
    bench.guest("theirs")
    bench.session.gate.clear()
    bench.ask(1)
    bench.events.wait_for(LoadProgress)
    bench.worker.cancel(1)
    assert bench.events.wait_for(Finished).reason is FinishReason.CANCELLED
    bench.session.gate.set()
    bench.ask(2)
    bench.events.wait_for(Finished)
    assert bench.session.answered_by == ["mine"]
