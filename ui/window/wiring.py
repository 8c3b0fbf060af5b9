"""Connects the parts of the window with one another, and adds its commands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication

from ui.text.language import mark
from ui.transcript.keys import PassKeys, VersionFocus
from ui.transcript.marks.legend import SourceSwitch
from ui.transcript.text_caret import TextCaret
from ui.widgets.commands import CHAT, CHATS, WINDOW
from ui.widgets.tab_order import set_tab_order

if TYPE_CHECKING:
    from ui.window.main_window import MainWindow


def connect_parts(window: MainWindow) -> None:
    """Connect what the parts want with who does it."""
    window.models.connect_entry_points(window.header, window.sidebar, window.empty)
    window.models.stack.currentChanged.connect(lambda _place: _on_view_changed(window))
    _connect_sidebar(window)
    _connect_models(window)
    _connect_conversation(window)


def _connect_sidebar(window: MainWindow) -> None:
    sidebar, layout = window.sidebar, window.layout_state
    sidebar.new_chat.connect(window.composer.setFocus)
    sidebar.new_chat.connect(window.server.leave)
    sidebar.settings_button.clicked.connect(window.dialogs.open_settings)
    sidebar.race_button.clicked.connect(window.race.ask)
    sidebar.server_button.clicked.connect(window.server.toggle)
    sidebar.left.connect(window.composer.setFocus)
    sidebar.search_requested.connect(lambda _words: window.transcript.forget_found())
    sidebar.hide_button.clicked.connect(layout.toggle_sidebar)
    window.header.sidebar_button.clicked.connect(layout.toggle_sidebar)
    window.header.stats_button.clicked.connect(layout.toggle_stats)


def _connect_models(window: MainWindow) -> None:
    header, empty, dialogs = window.header, window.empty, window.dialogs
    header.target_action.triggered.connect(lambda: dialogs.browse("target"))
    header.draft_action.triggered.connect(lambda: dialogs.browse("draft"))
    header.stop_action.triggered.connect(window.composer.stop_requested)
    empty.builtin_button.clicked.connect(window.composer.setFocus)  # next is a message: the button goes
    empty.builtin_button.clicked.connect(header.use_builtin)
    empty.open_button.clicked.connect(lambda: dialogs.browse("target"))
    window.drop_overlay.chosen.connect(dialogs.file_chosen)
    window.drop_zone.model_dropped.connect(window.drop_overlay.ask)


def _connect_conversation(window: MainWindow) -> None:
    composer = window.composer
    window.undo_bar.watch(composer.edit)
    window.empty.prompt_chosen.connect(window.try_prompt)
    composer.race_requested.connect(window.race.question_asked)
    composer.find_draft.connect(window.models.find_draft)
    window.transcript.link_activated.connect(window.dialogs.ask_link)
    window.stats.find_draft.connect(window.models.find_draft)
    window.stats.sources_selected.connect(window.transcript.mark_sources)
    window.stats.refused_toggled.connect(window.transcript.show_refused)


def add_commands(window: MainWindow) -> None:
    """Give the window its commands. Keys that a part handles itself are described, so that the overview has them."""
    commands, layout = window.commands, window.layout_state
    commands.describe(CHAT, mark("Commands", "Send the message"), "Enter")
    commands.describe(CHAT, mark("Commands", "New line"), "Shift+Return")
    commands.add(CHAT, mark("Commands", "Attach files to the message"), "Ctrl+Shift+A", window.composer.ask_files)
    commands.add(CHAT, mark("Commands", "Stop the answer, or go back"), "Esc", window.escape, suspendable=False)
    commands.add(CHAT, mark("Commands", "Next speculation mode"), "Ctrl+D", window.composer.modes.cycle)
    commands.add(CHAT, mark("Commands", "Copy the last answer"), "Ctrl+Shift+C", window.copy_last_answer)
    commands.add(CHAT, mark("Commands", "Find in this chat"), "Ctrl+F", window.find_in_chat)
    commands.add(CHAT, mark("Commands", "Next match"), "F3", lambda: window.find_bar.step(1))
    commands.add(CHAT, mark("Commands", "Previous match"), "Shift+F3", lambda: window.find_bar.step(-1))
    _add_source_switch(window)
    TextCaret(window.transcript)
    VersionFocus(window.transcript)
    PassKeys(window.transcript, commands)
    commands.add(CHATS, mark("Commands", "New chat"), "Ctrl+N", window.sidebar.new_button.click)
    commands.add(CHATS, mark("Commands", "Search all chats"), "Ctrl+K", window.focus_search)
    commands.add(CHATS, mark("Commands", "Next chat"), "Ctrl+PgDown", lambda: _step(window, 1))
    commands.add(CHATS, mark("Commands", "Previous chat"), "Ctrl+PgUp", lambda: _step(window, -1))
    commands.add(CHATS, mark("Commands", "Rename the selected or open chat"), "F2", lambda: _rename(window))
    commands.describe(CHATS, mark("Commands", "Delete the selected chat"), "Del")
    commands.add(CHATS, mark("Commands", "Undo the last deletion"), "Ctrl+Z", window.undo_bar.undo)
    commands.describe(CHATS, mark("Commands", "Move the chat within its folder"), ("Alt+Up", "Alt+Down"))
    commands.add(WINDOW, mark("Commands", "Show models or the chat"), "Ctrl+M", window.models.toggle)
    commands.add(WINDOW, mark("Commands", "Race a question, or back to the chat"), "Ctrl+Shift+D", window.race.ask)
    commands.add(WINDOW, mark("Commands", "Choose the models"), "Ctrl+L", window.header.open_models)
    commands.add(WINDOW, mark("Commands", "Show or hide the sidebar"), "Ctrl+B", layout.toggle_sidebar)
    commands.add(WINDOW, mark("Commands", "Show or hide the statistics"), "Ctrl+Shift+B", layout.toggle_stats)
    commands.add(WINDOW, mark("Commands", "Larger text"), ("Ctrl++", "Ctrl+="), lambda: _set_text_size(window, 1))
    commands.add(WINDOW, mark("Commands", "Smaller text"), "Ctrl+-", lambda: _set_text_size(window, -1))
    commands.add(WINDOW, mark("Commands", "Reset text size"), "Ctrl+0", lambda: _set_text_size(window, 0))
    commands.add(WINDOW, mark("Commands", "Settings"), "Ctrl+,", window.dialogs.open_settings)
    words = mark("Commands", "Show the local server, or the chat")
    commands.add(WINDOW, words, "Ctrl+Shift+S", window.server.toggle)
    words = mark("Commands", "Turn the local server on or off")
    commands.add(WINDOW, words, "Ctrl+Shift+L", lambda: _switch_server(window))
    commands.add(WINDOW, mark("Commands", "Keyboard shortcuts"), ("F1", "Ctrl+/"), window.dialogs.open_shortcuts)
    words = mark("Commands", "Open the context menu")
    if sys.platform.startswith("linux"):  # elsewhere the system knows this key
        commands.add(WINDOW, words, "Shift+F10", _open_menu)
    commands.add(WINDOW, mark("Commands", "Full screen on or off"), "F11", lambda: _fill_screen(window))
    commands.add(WINDOW, mark("Commands", "Close the window"), "Ctrl+Q", window.close)


def _step(window: MainWindow, by: int) -> None:
    window.show_chat()
    window.sidebar.list.step(by)


def _on_view_changed(window: MainWindow) -> None:
    """The keys of a chat that nobody sees must not change it."""
    window.commands.set_suspended(CHAT, not window.shows_chat)
    window.name_window()


def _rename(window: MainWindow) -> None:
    sidebar = window.sidebar
    if sidebar.list.hasFocus():
        sidebar.list.rename()
    elif window.shows_chat and sidebar.list.has_open:
        window.layout_state.show_sidebar()
        sidebar.search.clear()
        sidebar.list.rename()


def _open_menu() -> None:
    """As Qt does where there is a menu key, which many keyboards lack."""
    focused = QApplication.focusWidget()
    if focused is not None:
        caret = focused.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)  # texts give it in parts of pixels
        caret = caret.toRect() if isinstance(caret, QRectF) else caret
        place = caret.center() if isinstance(caret, QRect) else focused.rect().center()
        reason = QContextMenuEvent.Reason.Keyboard
        QApplication.sendEvent(focused, QContextMenuEvent(reason, place, focused.mapToGlobal(place)))


def _fill_screen(window: MainWindow) -> None:
    window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen)


def _add_source_switch(window: MainWindow) -> None:
    refused = window.stats.now.refused
    bar, switch = window.header.bar, SourceSwitch(window.theme, window.stats.now.sources, refused)
    bar.insertWidget(bar.indexOf(window.header.stats_button), switch)
    set_tab_order((window.header,))
    window.commands.add(CHAT, mark("Commands", "Mark tokens by source"), "Ctrl+Shift+M", switch.click)
    window.commands.add(CHAT, mark("Commands", "Show rejected tokens"), "Ctrl+Shift+R", refused.click)


def _switch_server(window: MainWindow) -> None:
    window.dialogs.save({"server": not window.dialogs.values.get("server", False)})


def _set_text_size(window: MainWindow, by: int) -> None:
    window.dialogs.save({"text_size": window.theme.text_size_beside(by) if by else "normal"})
