"""The window checks for updates only on request, and shows the result."""

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

import app
from app.core.hub import updates
from app.core.hub.updates import Release, UpdatesError
from tests.app.controllers.window.test_help_menu import action
from tests.app.fakes import open_app
from ui.widgets.dialogs import ConfirmDialog

PAGE = "https://github.com/paceline/paceline/releases/tag/v9.0.0"


def test_it_is_asked_by_a_press_only_and_the_newest_is_said(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def newest() -> Release:
        asked.append("")
        return Release(app.__version__, is_newer=False)

    monkeypatch.setattr(updates, "newest_release", newest)
    harness = open_app()
    qtbot.wait(50)
    assert asked == []
    action(harness, "Check for updates…").trigger()
    qtbot.waitUntil(lambda: "newest version" in harness.window.notices[-1])
    assert app.__version__ in harness.window.notices[-1]
    assert len(asked) == 1
    harness.close()


def test_a_newer_one_is_reported_with_what_it_brings_and_its_page(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(QUrl(url).toString()))
    monkeypatch.setattr(updates, "newest_release", lambda: Release("9.0.0", True, "Faster <b>answers</b>.", PAGE))
    harness = open_app()
    action(harness, "Check for updates…").trigger()
    qtbot.waitUntil(lambda: bool(harness.window.findChildren(ConfirmDialog)))
    dialog = harness.window.findChild(ConfirmDialog)
    assert dialog.windowTitle() == "Paceline 9.0.0 is out"
    assert dialog.findChild(QPlainTextEdit).toPlainText() == "Faster <b>answers</b>."
    qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    assert opened == [PAGE]
    harness.close()


def test_that_nobody_answers_is_a_sentence(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Release:
        raise UpdatesError("The releases page cannot be reached.")

    monkeypatch.setattr(updates, "newest_release", nobody)
    harness = open_app()
    action(harness, "Check for updates…").trigger()
    qtbot.waitUntil(lambda: bool(harness.window.problems))
    assert "cannot be reached" in harness.window.problems[-1].message
    harness.close()
