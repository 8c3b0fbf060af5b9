"""Obsolete loads end at once: another model is chosen, or they are stopped. No answer loses its model."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.records import (
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadProgress,
    LoadRequest,
)
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.engine.driver import WAIT_S, Driver, Events, question

FIRST, SECOND = str(builtin_target()), str(builtin_draft())


@dataclass
class Bench:
    """A real engine whose loads can be held at their first step."""

    halts: bool = False
    began: threading.Event = field(default_factory=threading.Event)
    goes_on: threading.Event = field(default_factory=threading.Event)
    events: Events = field(default_factory=Events)

    def __post_init__(self) -> None:
        self.worker = Driver(EngineWorker(self._on_event, Session))

    def _on_event(self, event: Event) -> None:
        if isinstance(event, LoadProgress):
            if self.halts and not self.began.is_set():
                self.began.set()
                assert self.goes_on.wait(WAIT_S)
        else:
            self.events.put(event)

    def load_halfway(self, path: str) -> None:
        self.halts = True
        self.worker.load(LoadRequest(path))
        assert self.began.wait(WAIT_S)

    def told(self, num: int) -> list[str]:
        """The next events except progress and text, abbreviated."""
        shorts: list[str] = []
        while len(shorts) < num:
            shorts += _short(self.events.next())
        return shorts


def _short(event: Event) -> list[str]:
    if isinstance(event, EngineReady):
        return ["first" if event.target.path == FIRST else "second"]
    if isinstance(event, EngineFailed):
        return ["cancelled" if event.was_cancelled else event.problem.message]
    if isinstance(event, Finished):
        return [f"{event.request_id} {event.reason.value}"]
    return []


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    bench.worker.start()
    yield bench
    bench.goes_on.set()
    assert bench.worker.close(WAIT_S)


def test_of_many_choices_only_the_last_is_loaded(bench: Bench) -> None:
    bench.load_halfway(FIRST)
    bench.worker.set_draft(SECOND)
    for path in (FIRST, SECOND, FIRST):
        bench.worker.load(LoadRequest(path))
    bench.goes_on.set()
    assert bench.told(5) == ["cancelled"] * 4 + ["first"]


def test_a_load_that_is_stopped_leaves_the_model_before_it(bench: Bench) -> None:
    bench.worker.load(LoadRequest(SECOND))
    assert bench.told(1) == ["second"]
    bench.load_halfway(FIRST)
    bench.worker.stop_loading()
    bench.goes_on.set()
    assert bench.told(1) == ["cancelled"]
    bench.worker.generate(question(1))
    assert bench.told(1) == [f"1 {FinishReason.LENGTH.value}"]
    bench.worker.set_draft(None)  # it reports what is loaded
    assert bench.told(1) == ["second"]
