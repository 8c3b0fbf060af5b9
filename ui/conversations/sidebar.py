"""The left pane: new chat, search, chats, settings."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QStackedWidget, QToolButton

from app.core.domain.conversations import ConversationRow, FolderRow, SearchHit
from ui.conversations.list import ConversationList
from ui.conversations.menu import make_list_menu
from ui.conversations.search_results import SearchBox, SearchResults
from ui.text.formatting import tooltip
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import button, hbox, label, vbox
from ui.widgets.icon_button import IconButton
from ui.widgets.popups import Menu

tr = Translator("Sidebar")


class HelpButton(IconButton):
    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "circle-question-mark", translate("HelpButton", "Help"))
        self.popup_menu = Menu(self)
        self.shortcuts = self.popup_menu.addAction(translate("HelpButton", "Keyboard shortcuts"))
        self.popup_menu.addSeparator()
        self.log_folder = self.popup_menu.addAction(translate("HelpButton", "Open the log folder"))
        self.diagnostics = self.popup_menu.addAction(translate("HelpButton", "Copy diagnostics"))
        self.popup_menu.addSeparator()
        self.updates = self.popup_menu.addAction(translate("HelpButton", "Open the page of new versions"))
        self.about = self.popup_menu.addAction(translate("HelpButton", "About Paceline"))
        for action in self.popup_menu.actions():  # otherwise macOS would move actions to other menus by their text
            action.setMenuRole(QAction.MenuRole.AboutRole if action is self.about else QAction.MenuRole.NoRole)
        self.setMenu(self.popup_menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)


class Sidebar(QFrame):
    new_chat = Signal()  # the other buttons, the list and the results have their own signals
    search_requested = Signal(str)  # search text, at every key
    left = Signal()  # Esc ended the search

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("sidebar")
        words = tr("New chat")
        self.new_button = button(f" {words}", name=words, tip=tr("Start a new chat"))
        self.search = SearchBox()
        self.list = ConversationList(theme)
        self.library_signals = self.list.rows.library_signals
        self.results = SearchResults(theme)
        self.lists = QStackedWidget()
        self.menu_button = IconButton(theme, "ellipsis", tr("Folders, import and export"))
        self.empty = label("", "caption", wrap=True)
        self.models_button = _side_button(tr(" Models"), tr("Find and download models"))
        words = tr("Race answers with and without drafting, side by side")
        self.race_button = _side_button(tr(" Race"), words)
        words = tr("Let editors and other programs use the model")
        self.server_button = _side_button(tr(" Server"), words)
        self.settings_button = _side_button(tr(" Settings"), tr("Open the settings"))
        self.help_button = HelpButton(theme)
        self.hide_button = IconButton(theme, "panel-left", tr("Hide the sidebar"))
        self._make()
        middle = Qt.AlignmentFlag.AlignVCenter  # without it a row would be only as high as its small buttons
        small = ((each, 0, middle) for each in (self.menu_button, self.hide_button))
        top = hbox((self.new_button, 1), *small, spacing=8)
        for each in (self.list, self.results):
            self.lists.addWidget(each)
        foot = hbox((self.settings_button, 1), (self.help_button, 0, middle), spacing=8)
        places = (self.models_button, self.race_button, self.server_button)
        parts = (top, self.search, self.empty, (self.lists, 1), *places, foot)
        vbox(*parts, parent=self, margins=12, spacing=8)
        theme.changed.connect(self._recolor)
        self._recolor()
        self._shown_query = ""  # the query of the displayed results
        self._opens_first = False  # whether Enter was pressed before the results arrived
        self.set_rows([], None)

    def _make(self) -> None:
        self.new_button.setIconSize(QSize(16, 16))
        self.search.setObjectName("search")
        self.search.setPlaceholderText(tr("Search chats"))
        self.search.setAccessibleName(tr("Search chats"))
        self.search.setToolTip(tooltip(tr("Searches titles, messages and attachments.")))
        self.search.setClearButtonEnabled(False)
        self._search_icon = QAction(self.search)
        self.search.addAction(self._search_icon, QLineEdit.ActionPosition.LeadingPosition)
        self.empty.setContentsMargins(10, 8, 10, 8)
        self.search.textChanged.connect(self._on_search)
        self.search.result_chosen.connect(self._open_first)
        self.search.down_pressed.connect(self._into_list)
        self.search.search_left.connect(self._leave_search)
        self.results.up_pressed.connect(self.focus_search)
        self.results.search_left.connect(self._leave_search)
        self.menu_button.clicked.connect(self._open_menu)
        self.new_button.clicked.connect(self.new_chat)

    def set_rows(
        self, rows: Sequence[ConversationRow], current_id: int | None, folders: Sequence[FolderRow] | None = None
    ) -> None:
        self.list.set_rows(rows, current_id, folders)
        self._show_empty()

    def show_results(self, hits: Sequence[SearchHit]) -> None:
        if self.is_searching:
            self.results.set_hits(hits)
            self.lists.setCurrentWidget(self.results)
            self._show_empty()
            self._shown_query = self.search.text()
            if self._opens_first:
                self._open_first()

    def _open_first(self) -> None:
        """Open the first result, or wait for it if the search is still running."""
        self._opens_first = self.is_searching and self._shown_query != self.search.text()
        if not self._opens_first:
            self.results.choose_first()

    @property
    def is_searching(self) -> bool:
        return bool(self.search.text().strip())

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _on_search(self, text: str) -> None:
        self._opens_first, self._shown_query = False, ""
        if not self.is_searching:
            self.results.set_hits(())
            self.lists.setCurrentWidget(self.list)
            self._show_empty()
        self.search_requested.emit(text)

    def _show_empty(self) -> None:
        searching = self.lists.currentWidget() is self.results
        nothing = not self.results.hits if searching else self.list.rows.rowCount() == 0
        self.empty.setText(tr("No chats found.") if searching else tr("Your chats will appear here."))
        self.empty.setVisible(nothing)

    def _into_list(self) -> None:
        if self.is_searching:
            self.results.focus_first()
        else:
            self.list.setFocus(Qt.FocusReason.TabFocusReason)

    def _leave_search(self) -> None:
        self.search.clear()
        self.left.emit()

    def _open_menu(self) -> None:
        menu = make_list_menu(self, self._theme, self.library_signals)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.menu_button.mapToGlobal(self.menu_button.rect().bottomLeft()))

    def _recolor(self) -> None:
        tokens = self._theme.tokens
        self.new_button.setIcon(self._theme.icon("plus", tokens.text))
        self.models_button.setIcon(self._theme.icon("library", tokens.text_muted))
        self.race_button.setIcon(self._theme.icon("flag", tokens.text_muted))
        self.server_button.setIcon(self._theme.icon("server", tokens.text_muted))
        self.settings_button.setIcon(self._theme.icon("settings", tokens.text_muted))
        self._search_icon.setIcon(self._theme.icon("search"))


def _side_button(text: str, tip: str) -> QPushButton:
    made = button(text, kind="side", tip=tip)
    made.setIconSize(QSize(16, 16))
    return made
