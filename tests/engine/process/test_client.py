"""The engine in a separate process gives the same answers; failures are handled when the process dies."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import psutil
import pytest

from app.core.logs import RedactingFormatter
from app.core.paths import builtin_draft, builtin_target
from app.core.server.engine_job import CallJob, EngineJob, RequestBegan, SessionReply, drop_caches
from engine.process.client import EngineClient
from engine.records import (
    ChatRequest,
    EngineEnded,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    FinishReason,
    LoadProgress,
    LoadRequest,
    Mode,
    PrefillProgress,
    Problem,
    TextChunk,
)
from engine.requests import JobEnded
from engine.session.session import Session
from tests.engine.driver import WAIT_S, Driver, Events, question
from tests.engine.process.scripted import ScriptedJob, session_maker

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the ways to end a process are those of POSIX")


class Bench:
    """A client and its events."""

    def __init__(self, notes: Path, make_session: Callable[[], object] | None = None) -> None:
        self.notes = notes
        self.events = Events()
        make = cast("Callable[[], Session]", make_session or session_maker(notes))
        self.engine = EngineClient(self.events.put, make, formatter=RedactingFormatter())
        self.client = Driver(self.engine)
        self.client.start()

    def ask(self, words: str, request_id: int = 1) -> None:
        self.client.generate(ChatRequest(raw_prompt=words, request_id=request_id))

    def load(self, target: str) -> int:
        return self.client.load(LoadRequest(target))

    def noted(self) -> list[str]:
        return self.notes.read_text(encoding="utf-8").splitlines() if self.notes.exists() else []

    def pid(self) -> int:
        end_s = time.monotonic() + WAIT_S
        while (pid := self.engine.pid) is None:
            assert time.monotonic() < end_s
            time.sleep(0.005)
        return pid


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "notes")
    yield bench
    bench.client.close(WAIT_S)
    assert bench.engine.pid is None


def is_gone(pid: int) -> bool:
    end_s = time.monotonic() + WAIT_S
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > end_s:
            return False
        time.sleep(0.01)
    return True


def test_it_loads_answers_and_stops(bench: Bench) -> None:
    number = bench.load("model")
    assert bench.events.next() == LoadProgress("model", 0.5, number)
    ready = bench.events.wait_for(EngineReady)
    assert (ready.target.path, ready.request_id) == ("model", number)
    bench.ask("one two three")
    chunks = [bench.events.next() for _ in range(3)]
    assert [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)] == ["one ", "two ", "three "]
    assert bench.events.wait_for(Finished).reason is FinishReason.END
    bench.ask("one wait", 2)
    bench.events.wait_for(TextChunk)
    bench.client.stop()
    assert bench.events.wait_for(Finished).reason is FinishReason.CANCELLED
    bench.load("fail")
    assert bench.events.wait_for(EngineFailed).problem.message == "fail is none."


def test_the_end_of_the_process_fails_requests_and_the_next_restarts_it(
    bench: Bench,
) -> None:
    bench.load("model")
    bench.events.wait_for(EngineReady)
    pid = bench.pid()
    bench.ask("kept words abort", 5)
    bench.ask("never begun", 6)
    race = bench.client.run_job(ScriptedJob("a race"))
    events: list[Event] = []
    while not any(isinstance(event, EngineFailed) and event.request_id == race for event in events):
        events.append(bench.events.next())
    assert "".join(event.text for event in events if isinstance(event, TextChunk)) == "kept words "
    ended = next(at for at, event in enumerate(events) if isinstance(event, EngineEnded))
    assert events[ended] == EngineEnded("signal SIGABRT")
    failed = [event for event in events[ended:] if isinstance(event, EngineFailed)]
    assert [(event.request_id, event.engine_ended) for event in failed] == [(5, True), (6, True), (race, True)]
    assert failed[0].problem.message == "The engine ended unexpectedly (signal SIGABRT)."
    assert bench.engine.pid is None
    bench.load("model")
    assert bench.events.wait_for(EngineReady).target.path == "model"
    assert bench.pid() != pid
    bench.ask("it goes on", 7)
    assert bench.events.wait_for(Finished).request_id == 7


@pytest.mark.parametrize(
    ("number", "reason"), [(signal.SIGKILL, "killed by another program"), (signal.SIGSEGV, "signal SIGSEGV")]
)
def test_an_idle_process_may_end_as_well(bench: Bench, number: int, reason: str) -> None:
    bench.load("model")
    bench.events.wait_for(EngineReady)
    os.kill(bench.pid(), number)
    assert bench.events.wait_for(EngineEnded).reason.startswith(reason)


def test_orders_are_sent_to_the_next_process_as_well(bench: Bench) -> None:
    bench.client.set_state_limit(10)
    bench.client.set_state_limit(20)
    bench.client.forget_state(3)
    bench.client.forget_past()
    bench.load("abort")
    bench.events.wait_for(EngineFailed)
    bench.notes.write_text("")
    bench.load("model")
    bench.events.wait_for(EngineReady)
    assert bench.noted() == ["limit 20", "forget 3", "forget past"]


def test_jobs_run_there_and_end_or_fail(bench: Bench) -> None:
    number = bench.client.run_job(ScriptedJob("one two"))
    told = [LoadProgress("one", 0.0, number), LoadProgress("two", 0.0, number)]
    assert [bench.events.next(), bench.events.next()] == told
    ended = bench.events.wait_for(JobEnded)
    assert (ended.request_id, ended.value) == (number, len("one two"))
    number = bench.client.run_job(ScriptedJob("fail"))
    failed = bench.events.wait_for(EngineFailed)
    assert failed.request_id == number
    assert "unexpected" in failed.problem.message
    bench.client.run_job(ScriptedJob("wait over"))
    bench.client.stop_jobs()
    assert [bench.events.wait_for(LoadProgress).path for _ in range(2)] == ["wait", "over"]
    bench.client.run_job(ScriptedJob("one abort"))
    assert "SIGABRT" in bench.events.wait_for(EngineFailed).problem.message


def test_a_job_that_cannot_be_sent_fails_and_the_rest_goes_on(bench: Bench) -> None:
    job = ScriptedJob("one")
    job.lock = threading.Lock()  # type: ignore[attr-defined]
    number = bench.client.run_job(job)
    failed = bench.events.wait_for(EngineFailed)
    assert (failed.request_id, failed.problem.title) == (number, "Something went wrong in the engine")
    bench.load("model")
    assert bench.events.wait_for(EngineReady).target.path == "model"


def test_the_events_of_a_request_go_to_who_asked(bench: Bench) -> None:
    bench.load("model")
    bench.events.wait_for(EngineReady)
    heard, turn = Events(), EngineJob(ChatRequest(raw_prompt="a b"), "model")
    number = bench.client.run_job(turn, in_background=True, on_event=heard.put)
    told = [heard.next() for _ in range(6)]
    kinds = [RequestBegan, PrefillProgress, TextChunk, TextChunk, Finished, JobEnded]
    assert [type(event) for event in told] == kinds
    assert {getattr(event, "request_id", None) for event in told} == {number}
    bench.client.run_job(EngineJob(None, call=length_of_prompt), in_background=True, on_event=heard.put)
    assert heard.wait_for(JobEnded).value == SessionReply(4)
    bench.client.run_job(CallJob(drop_caches), in_background=True, on_event=heard.put)
    heard.wait_for(JobEnded)
    assert "forget guests" in bench.noted()
    assert bench.events.empty()


def length_of_prompt(session: Session, _should_stop: Callable[[], bool]) -> int:
    return len(session.prompt_ids(ChatRequest(raw_prompt="four")))


def test_a_process_that_cannot_be_started_fails_what_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.process.process.command", lambda: [str(tmp_path / "no such program")])
    bench = Bench(tmp_path / "notes")
    number = bench.client.set_draft("a draft")
    assert "could not be started" in bench.events.wait_for(EngineEnded).reason
    failed = bench.events.wait_for(EngineFailed)
    assert (failed.request_id, failed.engine_ended) == (number, True)
    monkeypatch.undo()
    bench.load("model")  # the next command tries again
    assert bench.events.wait_for(EngineReady).target.path == "model"
    assert bench.client.close(WAIT_S)


def test_a_request_at_the_moment_of_its_death_fails_and_starts_no_other(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.client.set_state_limit(7)
    bench.load("model")
    bench.events.wait_for(EngineReady)

    def reason(_status: int) -> str:
        bench.ask("late", request_id=9)
        time.sleep(0.05)  # until the sending thread takes it
        return "a reason"

    monkeypatch.setattr("engine.process.process.reason_of", reason)
    os.kill(bench.pid(), signal.SIGKILL)
    bench.events.wait_for(EngineEnded)
    failed = bench.events.wait_for(EngineFailed)
    assert (failed.request_id, failed.engine_ended) == (9, True)
    assert bench.engine.pid is None
    bench.load("other")
    bench.events.wait_for(EngineReady)
    assert bench.noted() == ["limit 7", "limit 7"], "the next process is told what every one has to be told"


def test_a_service_manager_that_asks_all_processes_to_end_cuts_no_answer(bench: Bench) -> None:
    bench.load("model")
    bench.events.wait_for(EngineReady)
    os.kill(bench.pid(), signal.SIGTERM)
    bench.ask("and on")
    assert bench.events.wait_for(Finished).reason is FinishReason.END


def test_its_log_is_ours_and_quotes_no_chat(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        bench.ask("fail secret-words")
        assert "unexpected error" in bench.events.wait_for(EngineFailed).problem.message
    lines = [record.getMessage() for record in caplog.records]
    assert "it fails" in lines
    text = next(line for line in lines if line.startswith("unexpected error in the engine"))
    assert "ValueError (its message is not logged)" in text
    assert "secret-words" not in caplog.text


def test_the_end_frees_the_session_and_no_process_stays(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "notes")
    bench.load("model")
    bench.events.wait_for(EngineReady)
    pid = bench.pid()
    bench.ask("wait")
    assert bench.client.close(WAIT_S)
    assert bench.noted() == ["closed"]
    assert is_gone(pid)


def test_an_engine_that_does_not_end_in_time_is_killed(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "notes")
    bench.load("model")
    bench.events.wait_for(EngineReady)
    pid = bench.pid()
    os.kill(pid, signal.SIGSTOP)
    assert not bench.client.close(0.2)
    assert is_gone(pid)


def test_closing_early_starts_a_process_only_to_forget(tmp_path: Path) -> None:
    for forgets in (False, True):
        notes = tmp_path / f"notes {forgets}"
        client = Driver(EngineClient([].append, cast("Callable[[], Session]", session_maker(notes)), threading.Event()))
        client.start()
        client.set_state_limit(5)
        client.load(LoadRequest("model"))
        if forgets:
            client.forget_state(1)
        assert client.close(WAIT_S)
        lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
        assert lines == (["limit 5", "forget 1", "closed"] if forgets else [])


OWNER = """
import sys, time
from dataclasses import replace
from pathlib import Path
from engine.process.client import EngineClient
from engine.records import ChatRequest
from tests.engine.process.scripted import session_maker
make = session_maker(Path(sys.argv[1]))
client = EngineClient(lambda event: print(type(event).__name__ + "\\n", end="", flush=True), make)
client.start()
client.submit(ChatRequest(raw_prompt="a wait", request_id=1))
while client.pid is None:
    time.sleep(0.01)
