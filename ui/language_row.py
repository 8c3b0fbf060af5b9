"""The row of the window's language: says that another one holds from the next start, and offers that start."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from ui.catalogues import code_of
from ui.language import locale, translate
from ui.setting_rows import ChoiceRow


class LanguageRow(ChoiceRow):
    """A choice; below it the offer, while the choice is not the language that the window speaks.

    Signals:
        restart_wanted: save, and start again.
    """

    restart_wanted = Signal()

    def make_control(self) -> QWidget:
        """An editor of this kind."""
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(super().make_control())
        self.restart_button = QPushButton(translate("LanguageRow", "Save and restart now"))
        self.restart_button.setAccessibleName(self.restart_button.text())
        self.restart_button.setAutoDefault(False)
        words = translate(
            "LanguageRow",
            "Chats, unsent text and layout stay; the model is loaded again. An answer in the making ends where it is.",
        )
        self.restart_button.setToolTip(words)
        self.restart_button.setAccessibleDescription(words)
        self.restart_button.clicked.connect(self.restart_wanted)
        self.restart_button.hide()
        column.addWidget(self.restart_button)
        self.combo.currentIndexChanged.connect(self._offer)
        return box

    def _offer(self) -> None:
        spoken = QLocale.languageToCode(locale().language())
        self.restart_button.setVisible(code_of(str(self.value())) != spoken)
