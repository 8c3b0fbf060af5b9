"""How the engine's process is started, and how its end is put into words."""

from __future__ import annotations

import logging
import signal
import sys

import pytest

from app.__main__ import main
from engine.process import child, process
from engine.process.messages import Setup
from engine.process.process import reason_of
from engine.sandbox.process import ENGINE_FLAG


def test_a_frozen_program_is_started_again_with_a_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    assert process.command() == [sys.executable, "-P", "-m", "engine.process.child"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert process.command() == [sys.executable, ENGINE_FLAG]
    monkeypatch.setattr(child, "main", lambda: 42)
    assert main([ENGINE_FLAG]) == 42


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (-signal.SIGABRT, "signal SIGABRT"),
        (-signal.SIGKILL, "signal SIGKILL, most likely because memory ran out"),
        (1, "status 1"),
        (0xC0000005, "status 0xc0000005"),
    ],
)
def test_the_end_has_a_reason(status: int, words: str) -> None:
    assert reason_of(status) == words


class Broken:
    """A terminal that was closed."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_a_closed_terminal_does_not_hold_the_engine_up(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = "import sys; sys.stderr.write('words\\n' * 50_000)"  # more than a pipe holds
    monkeypatch.setattr(process, "command", lambda: [sys.executable, "-c", talk])
    monkeypatch.setattr(sys, "stderr", Broken())
    ended: list[int] = []
    started = process.EngineProcess(
        Setup(int, logging.Formatter(), 0),  # type: ignore[arg-type]
        lambda _message: None,
        lambda _process, status: ended.append(status),
    )
    started.start_reading()
    assert started.wait(30.0)
    assert ended == [0]
