"""Opens menus by the keyboard: arrow keys to an entry, Right into a submenu, Enter."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot


def open_menu(qtbot: QtBot) -> QMenu:
    """Wait for an open menu; returns the innermost one."""
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def take(qtbot: QtBot, *words: str) -> None:
    """Choose the entry that begins with the last of ``words``; the other words name the submenus on the way."""
    for word in words[:-1]:
        menu = open_menu(qtbot)
        _go_to(qtbot, menu, word)
        qtbot.keyClick(menu, Qt.Key.Key_Right)
        qtbot.waitUntil(lambda menu=menu: QApplication.activePopupWidget() is not menu)
    menu = open_menu(qtbot)
    _go_to(qtbot, menu, words[-1])
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)


def _go_to(qtbot: QtBot, menu: QMenu, word: str) -> None:
    actions = menu.actions()
    for _ in actions:
        current = menu.activeAction()
        if current is not None and current.text().startswith(word):
            return
        qtbot.keyClick(menu, Qt.Key.Key_Down)
    current = menu.activeAction()
    assert current is not None, f"{word} not in {[action.text() for action in actions]}"
    assert current.text().startswith(word), f"{word} not in {[action.text() for action in actions]}"


def press_menu_key(widget: QWidget, qtbot: QtBot) -> QMenu:
    """Open the context menu of ``widget`` by the menu key."""
    come_back(widget, qtbot)
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is widget)
    place = widget.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
    reason = QContextMenuEvent.Reason.Keyboard
    QApplication.sendEvent(widget, QContextMenuEvent(reason, place, widget.mapToGlobal(place)))
    return open_menu(qtbot)


def come_back(widget: QWidget, qtbot: QtBot) -> None:
    """Activate the window of ``widget``: without a desktop, closing a submenu does not return the focus."""
    widget.window().activateWindow()
    qtbot.waitUntil(widget.window().isActiveWindow)
