"""Tests what the store returns: turns, running answers, endings, regenerated answers, titles, restarts."""

import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.core.domain.errors import StorageError
from app.core.domain.messages import MessageState
from app.core.storage.chats.answers import FLUSH_S, AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from engine.records import Mode, Problem, RunStats, Source, TokenSpan
from tests.app.core.storage.chats.turns import ask, reopen
from tests.waiting import wait_for

SPANS = (
    TokenSpan(2, Source.TARGET),
    TokenSpan(1, Source.DRAFT),
    TokenSpan(0, Source.DRAFT),
    TokenSpan(3, Source.BONUS),
)
STATS = RunStats(
    mode=Mode.DRAFT, depth=3, tokens=4, passes=2, proposed=3, accepted=2, proposed_by_depth=(2, 1),
    accepted_by_depth=(1, 1), provenance={Source.TARGET: 1, Source.DRAFT: 2, Source.BONUS: 1}, decode_s=0.25,
    time_to_first_token_s=0.01, decisions=("depth 3: pays",),
)  # fmt: skip


def test_a_turn_is_stored_whole_and_reads_back_after_a_restart(store: ChatStore, place: StoreLocation) -> None:
    turn = store.begin_turn(None, "Name three colours.")
    store.append(turn.answer.id, "Red, ", SPANS[:2])
    store.append(turn.answer.id, "blue", SPANS[2:])
    finished = store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE, STATS, "A line below."))
    assert store.close()
    again = reopen(place)
    messages = again.messages(turn.conversation_id)
    assert messages == (turn.question, finished)
    assert (messages[1].text, messages[1].spans, messages[1].stats) == ("Red, blue", SPANS, STATS)
    assert again.title(turn.conversation_id) == "Name three colours."
    again.close()


def test_an_answer_in_the_making_is_shown_with_all_its_text(store: ChatStore) -> None:
    turn = store.begin_turn(None, "Hello")
    store.append(turn.answer.id, "not yet written", (TokenSpan(15, Source.TARGET),))
    view = store.messages(turn.conversation_id)[-1]
    assert (view.state, view.text) == (MessageState.STREAMING, "not yet written")


def test_streamed_text_is_in_the_file_soon(store: ChatStore, place: StoreLocation, tmp_path: Path) -> None:
    turn = store.begin_turn(None, "Hello")
    for index in range(20):
        store.append(turn.answer.id, f"{index} ")
        time.sleep(0.01)

    def text_after_a_power_loss() -> str:
        for suffix in ("", "-wal"):
            copy = tmp_path / f"copy.db{suffix}"
            copy.write_bytes(Path(f"{place.file}{suffix}").read_bytes())
        with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
            found = connection.execute("SELECT text FROM messages WHERE id = ?", (turn.answer.id,)).fetchone()
        return str(found[0]) if found else ""

    wait_for(lambda: text_after_a_power_loss() == "".join(f"{index} " for index in range(20)))
    assert FLUSH_S <= 0.25


def test_streaming_commits_at_most_four_times_a_second(store: ChatStore) -> None:
    turn = store.begin_turn(None, "Hello")
    before = store.read(lambda db: db.total_changes)
    started = time.monotonic()
    while time.monotonic() - started < 1.0:
        store.append(turn.answer.id, "word ")
        time.sleep(0.005)
    num_commits = store.read(lambda db: db.total_changes) - before
    assert 1 <= num_commits <= 2 + 4 * (time.monotonic() - started)


def test_an_answer_left_streaming_is_interrupted_at_the_next_start(store: ChatStore, place: StoreLocation) -> None:
    turn = store.begin_turn(None, "Hello")
    store.append(turn.answer.id, "half an ans")
    assert store.close()
    again = reopen(place)
    view = again.messages(turn.conversation_id)[-1]
    assert (view.text, view.state, view.notice) == ("half an ans", MessageState.INTERRUPTED, "")
    again.close()


def test_an_answer_given_again_stands_beside_the_old_one(store: ChatStore) -> None:
    turn = ask(store, None, "Hello", "old")
    new = store.begin_answer(turn.conversation_id, turn.answer.id).answer
    assert [view.id for view in store.messages(turn.conversation_id)] == [turn.question.id, new.id]
    store.append(new.id, "new")
    store.finish_answer(new.id, AnswerEnding(MessageState.COMPLETE))
    assert [view.text for view in store.messages(turn.conversation_id)] == ["Hello", "new"]
    assert store.messages(turn.conversation_id)[1].versions == (turn.answer.id, new.id)
    assert store.show_message(turn.answer.id) == turn.conversation_id
    assert [view.text for view in store.messages(turn.conversation_id)] == ["Hello", "old"]


def test_a_discarded_answer_gives_the_old_one_back(store: ChatStore) -> None:
    turn = ask(store, None, "Hello", "old")
    new = store.begin_answer(turn.conversation_id, turn.answer.id).answer
    store.append(new.id, "begun")
    store.discard_answer(new.id)
    assert [view.text for view in store.messages(turn.conversation_id)] == ["Hello", "old"]


def test_a_kill_while_answering_again_keeps_both_answers(store: ChatStore, place: StoreLocation) -> None:
    turn = ask(store, None, "Hello", "old")
    new = store.begin_answer(turn.conversation_id, turn.answer.id).answer
    store.append(new.id, "half a new one")
    store.close()
    again = reopen(place)
    shown = again.messages(turn.conversation_id)[1]
    assert (shown.text, shown.state) == ("half a new one", MessageState.INTERRUPTED)
    again.show_message(turn.answer.id)
    shown = again.messages(turn.conversation_id)[1]
    assert (shown.text, shown.state, len(shown.versions)) == ("old", MessageState.COMPLETE, 2)
    again.close()


