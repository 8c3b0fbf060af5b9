"""Tests two engines behind one interface: each command is answered in order by the engine it is meant for."""

from collections.abc import Callable
from dataclasses import replace

from app.controllers.engine_router import EngineRouter
from app.core.domain.engines import remote_model_id
from engine.records import (
    ChatRequest,
    EngineEnded,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Problem,
    RunStats,
)
from engine.requests import Request
from tests.app.fakes import PuppetWorker, info
from tests.engine.driver import Driver

THERE = remote_model_id("http://127.0.0.1:1", "m")
HERE = LoadRequest("models/target.gguf")
FAILED = EngineFailed(Problem("No", "No.", ""))


class PuppetRemote:
    """The remote engine, scripted by the test."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self.tell = on_event
        self.paths: list[str] = []
        self.requests: list[ChatRequest] = []
        self.cancelled: list[int] = []
        self.loading = 0

    def submit(self, request: Request) -> None:
        if isinstance(request, LoadRequest):
            self.paths.append(request.target)
            self.loading = request.request_id
        elif isinstance(request, ChatRequest):
            self.requests.append(request)

    def ready(self) -> None:
        self.tell(EngineReady(info(THERE), request_id=self.loading))

    def cancel(self, number: int) -> None:
        self.cancelled.append(number)

    def close(self, timeout_s: float) -> bool:
        return timeout_s > 0


class Bench:
    """A router between two scripted engines, and the events that it emitted."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.remote = PuppetRemote(self.events.append)  # the router creates it when needed
        make_remote = self._make_remote
        self.router = Driver(EngineRouter(self.events.append, self._make_local, make_remote))  # type: ignore[arg-type]

    def _make_local(self, on_event: Callable[[Event], None]) -> PuppetWorker:
        self.local = PuppetWorker(on_event)
        return self.local

    def _make_remote(self, on_event: Callable[[Event], None]) -> PuppetRemote:
        self.remote.tell = on_event
        return self.remote

    def use_remote(self) -> None:
        self.router.load(LoadRequest(THERE))
        self.remote.ready()


def test_answers_come_from_the_side_whose_model_is_in_use() -> None:
    bench = Bench()
    bench.router.load(HERE)
    bench.router.generate(ChatRequest(request_id=1))  # the local engine delays it until the model is loaded
    bench.local.ready()
    bench.use_remote()
    assert bench.remote.paths == [THERE]
    bench.router.generate(ChatRequest(request_id=2))
    bench.router.load(HERE)
    bench.local.ready()
    bench.router.generate(ChatRequest(request_id=3))
    assert [request.request_id for request in bench.local.requests] == [1, 3]
    assert [request.request_id for request in bench.remote.requests] == [2]


def test_loads_of_two_sides_are_answered_in_their_order() -> None:
    bench = Bench()
    bench.router.load(HERE)
    bench.router.load(LoadRequest(THERE))
    bench.router.generate(ChatRequest(request_id=5))
    assert bench.local.num_load_stops == 1  # nothing waits for it
    assert (bench.remote.paths, bench.remote.requests) == ([], [])
    bench.local.tell(FAILED)
    assert bench.remote.paths == [THERE]
    assert bench.remote.requests == []
    bench.remote.ready()
    assert [request.request_id for request in bench.remote.requests] == [5]
    assert [type(event) for event in bench.events] == [EngineFailed, EngineReady]


def test_a_failed_load_leaves_the_other_side_in_use() -> None:
    bench = Bench()
    bench.use_remote()
    bench.router.load(HERE)
    bench.router.generate(ChatRequest(request_id=6))
    assert bench.local.requests == []
    bench.local.tell(FAILED)
    assert [request.request_id for request in bench.remote.requests] == [6]
    bench.router.stop()
    assert bench.remote.cancelled[-1] == 6


def test_a_stop_ends_what_waits_and_what_runs() -> None:
    bench = Bench()
    bench.router.load(HERE)
    bench.router.load(LoadRequest(THERE))
    bench.router.generate(ChatRequest(request_id=8))
    bench.router.stop()
    assert bench.events == [Finished(8, FinishReason.CANCELLED, RunStats())]
    assert (bench.local.num_stops, bench.remote.cancelled) == (0, [])
    bench.router.stop_loading()
    assert len(bench.events) == 1  # it comes after the one that is being loaded
    bench.local.tell(FAILED)
    assert [getattr(event, "was_cancelled", None) for event in bench.events[1:]] == [False, True]
    assert bench.remote.paths == []


def test_what_needs_the_engine_here_says_so() -> None:
    bench = Bench()
    bench.use_remote()
    bench.router.set_draft("models/draft.gguf")
    failed = bench.events[-1]
    assert isinstance(failed, EngineFailed)
    assert "draft" in failed.problem.title
    assert bench.local.drafts == []
    assert bench.router.close(1.0)
    assert bench.local.is_down


def test_an_engine_crash_is_reported_only_if_its_model_is_in_use() -> None:
    bench = Bench()
    bench.router.load(HERE)
    bench.local.ready()
    bench.local.tell(EngineEnded("signal SIGABRT"))
    assert bench.events[-1] == EngineEnded("signal SIGABRT")
    bench.use_remote()
    told = len(bench.events)
    bench.local.tell(EngineEnded("signal SIGABRT"))
    assert len(bench.events) == told
    bench.router.generate(ChatRequest(request_id=1))
    assert [request.request_id for request in bench.remote.requests] == [1]


def test_its_end_is_reported_to_who_waits_for_a_model_of_the_engine_here() -> None:
    bench = Bench()
    bench.use_remote()
    number = bench.router.load(HERE)
    bench.local.tell(EngineEnded("signal SIGABRT"))
    bench.local.tell(FAILED)
    assert bench.events[-2:] == [EngineEnded("signal SIGABRT"), replace(FAILED, request_id=number)]
