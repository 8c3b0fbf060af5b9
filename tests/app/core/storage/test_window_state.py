"""The chat that was open last is opened after a restart, whichever changed last."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core.storage.window_state import NEW_CHAT, OpenChat, read_layout
from tests.app.fakes import AppHarness, keep_settings, open_app


def current(harness: AppHarness) -> int | None:
    return harness.controller.state.chat_id


@pytest.fixture
def chats(qtbot: QtBot) -> tuple[int, int, int]:
    """The ids of three stored chats, the last changed last; none is open."""
    keep_settings({})
    harness = open_app()
    harness.engine.ready()
    qtbot.waitUntil(lambda: harness.window.engine.target is not None)
    found = []
    for question in ("One", "Two", "Three"):
        harness.window.sidebar.new_chat.emit()
        harness.window.composer.submitted.emit(question)
        found.append(current(harness))
        harness.engine.finish()
        qtbot.waitUntil(lambda: len(harness.window.finished) == len(found))
    harness.close()
    first, second, third = found
    assert first is not None
    assert second is not None
    assert third is not None
    return first, second, third


def leave_open(choose: Callable[[AppHarness], None]) -> None:
    harness = open_app()
    choose(harness)
    harness.close()


def opened_again() -> int | None:
    harness = open_app()
    found = current(harness)
    harness.close()
    return found


def test_the_chat_that_was_open_is_open_again(chats: tuple[int, int, int]) -> None:
    assert opened_again() == chats[2]
    leave_open(lambda harness: harness.window.sidebar.list.chosen.emit(chats[0]))
    assert opened_again() == chats[0]
    assert opened_again() == chats[0]


def test_after_an_empty_new_chat_there_is_a_new_one_with_its_unsent_words(chats: tuple[int, int, int]) -> None:
    def begin(harness: AppHarness) -> None:
        harness.window.sidebar.new_chat.emit()
        harness.window.composer.set_text("half a thought")

    leave_open(begin)
    harness = open_app()
    assert (current(harness), harness.window.composer.text) == (None, "half a thought")
    harness.close()


def test_where_it_was_archived_or_is_gone_the_one_that_changed_last_opens(chats: tuple[int, int, int]) -> None:
    def archive(harness: AppHarness) -> None:
        harness.window.sidebar.list.chosen.emit(chats[0])
        harness.store.library.set_archived(chats[0], True)

    def lose(harness: AppHarness) -> None:
        harness.window.sidebar.list.chosen.emit(chats[1])
        OpenChat(harness.paths.open_chat_file).keep(999)

    leave_open(archive)
    assert opened_again() == chats[2]
    leave_open(lose)
    assert opened_again() == chats[2]


@pytest.mark.parametrize("damaged", [b"", b"seven", b"\xff\xfe", b"-1", b"1.5", b"9" * 63, "²".encode()])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, damaged: bytes) -> None:
    file = tmp_path / "open-chat"
    file.write_bytes(damaged)
    assert OpenChat(file).read() is None
    assert OpenChat(tmp_path / "missing").read() is None
    OpenChat(file).keep(None)
    assert OpenChat(file).read() == NEW_CHAT
    for place in (tmp_path / "no folder" / "open-chat", tmp_path):  # only logged
        OpenChat(place).keep(3)
        assert OpenChat(place).read() is None
        assert read_layout(place) == b""