print(f"{client.pid}\\n", end="", flush=True)  # in one piece: the other thread writes too
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl+C"])
def test_it_never_outlives_its_owner(tmp_path: Path, number: int) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "notes")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).resolve().parents[3],
        start_new_session=True,
    )
    assert owner.stdout is not None
    with owner:
        try:
            lines = {owner.stdout.readline().strip() for _ in range(2)}
            assert b"TextChunk" in lines
            (pid,) = [int(line) for line in lines if line.isdigit()]
            os.killpg(owner.pid, number)  # like a terminal: to both processes
            owner.wait(WAIT_S)
            assert is_gone(pid)
        finally:
            owner.kill()


def test_a_real_pair_answers_there_as_here(tmp_path: Path) -> None:
    load = LoadRequest(str(builtin_target()), str(builtin_draft()), n_ctx=256)
    request = replace(question(1, max_tokens=40), mode=Mode.DRAFT, depth=3)
    bench, session = Bench(tmp_path, Session), Session()
    bench.client.load(load)
    bench.events.wait_for(EngineReady)
    session.load(load)
    bench.client.generate(request)
    there = [bench.events.next()]
    while not isinstance(there[-1], Finished):
        there.append(bench.events.next())
    assert bench.client.close(WAIT_S)
    assert facts(there) == facts(list(session.generate(request)))
    session.close()


def facts(events: list[Event]) -> tuple[object, ...]:
    """What does not depend on time."""
    chunks, end = [event for event in events if isinstance(event, TextChunk)], events[-1]
    assert isinstance(end, Finished)
    spans = [span for chunk in chunks for span in chunk.spans]
    return "".join(chunk.text for chunk in chunks), spans, end.token_ids, end.stats.accepted


def test_an_abort_in_a_real_answer_is_reported_with_its_signal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(tmp_path / "notes", Session)
    bench.load(str(builtin_target()))
    bench.events.wait_for(EngineReady)
    request = ChatRequest(raw_prompt="Once", max_tokens=100_000, ignore_eos=True, request_id=1)
    bench.client.generate(request)
    bench.events.wait_for(TextChunk)
    os.kill(bench.pid(), signal.SIGABRT)
    reason = bench.events.wait_for(EngineEnded).reason
    # Python's crash report lists frames of running threads, and may itself crash.
    assert reason in ("signal SIGABRT", "signal SIGSEGV")
    problem: Problem = bench.events.wait_for(EngineFailed).problem
    assert reason.removeprefix("signal ") in problem.message
    assert "Fatal Python error: Aborted" in caplog.text
    assert bench.client.close(WAIT_S)
