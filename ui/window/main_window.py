"""The main window. Controllers call its methods and connect to its signals."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMoveEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.core.domain.engine_view import EngineView
from app.core.domain.messages import MessageView
from app.core.domain.model_name import model_name, shown_name
from app.core.domain.settings.fields import SettingField, SettingValue
from app.core.domain.settings.table import TOOLS
from engine.records import Problem
from ui.composer.composer import Composer
from ui.composer.message_edit import local_paths
from ui.composer.mode_button import NEXT_MODE_KEYS
from ui.conversations.sidebar import Sidebar
from ui.settings.tool_server_requests import ToolServerRequests
from ui.statistics.answer_page import SourceSwitch
from ui.statistics.panel import StatsPanel
from ui.text.answer_metrics import footer
from ui.text.language import mark, translate
from ui.text.model_titles import TINY_NOTE, note_title
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.column import COLUMN_PX
from ui.transcript.finder import FindBar
from ui.transcript.keys import PassTipKeys, TranscriptKeys, VersionFocusKeeper
from ui.transcript.transcript import Transcript
from ui.widgets.banner import Banner, UndoBar
from ui.widgets.building import Stretch, button, hbox, set_style_property, vbox
from ui.widgets.commands import CHAT, CHATS, WINDOW, Commands
from ui.widgets.dialogs import ConfirmDialog, press_button
from ui.widgets.tab_order import set_tab_order
from ui.window.chat_settings import ChatSettings
from ui.window.dialogs import WindowDialogs
from ui.window.empty_state import EmptyState
from ui.window.header import Header
from ui.window.layout import WindowLayout
from ui.window.local_server import LocalServer
from ui.window.navigation import ModelsNavigation, RaceNavigation, ServerNavigation
from ui.window.speech import AnswerSpeech

DEFAULT_SIZE = QSize(1280, 800)
MINIMUM_HEIGHT = 440
IS_MAC = sys.platform == "darwin"
FOOTER_PX = 24  # margin beside the parts below a page


class MainWindow(QMainWindow):
    """The chat with its panes, and the other pages. Controllers connect to the parts that they serve."""

    closing = Signal()  # the window is about to close
    _is_problem_of_chat = False

    def __init__(self, assets_dir: Path, fields: Sequence[SettingField]) -> None:
        super().__init__()
        self.dialogs = WindowDialogs(self, fields)
        self.engine_view = EngineView()
        self._assets_dir = assets_dir
        self._title = ""  # of the open chat
        self.setWindowTitle("Paceline")
        self.theme = Theme(assets_dir / "icons", self)
        self.setWindowIcon(self.theme.application_icon())
        self.theme.apply("system", self)
        self._make_parts()
        self.setMinimumHeight(MINIMUM_HEIGHT)
        self.resize(DEFAULT_SIZE)
        self.layout_state.show_buttons()
        self.composer.setFocus()

    def _make_parts(self) -> None:
        self.sidebar = Sidebar(self.theme)
        self.header = Header(self.theme)
        self.transcript = Transcript(self.theme)
        self.speech = AnswerSpeech(self.transcript)
        self.empty = EmptyState(self.theme)
        self.problem_banner = Banner(self.theme, problem=True)
        self.notice_banner = Banner(self.theme, problem=False)
        self.space_banner = Banner(self.theme, problem=True)
        self.composer = Composer(self.theme)
        self.undo_bar = UndoBar(self.theme)
        self._bars = (self.space_banner, self.problem_banner, self.notice_banner, self.undo_bar)
        self.stats = StatsPanel(self.theme)
        self.tool_servers = ToolServerRequests(self)
        self.chat_settings = ChatSettings(self)
        self.find_bar = FindBar(self.theme, self.transcript)
        self.find_bar.closed.connect(self.composer.setFocus)
        self._arrange()
        self.drop_zone = DropZone(self)
        # Connect the signals of the parts with each other.
        self.models.connect_entry_points(self.header, self.sidebar, self.empty)
        self.models.stack.currentChanged.connect(lambda _place: _on_view_changed(self))
        _connect_sidebar(self)
        _connect_models(self)
        _connect_conversation(self)
        self.local_server = LocalServer(self)
        self.commands = Commands(self)
        add_commands(self)
        self.chat_settings.add_commands(self.commands)
        TranscriptKeys(self.transcript, self.commands)
        if IS_MAC:
            self.commands.make_menu_bar()

    def _arrange(self) -> None:
        pages = (self.empty, self.transcript)
        stack = QStackedWidget()
        for page in pages:
            stack.addWidget(page)
        self.pages = stack
        self._foot, foot = _make_footer((self.composer,))
        self._foot.setContentsMargins(FOOTER_PX, 4, FOOTER_PX, 10)
        chat = _page_with_footer((self.header, self.chat_settings.prompt_line, self.find_bar), self.pages, foot)
        middle = QWidget()
        hbox((chat, 1), self.chat_settings.side, parent=middle, margins=0, spacing=0)
        panes = (self.sidebar, middle, self.stats)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setHandleWidth(1)
        for pane in panes:
            splitter.addWidget(pane)
        self.splitter = splitter
        self.models = ModelsNavigation(self.theme, self.splitter)
        self.race = RaceNavigation(self.theme, self.splitter, self.models)
        self.server = ServerNavigation(self.theme, self.splitter, self.models, self.dialogs.fields)
        self._page_foot, page_foot = _make_footer(())
        for part in (*self._bars, self.composer):
            part.setMaximumWidth(COLUMN_PX - 2 * FOOTER_PX)
        self.setCentralWidget(_page_with_footer((), self.models.stack, page_foot))
        self.models.stack.show()
        self.place_notices()
        self.layout_state = WindowLayout(self, self.splitter, self.sidebar, self.stats, self.header)

    @property
    def _has_conversation(self) -> bool:
        return self.pages.currentWidget() is self.transcript

    def show_conversation(self, title: str, messages: Sequence[MessageView]) -> None:
        if self._is_problem_of_chat:
            self.problem_banner.hide()
        self.name_conversation(title)
        focused = self.focusWidget()
        if focused is not None and self.transcript.isAncestorOf(focused):
            self.composer.setFocus()  # before the focused page closes: Qt would focus any other widget
        self.pages.setCurrentWidget(self.transcript if messages else self.empty)
        self.find_bar.hide()  # its matches belong to another page
        self.transcript.show_messages(messages)
        last = next((view.stats for view in reversed(messages) if view.stats is not None), None)
        self.stats.clear()
        if last is not None:
            self.stats.end(last)
        self.composer.set_streaming(self.transcript.is_streaming)

    def name_conversation(self, title: str) -> None:
        self.header.set_title(title)
        self._title = title
        self.update_title()

    def update_title(self) -> None:
        """Set the window title from the visible page; Qt adds the app's name where that is usual."""
        seen = translate("ModelsPanel", "Models") if self.models.is_open else self._title
        seen = translate("Race", "Race") if self.race.is_open else seen
        seen = translate("ServerPage", "Local server") if self.server.is_open else seen
        self.setWindowTitle(seen or "Paceline")

    def add_message(self, view: MessageView) -> None:
        self.pages.setCurrentWidget(self.transcript)
        self.transcript.add(view)

    def begin_answer(self, view: MessageView) -> None:
        view = replace(view, target=view.target or model_name(self.engine_view.target))
        self.pages.setCurrentWidget(self.transcript)
        self.transcript.begin_answer(view)
        self.speech.begin()
        self.stats.now.begin()
        self.composer.set_streaming(True)

    def finish_answer(self, view: MessageView) -> None:
        self.transcript.finish_answer(view)
        self.stats.end(view.stats)
        self.speech.end(footer(view.stats))
        self.composer.set_streaming(False)

    def set_engine(self, view: EngineView) -> None:
        reasons = {mode: in_language(reason) for mode, reason in view.unavailable.items()}
        notices = tuple(in_language(notice) for notice in view.notices)
        self.engine_view = view = replace(view, unavailable=reasons, notices=notices)
        if view.target is not None:
            self.set_titles([(model_name(view.target), shown_name(view.target))])
        self.header.set_engine(view)
        self.composer.set_engine(view)
        self.stats.now.set_engine(view)
        self.transcript.menus.set_modes(view.modes, view.unavailable)
        self.chat_settings.set_engine(view)
        # Show the note on the built-in model in the header and on the empty page.
        target = self.engine_view.target
        is_tiny = target is not None and Path(target.path).is_relative_to(self._assets_dir)
        self.header.set_note(translate("Header", TINY_NOTE) if is_tiny else "")
        self.empty.set_engine(self.engine_view, builtin=is_tiny)

    def set_titles(self, titles: Sequence[tuple[str, str]]) -> None:
        """Set the titles of models by file name, for the answers on the page."""
        changed = [note_title(name, title) for name, title in titles]
        if any(changed):
            for card in self.transcript.cards:
                if isinstance(card, AnswerCard):
                    card.show_title()

    def set_settings(self, values: Mapping[str, SettingValue]) -> None:
        self.dialogs.set_values(values)
        self.composer.set_overflow(str(self.dialogs.values.get("overflow", "")))
        self.speech.level = str(self.dialogs.values.get("announce", "words"))
        self.local_server.set_values()

    def set_theme(self, name: str) -> None:
        self.theme.apply(name, self)

    def set_text_size(self, name: str) -> None:
        """Set the text size, a key of `ui.theme.theme.TEXT_SIZES`."""
        self.theme.set_text_size(name, self)
        self.layout_state.fit_text(self.theme.type.base)

    def show_problem(self, problem: Problem, *, of_chat: bool = False) -> None:
        """Show a problem; if ``of_chat``, it disappears when another chat is opened."""
        self._is_problem_of_chat = of_chat
        self.problem_banner.show_problem(problem)

    def withdraw_problem(self, problem: Problem) -> None:
        """Hide a solved problem if it is still shown."""
        if self.problem_banner.problem == problem:
            self.problem_banner.hide()

    def place_notices(self) -> None:
        """Put banners below the visible page; in the chat above the composer."""
        foot = self._foot if self.shows_chat else self._page_foot
        for place, bar in enumerate(self._bars):
            foot.insertWidget(place, bar)
            set_style_property(bar, "onPage", "false" if self.shows_chat else "true")

    def show_notice(self, text: str) -> None:
        self.notice_banner.show_notice(text)

    def restore_composer(self, text: str) -> None:
        self.composer.set_text(text)
        self.composer.setFocus()

    def copy_last_answer(self) -> None:
        answer = self.transcript.last_answer()
        if answer is not None:
            answer.copy_text()
            answer.copy_button.confirm(translate("MainWindow", "Copied"))

    @property
    def shows_chat(self) -> bool:
        """Whether the chat is visible, not another page: models, a race, the server."""
        return self.models.stack.currentWidget() is self.splitter

    def show_chat(self) -> None:
        self.models.leave()
        self.race.leave()
        self.server.leave()

    def focus_search(self) -> None:
        self.show_chat()
        self.layout_state.show_sidebar()
        self.sidebar.focus_search()

    def find_in_chat(self) -> None:
        """Find text in the open chat; if none is open, in all chats."""
        if self._has_conversation:
            self.find_bar.open()
        else:
            self.focus_search()

    def on_escape(self) -> None:
        """Close the topmost panel, or stop the answer."""
        if self.models.is_open:
            self.models.panel.close_panel()
        elif self.race.is_open:
            self.race.page.close_page()
        elif self.server.is_open:
            self.server.leave()
        elif self.find_bar.close_bar() or (self.transcript.selection.clear() and not self.composer.is_busy):
            pass
        elif self.composer.is_busy and not self.chat_settings.has_focus:
            self.composer.stop_requested.emit()
        else:
            self.chat_settings.close_panel()

    def try_prompt(self, text: str) -> None:
        self.composer.set_text(text)
        self.composer.setFocus()  # the page with the button closes, and the next message is written here
        self.composer.submit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses a focused button."""
        if not press_button(event):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Close the statistics in a narrow window."""
        super().resizeEvent(event)
        self.layout_state.adapt_to_width(event.size().width())
        self.layout_state.changed.emit()

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self.layout_state.changed.emit()

    def changeEvent(self, event: QEvent) -> None:
        """Handle maximizing, restoring and activation, possibly on another day."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange:
            self.sidebar.list.update_day()
            self.theme.follow_system_font()
        if event.type() == QEvent.Type.WindowStateChange:
            self.layout_state.changed.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit()
        super().closeEvent(event)


def _make_footer(parts: Sequence[QWidget]) -> tuple[QVBoxLayout, QHBoxLayout]:
    """The column below a page, at most as wide as the text, and the row that centres it."""
    inner = vbox(*parts, margins=(FOOTER_PX, 0, FOOTER_PX, 0), spacing=8)
    return inner, hbox(Stretch(), (inner, 1000), Stretch())


def _page_with_footer(head: Sequence[QWidget], pages: QWidget, foot: QHBoxLayout) -> QWidget:
    middle = QWidget()
    middle.setObjectName("page")
    vbox(*head, (pages, 1), foot, parent=middle, margins=0, spacing=0)
    return middle


def _connect_sidebar(window: MainWindow) -> None:
    sidebar, layout = window.sidebar, window.layout_state
    sidebar.new_chat.connect(window.composer.setFocus)
    sidebar.new_chat.connect(window.server.leave)
    sidebar.settings_button.clicked.connect(window.dialogs.open_settings)
    sidebar.race_button.clicked.connect(window.race.toggle)
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
    empty.builtin_button.clicked.connect(window.composer.setFocus)  # the button disappears, and a message comes next
    empty.builtin_button.clicked.connect(header.use_builtin)
    empty.open_button.clicked.connect(lambda: dialogs.browse("target"))
    ask = partial(ask_model_role, window, take=dialogs.file_chosen.emit)
    window.drop_zone.model_dropped.connect(lambda path: ask(path).open())


def _connect_conversation(window: MainWindow) -> None:
    composer = window.composer
    window.undo_bar.watch_editor(composer.edit)
    window.empty.prompt_chosen.connect(window.try_prompt)
    composer.find_draft.connect(partial(window.models.open, "recommended"))
    composer.tools_managed.connect(lambda: window.dialogs.open_section(TOOLS))
    window.transcript.link_activated.connect(window.dialogs.ask_link)
    window.stats.now.find_draft.connect(partial(window.models.open, "recommended"))
    window.stats.now.sources_selected.connect(window.transcript.mark_sources)


def add_commands(window: MainWindow) -> None:
    """Add the window's commands. Keys that a part handles itself are only described."""
    _add_chat_commands(window)
    commands, new, undo = window.commands, window.sidebar.new_button, window.undo_bar
    commands.add(CHATS, mark("Commands", "New chat"), "Ctrl+N", new.click, tips=(new,))
    commands.add(CHATS, mark("Commands", "Search all chats"), "Ctrl+K", window.focus_search)
    commands.add(CHATS, mark("Commands", "Next chat"), "Ctrl+PgDown", lambda: _step(window, 1))
    commands.add(CHATS, mark("Commands", "Previous chat"), "Ctrl+PgUp", lambda: _step(window, -1))
    commands.add(CHATS, mark("Commands", "Rename the selected or open chat"), "F2", lambda: _rename(window))
    commands.describe(CHATS, mark("Commands", "Delete the selected chats"), ("Del", "Backspace"))
    commands.add(CHATS, mark("Commands", "Undo the last deletion"), "Ctrl+Z", undo.undo, tips=(undo.action_button,))
    _add_page_commands(window)
    _add_window_commands(window)


