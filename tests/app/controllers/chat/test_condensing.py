"""Tests the messages that are sent in place of summarised ones in each branch, and when summaries are deleted."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.controllers.chat.context import condensed_messages
from app.core.domain.messages import MessageState, MessageView
from app.core.storage.chats import summaries
from app.core.storage.chats.messages import delete_branch
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.portable import import_chat, read_chat
from app.core.storage.chats.store import ChatStore
from engine.records import Message
from engine.session.summarising import prepend_summary
from tests.app.core.storage.exchange.whole import there_and_back

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def view(number: int, role: str, text: str, state: MessageState = MessageState.COMPLETE) -> MessageView:
    return MessageView(number, role, text, state)


PATH = (
    view(1, "user", "One?"),
    view(2, "assistant", "One."),
    view(3, "user", "Two?"),
    view(4, "assistant", "", MessageState.FAILED),
    view(5, "user", "Again?"),
    view(6, "assistant", "Two."),
    view(7, "user", "Three?"),
)


def test_without_a_summary_everything_is_sent() -> None:
    whole = condensed_messages(PATH, {})
    assert [message.content for message in whole.messages] == ["One?", "One.", "Two?\n\nAgain?", "Two.", "Three?"]
    assert whole.last_ids == (1, 2, 5, 6, 7)
    assert whole.summary_at is None


def test_the_latest_summary_on_the_path_stands_for_what_is_before_it() -> None:
    short = condensed_messages(PATH, {2: "Early.", 6: "Late.", 99: "Of another branch."})
    assert short.messages == (Message("user", prepend_summary("Late.", "Three?")),)
    assert (short.last_ids, short.summary_at, short.summary) == ((7,), 6, "Late.")


def test_above_its_message_a_summary_does_not_count() -> None:
    assert condensed_messages(PATH[:5], {2: "Early.", 6: "Late."}).summary_at == 2
    assert condensed_messages(PATH[:1], {2: "Early.", 6: "Late."}).summary_at is None


def test_the_summary_precedes_a_message_without_an_answer() -> None:
    short = condensed_messages(PATH, {2: "Early."})
    assert short.messages[0].content == prepend_summary("Early.", "Two?\n\nAgain?")
    assert short.last_ids == (5, 6, 7)


@pytest.fixture
def store(tmp_path: Path) -> ChatStore:
    store = ChatStore(StoreLocation(tmp_path / "chats.db", tmp_path / "backups"), lambda _problem: None)
    store.open()
    return store


def with_summary(store: ChatStore) -> tuple[int, int]:
    conversation = store.create_conversation("A")
    store.add_message(conversation, "user", "One?")
    answer = store.add_message(conversation, "assistant", "One.")
    store.add_message(conversation, "user", "Two?")
    store.write(lambda db: summaries.put(db, answer.id, "Told."))
    return conversation, answer.id


def test_a_summary_is_kept_replaced_and_undone(store: ChatStore) -> None:
    conversation, answer = with_summary(store)
    assert store.read(lambda db: summaries.of_conversation(db, conversation)) == {answer: "Told."}
    store.write(lambda db: summaries.put(db, answer, "Told again."))
    store.write(lambda db: summaries.put(db, 999, "Of nothing."))
    assert store.read(lambda db: summaries.of_conversation(db, conversation)) == {answer: "Told again."}
    store.write(lambda db: summaries.remove(db, answer))
    assert store.read(lambda db: summaries.of_conversation(db, conversation)) == {}
    store.close()


def test_it_goes_with_its_message_and_with_its_chat(store: ChatStore) -> None:
    conversation, answer = with_summary(store)
    other, _ = with_summary(store)
    store.write(lambda db: delete_branch(db, answer))
    assert store.read(lambda db: summaries.of_conversation(db, conversation)) == {}
    store.write(lambda db: db.execute("DELETE FROM conversations WHERE id = ?", (other,)))
    assert store.read(lambda db: db.execute("SELECT count(*) FROM summaries").fetchone()[0]) == 0
    store.close()


def test_an_answer_that_goes_on_loses_the_summary_that_ended_with_it(store: ChatStore) -> None:
    turn = store.begin_turn(None, "One?")
    store.write(lambda db: summaries.put(db, turn.answer.id, "Told."))
    store.continue_answer(turn.conversation_id, turn.answer.id)
    assert store.read(lambda db: summaries.of_conversation(db, turn.conversation_id)) == {}
    store.close()


def test_a_copy_and_an_export_have_it_too(store: ChatStore) -> None:
    conversation, _ = with_summary(store)
    copy = store.library.branch_off(store.messages(conversation)[-1].id)
    assert copy is not None
    assert list(store.read(lambda db: summaries.of_conversation(db, copy)).values()) == ["Told."]
    chat = store.read(lambda db: read_chat(db, conversation))
    assert chat is not None
    (read,) = there_and_back(chat)
    store.write(lambda db: db.execute("DELETE FROM conversations"))
    imported = store.write(lambda db: import_chat(db, read, NOW))
    assert imported is not None
    assert list(store.read(lambda db: summaries.of_conversation(db, imported)).values()) == ["Told."]
    store.close()
