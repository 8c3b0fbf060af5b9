"""Answers that could not be written yet are handled without losing a word."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from app.core.domain.errors import StorageError
from app.core.domain.messages import MessageState
from app.core.storage.chats.answers import AnswerEnding, Generation
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore, StoredTurn
from app.core.storage.chats.totals import read_totals
from app.core.storage.exchange.file_names import JSON
from app.core.storage.exchange.transfer import export_chats
from engine.records import Mode, Problem, RunStats
from tests.app.core.storage.chats.turns import answer_again, ask
from tests.waiting import wait_for

WHOLE = "Written, and not written"
STATS = RunStats(mode=Mode.OFF, tokens=4, passes=4, decode_s=0.1)
CUT = AnswerEnding(MessageState.COMPLETE, STATS, "Cut.", cut=True, run=Generation("target", "", STATS))


def refuse(*_arguments: object) -> None:
    raise sqlite3.OperationalError("database or disk is full")


@pytest.fixture
def turn(store: ChatStore, troubles: list[Problem | None], monkeypatch: pytest.MonkeyPatch) -> StoredTurn:
    """A stopped answer with half of its words in the file; the disk is full until `works_again`."""
    monkeypatch.setattr("app.core.storage.chats.answers.RETRY_S", 60.0)
    turn = store.begin_turn(None, "question")
    store.append(turn.answer.id, "Written")
    wait_for(lambda: in_file(store, turn) == "Written")

    monkeypatch.setattr("app.core.storage.chats.messages.write_answer", refuse)
    store.append(turn.answer.id, ", and not written")
    store.finish_answer(turn.answer.id, CUT)
    wait_for(lambda: bool(troubles))
    return turn


@pytest.fixture
def works_again(turn: StoredTurn, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return monkeypatch.undo


def in_file(store: ChatStore, turn: StoredTurn) -> str:
    row = store.read(lambda db: db.execute("SELECT text FROM messages WHERE id = ?", (turn.answer.id,)).fetchone())
    return str(row[0])


def test_it_goes_on_from_its_last_word(store: ChatStore, turn: StoredTurn, works_again: Callable[[], None]) -> None:
    works_again()
    again = store.continue_answer(turn.conversation_id, turn.answer.id)
    assert again.answer.text == WHOLE
    store.append(turn.answer.id, " yet")
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    assert store.messages(turn.conversation_id)[-1].text == f"{WHOLE} yet"
    assert [row.sums.num_answers for row in store.read(read_totals)] == [1]
    assert store.close()


def test_on_a_disk_that_takes_little_it_does_not_go_on_and_stays_as_it_is(
    store: ChatStore, turn: StoredTurn, works_again: Callable[[], None]
) -> None:
    with pytest.raises(StorageError):
        store.continue_answer(turn.conversation_id, turn.answer.id)
    view = store.messages(turn.conversation_id)[-1]
    assert (view.text, view.state, view.can_continue) == (WHOLE, MessageState.COMPLETE, True)
    works_again()
    assert store.close()


def test_it_is_exported_whole(store: ChatStore, turn: StoredTurn, tmp_path: Path) -> None:
    """The export goes to another disk, since this one is full."""
    file = tmp_path / "chats.json"
    assert export_chats(store, file, JSON) == 1
    answer = json.loads(file.read_text(encoding="utf-8"))["conversations"][0]["messages"][-1]
    assert (answer["text"], answer["state"], answer["cut"]) == (WHOLE, "complete", True)
    assert (answer["notice"], answer["target"], answer["stats"]["tokens"]) == ("Cut.", "target", 4)


def test_an_answer_that_is_yet_to_go_is_not_seen(
    store: ChatStore, troubles: list[Problem | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regenerating on a full disk without an answer shows the previous answer at once."""
    first = ask(store, None, "first", "answer")
    answer_again(store, first, "other")
    before = store.show_message(first.answer.id) and store.messages(first.conversation_id)
    again = store.begin_answer(first.conversation_id, first.answer.id)
    with monkeypatch.context() as full:
        full.setattr("app.core.storage.chats.answers.RETRY_S", 60.0)
        full.setattr("app.core.storage.chats.messages.write_answer", refuse)
        store.discard_answer(again.answer.id)
        wait_for(lambda: bool(troubles))
        assert store.messages(first.conversation_id) == before
        assert [view.text for view in store.history(first.conversation_id)] == ["first", "answer"]
    assert store.close()


def test_what_is_asked_below_an_answer_that_is_yet_to_go_stays(
    store: ChatStore, place: StoreLocation, troubles: list[Problem | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty answer is deleted with everything below it; on a full disk later."""
    first = ask(store, None, "first", "answer")
    again = store.begin_answer(first.conversation_id, first.answer.id)
    with monkeypatch.context() as full:
        full.setattr("app.core.storage.chats.answers.RETRY_S", 60.0)
        full.setattr("app.core.storage.chats.messages.write_answer", refuse)
        store.discard_answer(again.answer.id)
        wait_for(lambda: bool(troubles))
    second = store.begin_turn(first.conversation_id, "second")
    assert [view.text for view in second.history] == ["first", "answer", "second"]
    store.finish_answer(second.answer.id, AnswerEnding(MessageState.COMPLETE))
    assert store.close()
    reopened = ChatStore(place, troubles.append)
    assert reopened.open() is None
    assert [view.text for view in reopened.messages(first.conversation_id)] == ["first", "answer", "second", ""]
    reopened.close()