def _add_chat_commands(window: MainWindow) -> None:
    commands, composer = window.commands, window.composer
    commands.describe(CHAT, mark("Commands", "Send the message"), "Enter")
    commands.describe(CHAT, mark("Commands", "New line"), "Shift+Return")
    words = mark("Commands", "Attach files to the message")
    commands.add(CHAT, words, "Ctrl+Shift+A", composer.ask_files, tips=(composer.attach_button,))
    words = mark("Commands", "Stop the answer, or go back")
    commands.add(CHAT, words, "Esc", window.on_escape, suspendable=False, tips=(composer.stop_button,))
    commands.add(CHAT, mark("Commands", "Next speculation mode"), NEXT_MODE_KEYS, composer.modes.cycle)
    commands.add(CHAT, mark("Commands", "Copy the last answer"), "Ctrl+Shift+C", window.copy_last_answer)
    commands.add(CHAT, mark("Commands", "Find in this chat"), "Ctrl+F", window.find_in_chat)
    commands.add(CHAT, mark("Commands", "Next match"), "F3", lambda: window.find_bar.step(1))
    commands.add(CHAT, mark("Commands", "Previous match"), "Shift+F3", lambda: window.find_bar.step(-1))
    _add_source_switch(window)
    VersionFocusKeeper(window.transcript)
    PassTipKeys(window.transcript, commands)


