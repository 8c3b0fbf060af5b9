"""Unpaired surrogates, numbers beyond 64 bits and dates outside the calendar are stored as well as possible."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.errors import StorageError
from app.core.domain.messages import MessageState
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.codec import stats_from_text
from app.core.storage.chats.conversations import from_us, to_us
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from engine.records import Source, TokenSpan

HALF = "a\ud800b\udfff"
KEPT = "a?b?"
HUGE = 10**400


def test_half_characters_are_kept_as_question_marks_everywhere(store: ChatStore) -> None:
    turn = store.begin_turn(None, HALF)
    store.append(turn.answer.id, HALF, [TokenSpan(4, Source.TARGET, HALF)])
    store.set_models(turn.answer.id, HALF, HALF)
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE, notice=HALF))
    assert [view.text for view in store.messages(turn.conversation_id)] == [KEPT, KEPT]
    store.rename_conversation(turn.conversation_id, HALF)
    store.set_options(turn.conversation_id, {"system_prompt": HALF})
    store.library.create_folder(HALF)
    store.library.save_unsent(None, HALF).result()
    assert store.conversations()[0].title == KEPT
    assert store.library.folders()[0].name == KEPT
    assert store.library.unsent(None) == KEPT
    assert store.library.search(HALF).result() is not None
    assert store.close()


def test_the_thread_of_the_chats_outlives_what_cannot_be_written(
    store: ChatStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = store.begin_turn(None, "q")

    def refuse(*_values: object) -> None:
        raise ValueError("cannot be written")

    with monkeypatch.context() as patched:
        patched.setattr("app.core.storage.chats.messages.write_answer", refuse)
        store.append(turn.answer.id, "words")
        store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
        assert store.messages(turn.conversation_id)[-1].text == "words"
    assert store.close()


@pytest.mark.parametrize("number", [HUGE, -HUGE, 2**63, -(2**63) - 1])
def test_a_number_beyond_64_bits_is_no_chat(store: ChatStore, number: int) -> None:
    assert store.title(number) is None
    assert store.messages(number) == ()


@given(st.integers(-(2**63), 2**63 - 1))
def test_any_number_is_some_day(number: int) -> None:
    moment = from_us(number)
    assert 1970 <= moment.year <= 2200
    if 0 <= number < to_us(moment.replace(year=2190)):
        assert to_us(moment) == number


def test_chats_of_impossible_days_are_listed(place: StoreLocation) -> None:
    store = ChatStore(place, [].append)
    store.open()
    store.add_message(store.create_conversation("t"), "user", "words")
    assert store.close()
    with closing(sqlite3.connect(place.file)) as connection:
        connection.execute("UPDATE conversations SET updated_at = ?, created_at = ?", (2**62, -(2**62)))
        connection.commit()
    again = ChatStore(place, [].append)
    assert again.open() is None
    (row,) = again.conversations()
    assert [view.text for view in again.messages(row.id)] == ["words"]
    assert again.close()


@pytest.mark.parametrize("error", [ValueError("no state"), KeyError(7), OverflowError("no date")], ids=repr)
def test_a_row_that_cannot_be_understood_is_one_sentence(
    store: ChatStore, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_values: object) -> None:
        raise error

    monkeypatch.setattr("app.core.storage.chats.messages.list_messages", fail)
    with pytest.raises(StorageError) as caught:
        store.messages(1)
    assert "cannot be read" in caught.value.message


@pytest.mark.parametrize("text", ['{"provenance":{"target":1e999}}', '{"interval_counts":{"1":1e999}}', '{"a":' * 5000])
def test_stored_figures_that_cannot_be_are_left_out(text: str) -> None:
    assert stats_from_text(text) is None