def test_titles_come_from_the_first_question_until_the_user_names_it(store: ChatStore) -> None:
    first = store.create_conversation()
    store.add_message(first, "user", "\n  ## **What** is a paceline?\nSecond line")
    store.add_message(first, "user", "Something else")
    second = store.create_conversation()
    store.rename_conversation(second, "Mine")
    store.add_message(second, "user", "Not this")
    assert {row.id: row.title for row in store.conversations()} == {first: "What is a paceline?", second: "Mine"}


def test_the_last_changed_conversation_comes_first(place: StoreLocation) -> None:
    moments = (datetime(2026, 11, 20, tzinfo=UTC) + timedelta(seconds=second) for second in range(100))
    store = ChatStore(place, [].append, now=lambda: next(moments))
    store.open()
    first, second, third = (store.create_conversation(title) for title in "abc")
    store.add_message(first, "user", "again")
    assert [row.id for row in store.conversations()] == [first, third, second]
    store.close()


def test_deleting_a_conversation_deletes_its_messages_and_streams(store: ChatStore) -> None:
    turn = store.begin_turn(None, "Hello")
    store.append(turn.answer.id, "text")
    store.deletions.delete_permanently([turn.conversation_id])
    store.append(turn.answer.id, " more")
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.STOPPED))
    assert store.conversations() == ()
    assert store.read(lambda db: db.execute("SELECT count(*) FROM messages").fetchone()[0]) == 0


def test_an_id_is_never_used_twice(store: ChatStore) -> None:
    first = store.create_conversation()
    store.deletions.delete_permanently([first])
    assert store.create_conversation() > first


def test_a_message_for_a_conversation_that_is_gone_is_refused(store: ChatStore) -> None:
    with pytest.raises(StorageError):
        store.add_message(12345, "user", "hello?")


def test_a_closed_store_says_so(place: StoreLocation) -> None:
    store = reopen(place)
    assert store.close()
    with pytest.raises(StorageError, match="closed"):
        store.conversations()


def test_trouble_is_reported_once_and_so_is_its_end(
    store: ChatStore, troubles: list[Problem | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.storage.chats.answers.RETRY_S", 0.05)
    turn = store.begin_turn(None, "Hello")
    page_size = store.read(lambda db: db.execute("PRAGMA page_size").fetchone()[0])
    pages = store.read(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
    assert page_size * pages < 1_000_000
    store.read(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchall())
    long_text = "much more than a page holds. " * 2000
    store.append(turn.answer.id, long_text)
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    wait_for(lambda: bool(troubles))
    time.sleep(0.3)  # the write is retried meanwhile
    assert [problem.title if problem else None for problem in troubles] == ["The disk is full"]
    assert store.messages(turn.conversation_id)[-1].text == long_text
    with pytest.raises(StorageError):
        store.add_message(turn.conversation_id, "user", long_text)
    store.read(lambda db: db.execute("PRAGMA max_page_count = 100000").fetchall())
    wait_for(lambda: troubles[-1] is None)
    assert store._answers.num_unwritten == 0
    assert store.messages(turn.conversation_id)[-1].text == long_text


def test_nothing_is_put_beside_a_message_that_is_gone(store: ChatStore) -> None:
    turn = store.begin_turn(None, "Name three colours.")
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    before = store.messages(turn.conversation_id)[:1]
    store.deletions.mark_branch(turn.answer.id, datetime.now(UTC))
    with pytest.raises(StorageError, match="no longer exists"):
        store.begin_answer(turn.conversation_id, turn.answer.id)
    with pytest.raises(StorageError, match="no longer exists"):
        store.begin_turn(turn.conversation_id, "Or four?", turn.answer.id)
    with pytest.raises(StorageError, match="no longer exists"):
        store.continue_answer(turn.conversation_id, turn.answer.id)
    assert store.messages(turn.conversation_id) == before


def test_an_answer_that_something_follows_is_not_discarded_with_it(store: ChatStore) -> None:
    turn = store.begin_turn(None, "Name three colours.")
    store.add_message(turn.conversation_id, "user", "Or four.")
    store.discard_answer(turn.answer.id)
    views = store.messages(turn.conversation_id)
    assert [view.text for view in views] == ["Name three colours.", "", "Or four."]
    assert views[1].state is MessageState.FAILED


def test_a_branched_chat_keeps_text_counters_and_settings(store: ChatStore, place: StoreLocation) -> None:
    turn = store.begin_turn(None, "Name a colour.")
    store.append(turn.answer.id, "Red.", SPANS)
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE, STATS))
    later = store.begin_turn(turn.conversation_id, "Another.")
    store.finish_answer(later.answer.id, AnswerEnding(MessageState.COMPLETE, STATS))
    store.set_options(turn.conversation_id, {"temperature": 0.1})
    before = store.messages(turn.conversation_id)
    copied = store.library.branch_off(turn.answer.id)
    with pytest.raises(StorageError):
        store.library.branch_off(10_000)
    store.close()
    again = reopen(place)
    assert again.messages(turn.conversation_id) == before
    kept = again.messages(copied)
    assert [(view.text, view.state, view.stats, view.spans) for view in kept] == [
        (view.text, view.state, view.stats, view.spans) for view in before[:2]
    ]
    assert again.options(copied) == {"temperature": 0.1}
    assert {row.id for row in again.conversations()} == {copied, turn.conversation_id}
    again.close()