def _add_page_commands(window: MainWindow) -> None:
    commands, layout, sidebar, header = window.commands, window.layout_state, window.sidebar, window.header
    tips: tuple[QWidget | QAction, ...] = (sidebar.models_button, window.empty.browse_button, header.browse_action)
    words = mark("Commands", "Show models or the chat")  # on macOS Ctrl+M minimises a window
    commands.add(WINDOW, words, "Ctrl+Alt+M" if IS_MAC else "Ctrl+M", window.models.toggle, tips=tips)
    words = mark("Commands", "Race a question, or back to the chat")
    commands.add(WINDOW, words, "Ctrl+Shift+D", window.race.toggle, tips=(sidebar.race_button,))
    commands.add(WINDOW, mark("Commands", "Choose the models"), "Ctrl+L", header.open_models)
    tips = (sidebar.hide_button, header.sidebar_button)
    commands.add(WINDOW, mark("Commands", "Show or hide the sidebar"), "Ctrl+B", layout.toggle_sidebar, tips=tips)
    words = mark("Commands", "Show or hide the statistics")
    commands.add(WINDOW, words, "Ctrl+Shift+B", layout.toggle_stats, tips=(header.stats_button,))
    words = mark("Commands", "Show the local server, or the chat")
    commands.add(WINDOW, words, "Ctrl+Shift+S", window.server.toggle, tips=(sidebar.server_button,))
    words = mark("Commands", "Turn the local server on or off")
    commands.add(WINDOW, words, "Ctrl+Shift+L", lambda: _switch_server(window))


