"""Tests tool calls in the chats file: stored before they run, settled after a kill, exported, found, sent again."""

import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core.domain.messages import MessageState, MessageView
from app.core.domain.requests import prompt_messages
from app.core.domain.tools.calls import CallStatus, StoredCall
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.portable import import_chat, read_chat
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.transfer import to_markdown
from engine.records import Message, ToolCall
from tests.app.core.storage.exchange.whole import there_and_back

ROOT = Path(__file__).resolve().parents[5]
CLOCK = StoredCall("a1", "current_time", "Built in", '{"time_zone": "Europe/Berlin"}', title="Date and time")
SUM = StoredCall("b2", "calculate", "Built in", '{"expression": "1+1"}')
DONE = replace(SUM, status=CallStatus.DONE, took_ms=3, cut=7)


def asked(store: ChatStore, text: str = "", *, calls: tuple[StoredCall, ...] = (CLOCK, SUM)) -> tuple[int, list[int]]:
    """A question, an answer with this text, and its calls; returns the ids of the chat and of the calls."""
    turn = store.begin_turn(None, "What is the time, and 1+1?")
    store.append(turn.answer.id, text)
    views = store.calls.begin(turn.conversation_id, turn.answer.id, [(call, "") for call in calls])
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    return turn.conversation_id, [view.id for view in views]


def test_calls_are_messages_below_their_answer(store: ChatStore, place: StoreLocation) -> None:
    chat, (first, second) = asked(store, "Let me see.")
    store.calls.change(first, replace(CLOCK, status=CallStatus.FAILED), "No such zone.")
    store.calls.change(second, DONE, "2")
    expected = [("tool", "No such zone.", replace(CLOCK, status=CallStatus.FAILED)), ("tool", "2", DONE)]
    assert [(view.role, view.text, view.call) for view in store.messages(chat)[2:]] == expected
    assert store.close()
    again = ChatStore(place, [].append)
    assert again.open() is None
    assert [(view.role, view.text, view.call) for view in again.messages(chat)[2:]] == expected
    assert [(view.role, view.call) for view in again.history(chat)] == [
        ("user", None),
        ("assistant", None),
        *((role, call) for role, _, call in expected),
    ]
    again.close()


def test_the_model_is_sent_calls_and_results_of_each_answer(store: ChatStore) -> None:
    chat, (first, second) = asked(store)  # an answer without text besides its calls
    store.calls.change(first, replace(CLOCK, status=CallStatus.DONE), "Noon.")
    store.calls.change(second, DONE, "2")
    turn = store.begin_next(chat, second)
    store.append(turn.answer.id, "Once more.")
    (third,) = store.calls.begin(chat, turn.answer.id, [(replace(SUM, call_id="c3"), "")])
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    called = (ToolCall("a1", CLOCK.name, CLOCK.arguments), ToolCall("b2", SUM.name, SUM.arguments))
    assert prompt_messages("", store.history(chat)) == (
        Message("user", "What is the time, and 1+1?"),
        Message("assistant", "", tool_calls=called),
        Message("tool", "Noon.", tool_call_id="a1", name="current_time"),
        Message("tool", "2\n[7 more characters were left out]", tool_call_id="b2", name="calculate"),
        Message("assistant", "Once more.", tool_calls=(ToolCall("c3", SUM.name, SUM.arguments),)),
        Message("tool", "The user stopped this call.", tool_call_id="c3", name="calculate"),
    )
    assert third.id == store.messages(chat)[-1].id


def test_two_silent_answers_keep_their_own_calls() -> None:
    views = [
        MessageView(1, "user", "q"),
        *(
            view
            for number in (2, 4)
            for view in (
                MessageView(number, "assistant", ""),
                MessageView(number + 1, "tool", "2", call=replace(DONE, cut=0, call_id=f"c{number}")),
            )
        ),
    ]
    calls = [[call.call_id for call in message.tool_calls] for message in prompt_messages("", views)]
    assert calls == [[], ["c2"], [], ["c4"], []]


def test_a_copy_an_export_and_the_search_have_them(store: ChatStore) -> None:
    chat, (first, second) = asked(store, "Let me see.")
    store.calls.change(second, DONE, "the zebra is 2")
    copy = store.messages(store.library.branch_off(second))
    assert [view.call for view in copy[2:]] == [replace(CLOCK, status=CallStatus.STOPPED), DONE]
    portable = store.read(lambda db: read_chat(db, chat))
    assert portable is not None
    (back,) = there_and_back(portable)
    assert back.messages == portable.messages
    assert [each.call for each in back.messages[2:]] == [replace(CLOCK, status=CallStatus.STOPPED), DONE]
    assert '## Tool: calculate {"expression": "1+1"}' in to_markdown(portable)
    hits = store.library.search("zebra").result() or ()
    assert {(hit.role, hit.message_id) for hit in hits} >= {("tool", second)}
    other = replace(back, title="Another", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    imported = store.write(lambda db: import_chat(db, other, datetime.now(UTC)))
    assert imported is not None
    assert [view.call for view in store.messages(imported)[2:]] == [each.call for each in back.messages[2:]]
    assert first in [view.id for view in store.messages(chat)]


KILLED = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from app.core.domain.tools.calls import CallStatus
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from tests.app.core.storage.chats.test_calls import SUM, asked

folder, point = Path(sys.argv[1]), sys.argv[2]
store = ChatStore(StoreLocation(folder / "chats.db", folder / "backups"), [].append)
assert store.open() is None
if point == "before":
    turn = store.begin_turn(None, "1+1?")
    store.calls.begin(turn.conversation_id, turn.answer.id, [(SUM, "")])  # the answer has not ended in the file
else:
    chat, (call,) = asked(store, calls=(SUM,))
    if point != "asked":
        store.calls.change(call, replace(SUM, status=CallStatus.RUNNING))
    if point == "done":
        store.calls.change(call, replace(SUM, status=CallStatus.DONE), "2")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a word of POSIX")
@pytest.mark.parametrize(
    ("point", "status"),
    [
        ("before", CallStatus.STOPPED),
        ("asked", CallStatus.STOPPED),
        ("running", CallStatus.UNKNOWN),
        ("done", CallStatus.DONE),
    ],
)
def test_a_kill_loses_no_call_and_repeats_none(tmp_path: Path, point: str, status: CallStatus) -> None:
    child = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), point], cwd=ROOT, check=False)
    assert child.returncode == -signal.SIGKILL
    store = ChatStore(StoreLocation(tmp_path / "chats.db", tmp_path / "backups"), [].append)
    assert store.open() is None
    *_, answer, called = store.messages(1)
    assert (answer.role, called.call and called.call.status, called.text) == (
        "assistant",
        status,
        "2" if point == "done" else "",
    )
    assert called.call is not None
    assert (called.call.name, called.call.arguments) == (SUM.name, SUM.arguments)
    store.close()
