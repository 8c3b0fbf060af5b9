"""Every control has a name for screen readers, can be reached by Tab, and shows its focus."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QTableView,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageView
from tests.ui.conftest import STATS, rows
from tests.ui.filled_window import DIALOGS, MODELS_PAGES, opened
from ui.settings.dialog import SettingsDialog
from ui.theme.theme import Theme
from ui.widgets.dialogs import link_dialog
from ui.window.dialogs import ShortcutsDialog
from ui.window.main_window import MainWindow

CONTROLS = (QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit, QTextEdit, QProgressBar, QAbstractItemView)
ANSWER = "Prose.\n\n```python\nprint(1)\n```\n\n| a |\n|---|\n| b |\n"


def nameless(root: QWidget) -> list[str]:
    """Own controls without a name; the parts that Qt creates inside its controls are not checked."""
    found = []
    for widget in root.findChildren(QWidget):
        inner = widget.objectName().startswith("qt_") or isinstance(widget.parent(), QComboBox | QLineEdit | QTableView)
        if isinstance(widget, CONTROLS) and not inner and not _in_popup(widget) and not widget.accessibleName():
            found.append(f"{type(widget).__name__} {widget.objectName()}")
    return found


def _in_popup(widget: QWidget) -> bool:
    return type(widget.window()).__name__ == "QComboBoxPrivateContainer" or widget.inherits("QComboBoxListView")


@pytest.fixture
def filled(window: MainWindow, qtbot: QtBot) -> MainWindow:
    window.sidebar.set_rows(rows(), 1)
    views = [MessageView(1, "user", "question"), MessageView(2, "assistant", ANSWER, stats=STATS)]
    window.show_conversation("t", views)
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    return window


def test_every_control_of_the_window_has_a_name(filled: MainWindow) -> None:
    assert nameless(filled) == []


def test_every_control_of_the_dialogs_has_a_name(filled: MainWindow) -> None:
    filled.dialogs.open_settings()
    settings = filled.findChild(SettingsDialog)
    question = link_dialog(filled, "https://example.org")
    assert settings is not None
    assert question is not None
    for dialog in (settings, question, ShortcutsDialog(filled, filled.commands.rows())):
        assert nameless(dialog) == []


@pytest.mark.parametrize("page", MODELS_PAGES)
def test_every_control_of_the_models_place_has_a_name(page: str, shared_window: MainWindow) -> None:
    with opened(shared_window, page) as place:
        assert nameless(place) == []


@pytest.mark.parametrize("name", DIALOGS)
def test_every_control_of_each_dialog_has_a_name(name: str, shared_window: MainWindow) -> None:
    with opened(shared_window, name) as dialog:
        assert nameless(dialog) == []
        assert dialog.windowTitle() or dialog.accessibleName()  # a panel within the window has no title bar


def test_every_control_of_all_settings_has_a_name(shared_window: MainWindow) -> None:
    with opened(shared_window, "settings 0") as dialog:
        assert isinstance(dialog, SettingsDialog)
        assert dialog.nav.count() >= 5
        assert nameless(dialog) == []


def test_the_walk_itself_finds_a_nameless_control(filled: MainWindow) -> None:
    filled.composer.send_button.setAccessibleName("")
    assert nameless(filled) == ["QPushButton "]


def test_tab_reaches_every_part(filled: MainWindow, qtbot: QtBot) -> None:
    seen: set[str] = set()
    filled.composer.edit.setFocus()
    for _ in range(60):
        focus = QApplication.focusWidget()
        assert focus is not None
        seen.add(focus.accessibleName())
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    wanted = {"New chat", "Search chats", "Chats", "Settings", "Message", "Copy code", "Copy answer"}
    assert wanted | {"Copy message", "Regenerate this answer"} <= seen


def test_focus_is_visible_on_buttons(filled: MainWindow, theme: Theme) -> None:
    for button in (filled.sidebar.new_button, filled.header.stats_button, filled.sidebar.settings_button):
        plain = button.grab().toImage()
        button.setFocus(Qt.FocusReason.TabFocusReason)
        assert button.grab().toImage() != plain


def test_plots_speak(filled: MainWindow) -> None:
    page = filled.stats.now
    for plot in (
        page.acceptance.by_depth,
        page.split,
        page.origin,
    ):
        assert plot.accessibleName()
        assert plot.accessibleDescription()


def test_scrolling_areas_are_named(filled: MainWindow) -> None:
    areas = [area for area in filled.findChildren(QAbstractScrollArea) if area.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert [area for area in areas if not area.accessibleName() and not area.inherits("QComboBoxListView")] == []
