"""Tests folders, pins, archive, order, copies and drafts of messages in the store, also after a restart."""

from datetime import UTC, datetime

import pytest

from app.core.domain.conversations import ConversationRow, FolderRow
from app.core.domain.errors import StorageError
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from tests.app.core.storage.chats.turns import answer_again, ask


def again(store: ChatStore, place: StoreLocation) -> ChatStore:
    assert store.close()
    reopened = ChatStore(place, [].append)
    assert reopened.open() is None
    return reopened


def row(store: ChatStore, conversation_id: int) -> ConversationRow:
    return next(row for row in store.conversations() if row.id == conversation_id)


def test_pins_and_the_archive_exclude_each_other(store: ChatStore) -> None:
    chat = store.create_conversation("one")
    store.library.set_pinned(chat, True)
    store.library.set_archived(chat, True)
    assert (row(store, chat).pinned, row(store, chat).archived) == (False, True)
    store.library.set_pinned(chat, True)
    assert (row(store, chat).pinned, row(store, chat).archived) == (True, False)


def test_folders_hold_chats_in_the_order_of_moving(store: ChatStore, place: StoreLocation) -> None:
    one, two, three = (store.create_conversation(title) for title in ("one", "two", "three"))
    work, play = store.library.create_folder("Work"), store.library.create_folder("Play")
    for chat in (two, three, one):
        store.library.move_to_folder(chat, work)
    store.library.set_folded(play, True)
    store.library.rename_folder(work, "Office")
    reopened = again(store, place)
    assert reopened.library.folders() == (FolderRow(work, "Office"), FolderRow(play, "Play", folded=True))
    inside = sorted((row for row in reopened.conversations() if row.folder_id == work), key=lambda row: row.place)
    assert [row.title for row in inside] == ["two", "three", "one"]
    reopened.library.delete_folder(work)
    assert {row.folder_id for row in reopened.conversations()} == {None}
    reopened.close()


def test_undoing_a_folders_deletion_restores_its_place_and_chats(store: ChatStore, place: StoreLocation) -> None:
    chats = [store.create_conversation(title) for title in ("one", "two", "three", "four")]
    first, work, last = (store.library.create_folder(name) for name in ("First", "Work", "Last"))
    for chat in (chats[1], chats[0], chats[2], chats[3]):
        store.library.move_to_folder(chat, work)
    store.library.set_folded(work, True)
    store.deletions.mark((chats[3],), datetime.now(UTC))
    before = store.library.folders()
    gone = store.library.delete_folder(work)
    assert gone is not None
    assert gone.num_listed == 3
    assert [row.folder_id for row in store.conversations()] == [None] * 3
    assert store.library.delete_folder(work) is None
    store.library.move_to_folder(chats[2], last)
    store.library.create_folder("New")
    store.library.undo_folder_deletion(gone)
    store.deletions.undo_deletion((chats[3],))
    reopened = again(store, place)
    assert reopened.library.folders()[:3] == before
    assert row(reopened, chats[2]).folder_id == last
    inside = sorted((row for row in reopened.conversations() if row.folder_id == work), key=lambda row: row.place)
    assert [row.title for row in inside] == ["two", "one", "four"]
    assert first
    reopened.close()


def test_unsent_texts_are_kept_for_each_chat_until_sent(store: ChatStore, place: StoreLocation) -> None:
    turn = store.begin_turn(None, "Hello")
    store.library.save_unsent(None, "for a new chat")
    store.library.save_unsent(turn.conversation_id, "for this one")
    store.library.save_unsent(99_999, "for none")
    reopened = again(store, place)
    assert reopened.library.unsent(None) == "for a new chat"
    assert reopened.library.unsent(turn.conversation_id) == "for this one"
    assert reopened.library.unsent(99_999) == ""
    reopened.begin_turn(turn.conversation_id, "for this one")
    assert reopened.library.unsent(turn.conversation_id) == ""
    reopened.library.save_unsent(None, "")
    assert reopened.library.unsent(None) == ""
    reopened.close()


def test_a_copy_has_all_branches_and_lives_on_its_own(store: ChatStore) -> None:
    turn = ask(store, None, "Hello", "first")
    answer_again(store, turn, "second")
    store.show_message(turn.answer.id)
    copy = store.library.duplicate(turn.conversation_id)
    source, copied = store.messages(turn.conversation_id), store.messages(copy)
    assert [view.text for view in copied] == ["Hello", "first"] == [view.text for view in source]
    assert len(copied[1].versions) == 2
    assert not {view.id for view in source} & {view.id for view in copied}
    assert store.title(copy) == "Hello (copy)"
    store.deletions.delete_permanently([turn.conversation_id])
    store.show_message(copied[1].versions[1])
    assert [view.text for view in store.messages(copy)] == ["Hello", "second"]
    found = store.library.search("second").result(30)
    assert found is not None
    assert [hit.conversation_id for hit in found] == [copy]


def test_what_is_gone_cannot_be_copied(store: ChatStore) -> None:
    with pytest.raises(StorageError):
        store.library.duplicate(12345)


def test_a_very_long_chat_can_be_deleted(store: ChatStore) -> None:
    chat = store.create_conversation("long")
    store.write(
        lambda db: db.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
            "INSERT INTO messages (id, conversation_id, position, role, text, state, created_at, parent_id) "
            "SELECT i, ?, i, 'user', 'x', 'complete', 1, nullif(i - 1, 0) FROM n",
            (chat,),
        )
    )
    assert len(store.messages(chat)) == 3000
    branch = store.deletions.mark_branch(2, datetime.now(UTC))
    assert branch is not None
    assert len(branch.message_ids) == 2999
    assert len(store.messages(chat)) == 1
