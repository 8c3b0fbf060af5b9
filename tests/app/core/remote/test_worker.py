"""Tests the thread for remote servers: reports of missing models, cancelled loads and failures."""

import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.domain.engines import ServerKind, remote_model_id
from app.core.remote.answer import RemoteAnswer
from app.core.remote.client import RemoteClient
from app.core.remote.errors import ContextExceededError
from app.core.remote.server_list import RemoteServerList
from app.core.remote.worker import FittingAnswer, RemoteWorker
from engine.records import (
    ChatRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadRequest,
    Message,
    Overflow,
    TextChunk,
)
from tests.app.core.hub.test_tokens import memory
from tests.app.core.remote.scripted_server import ScriptedServer, serving
from tests.engine.driver import Driver

__all__ = ["memory"]  # a fixture

pytestmark = pytest.mark.usefixtures("memory")
ASKED = ChatRequest((Message("user", "Hi"),), request_id=7)
PATIENCE_S = 60.0


class Heard:
    """A worker and its events."""

    def __init__(self, file: Path) -> None:
        self.events = queue.SimpleQueue[Event]()
        self.worker = Driver(RemoteWorker(self.events.put, lambda: RemoteServerList(file)))

    def until(self, *kinds: type[Event]) -> Event:
        """Wait for an event of these kinds."""
        while not isinstance(event := self.events.get(timeout=PATIENCE_S), kinds):
            pass
        return event


@contextmanager
def added(tmp_path: Path, **fields: object) -> Iterator[tuple[Heard, ScriptedServer, str]]:
    """A worker beside a listed server, and the path of its model."""
    file = tmp_path / "engines.toml"
    with serving(**fields) as server:
        RemoteServerList(file).add(server.url, "")
        heard = Heard(file)
        try:
            yield heard, server, remote_model_id(server.url, "org/model")
        finally:
            assert heard.worker.close(PATIENCE_S)


def test_a_model_that_the_engine_no_longer_has_is_told(tmp_path: Path) -> None:
    with added(tmp_path) as (heard, server, path):
        server.script.model = "org/another"
        heard.worker.load(LoadRequest(path))
        failed = heard.until(EngineReady, EngineFailed)
        assert isinstance(failed, EngineFailed)
        assert failed.problem.message.endswith("does not offer the model.")
        assert not failed.was_cancelled


def test_a_load_that_is_ended_while_the_engine_is_silent_is_cancelled(tmp_path: Path) -> None:
    with added(tmp_path) as (heard, server, path):
        server.page = lambda _path: server.wait(PATIENCE_S)  # type: ignore[method-assign,assignment]
        num_before = len(server.requests)
        heard.worker.load(LoadRequest(path))
        heard.worker.load(LoadRequest(path))
        end = time.monotonic() + PATIENCE_S
        while len(server.requests) == num_before:
            assert time.monotonic() < end
            time.sleep(0.01)
        begun = time.monotonic()
        heard.worker.stop_loading()
        for _each in range(2):
            failed = heard.until(EngineReady, EngineFailed)
            assert isinstance(failed, EngineFailed)
            assert failed.was_cancelled
            assert failed.problem.message == "Loading org/model was cancelled."
        assert time.monotonic() - begun < PATIENCE_S / 2


def test_an_answer_without_a_model_or_stopped_in_the_queue_ends_at_once(tmp_path: Path) -> None:
    with added(tmp_path, pause_s=0.5) as (heard, server, path):
        heard.worker.generate(ASKED)
        finished = heard.until(Finished, EngineFailed)
        assert isinstance(finished, Finished)
        assert finished.reason is FinishReason.CANCELLED
        heard.worker.load(LoadRequest(path))
        assert isinstance(heard.until(EngineReady, EngineFailed), EngineReady)
        for number in range(2):
            heard.worker.generate(replace(ASKED, request_id=number))
        heard.until(TextChunk, EngineFailed)
        heard.worker.stop()
        for _each in range(2):
            finished = heard.until(Finished, EngineFailed)
            assert isinstance(finished, Finished)
            assert finished.reason is FinishReason.CANCELLED
        assert len([body for body in server.bodies if "messages" in body and body.get("stream")]) == 1


