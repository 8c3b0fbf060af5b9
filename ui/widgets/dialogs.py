"""Small questions, and the one before a link is opened."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ui.text.language import translate
from ui.text.links import is_safe
from ui.widgets.enter_key import EnterInDialog
from ui.widgets.icon_button import CONFIRM_MS

_FRAME = QSize(16, 48)  # what a desktop puts around a window


def within_screen(dialog: QWidget, size: QSize) -> QSize:
    """This size, or as much of it as the screen has room for: the buttons at a dialog's bottom must stay in reach."""
    return size.boundedTo(dialog.screen().availableSize() - _FRAME)


class ConfirmDialog(QDialog):
    """A question with one action and Cancel; Cancel is what Esc does."""

    def __init__(self, parent: QWidget, title: str, text: str, accept_text: str, *, danger: bool = False) -> None:
        super().__init__(parent)
        EnterInDialog(self)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(True)
        heading = QLabel(title)
        heading.setTextFormat(Qt.TextFormat.PlainText)
        heading.setProperty("kind", "strong")
        words = QLabel(text)
        words.setWordWrap(True)
        words.setTextFormat(Qt.TextFormat.PlainText)
        words.setMinimumWidth(380)
        self.column = QVBoxLayout()
        self.column.setSpacing(8)
        self.column.addWidget(heading)
        self.column.addWidget(words)
        self.accept_button = QPushButton(accept_text)
        self.accept_button.setProperty("kind", "danger" if danger else "primary")
        self.cancel_button = QPushButton(translate("ConfirmDialog", "Cancel"))
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.accept_button)
        for button in (self.accept_button, self.cancel_button):
            button.setAccessibleName(button.text())
            button.setAutoDefault(False)
        (self.cancel_button if danger else self.accept_button).setDefault(True)
        self.accept_button.clicked.connect(self.accept)
        self.cancel_button.clicked.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(20)
        layout.addLayout(self.column)
        layout.addLayout(buttons)


def link_dialog(parent: QWidget, address: str, text: str = "") -> ConfirmDialog | None:
    """Show the real address and ask; None where it may not be opened at all. ``text`` says whose address it is."""
    if not is_safe(address):
        return None
    question = ConfirmDialog(
        parent,
        translate("Dialogs", "Open this link?"),
        text or translate("Dialogs", "The answer names this address. Your browser will open it."),
        translate("Dialogs", "Open"),
    )
    url = QUrl(address)
    host = url.host(QUrl.ComponentFormattingOption.FullyEncoded)
    # Letters may look like others: then the address stands there once more as the network spells it.
    spelled = "" if host in address.lower() else "\n" + bytes(url.toEncoded().data()).decode()
    shown = QPlainTextEdit(address + spelled)
    shown.setProperty("kind", "field")
    shown.setReadOnly(True)
    shown.setTabChangesFocus(True)
    shown.setFixedHeight(72)
    shown.setAccessibleName(translate("Dialogs", "Address"))
    question.column.addWidget(shown)
    question.accepted.connect(lambda: QDesktopServices.openUrl(url))
    return question


def copy_with_feedback(button: QPushButton, text: str) -> None:
    """Put a text on the clipboard and have the button say so for a moment, to screen readers too."""
    QGuiApplication.clipboard().setText(text)
    said, words = translate("Dialogs", "Copied"), button.accessibleName()
    button.setMinimumWidth(button.width())
    button.setText(said)
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(button, said))
    QTimer.singleShot(CONFIRM_MS, button, lambda: button.setText(words))
