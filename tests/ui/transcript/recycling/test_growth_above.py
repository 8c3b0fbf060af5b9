"""Older messages appear without anything that is read being painted, and without its place being lost."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import ui.transcript.transcript
from tests.ui.long_chats import history_of
from ui.transcript.cards.prose_view import ProseView
from ui.window.main_window import MainWindow

WAIT_MS = 30_000


def places(window: MainWindow) -> dict[int, int]:
    """Where the messages stand in what is in sight."""
    viewport = window.transcript.viewport()
    shown = [card for card in window.transcript.cards if not card.visibleRegion().isEmpty()]
    return {card.message_id: card.mapTo(viewport, QPoint(0, 0)).y() for card in shown}


def test_what_is_read_is_neither_moved_nor_painted(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = window.transcript
    window.show_conversation("Long", history_of(20_000))
    qtbot.waitUntil(lambda: not transcript.is_building, timeout=WAIT_MS)
    painted: list[ProseView] = []
    paint, show_above = ProseView.paintEvent, ui.transcript.transcript.show_above
    monkeypatch.setattr(ProseView, "paintEvent", lambda self, event: (painted.append(self), paint(self, event))[1])
    seen: list[tuple[bool, int]] = []

    def watched(*args: object) -> None:
        QApplication.processEvents()
        before, height = places(window), transcript.widget().height()
        painted.clear()
        show_above(*args)  # type: ignore[arg-type]
        assert transcript.widget().height() > height
        viewport = transcript.viewport()
        QApplication.sendPostedEvents(viewport.window(), 0)
        seen.append((places(window) == before, len(painted)))

    monkeypatch.setattr(ui.transcript.transcript, "show_above", watched)
    bar = transcript.verticalScrollBar()
    bar.setValue(2 * transcript.viewport().height())
    qtbot.waitUntil(lambda: not transcript.is_building and len(seen) > 1, timeout=WAIT_MS)
    assert all(same for same, _ in seen)
    assert [num for _, num in seen] == [0] * len(seen)
    painted.clear()
    bar.setValue(bar.value() - 100)
    qtbot.waitUntil(lambda: bool(painted), timeout=WAIT_MS)


def test_the_page_is_painted_again_afterwards(window: MainWindow, qtbot: QtBot) -> None:
    """Nothing that was told to ask for nothing stays so."""
    transcript = window.transcript
    window.show_conversation("Long", history_of(20_000))
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: not transcript.is_building, timeout=WAIT_MS)
    num = len(transcript._column.entries)
    bar.setValue(2 * transcript.viewport().height())
    qtbot.waitUntil(lambda: len(transcript._column.entries) > num and not transcript.is_building, timeout=WAIT_MS)
    pages = transcript.widget()
    assert all(each.updatesEnabled() for each in (transcript.viewport(), pages, *transcript.cards, transcript.jump))
    assert pages.testAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
