"""An app that is closed while it starts: the engine is not created any more, and its thread ends."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

from app.core.paths import builtin_draft
from engine.records import Event, LoadRequest
from engine.sandbox.machine_check import KERNELS_FILE, file_inspector
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.engine.driver import Driver
from tests.engine.gguf_factory import tiny_llama
from tests.waiting import PATIENCE_S


class Making:
    """Creates a session, and counts how often."""

    def __init__(self) -> None:
        self.count = 0
        self.forgot: list[object] = []

    def __call__(self) -> Session:
        self.count += 1
        session = Session()
        session.states.forget = self.forgot.append  # type: ignore[method-assign, assignment]
        session.states.set_limit = self.forgot.append  # type: ignore[method-assign]
        session.forget_past = lambda: self.forgot.append("past")  # type: ignore[method-assign]
        return session


def ignore(_event: Event) -> None:
    pass


def test_what_is_closed_before_its_first_picture_makes_no_engine() -> None:
    making = Making()
    worker = Driver(EngineWorker(ignore, making, threading.Event()))
    worker.start()
    worker.set_state_limit(1 << 30)
    worker.load(LoadRequest("some.gguf"))
    began = time.monotonic()
    assert worker.close(50)
    assert time.monotonic() - began < 50.0
    assert making.count == 0
    assert making.forgot == []


def test_the_engine_begins_when_it_may() -> None:
    making, begins = Making(), threading.Event()
    made = threading.Event()
    worker = Driver(EngineWorker(lambda _event: made.set(), making, begins))
    worker.start()
    worker.load(LoadRequest("no such file.gguf"))
    assert not made.wait(0.05)
    assert making.count == 0
    begins.set()
    assert made.wait(PATIENCE_S)
    assert worker.close(10)


@pytest.mark.parametrize(
    ("ask", "done"),
    [
        (lambda worker: worker.forget_state(7), [1, 7]),
        (lambda worker: worker.forget_past(), [1, "past"]),
        (lambda worker: worker.set_state_limit(0), [1, 0]),  # it was just switched off
    ],
)
def test_what_was_to_be_forgotten_is_forgotten_all_the_same(ask: object, done: list[object]) -> None:
    making = Making()
    worker = Driver(EngineWorker(ignore, making, threading.Event()))
    worker.start()
    worker.set_state_limit(1)
    ask(worker)  # type: ignore[operator]
    worker.load(LoadRequest("some.gguf"))
    assert worker.close(20)
    assert making.forgot == done


def test_the_trial_of_the_kernels_does_not_keep_the_app_from_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = threading.Event()

    def sleeping(*_: str) -> list[str]:
        started.set()
        return [sys.executable, "-c", "import time; time.sleep(60)"]

    monkeypatch.setattr("engine.sandbox.helper.child_command", sleeping)
    sample = tiny_llama(seed=1).write(tmp_path / "sample.gguf")
    worker = Driver(EngineWorker(ignore, lambda: Session(file_inspector(tmp_path, sample))))
    worker.start()
    worker.load(LoadRequest(str(builtin_draft())))
    assert started.wait(PATIENCE_S)
    assert worker.close(20)
    assert not (tmp_path / KERNELS_FILE).exists()
