"""Confirmation dialogs, and the one before a link is opened."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from ui.text.language import translate
from ui.text.links import is_safe
from ui.widgets.building import Stretch, button, hbox, label, read_only_text, vbox
from ui.widgets.enter_key import EnterInDialog
from ui.widgets.icon_button import CONFIRM_MS

_FRAME = QSize(16, 48)  # what a desktop puts around a window


def within_screen(dialog: QWidget, size: QSize) -> QSize:
    """This size, bounded by the screen, so that the buttons stay reachable."""
    return size.boundedTo(dialog.screen().availableSize() - _FRAME)


class Dialog(QDialog):
    """A dialog that is deleted on close, and in which Enter presses the focused button."""

    def __init__(self, parent: QWidget, title: str, *, modal: bool = True) -> None:
        super().__init__(parent)
        EnterInDialog(self)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(modal)


class ConfirmDialog(Dialog):
    def __init__(self, parent: QWidget, title: str, text: str, accept_text: str, *, danger: bool = False) -> None:
        super().__init__(parent, title)
        heading = label(title, "strong")
        words = label(text, wrap=True)
        words.setMinimumWidth(380)
        self.column = vbox(heading, words, spacing=8)
        self.accept_button = button(accept_text, self.accept, kind="danger" if danger else "primary")
        self.cancel_button = button(translate("ConfirmDialog", "Cancel"), self.reject)
        buttons = hbox(Stretch(), self.cancel_button, self.accept_button, spacing=8)
        (self.cancel_button if danger else self.accept_button).setDefault(True)
        vbox(self.column, buttons, parent=self, margins=(24, 20, 24, 20), spacing=20)


def link_dialog(parent: QWidget, address: str, text: str = "") -> ConfirmDialog | None:
    """Ask before opening a link; None for an unsafe link. ``text`` says whose link it is."""
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
    question.column.addWidget(read_only_text(address + spelled, translate("Dialogs", "Address"), 72))
    question.accepted.connect(lambda: QDesktopServices.openUrl(url))
    return question


def copy_with_feedback(pressed: QPushButton, text: str) -> None:
    """Copy a text; the button confirms it, also for screen readers."""
    QGuiApplication.clipboard().setText(text)
    said, words = translate("Dialogs", "Copied"), pressed.accessibleName()
    pressed.setMinimumWidth(pressed.width())
    pressed.setText(said)
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(pressed, said))
    QTimer.singleShot(CONFIRM_MS, pressed, lambda: pressed.setText(words))
