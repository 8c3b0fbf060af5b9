"""Tests `paceline chat`: the messages that are sent, commands, and Ctrl+C in a terminal."""

import io
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from app.cli.chat import Conversation
from app.cli.parser import main
from engine.errors import PromptTooLongError
from engine.records import (
    ChatRequest,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    Mode,
    RunStats,
    Source,
    TextChunk,
    TokenSpan,
)
from engine.session.session import Session
from tests.engine.process.scripted import info
from tests.waiting import PATIENCE_S

Capture = pytest.CaptureFixture[str]


@dataclass
class ScriptedSession:
    """Answers with the number of the answer, after some reasoning."""

    requests: list[ChatRequest] = field(default_factory=list)

    def generate(self, request: ChatRequest, _should_stop: Callable[[], bool]) -> Iterator[Event]:
        self.requests.append(request)
        if request.messages[-1].content == "too long":
            raise PromptTooLongError("The prompt is too long.")
        text = f"a thought</think>answer {len(self.requests)}"
        yield TextChunk(1, text, (TokenSpan(len(text), Source.TARGET),), reasoning_start_tag="<think>")
        yield Finished(1, FinishReason.END, RunStats(mode=request.mode, tokens=3, passes=2))


def talk(*lines: str, system: str = "") -> ScriptedSession:
    session, waiting = ScriptedSession(), list(lines)

    def read(_before: str) -> str:
        if not waiting:
            raise EOFError
        return waiting.pop(0)

    ready = EngineReady(info("model"), unavailable={Mode.DRAFT: "There is no draft."})
    conversation = Conversation(cast("Session", session), ready, ChatRequest(mode=Mode.AUTO), system, read)
    assert conversation.run() == 0
    return session


def said(request: ChatRequest) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in request.messages]


def test_what_was_said_before_goes_along_without_its_reasoning(capsys: Capture) -> None:
    session = talk("one", "", "two", system="Be brief.")
    assert said(session.requests[1]) == [
        ("system", "Be brief."), ("user", "one"), ("assistant", "answer 1"), ("user", "two"),
    ]  # fmt: skip
    shown = capsys.readouterr()
    assert "answer 2" in shown.out
    assert shown.err.count("tokens per pass") == 2


def test_messages_of_several_lines() -> None:
    session = talk("one", '"""', "three", "", "/four", '"""', '"""five"""')
    assert [request.messages[-1].content for request in session.requests] == ["one", "three\n\n/four", "five"]


def test_commands(capsys: Capture) -> None:
    session = talk("one", "/xyzzy", "/clear", "two", "/exit", "no")
    assert said(session.requests[1]) == [("user", "two")]
    assert len(session.requests) == 2
    assert "/xyzzy is unknown. " in capsys.readouterr().err


def test_a_message_that_cannot_be_answered_is_told_and_forgotten(capsys: Capture) -> None:
    session = talk("too long", "short")
    assert said(session.requests[1]) == [("user", "short")]
    assert "The prompt is too long." in capsys.readouterr().err


@pytest.mark.usefixtures("tried")
def test_lines_of_standard_input_are_messages(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Repeat: red.\nRepeat: blue.\n")))
    assert main(["chat", "--max-tokens", "8", "--mode", "off"]) == 0
    shown = capsys.readouterr()
    assert shown.err.count("tokens per pass") == 2
    assert "> " not in shown.out


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
@pytest.mark.usefixtures("tried")
def test_run_without_a_prompt_is_a_chat_and_ctrl_c_stops_an_answer() -> None:
    import pty

    pid, terminal = pty.fork()
    if not pid:
        os.chdir(Path(__file__).resolve().parents[3])
        words = ["run", "--mode", "off", "--ignore-eos", "--temperature", "0"]
        os.execv(sys.executable, [sys.executable, "-m", "app", *words])  # noqa: S606  (our own interpreter)
    seen = ""

    def wait_for(pattern: str) -> None:
        nonlocal seen
        ends_s = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, seen)):
            assert time.monotonic() < ends_s, seen
            seen += os.read(terminal, 1000).decode("utf-8", "replace")
        seen = seen[found.end() :]

    wait_for(r"a chat with .*/clear")
    wait_for("> ")
    os.write(terminal, b"Write a long story about a dog.\n")
    wait_for(r"dog\.\r\n[^>]{20}")
    os.write(terminal, b"\x03")
    wait_for("ended by cancelled")
    wait_for("stopped")
    wait_for("> ")
    os.write(terminal, b"/exit\n")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
