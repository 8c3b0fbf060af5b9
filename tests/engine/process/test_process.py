"""Tests how the engine's process is started, and how its exit is described."""

import logging
import signal
import sys
from collections.abc import Callable

import pytest

from app.__main__ import main
from engine.process import child, process
from engine.process.channel import Setup
from engine.process.process import reason_of
from engine.sandbox.helper import ENGINE_FLAG


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
        (-signal.SIGKILL, "killed by another program, or by the system because memory ran out"),
        (1, "status 1"),
        (0xC0000005, "status 0xc0000005"),
    ],
)
def test_the_end_has_a_reason(status: int, words: str) -> None:
    assert reason_of(status) == words


class Broken:
    """A closed terminal."""

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


def started(
    monkeypatch: pytest.MonkeyPatch, script: str, on_message: Callable[[object], None]
) -> tuple[process.EngineProcess, list[int]]:
    """A process that runs ``script`` instead of the engine, and its exit statuses."""
    monkeypatch.setattr(process, "command", lambda: [sys.executable, "-c", script])
    ended: list[int] = []
    setup = Setup(int, logging.Formatter(), 0)  # type: ignore[arg-type]
    begun = process.EngineProcess(setup, on_message, lambda _process, status: ended.append(status))
    begun.start_reading()
    return begun, ended


SENDS = "import sys, time; from engine.process.channel import pack; sys.stdout.buffer.write({}); sys.stdout.flush(); "


def test_what_cannot_be_read_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[object] = []
    script = SENDS.format("pack(['first']) + (5).to_bytes(8, 'little') + b'words'") + "time.sleep(600)"
    begun, ended = started(monkeypatch, script, heard.append)
    assert begun.wait(30.0)
    assert heard == ["first"]
    assert ended != [0]
    assert "sent what cannot be read" in caplog.text


def test_a_message_that_its_hearer_cannot_take_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[object] = []

    def hear(message: object) -> None:
        if message == 2:
            raise ValueError("a surprise")
        heard.append(message)

    begun, ended = started(monkeypatch, SENDS.format("pack([1, 2]) + pack([3])"), hear)
    assert begun.wait(30.0)
    assert (heard, ended) == ([1, 3], [0])
    assert "int of the engine could not be taken" in caplog.text


def test_a_message_to_a_process_that_has_ended_is_nobodys_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = started(monkeypatch, "raise SystemExit(3)", lambda _message: None)
    assert begun.wait(30.0)
    begun.send("words")
    begun.send("x" * 1_000_000)
    assert ended == [3]
