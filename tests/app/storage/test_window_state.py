"""The chat that was open last is open again after a restart, whichever changed last."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.domain.conversations import ConversationRow
from app.paths import find_paths
from app.storage.chats.opening import StoreLocation
from app.storage.chats.store import ChatStore
from app.storage.window_state import NEW_CHAT, OpenChat
from tests.app.fakes import Desk, keep_settings, open_desk
from ui.conversations.model import BATCH


def current(desk: Desk) -> int | None:
    return desk.controller.conversations.current_id


@pytest.fixture
def chats(qtbot: QtBot) -> tuple[int, int, int]:
    """The ids of three stored chats, the last changed last; none is open."""
    keep_settings({})
    desk = open_desk()
    desk.engine.ready()
    qtbot.waitUntil(lambda: desk.window.engine.target is not None)
    found = []
    for question in ("One", "Two", "Three"):
        desk.window.new_chat_requested.emit()
        desk.window.message_submitted.emit(question)
        found.append(current(desk))
        desk.engine.finish()
        qtbot.waitUntil(lambda: len(desk.window.finished) == len(found))
    desk.close()
    first, second, third = found
    assert first is not None
    assert second is not None
    assert third is not None
    return first, second, third


def leave_open(choose: Callable[[Desk], None]) -> None:
    desk = open_desk()
    choose(desk)
    desk.close()


def opened_again() -> int | None:
    desk = open_desk()
    found = current(desk)
    desk.close()
    return found


def test_the_chat_that_was_open_is_open_again(chats: tuple[int, int, int]) -> None:
    assert opened_again() == chats[2]
    leave_open(lambda desk: desk.window.conversation_selected.emit(chats[0]))
    assert opened_again() == chats[0]
    assert opened_again() == chats[0]


def test_after_an_empty_new_chat_there_is_a_new_one_with_its_unsent_words(chats: tuple[int, int, int]) -> None:
    def begin(desk: Desk) -> None:
        desk.window.new_chat_requested.emit()
        desk.window.composer.set_text("half a thought")

    leave_open(begin)
    desk = open_desk()
    assert (current(desk), desk.window.composer.text) == (None, "half a thought")
    desk.close()


def test_where_it_was_archived_or_is_gone_the_one_that_changed_last_opens(chats: tuple[int, int, int]) -> None:
    def archive(desk: Desk) -> None:
        desk.window.conversation_selected.emit(chats[0])
        desk.store.library.set_archived(chats[0], True)

    def lose(desk: Desk) -> None:
        desk.window.conversation_selected.emit(chats[1])
        OpenChat(desk.paths.open_chat_file).keep(999)

    leave_open(archive)
    assert opened_again() == chats[2]
    leave_open(lose)
    assert opened_again() == chats[2]


def test_a_chat_that_was_deleted_does_not_come_back(chats: tuple[int, int, int]) -> None:
    def delete(desk: Desk) -> None:
        desk.window.conversation_selected.emit(chats[2])
        desk.window.conversation_delete_requested.emit(chats[2])
        OpenChat(desk.paths.open_chat_file).keep(chats[2])

    leave_open(delete)
    assert opened_again() == chats[1]


@pytest.mark.parametrize("damaged", [b"", b"seven", b"\xff\xfe", b"-1", b"1.5", b"9" * 63, "²".encode()])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, damaged: bytes) -> None:
    file = tmp_path / "open-chat"
    file.write_bytes(damaged)
    assert OpenChat(file).read() is None
    assert OpenChat(tmp_path / "missing").read() is None
    OpenChat(file).keep(None)
    assert OpenChat(file).read() == NEW_CHAT
    OpenChat(tmp_path / "no folder" / "open-chat").keep(3)  # told in the log only


@pytest.fixture
def many(qtbot: QtBot) -> list[int]:
    """The ids of more chats than the list is first shown with, the oldest first."""
    paths = keep_settings({})
    store = ChatStore(StoreLocation(paths.chats_file, paths.backups), [].append)
    assert store.open() is None
    ids = [store.create_conversation(f"chat {number}") for number in range(BATCH + 20)]
    assert store.close()
    return ids


def listed(desk: Desk) -> list[int]:
    return [item.id for item in desk.window.sidebar.list.rows._items if isinstance(item, ConversationRow)]


def test_the_rest_of_a_long_list_follows_the_first_paint_and_moves_nothing(qtbot: QtBot, many: list[int]) -> None:
    desk = open_desk()
    rows = desk.window.sidebar.list.rows
    assert listed(desk) == many[: -BATCH - 1 : -1]
    at_first = rows.rowCount(), [rows.index(row, 0).data() for row in range(rows.rowCount())]
    qtbot.waitUntil(lambda: listed(desk) == many[::-1])
    assert (rows.rowCount(), [rows.index(row, 0).data() for row in range(rows.rowCount())]) == at_first
    assert current(desk) == many[-1]
    assert desk.window.sidebar.list.currentIndex().data() == f"chat {len(many) - 1}"
    desk.close()


def test_an_old_chat_that_was_open_is_in_the_list_at_once(qtbot: QtBot, many: list[int]) -> None:
    OpenChat(find_paths().open_chat_file).keep(many[0])
    desk = open_desk()
    assert current(desk) == many[0]
    assert listed(desk) == many[::-1]
    assert desk.window.sidebar.list.currentIndex().data() == "chat 0"
    desk.close()


def test_whatever_changes_the_list_before_brings_all_of_it(qtbot: QtBot, many: list[int]) -> None:
    desk = open_desk()
    desk.window.conversation_rename_requested.emit(many[1], "another")
    assert listed(desk) == many[::-1]
    desk.close()
