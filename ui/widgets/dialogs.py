"""Confirmation dialogs, also for links, and file dialogs, which do not open files themselves."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QDesktopServices, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QFileDialog, QPushButton, QWidget

from ui.text.language import Translator, mark, translate
from ui.text.links import is_safe
from ui.widgets.building import Stretch, button, hbox, label, read_only_text, vbox
from ui.widgets.icon_button import CONFIRM_MS

tr = Translator("Dialogs")


def press_button(event: QKeyEvent) -> bool:
    button = QApplication.focusWidget()
    if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or not isinstance(button, QAbstractButton):
        return False
    if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
        return False
    if not event.isAutoRepeat():
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            space = QKeyEvent(kind, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ")
            QCoreApplication.sendEvent(button, space)
    return True


class EnterInDialog(QObject):
    """Makes Enter press the focused button of a dialog instead of the default button."""

    def __init__(self, dialog: QDialog) -> None:
        super().__init__(dialog)
        dialog.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle key events that a button ignored; fields and lists keep Enter."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and press_button(event):
            return True
        return super().eventFilter(watched, event)


_FRAME_PX = QSize(16, 48)  # estimated size of a window frame


def within_screen(dialog: QWidget, size: QSize) -> QSize:
    """``size``, limited to the screen, so that the buttons stay reachable."""
    return size.boundedTo(dialog.screen().availableSize() - _FRAME_PX)


class Dialog(QDialog):
    """A dialog that is deleted when closed. Enter presses the focused button."""

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
        self.buttons = hbox(Stretch(), self.cancel_button, self.accept_button, spacing=8)
        (self.cancel_button if danger else self.accept_button).setDefault(True)
        vbox(self.column, self.buttons, parent=self, margins=(24, 20, 24, 20), spacing=20)


def link_dialog(parent: QWidget, address: str, text: str = "") -> ConfirmDialog | None:
    """A dialog that asks before opening a link; None for an unsafe link. ``text``: where the link comes from."""
    if not is_safe(address):
        return None
    question = ConfirmDialog(
        parent,
        tr("Open this link?"),
        text or tr("The answer names this address. Your browser will open it."),
        tr("Open"),
    )
    url = QUrl(address)
    host = url.host(QUrl.ComponentFormattingOption.FullyEncoded)
    # Some letters look alike: then also show the encoded address.
    spelled = "" if host in address.lower() else "\n" + bytes(url.toEncoded().data()).decode()
    question.column.addWidget(read_only_text(address + spelled, tr("Address"), 72))
    question.accepted.connect(lambda: QDesktopServices.openUrl(url))
    return question


def copy_with_feedback(pressed: QPushButton, text: str) -> None:
    """Copy a text; the pressed button confirms it, also for screen readers."""
    QGuiApplication.clipboard().setText(text)
    said, words = tr("Copied"), pressed.accessibleName()
    pressed.setMinimumWidth(pressed.width())
    pressed.setText(said)
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(pressed, said))
    QTimer.singleShot(CONFIRM_MS, pressed, lambda: pressed.setText(words))


CHAT_FILTERS = {  # by file extension
    "md": mark("ChatFiles", "Markdown (*.md)"),
    "zip": mark("ChatFiles", "Zip of Markdown files (*.zip)"),
    "json": mark("ChatFiles", "JSON (*.json)"),
}
ATTACHMENT_PATTERNS = (
    "*.txt *.md *.markdown *.csv *.tsv *.pdf *.json *.log *.py *.js *.ts *.c *.h *.cpp *.java *.go *.rs *.html *.xml "
    "*.yaml *.toml"
)


# Last used folder by kind of dialog. The window stores it with its layout.
FOLDERS: dict[str, str] = {}


def ask_export_file(parent: QWidget, name: str, take: Callable[[str], object]) -> QFileDialog:
    """Let the user choose an export file; ``take`` gets the path, with the extension of ``name``."""
    filters = translate("ChatFiles", CHAT_FILTERS[name.rsplit(".", 1)[-1]])
    return _ask_save(parent, "export", translate("ChatFiles", "Export chats"), name, filters, take)


def ask_project_file(parent: QWidget, name: str, take: Callable[[str], object]) -> QFileDialog:
    """Let the user choose the file of an exported project."""
    filters = translate("ChatFiles", "Project (*.zip)")
    return _ask_save(parent, "export", translate("ChatFiles", "Export the project"), name, filters, take)


def ask_picture_file(parent: QWidget, name: str, take: Callable[[str], object]) -> QFileDialog:
    """Let the user choose the file of an attached picture; ``take`` gets the path."""
    return _ask_save(parent, "picture", translate("PictureViewer", "Save the picture"), name, "", take)


def ask_race_file(parent: QWidget, take: Callable[[str], object]) -> QFileDialog:
    """Let the user choose the file for the picture of a race; ``take`` gets the path."""
    name, title = translate("RaceFiles", "Paceline race"), translate("RaceFiles", "Save the picture of the race")
    return _ask_save(parent, "race", title, f"{name}.png", translate("RaceFiles", "Picture (*.png)"), take)


def ask_import_files(parent: QWidget, take: Callable[[list[str]], object]) -> QFileDialog:
    """Let the user choose export files to import; ``take`` gets their paths."""
    title = translate("ChatFiles", "Import chats from Paceline, ChatGPT or LM Studio, or a project")
    filters = translate("ChatFiles", "Exports (*.json *.zip);;All files (*)")
    return _ask_open(parent, "import", title, filters, take)


def ask_attachment_files(parent: QWidget, take: Callable[[list[str]], object]) -> QFileDialog:
    """Let the user choose files to attach; ``take`` gets their paths."""
    everything = translate("AttachmentDialog", "All files")
    usual = translate("AttachmentDialog", "Text, code, tables, PDF and pictures")
    filters = f"{everything} (*);;{usual} ({ATTACHMENT_PATTERNS})"
    return _ask_open(parent, "attach", translate("AttachmentDialog", "Attach files"), filters, take)


def _ask_save(
    parent: QWidget, kind: str, title: str, name: str, filters: str, take: Callable[[str], object]
) -> QFileDialog:
    dialog = QFileDialog(parent, title, "", filters)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(name.rsplit(".", 1)[-1])
    dialog.selectFile(name)
    dialog.fileSelected.connect(take)
    return open_dialog(dialog, kind)


def _ask_open(parent: QWidget, kind: str, title: str, filters: str, take: Callable[[list[str]], object]) -> QFileDialog:
    dialog = QFileDialog(parent, title, "", filters)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(take)
    return open_dialog(dialog, kind)


def open_dialog(dialog: QFileDialog, kind: str) -> QFileDialog:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    folder = FOLDERS.get(kind, "")
    dialog.setDirectory(folder if folder and Path(folder).is_dir() else str(Path.home()))
    is_folder = dialog.fileMode() == QFileDialog.FileMode.Directory

    def remember(paths: list[str]) -> None:
        if paths:
            FOLDERS[kind] = paths[0] if is_folder else str(Path(paths[0]).parent)

    dialog.filesSelected.connect(remember)
    dialog.open()
    return dialog
