"""A long answer that ends unseen is announced, a short or seen one is not; the text is never quoted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication, QSystemTrayIcon
from pytestqt.qtbot import QtBot

import app.controllers.window.notifications
from app.controllers.window.notifications import NotificationController
from engine.records import EngineFailed, Finished, FinishReason, Problem, RunStats
from tests.app.fakes import AppHarness, open_app

LONG = RunStats(tokens=900, passes=300, decode_s=30.0)


class Told:
    """The requests to taskbar and tray."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.num_alerts = 0
        self.messages: list[tuple[str, str]] = []
        monkeypatch.setattr(QApplication, "alert", self._alert)
        monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
        monkeypatch.setattr(QSystemTrayIcon, "showMessage", self._message)

    def _alert(self, *_: object) -> None:
        self.num_alerts += 1

    def _message(self, title: str, words: str, *_: object) -> None:
        self.messages.append((title, words))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    return Told(monkeypatch)


@pytest.fixture
def harness(qtbot: QtBot) -> Iterator[AppHarness]:
    result = open_app()
    yield result
    result.close()


def notifications(harness: AppHarness, monkeypatch: pytest.MonkeyPatch, *, active: bool) -> NotificationController:
    monkeypatch.setattr(harness.window, "isActiveWindow", lambda: active)
    return harness.controller.notifications


def test_a_long_answer_that_ends_unseen_is_reported(
    harness: AppHarness, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    notifications(harness, monkeypatch, active=False).on_event(Finished(1, FinishReason.END, LONG))
    assert told.num_alerts == 1
    assert told.messages == [("Your answer is ready", "900 tokens at 30.0 tok/s")]


@pytest.mark.parametrize(
    ("active", "reason", "stats"),
    [
        (True, FinishReason.END, LONG),
        (False, FinishReason.CANCELLED, LONG),
        (False, FinishReason.END, RunStats(tokens=3, passes=3, decode_s=0.2)),
    ],
)
def test_what_needs_no_telling_is_not_reported(
    harness: AppHarness,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
    active: bool,
    reason: FinishReason,
    stats: RunStats,
) -> None:
    notifications(harness, monkeypatch, active=active).on_event(Finished(1, reason, stats))
    assert (told.num_alerts, told.messages) == (0, [])


def test_without_the_tray_message_the_taskbar_still_tells(
    harness: AppHarness, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.window.dialogs.saved.emit({"notify": False})
    problem = Problem("It failed", "The context is full.", "Start a new chat.")
    notifications(harness, monkeypatch, active=False).on_event(EngineFailed(problem, 1))
    assert (told.num_alerts, told.messages) == (1, [])


def test_the_message_brings_a_minimised_window_back(
    harness: AppHarness, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.window.showMinimized()
    told_by = notifications(harness, monkeypatch, active=False)
    told_by.on_event(Finished(1, FinishReason.END, LONG))
    tray = told_by.tray
    assert tray is not None
    assert tray.isVisible()
    tray.messageClicked.emit()
    assert not harness.window.isMinimized()
    assert not tray.isVisible()


def test_coming_back_by_another_way_takes_the_icon_away(
    harness: AppHarness, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_by = notifications(harness, monkeypatch, active=False)
    told_by.on_event(Finished(1, FinishReason.END, LONG))
    assert told_by.tray is not None
    assert told_by.tray.isVisible()
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    application.focusWindowChanged.emit(None)  # another program is focused
    assert told_by.tray.isVisible()
    application.focusWindowChanged.emit(harness.window.windowHandle())
    assert not told_by.tray.isVisible()


@pytest.mark.parametrize("has_tray", [True, False])
def test_the_desktop_shows_it_where_there_is_no_tray(
    harness: AppHarness, told: Told, monkeypatch: pytest.MonkeyPatch, has_tray: bool
) -> None:
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(app.controllers.window.notifications, "send_to_portal", lambda *words: sent.append(words))
    monkeypatch.setattr(app.controllers.window.notifications.sys, "platform", "linux")
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: has_tray)
    notifications(harness, monkeypatch, active=False).on_event(Finished(1, FinishReason.END, LONG))
    shown, other = (told.messages, sent) if has_tray else (sent, told.messages)
    assert shown == [("Your answer is ready", "900 tokens at 30.0 tok/s")]
    assert other == []
