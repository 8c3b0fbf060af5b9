"""Turns with a lent session: each ends once, whatever the engine's process says or leaves unsaid."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from engine.errors import EngineError
from engine.process.lent_session import LentSession, LentTurns
from engine.process.messages import (
    EndTurn,
    GenerateCall,
    Interrupted,
    Lend,
    SessionCall,
    SessionReply,
    TurnBegan,
    TurnEvent,
    TurnFailed,
)
from engine.records import ChatRequest, LoadProgress, Problem

WAIT_S = 60.0
GONE = Problem("The engine is gone.", "It ended.", "Try again.")
ASKED = ChatRequest(raw_prompt="words")


@dataclass
class Engine:
    """What would be the other process: it notes what it is sent, and says what a test has it say."""

    sent: queue.SimpleQueue[object] = field(default_factory=queue.SimpleQueue)
    failures: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)
    turns: LentTurns = field(init=False)

    def __post_init__(self) -> None:
        self.turns = LentTurns(self.sent.put)

    def ask(self, turn: Callable[[LentSession], object], name: str = "turn") -> None:
        self.turns.ask(lambda session, _: turn(session), lambda: self.failures.put(name), in_background=True)  # type: ignore[arg-type,return-value]

    def next(self) -> object:
        return self.sent.get(timeout=WAIT_S)


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.turns.fail_all(GONE)
    assert engine.turns.close(WAIT_S)


def test_a_turn_calls_the_session_and_is_ended_once(engine: Engine) -> None:
    replies: queue.SimpleQueue[object] = queue.SimpleQueue()
    engine.ask(lambda session: replies.put(session.prompt_ids(ASKED)))
    assert engine.next() == Lend(1, in_background=True)
    engine.turns.take(TurnBegan(1))
    assert engine.next() == SessionCall(1, "prompt_ids", (ASKED,))
    engine.turns.take(SessionReply(1, [3, 4]))
    assert replies.get(timeout=WAIT_S) == [3, 4]
    assert engine.next() == EndTurn(1)
    engine.turns.take(SessionReply(1, [5]))  # to a turn that is over: nobody waits for it
    assert engine.failures.empty()


def test_an_answer_that_nobody_wants_to_its_end_is_interrupted_and_awaited(engine: Engine) -> None:
    heard: queue.SimpleQueue[object] = queue.SimpleQueue()

    def turn(session: LentSession) -> None:
        events = session.generate(ASKED, lambda: False)
        heard.put(next(events))
        events.close()  # type: ignore[attr-defined]
        heard.put("closed")

    engine.ask(turn)
    engine.next()
    engine.turns.take(TurnBegan(1))
    assert engine.next() == GenerateCall(1, ASKED, is_traced=False)
    engine.turns.take(TurnEvent(1, LoadProgress("first", 0.0)))
    assert heard.get(timeout=WAIT_S) == LoadProgress("first", 0.0)
    assert engine.next() == Interrupted(1)
    engine.turns.take(TurnEvent(1, LoadProgress("late", 0.0)))
    assert heard.empty()
    engine.turns.take(SessionReply(1))
    assert heard.get(timeout=WAIT_S) == "closed"
    assert engine.next() == EndTurn(1)


def test_a_session_that_cannot_be_lent_fails_its_turn_only(engine: Engine) -> None:
    engine.ask(lambda _session: None, "first")
    engine.ask(lambda _session: None, "second")
    assert [engine.next(), engine.next()] == [Lend(1, in_background=True), Lend(2, in_background=True)]
    engine.turns.take(TurnFailed(1))
    assert engine.failures.get(timeout=WAIT_S) == "first"
    engine.turns.take(TurnBegan(2))
    assert engine.next() == EndTurn(2)
    assert engine.failures.empty()


def test_a_session_that_is_lost_in_its_turn_is_an_error_there(engine: Engine) -> None:
    engine.ask(lambda session: session.ready())
    engine.next()
    engine.turns.take(TurnBegan(1))
    assert engine.next() == SessionCall(1, "ready")
    engine.turns.take(TurnFailed(1))
    assert engine.failures.get(timeout=WAIT_S) == "turn"
    assert engine.next() == EndTurn(1)


def test_a_turn_that_failed_with_another_process_is_given_back_to_the_next(engine: Engine) -> None:
    engine.ask(lambda _session: None)
    engine.next()
    engine.turns.fail_all(GONE)
    assert engine.failures.get(timeout=WAIT_S) == "turn"
    engine.turns.take(TurnBegan(1))
    assert engine.next() == EndTurn(1)


def test_once_the_engine_is_gone_every_call_of_the_turn_says_so(engine: Engine) -> None:
    told: queue.SimpleQueue[str] = queue.SimpleQueue()
    goes_on = threading.Event()

    def turn(session: LentSession) -> None:
        goes_on.wait(WAIT_S)
        for call in (session.ready, session.states.forget_guests, lambda: list(session.generate(ASKED, bool))):
            with pytest.raises(EngineError) as caught:
                call()
            told.put(caught.value.message)

    engine.ask(turn)
    engine.next()
    engine.turns.take(TurnBegan(1))
    engine.turns.fail_all(GONE)
    goes_on.set()
    assert [told.get(timeout=WAIT_S) for _ in range(3)] == [GONE.message] * 3
    assert engine.next() == EndTurn(1)


def test_a_surprise_in_a_turn_fails_it_and_the_next_one_runs(engine: Engine) -> None:
    def surprise(_session: LentSession) -> None:
        raise ValueError("a surprise")

    done = threading.Event()
    engine.ask(surprise, "first")
    engine.ask(lambda _session: done.set(), "second")
    for number in (1, 2):
        engine.turns.take(TurnBegan(number))
    assert done.wait(WAIT_S)
    assert engine.failures.get(timeout=WAIT_S) == "first"
    assert engine.failures.empty()


def test_what_is_closed_asks_for_nothing() -> None:
    engine = Engine()
    assert engine.turns.close(0.0)
    engine.ask(lambda _session: None)
    assert engine.sent.empty()
