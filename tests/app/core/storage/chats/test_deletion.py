"""Tests deletion with undo: marked items are invisible, are restored completely, and are deleted later."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.core.domain.messages import MessageView
from app.core.storage.chats.deletion import RETENTION
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.transfer import export_chats, import_chats
from tests.app.core.storage.chats.turns import answer_again, ask

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def texts(views: tuple[MessageView, ...]) -> list[str]:
    return [view.text for view in views]


def count(store: ChatStore, table: str) -> int:
    return int(store.read(lambda db: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]))  # noqa: S608 (ours)


def test_a_marked_chat_is_in_no_list_no_search_and_no_export(store: ChatStore, tmp_path: Path) -> None:
    kept, gone = ask(store, None, "about zebras"), ask(store, None, "about giraffes")
    store.deletions.mark((gone.conversation_id,), NOW)
    assert [row.id for row in store.conversations()] == [kept.conversation_id]
    assert store.title(gone.conversation_id) is None
    assert store.latest_conversation() == kept.conversation_id
    assert store.library.search("giraffes").result() == ()
    assert store.library.search("zebras").result()
    assert export_chats(store, tmp_path / "all.json", "json") == 1
    assert "giraffes" not in (tmp_path / "all.json").read_text(encoding="utf-8")


def test_a_chat_that_is_taken_back_is_as_it_was(store: ChatStore) -> None:
    turn = ask(store, None, "about zebras")
    before = store.conversations(), store.messages(turn.conversation_id)
    store.deletions.mark((turn.conversation_id,), NOW)
    store.deletions.undo_deletion((turn.conversation_id,))
    assert (store.conversations(), store.messages(turn.conversation_id)) == before
    assert store.library.search("zebras").result()


def test_a_marked_chat_can_be_imported_again(store: ChatStore, tmp_path: Path) -> None:
    turn = ask(store, None, "about zebras")
    export_chats(store, tmp_path / "one.json", "json", turn.conversation_id)
    store.deletions.mark((turn.conversation_id,), NOW)
    assert import_chats(store, tmp_path / "one.json").num_new == 1


def test_what_is_wiped_leaves_nothing(store: ChatStore) -> None:
    turn = ask(store, None, "about zebras")
    store.library.save_unsent(turn.conversation_id, "half a question").result()
    store.deletions.mark((turn.conversation_id,), NOW)
    store.deletions.delete_permanently([turn.conversation_id])
    assert [count(store, table) for table in ("conversations", "messages", "unsent")] == [0, 0, 0]
    store.deletions.undo_deletion((turn.conversation_id,))  # too late, and harmless
    assert store.conversations() == ()


def test_deletion_is_final_after_30_days_or_at_the_next_start(place: StoreLocation) -> None:
    first = ChatStore(place, [].append)
    assert first.open() is None
    now = datetime.now(UTC)
    kept, recent, old = (ask(first, None, f"about {animal}") for animal in ("zebras", "giraffes", "lions"))
    later = ask(first, kept.conversation_id, "more")
    first.deletions.mark((recent.conversation_id,), now - RETENTION + timedelta(hours=1))
    first.deletions.mark((old.conversation_id,), now - RETENTION - timedelta(hours=1))
    branch = first.deletions.mark_branch(later.question.id, now)
    assert branch is not None
    assert [each.title for each in first.deletions.deleted_chats()] == ["about giraffes", "about lions"]
    assert first.close()
    second = ChatStore(place, [].append)
    assert second.open() is None
    assert set(second.wiped) == {old.conversation_id, branch.hidden_chat_id}
    (found,) = second.deletions.deleted_chats()
    assert (found.id, found.title) == (recent.conversation_id, "about giraffes")
    assert timedelta(0) < found.until - now < timedelta(hours=2)
    second.deletions.undo_deletion((found.id,))
    assert texts(second.messages(found.id))[0] == "about giraffes"
    assert count(second, "messages") == 4
    assert second.close()


def test_a_branch_goes_and_comes_back_with_its_place(store: ChatStore) -> None:
    chat = ask(store, None, "one").conversation_id
    second = ask(store, chat, "two")
    ask(store, chat, "three")
    before = texts(store.messages(chat))
    branch = store.deletions.mark_branch(second.question.id, NOW)
    assert branch is not None
    assert texts(store.messages(chat)) == before[:2]
    assert len(branch.message_ids) == 4
    assert len(store.conversations()) == 1
    assert store.library.search("three").result() == ()
    store.deletions.undo_branch_deletion(branch)
    assert texts(store.messages(chat)) == before
    assert store.library.search("three").result()
    assert count(store, "conversations") == 1


def test_a_branch_comes_back_beside_what_was_asked_meanwhile(store: ChatStore) -> None:
    chat = ask(store, None, "one").conversation_id
    second = ask(store, chat, "two")
    branch = store.deletions.mark_branch(second.question.id, NOW)
    assert branch is not None
    other = ask(store, chat, "another")
    store.deletions.undo_branch_deletion(branch)
    views = store.messages(chat)
    assert texts(views)[-2:] == ["two", "The answer to two"]
    assert views[2].versions == (second.question.id, other.question.id)


def test_one_message_goes_and_what_followed_it_stays(store: ChatStore) -> None:
    chat = ask(store, None, "one").conversation_id
    second = ask(store, chat, "two about zebras")
    ask(store, chat, "three")
    before = texts(store.messages(chat))
    for gone in (second.question.id, second.answer.id):
        branch = store.deletions.mark_branch(gone, NOW, alone=True)
        assert branch is not None
        at = 2 if gone == second.question.id else 3
        assert texts(store.messages(chat)) == [*before[:at], *before[at + 1 :]]
        assert not any(view.versions for view in store.messages(chat))
        store.deletions.undo_branch_deletion(branch)
        assert texts(store.messages(chat)) == before
    last = store.deletions.mark_branch(second.question.id, NOW, alone=True)
    assert last is not None
    store.deletions.delete_permanently([last.hidden_chat_id])
    assert texts(store.messages(chat)) == [*before[:2], *before[3:]]
    assert [hit.message_id for hit in store.library.search("zebras").result()] == [second.answer.id]


def test_what_followed_a_version_follows_the_other_one(store: ChatStore) -> None:
    first = ask(store, None, "one")
    chat = first.conversation_id
    other = answer_again(store, first, "Another answer")
    ask(store, chat, "two")
    before = texts(store.messages(chat))
    assert before == ["one", "Another answer", "two", "The answer to two"]
    branch = store.deletions.mark_branch(other, NOW, alone=True)
    assert branch is not None
    assert texts(store.messages(chat)) == ["one", "The answer to one", "two", "The answer to two"]
    assert store.messages(chat)[1].versions == ()
    store.deletions.undo_branch_deletion(branch)
    assert texts(store.messages(chat)) == before
    assert store.messages(chat)[1].versions == (first.answer.id, other)


def test_a_version_that_is_followed_already_keeps_what_is_shown_below_it(store: ChatStore) -> None:
    first = ask(store, None, "one")
    chat = first.conversation_id
    ask(store, chat, "below the first")
    other = answer_again(store, first, "Another answer")
    ask(store, chat, "below the other")
    branch = store.deletions.mark_branch(other, NOW, alone=True)
    assert branch is not None
    views = store.messages(chat)
    assert texts(views)[1:3] == ["The answer to one", "below the first"]
    assert len(views[2].versions) == 2


@pytest.mark.parametrize("alone", [True, False])
def test_the_first_message_of_a_chat_can_go_and_come_back(store: ChatStore, alone: bool) -> None:
    turn = ask(store, None, "one")
    branch = store.deletions.mark_branch(turn.question.id, NOW, alone=alone)
    assert branch is not None
    assert texts(store.messages(turn.conversation_id)) == ["The answer to one"] * alone
    assert store.deletions.mark_branch(77, NOW) is None
    store.deletions.undo_branch_deletion(branch)
    assert texts(store.messages(turn.conversation_id)) == ["one", "The answer to one"]
