"""The app that clicks its way to German and restarts; the process that takes its place says what it shows."""

from __future__ import annotations

import json
import os
import sys

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea

from app.restart import CHAT_VARIABLE
from app.window import open_window
from engine.fake_model import ScriptedWorker
from tests.app.fakes import keep_settings
from ui.language_row import LanguageRow
from ui.main_window import MainWindow
from ui.settings_dialog import SettingsDialog

TEXT = "not sent yet"


def shown_window() -> MainWindow:
    return next(widget for widget in QApplication.topLevelWidgets() if isinstance(widget, MainWindow))


def click_to_german(window: MainWindow) -> None:
    QTest.keyClicks(window.composer.edit, TEXT)
    QTest.mouseClick(window.sidebar.settings_button, Qt.MouseButton.LeftButton)
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    row = dialog.rows["language"]
    assert isinstance(row, LanguageRow)
    sections = [dialog.nav.item(place).text() for place in range(dialog.nav.count())]
    dialog.show_page(sections.index("Appearance"))
    assert row.restart_button.isHidden()
    page = dialog.pages.currentWidget()
    assert isinstance(page, QScrollArea)
    page.ensureWidgetVisible(row)
    while row.value() != "de":
        QTest.keyClick(row.combo, Qt.Key.Key_Down)
    assert row.restart_button.isVisible()
    QTest.mouseClick(row.restart_button, Qt.MouseButton.LeftButton)


def use(is_second: bool) -> None:
    window = shown_window()
    if not window.isVisible():
        QTimer.singleShot(20, window, lambda: use(is_second))
    elif is_second:
        shown = {"new": window.sidebar.new_button.accessibleName(), "text": window.composer.text}
        sys.stdout.write(json.dumps(shown) + "\n")
        window.close()
    else:
        try:
            click_to_german(window)
        except BaseException:
            window.close()
            raise


def main() -> None:
    is_second = CHAT_VARIABLE in os.environ
    if not is_second:
        keep_settings({"language": "en"})
    application = QApplication([])
    QTimer.singleShot(0, application, lambda: use(is_second))
    sys.exit(open_window([], ScriptedWorker))


if __name__ == "__main__":
    main()
