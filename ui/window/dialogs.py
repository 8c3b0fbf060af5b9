"""The dialogs that the window opens: settings, prompts, shortcuts, and questions about a file or a link.

Keeps the values of the settings that the dialogs show; what saves them follows `saved`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLabel, QSystemTrayIcon, QWidget

from app.core.domain.settings.fields import FieldKind, SettingField, SettingValue
from app.core.domain.settings.table import SERVER, TOOLS
from ui.text.language import translate
from ui.widgets.dialogs import link_dialog

if TYPE_CHECKING:  # the first paint waits for no dialog
    from ui.settings.dialog import SettingsDialog
    from ui.window.main_window import MainWindow


class WindowDialogs(QObject):
    """Opens them above the window.

    Signals:
        saved(dict): settings were changed, in their dialog or where else the window offers them; only those.
        file_chosen(str, str): a path, to be the "target" or the "draft"; also of a file that was dropped.
    """

    saved = Signal(dict)
    file_chosen = Signal(str, str)

    def __init__(self, window: MainWindow, fields: Sequence[SettingField]) -> None:
        super().__init__(window)
        self._window = window
        self.fields = tuple(fields)
        self.values: dict[str, SettingValue] = {field.key: field.default for field in fields}

    def set_values(self, values: Mapping[str, SettingValue]) -> None:
        """The values in force, by key."""
        self.values.update(values)

    def open_settings(self) -> None:
        """Open the settings dialog."""
        self.make_settings().open()

    def open_prompts(self) -> None:
        """Open the settings at the page of the prompts."""
        dialog = self.make_settings()
        dialog.show_page(dialog.pages.count() - 1)
        dialog.open()

    def open_server(self) -> None:
        """Open the settings at the page of the local server."""
        dialog = self.make_settings()
        dialog.show_section(SERVER)
        dialog.open()

    def make_settings(self) -> SettingsDialog:
        """The settings dialog, not shown yet."""
        from ui.settings.dialog import SettingsDialog  # noqa: PLC0415

        window = self._window
        pages = (window.chat_settings.prompts_page(),)
        words = translate(
            "WindowDialogs",
            "The Server page has the address, the key and examples for programs, the models, and the latest requests.",
        )
        server_note = QLabel(words)
        server_note.setProperty("kind", "caption")
        server_note.setWordWrap(True)
        below: dict[str, QWidget] = {SERVER: server_note}
        if any(field.section == TOOLS for field in self.fields):
            from ui.settings.tool_servers import ToolServers  # noqa: PLC0415

            below[TOOLS] = ToolServers(window.theme, window.tool_servers)
        fields = [field for field in self.fields if field.kind is not FieldKind.SERVERS]  # the list below has switches
        dialog = SettingsDialog(fields, self.values, window, pages, below)
        dialog.set_unavailable(window.engine_view.unavailable)
        dialog.set_devices(window.engine_view.devices)
        if "notify" in dialog.rows and not QSystemTrayIcon.isSystemTrayAvailable():
            dialog.rows["notify"].add_note(
                translate("WindowDialogs", "This desktop has no system tray: the taskbar entry will alert you instead.")
            )
        dialog.saved.connect(self.save)
        dialog.look_previewed.connect(self._try_look)
        return dialog

    def _try_look(self, key: str, value: str) -> None:
        window = self._window
        {"theme": window.set_theme, "text_size": window.set_text_size, "density": window.set_density}[key](value)

    def save(self, changed: dict[str, SettingValue]) -> None:
        """Ask for other values of settings."""
        self.values.update(changed)
        self.saved.emit(changed)

    def open_shortcuts(self) -> None:
        """Open the overview of shortcuts."""
        from ui.window.shortcuts_dialog import ShortcutsDialog  # noqa: PLC0415

        ShortcutsDialog(self._window, self._window.commands.rows()).open()

    def browse(self, role: str) -> None:
        """Let the user choose a file to be the "target" or "draft"."""
        from ui.settings.rows import ask_model_file  # noqa: PLC0415
        from ui.text.setting_words import in_words  # noqa: PLC0415

        labels = (in_words(field).label for field in self.fields if field.key == f"{role}_path")
        what = "" if role == "target" else next(labels, role)
        ask_model_file(self._window, what, lambda path: self.file_chosen.emit(path, role))

    def ask_link(self, address: str) -> None:
        """Ask before a link is opened."""
        question = link_dialog(self._window, address)
        if question is not None:
            question.open()
