"""The window works by keyboard alone: Tab reaches every control of every page and dialog, with a visible focus."""

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QImage, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QScrollArea,
    QTextBrowser,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tests.ui.filled_window import DIALOGS, MODELS_PAGES, SETTINGS_PAGES, make_window, opened
from ui.window.dialogs import ShortcutsDialog
from ui.window.main_window import MainWindow

MOST_STEPS, MOST_LINKS = 150, 5
RING_PX = 6


@pytest.fixture
def window(qtbot: QtBot) -> MainWindow:
    return make_window(qtbot)


def wanted_by_tab(root: QWidget) -> set[QWidget]:
    """All visible, enabled widgets that accept Tab; for exclusive buttons only the checked one."""
    found = set()
    for widget in root.findChildren(QWidget):
        policy = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if not policy or not widget.isEnabled() or not widget.isVisibleTo(root.window()) or _is_inner(widget):
            continue
        if isinstance(widget, QAbstractButton) and _is_of_a_group(widget) and not widget.isChecked():
            continue
        if widget.window() is root.window() and widget.focusProxy() is None:
            found.add(widget)
    return found


def _is_inner(widget: QWidget) -> bool:
    """Whether Qt created this widget inside a control."""
    return isinstance(widget.parent(), QComboBox | QLineEdit) or widget.objectName().startswith("qt_")


def _is_of_a_group(button: QAbstractButton) -> bool:
    exclusive = button.group() is not None and button.group().exclusive()
    return exclusive or (button.autoExclusive() and isinstance(button, QRadioButton))


def reached_by_tab(root: QWidget, qtbot: QtBot) -> list[QWidget]:
    """Press Tab until the focus returns to its start."""
    first = QApplication.focusWidget()
    assert first is not None
    reached, steps_inside = [first], 0
    for _ in range(MOST_STEPS):
        focus = QApplication.focusWidget()
        assert focus is not None, f"Tab led nowhere after {_named(reached[-1])}"
        key = Qt.Key.Key_Tab
        # Ctrl+Tab leaves a text that accepts tabs, and only such a text.
        takes = isinstance(focus, QPlainTextEdit) and not focus.tabChangesFocus() and not focus.isReadOnly()
        qtbot.keyClick(focus, key, Qt.KeyboardModifier.ControlModifier if takes else Qt.KeyboardModifier.NoModifier)
        after = QApplication.focusWidget()
        assert after is not None
        if after is focus and steps_inside < MOST_LINKS and isinstance(focus, QTextBrowser):
            steps_inside += 1  # from one link to the next
            continue
        steps_inside = 0
        if after is first:
            return reached
        assert after is not focus, f"{_named(focus)} holds the focus"
        reached.append(after)
    pytest.fail(f"Tab did not come back; it went {[_named(widget) for widget in reached[-8:]]}")


def _named(widget: QWidget) -> str:
    return f"{type(widget).__name__} “{widget.accessibleName() or widget.objectName()}”"


def begin(root: QWidget, qtbot: QtBot) -> None:
    """Wait until the window of ``root`` is active, and set the focus within it."""
    qtbot.waitUntil(root.window().isActiveWindow, timeout=30_000)
    if QApplication.focusWidget() is None or QApplication.focusWidget().window() is not root.window():
        first = next(iter(sorted(wanted_by_tab(root), key=_named)))
        first.setFocus(Qt.FocusReason.TabFocusReason)


def unreached(root: QWidget, qtbot: QtBot) -> list[str]:
    begin(root, qtbot)
    reached = set(reached_by_tab(root, qtbot))
    return sorted(_named(widget) for widget in wanted_by_tab(root) - reached)


def test_tab_reaches_every_control_of_the_window(window: MainWindow, qtbot: QtBot) -> None:
    window.composer.setFocus()
    assert unreached(window, qtbot) == []


@pytest.mark.parametrize("page", MODELS_PAGES)
def test_tab_reaches_every_control_of_the_models_place(window: MainWindow, page: str, qtbot: QtBot) -> None:
    with opened(window, page) as place:
        assert unreached(place, qtbot) == []


@pytest.mark.parametrize("name", DIALOGS)
def test_tab_reaches_every_control_of_a_dialog(shared_window: MainWindow, name: str, qtbot: QtBot) -> None:
    with opened(shared_window, name) as dialog:
        assert unreached(dialog, qtbot) == []
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
        qtbot.waitUntil(lambda: not dialog.isVisible())


@pytest.mark.parametrize("name", SETTINGS_PAGES)
def test_tab_reaches_every_control_of_the_settings(shared_window: MainWindow, name: str, qtbot: QtBot) -> None:
    with opened(shared_window, name) as dialog:
        assert unreached(dialog, qtbot) == []


def _bring_into_view(widget: QWidget) -> None:
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea):
            parent.ensureWidgetVisible(widget)
        parent = parent.parentWidget()


def ring(widget: QWidget) -> QImage:
    """An image of a control with a margin around it."""
    top = widget.window()
    place = widget.mapTo(top, QPoint(0, 0)) - QPoint(RING_PX, RING_PX)
    size = widget.size() + QSize(2 * RING_PX, 2 * RING_PX)
    return top.grab().toImage().copy(place.x(), place.y(), size.width(), size.height())


@pytest.mark.parametrize("name", ["window", "library", "chat_settings"])
def test_the_focus_is_seen_on_every_control(window: MainWindow, name: str, qtbot: QtBot) -> None:
    with opened(window, name) as root:
        begin(root, qtbot)
        assert unseen_focus(root, qtbot) == []


@pytest.mark.parametrize("name", ["settings 2", *(name for name in DIALOGS if name != "chat_settings")])
def test_the_focus_is_seen_on_every_control_of_a_dialog(shared_window: MainWindow, name: str, qtbot: QtBot) -> None:
    with opened(shared_window, name) as root:
        begin(root, qtbot)
        assert unseen_focus(root, qtbot) == []


def unseen_focus(root: QWidget, qtbot: QtBot) -> list[str]:
    """Controls that look the same with and without the focus."""
    unseen = []
    for widget in reached_by_tab(root, qtbot):
        if isinstance(widget, QPlainTextEdit | QLineEdit):
            continue  # a blinking cursor also makes a difference
        _bring_into_view(widget)
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        with_focus = ring(widget)
        widget.clearFocus()
        if ring(widget) == with_focus:
            unseen.append(_named(widget))
        widget.setFocus(Qt.FocusReason.TabFocusReason)
    return unseen


@pytest.mark.parametrize("keys", ["F1", "Ctrl+/"])
def test_the_overview_names_every_shortcut(window: MainWindow, keys: str, qtbot: QtBot) -> None:
    combined = QKeySequence(keys)[0]
    qtbot.keyClick(window, combined.key(), combined.keyboardModifiers())
    dialog = window.findChild(ShortcutsDialog)
    assert dialog is not None
    assert dialog.isVisible()
    rows = window.commands.rows()
    shown = " ".join(row.keys for row in rows)
    answered = [key.toString() for action in window.actions() for key in action.shortcuts()]
    native = QKeySequence.SequenceFormat.NativeText
    missing = [keys for keys in answered if QKeySequence(keys).toString(native) not in shown]
    assert len(answered) >= 15
    assert [keys for keys in missing if not keys.startswith("Ctrl+")] == []
    assert len({row.words for row in rows}) == len(rows)
