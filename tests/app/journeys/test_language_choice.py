"""Choosing another language with real clicks and keys: it is saved, and the next window uses it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QScrollArea
from pytestqt.qtbot import QtBot

from app.core.paths import find_paths
from app.core.storage.settings_file import read_settings
from tests.app.fakes import AppHarness, keep_settings, open_app
from ui.settings.dialog import SettingsDialog
from ui.settings.rows import ChoiceRow
from ui.text.language import ENGLISH, install_language
from ui.window.main_window import MainWindow

LEFT = Qt.MouseButton.LeftButton
CTRL = Qt.KeyboardModifier.ControlModifier
WAIT_MS = 30_000
ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "assets" / "translations"
AT_THE_NEXT_START = "takes effect at the next start"
IN_GERMAN = "wirkt ab dem nächsten Start"
NEXT_WINDOW = """
import sys
from PySide6.QtWidgets import QApplication
from app.startup.window import open_window
from tests.fake_model import ScriptedWorker
def look(*_):
    window = next(widget for widget in QApplication.topLevelWidgets() if widget.inherits("QMainWindow"))
    print("new chat:", window.sidebar.new_button.accessibleName())
    window.close()
    return 0
application = QApplication([])
QApplication.exec = look
sys.exit(open_window([], ScriptedWorker))
"""


@pytest.fixture
def harness(qapp: QApplication) -> Iterator[AppHarness]:
    keep_settings({"language": "en"})
    opened = open_app()
    yield opened
    opened.close()
    install_language(qapp, FOLDER, ENGLISH)


def open_language_row(window: MainWindow, qtbot: QtBot) -> tuple[SettingsDialog, ChoiceRow]:
    """Open the settings by shortcut, at the row of the language."""
    qtbot.waitUntil(window.isActiveWindow, timeout=WAIT_MS)  # shortcuts need an active window
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Comma, CTRL)
    dialog = next(child for child in window.findChildren(SettingsDialog) if child.isVisible())
    row = dialog.rows["language"]
    assert isinstance(row, ChoiceRow)
    for place in range(dialog.pages.count()):
        page = dialog.pages.widget(place)
        if isinstance(page, QScrollArea) and page.isAncestorOf(row):
            dialog.nav.setCurrentRow(place)
            page.ensureWidgetVisible(row)
    row.combo.setFocus()
    return dialog, row


def choose_german(window: MainWindow, qtbot: QtBot) -> SettingsDialog:
    dialog, row = open_language_row(window, qtbot)
    qtbot.keyClick(row.combo, Qt.Key.Key_Down)
    assert row.value() == "de"
    return dialog


def kept_language() -> str:
    return read_settings(find_paths().settings_file).settings.text("language")


def next_window_says() -> str:
    done = subprocess.run(
        [sys.executable, "-c", NEXT_WINDOW],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_choice_is_kept_and_the_next_window_speaks_it(harness: AppHarness, qtbot: QtBot) -> None:
    window = harness.window
    sidebar = window.sidebar
    qtbot.keyClicks(window.composer.edit, "not sent yet")
    dialog = choose_german(window, qtbot)
    qtbot.mouseClick(dialog.save_button, LEFT)
    assert kept_language() == "de"
    assert window.sidebar is sidebar
    assert window.sidebar.new_button.accessibleName() == "New chat"
    assert window.composer.text == "not sent yet"
    harness.close()
    assert "new chat: Neuer Chat" in next_window_says()


def test_leaving_the_settings_keeps_the_language(harness: AppHarness, qtbot: QtBot) -> None:
    dialog = choose_german(harness.window, qtbot)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert kept_language() == "en"
    assert harness.window.sidebar.new_button.accessibleName() == "New chat"


@pytest.mark.parametrize(("language", "words"), [(ENGLISH, AT_THE_NEXT_START), ("de", IN_GERMAN)])
def test_the_row_says_when_a_change_takes_effect(
    qapp: QApplication, qtbot: QtBot, language: str, words: str, request: pytest.FixtureRequest
) -> None:
    install_language(qapp, FOLDER, language)
    harness: AppHarness = request.getfixturevalue("harness")
    _dialog, row = open_language_row(harness.window, qtbot)
    assert row.help.isVisible()
    assert words in row.help.text()
    assert words in row.combo.accessibleDescription()