def _add_window_commands(window: MainWindow) -> None:
    commands, sidebar = window.commands, window.sidebar
    commands.add(WINDOW, mark("Commands", "Larger text"), ("Ctrl++", "Ctrl+="), lambda: _set_text_size(window, 1))
    commands.add(WINDOW, mark("Commands", "Smaller text"), "Ctrl+-", lambda: _set_text_size(window, -1))
    commands.add(WINDOW, mark("Commands", "Reset text size"), "Ctrl+0", lambda: _set_text_size(window, 0))
    words, tips = mark("Commands", "Settings"), (sidebar.settings_button,)
    settings = commands.add(WINDOW, words, "Ctrl+,", window.dialogs.open_settings, tips=tips)
    settings.setMenuRole(QAction.MenuRole.PreferencesRole)
    commands.add(WINDOW, mark("Commands", "Keyboard shortcuts"), ("F1", "Ctrl+/"), window.dialogs.open_shortcuts)
    words = mark("Commands", "Open the context menu")
    if sys.platform.startswith("linux"):  # the other systems handle this key
        commands.add(WINDOW, words, "Shift+F10", _open_menu)
    commands.add(WINDOW, mark("Commands", "Full screen on or off"), "F11", lambda: _fill_screen(window))
    words = mark("Commands", "Minimise the window")
    if IS_MAC:
        commands.add(WINDOW, words, "Ctrl+M", window.showMinimized)
    words = mark("Commands", "Close the window")
    closing = commands.add(WINDOW, words, ("Ctrl+Q", "Ctrl+W") if IS_MAC else "Ctrl+Q", window.close)
    closing.setMenuRole(QAction.MenuRole.QuitRole)
    commands.help_actions = sidebar.help_button.popup_menu.actions()


