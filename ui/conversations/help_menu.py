"""The help button and its menu: shortcuts, logs, diagnostics, updates."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QToolButton, QWidget

from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.popups import Menu


class HelpButton(IconButton):
    """A button that opens a menu above itself.

    Signals:
        shortcuts, log_folder, diagnostics, updates, about: what was chosen.
    """

    shortcuts = Signal()
    log_folder = Signal()
    diagnostics = Signal()
    updates = Signal()
    about = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "circle-question-mark", translate("HelpButton", "Help"), parent=parent)
        self.popup_menu = Menu(self)
        self.popup_menu.addAction(translate("HelpButton", "Keyboard shortcuts")).triggered.connect(self.shortcuts)
        self.popup_menu.addSeparator()
        self.popup_menu.addAction(translate("HelpButton", "Open the log folder")).triggered.connect(self.log_folder)
        self.popup_menu.addAction(translate("HelpButton", "Copy diagnostics")).triggered.connect(self.diagnostics)
        self.popup_menu.addSeparator()
        self.popup_menu.addAction(translate("HelpButton", "Check for updates…")).triggered.connect(self.updates)
        self.popup_menu.addAction(translate("HelpButton", "About Paceline")).triggered.connect(self.about)
        self.setMenu(self.popup_menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
