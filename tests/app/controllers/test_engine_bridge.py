"""Events arrive in the engine's order, with few wake-ups and no timer while idle."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.controllers.engine_bridge import EngineBridge, merge_events
from engine.records import (
    Event,
    Finished,
    FinishReason,
    LoadProgress,
    PrefillProgress,
    RunStats,
    Source,
    StatsUpdate,
    TextChunk,
    TokenSpan,
)
from engine.requests import OnEvent, Request


@pytest.fixture(autouse=True)
def usual_interval() -> Iterator[None]:
    """Restore the switch interval, which a bridge sets for the whole process."""
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


class SilentWorker:
    """A worker that only records its requests."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self.on_event = on_event
        self.is_down = False

    def start(self) -> None: ...

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None: ...

    def cancel(self, number: int) -> None: ...

    def skip_summary(self, number: int) -> None: ...

    def close(self, timeout_s: float) -> bool:
        self.is_down = True
        return True


def chunk(text: str, request_id: int = 1) -> TextChunk:
    return TextChunk(request_id, text, (TokenSpan(len(text), Source.TARGET),))


def stats(tokens: int, request_id: int = 1) -> StatsUpdate:
    return StatsUpdate(request_id, RunStats(tokens=tokens))


def test_text_and_counters_that_alternate_become_one_of_each() -> None:
    events = [chunk("a"), stats(1), chunk("b"), stats(2), chunk("c"), stats(3)]
    joined = merge_events(events)
    assert joined == [TextChunk(1, "abc", (TokenSpan(1, Source.TARGET),) * 3), stats(3)]


def test_answers_that_are_made_at_once_are_joined_each_by_itself() -> None:
    events = [chunk("a"), chunk("x", 2), stats(1), PrefillProgress(3, 1, 9), chunk("b"), stats(7, 2), chunk("y", 2)]
    events += [stats(2), PrefillProgress(3, 2, 9)]
    spans = (TokenSpan(1, Source.TARGET),) * 2
    text = [TextChunk(1, "ab", spans), TextChunk(2, "xy", spans)]
    assert merge_events(events) == [*text, stats(2), PrefillProgress(3, 2, 9), stats(7, 2)]


def test_the_end_and_another_answer_keep_their_place() -> None:
    end = Finished(1, FinishReason.END, RunStats())
    assert merge_events([chunk("a"), end, chunk("b", 2), stats(1, 2)]) == [chunk("a"), end, chunk("b", 2), stats(1, 2)]


def test_progress_keeps_only_the_newest() -> None:
    events: list[Event] = [LoadProgress("t", 0.1), LoadProgress("t", 0.2), LoadProgress("d", 0.5)]
    events += [PrefillProgress(1, 1, 9), PrefillProgress(1, 5, 9)]
    assert merge_events(events) == [LoadProgress("t", 0.2), LoadProgress("d", 0.5), PrefillProgress(1, 5, 9)]


EVENTS = st.one_of(
    st.builds(chunk, st.text(max_size=3), st.integers(1, 2)),
    st.builds(stats, st.integers(0, 9), st.integers(1, 2)),
    st.builds(lambda request: Finished(request, FinishReason.END, RunStats()), st.integers(1, 2)),
    st.builds(PrefillProgress, st.integers(1, 2), st.integers(0, 9), st.just(9)),
)


def last_counters(of: list[Event]) -> dict[int, Event]:
    return {event.request_id: event for event in of if isinstance(event, StatsUpdate)}


@given(st.lists(EVENTS, max_size=40))
def test_merging_loses_no_text_no_span_and_no_end(events: list[Event]) -> None:
    joined = merge_events(events)

    def said(of: list[Event]) -> list[object]:
        """The text of each answer up to its end: this must not change."""
        out: list[object] = []
        text: dict[int, list[object]] = {1: [], 2: []}
        for event in of:
            if isinstance(event, TextChunk):
                text[event.request_id] += [*event.text, *event.spans]
            elif isinstance(event, Finished):
                out.append((event, sorted(map(str, text[event.request_id]))))
        return [*out, sorted(map(str, text[1])), sorted(map(str, text[2]))]

    assert said(joined) == said(events)
    assert last_counters(joined) == last_counters(events)


def test_a_fast_stream_arrives_whole_with_few_wake_ups_and_then_silence(qtbot: QtBot) -> None:
    bridge = EngineBridge(SilentWorker)
    arrived: list[Event] = []
    threads: set[int] = set()
    bridge.event_arrived.connect(lambda event: (arrived.append(event), threads.add(threading.get_ident())))

    def stream() -> None:
        for number in range(2000):
            bridge.post(chunk(f"{number} "))
            bridge.post(stats(number))
            if number % 10 == 0:
                time.sleep(0.002)
        bridge.post(Finished(1, FinishReason.END, RunStats()))

    started = time.monotonic()
    thread = threading.Thread(target=stream)
    thread.start()
    qtbot.waitUntil(lambda: bool(arrived) and isinstance(arrived[-1], Finished))
    thread.join()
    seconds = time.monotonic() - started
    text = "".join(event.text for event in arrived if isinstance(event, TextChunk))
    assert text == "".join(f"{number} " for number in range(2000))
    assert threads == {threading.get_ident()}
    assert bridge.num_wake_ups <= seconds / 0.025 + 2
    qtbot.wait(60)
    before = bridge.num_wake_ups
    qtbot.wait(100)
    assert bridge.num_wake_ups == before
    assert not any(timer.isActive() for timer in bridge.findChildren(QTimer))


def test_an_event_of_the_gui_thread_is_not_delivered_within_its_caller(qtbot: QtBot) -> None:
    bridge = EngineBridge(SilentWorker)
    arrived: list[Event] = []
    bridge.event_arrived.connect(arrived.append)
    bridge.post(chunk("a"))
    assert arrived == []
    qtbot.waitUntil(lambda: arrived == [chunk("a")])


def test_nothing_arrives_after_the_shutdown(qtbot: QtBot) -> None:
    bridge = EngineBridge(SilentWorker)
    arrived: list[Event] = []
    bridge.event_arrived.connect(arrived.append)
    bridge.post(chunk("a"))
    assert bridge.shutdown(1.0)
    bridge.post(chunk("b"))
    qtbot.wait(60)
    assert arrived == []


def test_a_window_that_computes_lets_the_engine_have_the_interpreter_soon(qtbot: QtBot) -> None:
    sys.setswitchinterval(0.5)
    bridge = EngineBridge(SilentWorker)
    given_s: list[float] = []

    def engine() -> None:
        for _ in range(5):
            time.sleep(0.001)  # like a pass, releases the interpreter lock
            given_s.append(time.perf_counter())

    thread = threading.Thread(target=engine)
    thread.start()
    while thread.is_alive():  # never releases the interpreter lock by itself
        pass
    thread.join()
    # Deliveries are never closer than the interval; a busy machine may delay some.
    assert min(later - before for before, later in pairwise(given_s)) < 0.4
    assert bridge.shutdown(1.0)
