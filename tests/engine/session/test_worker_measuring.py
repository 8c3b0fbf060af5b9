"""Passes of idle measurements are aborted for a request, and for no other reason."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.errors import DecodeError
from engine.pacing import pair_costs
from engine.records import (
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
)
from engine.sequence import CachedSequence
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.engine.driver import WAIT_S, Driver, Events, question


@dataclass
class Bench:
    """A real engine that measures one pass after another without checking for requests."""

    began: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    gives_up: threading.Event = field(default_factory=threading.Event)
    events: Events = field(default_factory=Events)

    def __post_init__(self) -> None:
        self.worker = Driver(EngineWorker(self.events.put, Session))

    def passes(self, sequence: CachedSequence, *_: object) -> dict[int, float]:
        self.began.set()
        past = sequence.num_past
        try:
            while not self.gives_up.is_set():
                sequence.forward([0] * 33, 33)
                sequence.rollback(past)
        except DecodeError:
            self.ended.set()
            raise
        return {1: 1.0, 4: 2.0}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    bench = Bench()
    monkeypatch.setattr("engine.session.worker.IDLE_S", 0.01)
    monkeypatch.setattr(pair_costs, "measure_passes", bench.passes)
    bench.worker.start()
    bench.worker.load(LoadRequest(str(builtin_target()), str(builtin_draft()), threads=1))
    bench.events.wait_for(EngineReady)
    assert bench.began.wait(WAIT_S)
    yield bench
    bench.gives_up.set()
    assert bench.worker.close(WAIT_S)


ASKS: dict[str, tuple[Callable[[Driver], None], type[Event]]] = {
    "answer": (lambda worker: worker.generate(question(1)), Finished),
    "load": (lambda worker: worker.load(LoadRequest(str(builtin_draft()))), EngineReady),
    "draft": (lambda worker: worker.set_draft(None), EngineReady),
}


@pytest.mark.parametrize("name", ASKS)
def test_what_is_asked_for_ends_the_pass_that_is_measured(
    bench: Bench, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    ask, answers_with = ASKS[name]
    ask(bench.worker)
    bench.events.wait_for(answers_with)
    assert bench.ended.is_set()
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_stop_without_work_ends_nothing(bench: Bench) -> None:
    bench.worker.stop()
    bench.gives_up.set()
    assert not bench.ended.is_set()
    bench.worker.generate(question(1))
    assert bench.events.wait_for(Finished).reason is FinishReason.LENGTH


def test_the_app_closes_in_the_middle_of_a_pass(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    assert bench.worker.close(WAIT_S)
    assert bench.ended.is_set()
    assert [record for record in caplog.records if record.exc_info] == []