def test_what_nobody_foresaw_is_told_and_the_next_load_works(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "engines.toml"
    with serving() as server:
        RemoteServerList(file).add(server.url, "")
        failures = [OSError("surprise")]
        events = queue.SimpleQueue[Event]()

        def open_engines() -> RemoteServerList:
            if failures:
                raise failures.pop()
            return RemoteServerList(file)

        worker = Driver(RemoteWorker(events.put, open_engines))
        worker.load(LoadRequest(remote_model_id(server.url, "org/model")))
        failed = events.get(timeout=PATIENCE_S)
        assert isinstance(failed, EngineFailed)
        assert failed.problem.title == "Something went wrong with the remote server"
        assert "surprise" in caplog.text
        worker.load(LoadRequest(remote_model_id(server.url, "org/model")))
        assert isinstance(events.get(timeout=PATIENCE_S), EngineReady)
        assert worker.close(PATIENCE_S)
    assert RemoteWorker(events.put, open_engines).close(0.0)  # it was never started


TURNS = tuple(Message("user" if turn % 2 == 0 else "assistant", f"{turn} " + "word " * 20) for turn in range(9))
LONG = ChatRequest(TURNS, request_id=7, overflow=Overflow.DROP)


def told(server: ScriptedServer, request: ChatRequest, n_ctx: int = 0) -> list[Event]:
    client = RemoteClient(server.url)

    def answering(asked: ChatRequest) -> RemoteAnswer:
        return RemoteAnswer(client, asked, "org/model", ServerKind(server.script.kind), n_ctx)

    return list(FittingAnswer(answering, request, n_ctx).events(lambda: False))


def end_of(events: list[Event]) -> Finished:
    assert isinstance(events[-1], Finished)
    return events[-1]


@pytest.mark.parametrize("n_ctx", [0, 150])
def test_the_oldest_turns_go_until_the_engine_takes_it(n_ctx: int) -> None:
    with serving(kind="vllm", max_chars=450) as server:
        events = told(server, LONG, n_ctx)
        sent = [message["content"] for message in server.bodies[-1]["messages"]]
    finished = end_of(events)
    left_out = finished.stats.left_out
    assert left_out > 0
    assert left_out % 2 == 0  # complete turns
    assert sent == [message.content for message in TURNS[left_out:]]
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == "Hello, world!"
    assert len(server.bodies) <= 4


def test_the_system_prompt_and_the_last_question_stay() -> None:
    with serving(kind="vllm", max_chars=130) as server:
        finished = end_of(told(server, replace(LONG, messages=(Message("system", "Be brief."), *TURNS))))
        sent = server.bodies[-1]["messages"]
    assert [message["role"] for message in sent] == ["system", "user"]
    assert sent[-1]["content"] == TURNS[-1].content
    assert finished.stats.left_out == 8


@pytest.mark.parametrize("asked", [replace(LONG, overflow=Overflow.STOP), replace(LONG, messages=TURNS[-1:])])
def test_nothing_is_left_out_where_that_is_not_wanted_or_nothing_is_earlier(asked: ChatRequest) -> None:
    with serving(kind="vllm", max_chars=45) as server:
        with pytest.raises(ContextExceededError):
            told(server, asked)
        assert len(server.bodies) == 1


def test_a_question_without_an_answer_goes_first() -> None:
    asked = "x" * 400 + "\n\n" + "Hi"
    joined = Message("user", asked, ("x" * 400, "Hi"))
    with serving(kind="vllm", max_chars=100) as server:
        finished = end_of(told(server, ChatRequest((joined,), request_id=7), 40))
        assert [message["content"] for message in server.bodies[-1]["messages"]] == ["Hi"]
    assert (finished.stats.left_out, finished.stats.unanswered) == (0, 1)


def test_a_length_that_no_answer_can_have_is_not_asked_for_again() -> None:
    with serving(kind="vllm", refuses_length=True) as server:
        finished = end_of(told(server, replace(LONG, max_tokens=5000)))
        assert ["max_tokens" in body for body in server.bodies] == [True, False]
    assert finished.stats.left_out == 0


def test_what_was_answered_in_part_is_not_asked_again() -> None:
    error = {"message": "This model's maximum context length is 150 tokens."}
    with serving(kind="vllm", error_after=2, error=error) as server:
        with pytest.raises(ContextExceededError):
            told(server, LONG)
        assert len(server.bodies) == 1
