"""Tests parallel answers: their order, their events, and jobs that need the engine alone."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.core.domain.local_server import Activity
from app.core.server.engine_job import EngineJob, SessionReply
from app.core.server.errors import ApiError
from app.core.server.library import LoadableModel
from app.core.server.scheduler import JobEvent, Scheduler, ServerJob
from engine.records import ChatRequest, LoadRequest, Message, PrefillProgress, TextChunk
from tests.app.core.server.scripted_session import (
    CHAT,
    HELLO,
    PATIENCE_S,
    OneModel,
    ScriptedServer,
    ScriptedSession,
    served,
    started_worker,
)
from tests.app.core.server.sharing_engine import SharingEngine
from tests.waiting import wait_for

TINY = str(Path("models") / "tiny.gguf")
OTHER = str(Path("models") / "other.gguf")


class Listener:
    """Records the events of one answer."""

    def __init__(self) -> None:
        self.events: list[JobEvent] = []
        self.ended = threading.Event()

    def __call__(self, event: JobEvent) -> None:
        if isinstance(event, PrefillProgress):
            return
        self.events.append(event)
        if not isinstance(event, TextChunk):
            self.ended.set()

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextChunk))

    @property
    def codes(self) -> list[str]:
        """The codes of errors."""
        return [str(event.code) for event in self.events if isinstance(event, ApiError)]


class Asked(Listener):
    """A request to the scheduler."""

    def __init__(self, words: str, program: str = "", target: str = "") -> None:
        super().__init__()
        self.job = ServerJob(EngineJob(asked(words), target), self, program=program)


class Bench:
    """A scheduler on an engine with ``parallel`` answers at once, which wait for the gate."""

    def __init__(self, parallel: int, max_waiting: int = 32) -> None:
        self.session = ScriptedSession(echo=True, parallel=max(parallel, 1))
        self.session.gate.clear()
        self.engine = SharingEngine(self.session, parallel) if parallel else started_worker(self.session)
        self.models = OneModel(None, LoadableModel(LoadRequest(OTHER), lambda _ready: served()))
        self.scheduler = Scheduler(self.engine, self.models, max_waiting=max_waiting)

    def ask(self, words: str, program: str = "", target: str = "") -> Asked:
        listener = Asked(words, program, target)
        self.scheduler.submit(listener.job)
        return listener

    def call(self, target: str = "") -> Listener:
        """Let the session compute a value."""
        listener = Listener()
        self.scheduler.submit(ServerJob(EngineJob(None, target, lambda _session, _stops: "told"), listener))
        return listener

    @property
    def begun(self) -> list[str]:
        """The questions that were begun, in order."""
        return [request.messages[-1].content for request in self.session.requests]

    def await_begun(self, number: int) -> list[str]:
        """Wait until this number of answers have begun."""
        wait_for(lambda: len(self.session.requests) >= number)
        return self.begun

    def close(self) -> None:
        self.session.gate.set()
        self.scheduler.close()
        assert self.engine.close(PATIENCE_S)


def asked(words: str) -> ChatRequest:
    return ChatRequest((Message("user", words),))


@pytest.fixture(name="bench")
def fixture_bench() -> Iterator[Callable[..., Bench]]:
    """A function that creates a bench, which ends with the test."""
    made: list[Bench] = []

    def make(parallel: int = 4, max_waiting: int = 32) -> Bench:
        made.append(Bench(parallel, max_waiting))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_as_many_run_as_the_loaded_model_answers(bench: Callable[..., Bench]) -> None:
    four = bench(4)
    listeners = [four.ask(f"{number}") for number in range(6)]
    assert sorted(four.await_begun(4)) == ["0", "1", "2", "3"]
    wait_for(lambda: four.scheduler.activity == Activity(0, 2, 4, 0.0))
    four.session.gate.set()
    assert all(listener.ended.wait(PATIENCE_S) for listener in listeners)
    assert [listener.text for listener in listeners] == [f"{number}" for number in range(6)]
    wait_for(lambda: four.scheduler.activity == Activity(6, 0, 0, 0.0))
    assert four.engine.most_at_once == 4


def test_programs_take_turns(bench: Callable[..., Bench]) -> None:
    two = bench(2)
    two.ask("warm", "script")
    two.await_begun(1)
    batch = [two.ask(f"script {number}", "script") for number in range(6)]
    two.await_begun(2)
    others = [two.ask("editor", "editor"), two.ask("agent 0", "agent"), two.ask("agent 1", "agent")]
    two.session.gate.set()
    assert all(listener.ended.wait(PATIENCE_S) for listener in (*batch, *others))
    assert isinstance(two.engine, SharingEngine)
    turns = [job.request for job in two.engine.begun if isinstance(job, EngineJob) and job.request is not None]
    order = [request.messages[-1].content for request in turns]
    assert order[:2] == ["warm", "script 0"]
    assert order.index("editor") < order.index("script 1"), "who has none in the making comes first"
    assert order.index("agent 0") < order.index("script 2")
    assert [one for one in order if "script" in one] == [f"script {number}" for number in range(6)]


def test_who_leaves_ends_only_its_own_answer(bench: Callable[..., Bench]) -> None:
    four = bench(4)
    stays, leaves = four.ask("stays"), four.ask("leaves")
    four.await_begun(2)
    four.scheduler.cancel(leaves.job)
    assert leaves.ended.wait(PATIENCE_S)
    assert not stays.events
    four.session.gate.set()
    assert stays.ended.wait(PATIENCE_S)
    assert stays.text == "stays"


def test_a_question_about_the_model_is_told_beside_the_answers(bench: Callable[..., Bench]) -> None:
    two = bench(2)
    two.ask("a")
    two.await_begun(1)
    told = two.call(TINY)
    assert told.ended.wait(PATIENCE_S)
    assert told.events == [SessionReply("told")]


def test_a_request_that_needs_the_engine_alone_is_not_overtaken(bench: Callable[..., Bench]) -> None:
    two = bench(2)
    first = two.ask("a")
    two.await_begun(1)
    told = two.call()
    last = two.ask("b")
    assert not told.events
    assert two.begun == ["a"], "there would be room"
    two.session.gate.set()
    assert told.ended.wait(PATIENCE_S)
    assert last.ended.wait(PATIENCE_S)
    assert first.text == "a"
    assert told.events == [SessionReply("told")]
    assert len(two.engine.alone) == 1


def test_another_model_is_loaded_alone_and_then_answers_beside_others(bench: Callable[..., Bench]) -> None:
    two = bench(2)
    two.models.begin(LoadableModel(LoadRequest(TINY), lambda _ready: served()), two.session.loaded)
    two.models.find("other")
    first = two.ask("tiny", target=TINY)
    two.await_begun(1)
    others = [two.ask(f"other {number}", target=OTHER) for number in range(3)]
    two.session.gate.set()
    assert all(listener.ended.wait(PATIENCE_S) for listener in (first, *others))
    assert two.session.loads == ["unloaded", "other"]
    assert [listener.text for listener in others] == ["other 0", "other 1", "other 2"]
    assert {job.load for job in two.engine.alone if isinstance(job, EngineJob)} == {LoadRequest(OTHER)}


def test_a_request_for_an_unloaded_model_is_refused_without_loading(
    bench: Callable[..., Bench],
) -> None:
    listener = bench(2).ask("hello", target=OTHER)
    assert listener.ended.wait(PATIENCE_S)
    (error,) = listener.events
    assert isinstance(error, ApiError)
    assert (error.status, error.code) == (503, "model_changed")


def test_at_the_end_everybody_is_told(bench: Callable[..., Bench]) -> None:
    two = bench(2)
    listeners = [*(two.ask(f"{number}") for number in range(5)), *(two.ask(one) for one in "abc")]
    two.await_begun(2)
    two.scheduler.close()
    for listener in listeners:
        assert listener.ended.wait(PATIENCE_S)
        assert listener.codes == ["server_closing"]
    with pytest.raises(ApiError) as caught:
        two.ask("too late")
    assert caught.value.status == 503


def test_stopping_at_the_server_stops_all_that_run_and_not_what_waits(bench: Callable[..., Bench]) -> None:
    two = bench(2)
    running, waiting = [two.ask("0"), two.ask("1")], two.ask("2")
    two.await_begun(2)
    two.scheduler.stop_running()
    assert all(listener.ended.wait(PATIENCE_S) for listener in running)
    assert [listener.codes for listener in running] == [["stopped"]] * 2
    two.session.gate.set()
    assert waiting.ended.wait(PATIENCE_S)
    assert waiting.text == "2"


def test_cancelling_reaches_the_pass_of_its_own_answer_only(bench: Callable[..., Bench]) -> None:
    one = bench(0)
    first, second = one.ask("a"), one.ask("b")
    assert one.session.begun.acquire(timeout=PATIENCE_S)
    one.scheduler.cancel(second.job)
    assert not one.session.interrupt.event.is_set()
    one.scheduler.cancel(first.job)
    assert one.session.interrupt.event.is_set()
    assert first.ended.wait(PATIENCE_S)
    third = one.ask("c")
    assert one.session.begun.acquire(timeout=PATIENCE_S)
    assert not one.session.interrupt.event.is_set(), "the next pass may run"
    one.scheduler.cancel(first.job)
    assert not one.session.interrupt.event.is_set(), "an answer that ended stops nobody"
    one.scheduler.cancel(third.job)
    assert not second.events


def stream_of(server: ScriptedServer, words: str) -> str:
    """Ask for a stream, and join its text."""
    body = {**HELLO, "messages": [{"role": "user", "content": words}], "stream": True}
    text = ""
    with server.client.stream("POST", CHAT, json=body) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            if line.startswith("data: {"):
                choices = json.loads(line.removeprefix("data: "))["choices"]
                text += choices[0]["delta"].get("content", "") if choices else ""
    return text


def test_four_clients_stream_at_the_same_time_and_nothing_is_mixed_up() -> None:
    server = ScriptedServer(ScriptedSession(echo=True, parallel=4), max_waiting=8)
    server.session.gate.clear()
    words: Sequence[str] = [f"{letter * 40}, {number}" for number, letter in enumerate("abcdefgh")]
    try:
        with ThreadPoolExecutor(len(words)) as clients:
            answers = [clients.submit(stream_of, server, one) for one in words]
            wait_for(lambda: server.scheduler.activity.num_running == 4)
            server.session.release_piece()
            wait_for(lambda: server.scheduler.activity.tokens_per_second > 0)
            server.session.gate.set()
            assert [answer.result(PATIENCE_S) for answer in answers] == list(words)
    finally:
        server.close()