def _step(window: MainWindow, by: int) -> None:
    window.show_chat()
    window.sidebar.list.open_adjacent(by)


def _on_view_changed(window: MainWindow) -> None:
    """Disable the chat's commands while it is not visible."""
    window.commands.set_suspended(CHAT, not window.shows_chat)
    window.place_notices()
    window.update_title()


def _rename(window: MainWindow) -> None:
    sidebar = window.sidebar
    if sidebar.list.hasFocus():
        sidebar.list.rename()
    elif window.shows_chat and sidebar.list.has_open:
        window.layout_state.show_sidebar()
        sidebar.search.clear()
        sidebar.list.rename()


def _open_menu() -> None:
    """Open the context menu, for keyboards without a menu key."""
    focused = QApplication.focusWidget()
    if focused is not None:
        caret = focused.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)  # text widgets return fractions
        caret = caret.toRect() if isinstance(caret, QRectF) else caret
        place = caret.center() if isinstance(caret, QRect) else focused.rect().center()
        reason = QContextMenuEvent.Reason.Keyboard
        QApplication.sendEvent(focused, QContextMenuEvent(reason, place, focused.mapToGlobal(place)))


def _fill_screen(window: MainWindow) -> None:
    window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen)


def _add_source_switch(window: MainWindow) -> None:
    bar, switch = window.header.bar, SourceSwitch(window.theme, window.stats.now.sources)
    bar.insertWidget(bar.indexOf(window.header.stats_button), switch)
    set_tab_order((window.header,))
    switch.clicked.connect(lambda on: window.layout_state.toggle_stats() if on and window.stats.isHidden() else None)
    words = mark("Commands", "Mark tokens by source")
    window.commands.add(CHAT, words, "Ctrl+Shift+M", switch.click, tips=(switch,))


