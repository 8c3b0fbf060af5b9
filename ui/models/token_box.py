"""Why a model is gated, and the field for the access token; the token leaves by a signal and is not kept here."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QWidget

from ui.models.requests import ModelsRequests
from ui.text.language import mark, translate
from ui.theme.theme import Theme
from ui.widgets.building import button, hbox, label, vbox

KEPT = mark("TokenBox", "The token is stored in the system's keyring and sent only to the hub.")


class TokenBox(QFrame):
    """Hidden where nothing is gated."""

    def __init__(self, theme: Theme, requests: ModelsRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._requests = theme, requests
        self.setObjectName("card")
        self._page = ""
        self.picture = QLabel()
        self.picture.setFixedSize(16, 18)
        self.title = label(translate("TokenBox", "This model is gated"), "strong")
        self.words = label("", "", wrap=True)
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText(translate("TokenBox", "Access token (hf_…)"))
        self.field.setAccessibleName(translate("TokenBox", "Access token"))
        self.field.setAccessibleDescription(translate("TokenBox", KEPT))
        self.field.returnPressed.connect(self._give)
        self.give_button = button(translate("TokenBox", "Use this token"), self._give)
        self.page_button = button(
            translate("TokenBox", "Open the model's page"), lambda: requests.link_requested.emit(self._page)
        )
        self.remove_button = button(translate("TokenBox", "Forget the token"), requests.token_removed.emit)
        self._arrange()
        theme.changed.connect(self._recolor)
        self._recolor()
        self.hide()

    def _arrange(self) -> None:
        row = hbox((self.field, 1), self.give_button, self.remove_button, self.page_button, spacing=8)
        words = vbox(self.title, self.words, row, label(translate("TokenBox", KEPT), "caption", wrap=True), spacing=8)
        hbox(
            (self.picture, 0, Qt.AlignmentFlag.AlignTop), (words, 1), parent=self, margins=(16, 14, 16, 14), spacing=10
        )

    def show_gate(self, words: str, page: str, *, has_token: bool) -> None:
        """Explain what access needs; empty ``words`` hide the box."""
        self._page = page
        self.words.setText(words)
        self.field.clear()
        self.field.setVisible(not has_token)
        self.give_button.setVisible(not has_token)
        self.remove_button.setVisible(has_token)
        self.setVisible(bool(words))

    def _give(self) -> None:
        token = self.field.text().strip()
        self.field.clear()
        if token:
            self._requests.token_entered.emit(token)

    def _recolor(self) -> None:
        color = self._theme.tokens.caution
        icon = self._theme.icon("lock", color, 16)
        self.picture.setPixmap(icon.pixmap(QSize(16, 16), self.devicePixelRatioF()))
