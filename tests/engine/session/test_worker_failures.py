"""Commands that nobody waits for an answer of: where they fail, no other command is answered with it."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator

import pytest

from engine.errors import PromptError
from engine.records import ChatRequest, CountRequest, Event, TextChunk, TokensCounted
from engine.session.session import Session
from engine.session.worker import EngineWorker
from tests.engine.driver import Driver


class Broken(Session):
    """A session in which everything but answers goes wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.states.forget = self.fail  # type: ignore[method-assign]
        self.states.set_limit = self.fail  # type: ignore[method-assign]

    def fail(self, *_: object) -> None:
        raise ZeroDivisionError("nobody thought of this")

    def forget_past(self) -> None:
        self.fail()

    def count_tokens(self, text: str) -> int:
        raise PromptError("the tokenizer failed")

    def generate(self, request: ChatRequest, *_: Callable[[], bool]) -> Iterator[Event]:
        for text in "abc":
            yield TextChunk(request.request_id, text, ())


@pytest.fixture
def events() -> queue.Queue[Event]:
    return queue.Queue()


@pytest.fixture
def worker(events: queue.Queue[Event]) -> Iterator[Driver]:
    worker = Driver(EngineWorker(events.put, Broken))
    yield worker
    assert worker.close(10)


def test_what_is_not_answered_does_not_fail_aloud(
    worker: Driver, events: queue.Queue[Event], caplog: pytest.LogCaptureFixture
) -> None:
    """A load that waits would be taken for failed."""
    worker.set_state_limit(1)
    worker.forget_state(1)
    worker.forget_past()
    worker.generate(ChatRequest(request_id=5))
    worker.start()
    assert [events.get(timeout=60) for _ in "abc"] == [TextChunk(5, text, ()) for text in "abc"]
    assert sum(record.exc_info is not None for record in caplog.records) == 3


def test_a_file_of_the_past_that_cannot_be_deleted_is_logged_and_the_next_command_runs(
    events: queue.Queue[Event], caplog: pytest.LogCaptureFixture
) -> None:
    class Held(Broken):
        def forget_past(self) -> None:
            raise PermissionError(13, "Permission denied", "/a/file.ids")

    worker = Driver(EngineWorker(events.put, Held))
    worker.forget_past()
    worker.generate(ChatRequest(request_id=5))
    worker.start()
    assert [events.get(timeout=60) for _ in "abc"] == [TextChunk(5, text, ()) for text in "abc"]
    assert worker.close(10)
    assert "/a/file.ids" in caplog.text


def test_an_answer_goes_on_where_a_text_cannot_be_counted(worker: Driver, events: queue.Queue[Event]) -> None:
    worker.generate(ChatRequest(request_id=5))
    worker.count(CountRequest(1, ("one", "two")))
    worker.count(CountRequest(2, ("three",)))
    worker.start()
    told = [events.get(timeout=60) for _ in range(5)]
    assert [event for event in told if isinstance(event, TextChunk)] == [TextChunk(5, text, ()) for text in "abc"]
    assert [event for event in told if isinstance(event, TokensCounted)] == [
        TokensCounted(1, None),
        TokensCounted(2, None),
    ]