def _switch_server(window: MainWindow) -> None:
    window.dialogs.save({"server": not window.dialogs.values.get("server", False)})


def _set_text_size(window: MainWindow, by: int) -> None:
    window.dialogs.save({"text_size": window.theme.adjacent_text_size(by) if by else "normal"})


def ask_model_role(parent: QWidget, path: str, take: Callable[[str, str], object]) -> ConfirmDialog:
    """A question whether a dropped model is to be the target or the draft; ``take`` gets the path and the role."""
    words = translate(
        "DropOverlay",
        "The target writes the answers. A draft is a smaller model, best with the same vocabulary, that "
        "proposes tokens for it.",
    )
    question = ConfirmDialog(parent, PurePath(path).name, words, translate("DropOverlay", "Use as target"))
    question.accepted.connect(lambda: take(path, "target"))
    draft = button(translate("DropOverlay", "Use as draft"), question.reject)
    draft.clicked.connect(lambda: take(path, "draft"))
    question.buttons.insertWidget(question.buttons.count() - 1, draft)
    return question


def is_model(path: str) -> bool:
    return path.lower().endswith(".gguf")


class DropZone(QObject):
    model_dropped = Signal(str)  # a GGUF file
    files_dropped = Signal(list)  # other files, to attach or import

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._offered: list[str] = []
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QDropEvent | QDragLeaveEvent):  # most events; faster than their `type()`
            return False
        if isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            return self._drop(event)
        if isinstance(event, QDragEnterEvent):
            paths = local_paths(event.mimeData())
            if not paths:
                return False
            event.acceptProposedAction()
            self._offered = paths
            return True
        if isinstance(event, QDragMoveEvent) and event.type() == QEvent.Type.DragMove:
            event.acceptProposedAction()
            return True
        if event.type() == QEvent.Type.DragLeave:
            self._offered = []
        return super().eventFilter(watched, event)

    def _drop(self, event: QDropEvent) -> bool:
        # A program that exits during its drag sends no data with the drop: use the files that it offered before.
        paths, self._offered = local_paths(event.mimeData()) or self._offered, []
        if not paths:
            return False
        event.acceptProposedAction()
        model = next((path for path in paths if is_model(path)), "")
        others = [path for path in paths if not is_model(path)]
        if model:
            self.model_dropped.emit(model)
        if others:
            self.files_dropped.emit(others)
        return True
