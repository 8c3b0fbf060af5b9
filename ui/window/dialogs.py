"""The window's dialogs: settings, prompts, shortcuts, and questions about a file or a link.

Holds the current values of the settings; `saved` reports changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QLabel,
    QLayout,
    QWidget,
)

from app.core.domain.settings.fields import FieldKind, SettingField, SettingValue
from app.core.domain.settings.table import SERVER, TOOLS
from ui.text.language import translate
from ui.widgets.building import Stretch, button, grid, hbox, label, scroll_area, vbox
from ui.widgets.commands import CommandRow
from ui.widgets.dialogs import Dialog, link_dialog, within_screen

if TYPE_CHECKING:  # the first paint does not wait for dialogs
    from ui.settings.dialog import SettingsDialog
    from ui.window.main_window import MainWindow
MARGINS_PX, GROUPS_PX = 24, 20


class ShortcutsDialog(Dialog):
    """Every shortcut by group; scrolls on a small screen."""

    def __init__(self, parent: QWidget, rows: Sequence[CommandRow]) -> None:
        title = translate("ShortcutsDialog", "Keyboard shortcuts")
        super().__init__(parent, title, modal=False)
        close = button(translate("ShortcutsDialog", "Close"), self.accept)
        self.content = QWidget()
        # Put the first group at the left, the others at the right.
        groups = list(dict.fromkeys(row.group for row in rows))
        made = [
            vbox(*(self._grid(group, [row for row in rows if row.group == group]) for group in wanted), Stretch())
            for wanted in (groups[:1], groups[1:])
        ]
        for column in made:
            column.setSpacing(GROUPS_PX)
        self.columns = hbox(*made, margins=0, spacing=48)
        self.content.setLayout(self.columns)
        self.area = scroll_area(self.content, title)
        self.area.setObjectName("keyScrolled")
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        parts = (label(title, "heading"), (self.area, 1), (close, 0, Qt.AlignmentFlag.AlignRight))
        vbox(*parts, parent=self, margins=(MARGINS_PX, 20, MARGINS_PX, 20), spacing=16)
        close.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the size, which depends on the fonts that are only known now."""
        for layout in (self.columns, *self.columns.findChildren(QLayout)):
            layout.invalidate()  # the layouts were computed before the fonts were applied
        around = self.sizeHint() - self.area.sizeHint() + QSize(GROUPS_PX, GROUPS_PX)
        if self.content.sizeHint().width() + around.width() > self.screen().availableSize().width():
            self.columns.setDirection(QBoxLayout.Direction.TopToBottom)
            self.columns.setSpacing(GROUPS_PX)
        self.resize(within_screen(self, self.content.sizeHint() + around))
        super().showEvent(event)

    def _grid(self, group: str, rows: Sequence[CommandRow]) -> QGridLayout:
        made = grid(gaps=(32, 6))
        made.addWidget(label(group, "section"), 0, 0)
        for line, row in enumerate(rows, start=1):
            made.addWidget(QLabel(row.words), line, 0)
            made.addWidget(label(row.keys, "key"), line, 1, Qt.AlignmentFlag.AlignRight)
        return made


class WindowDialogs(QObject):
    """Opens dialogs above the window and stores the settings' values."""

    saved = Signal(dict)  # changed settings only, from the dialog or elsewhere
    file_chosen = Signal(str, str)  # a path and its role "target" or "draft"; also for a dropped file

    def __init__(self, window: MainWindow, fields: Sequence[SettingField]) -> None:
        super().__init__(window)
        self._window = window
        self.fields = tuple(fields)
        self.values: dict[str, SettingValue] = {field.key: field.default for field in fields}

    def set_values(self, values: Mapping[str, SettingValue]) -> None:
        self.values.update(values)

    def open_settings(self) -> None:
        self.make_settings().open()

    def open_section(self, section: str) -> None:
        dialog = self.make_settings()
        dialog.show_section(section)
        dialog.open()

    def make_settings(self) -> SettingsDialog:
        from ui.settings.dialog import SettingsDialog  # noqa: PLC0415

        window = self._window

        words = translate("WindowDialogs", "The Server page has the address and the key for programs, and the models.")
        below: dict[str, QWidget] = {SERVER: label(words, "caption", wrap=True)}
        if any(field.section == TOOLS for field in self.fields):
            from ui.settings.tool_servers import ToolServers  # noqa: PLC0415

            below[TOOLS] = ToolServers(window.theme, window.tool_servers)
        fields = [field for field in self.fields if field.kind is not FieldKind.SERVERS]  # `ToolServers` has switches
        dialog = SettingsDialog(fields, self.values, window, below)
        dialog.set_unavailable(window.engine_view.unavailable)
        dialog.saved.connect(self.save)
        apply = {"theme": window.set_theme, "text_size": window.set_text_size}
        dialog.previewed.connect(lambda key, value: apply[key](value))
        return dialog

    def save(self, changed: dict[str, SettingValue]) -> None:
        self.values.update(changed)
        self.saved.emit(changed)

    def open_shortcuts(self) -> None:
        ShortcutsDialog(self._window, self._window.commands.rows()).open()

    def browse(self, role: str) -> None:
        from ui.settings.rows import ask_model_file  # noqa: PLC0415
        from ui.text.setting_words import in_words  # noqa: PLC0415

        labels = (in_words(field).label for field in self.fields if field.key == f"{role}_path")
        what = "" if role == "target" else next(labels, role)
        ask_model_file(self._window, what, lambda path: self.file_chosen.emit(path, role))

    def ask_link(self, address: str) -> None:
        question = link_dialog(self._window, address)
        if question is not None:
            question.open()
