"""The first picture of a start has all that is in sight."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ui.conftest import ASSETS, FIELDS
from tests.ui.long_chats import history_of
from ui.transcript import opening_page, transcript
from ui.window.main_window import MainWindow


@pytest.fixture(name="opened")
def fixture_opened(qapp: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """A window with a long chat that was just shown: nothing is painted, and hardly anything built."""
    monkeypatch.setattr(transcript, "FIRST_SLICE_S", 1e-9)
    window = MainWindow(ASSETS, FIELDS)
    window.show_conversation("A long chat", history_of(3_000))
    window.show()
    yield window
    window.close()
    window.deleteLater()


def test_all_in_sight_is_there_before_anything_is_painted(opened: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening_page, "LONGEST_S", 30.0)
    page = opened.transcript
    page.lay_out()
    bar = page.verticalScrollBar()
    assert bar.maximum() == 0, "or there is nothing to be filled"
    page.fill_sight()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()
    assert page.is_building, "what is above is left for later"


def test_a_first_picture_does_not_wait_long(opened: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening_page, "LONGEST_S", 0.0)
    page = opened.transcript
    page.fill_sight()
    assert page.verticalScrollBar().maximum() == 0
    assert page.is_building


def test_a_short_chat_and_none_at_all_need_nothing(opened: MainWindow) -> None:
    page = opened.transcript
    for messages in (history_of(3_000)[:1], []):
        opened.show_conversation("A short one", messages)
        page.fill_sight()
        assert len(page.cards) == len(messages)
