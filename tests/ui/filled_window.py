"""Opens every page and dialog of the window with content, for tests of accessibility and layout."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.messages import MessageView
from app.core.domain.settings.layers import EDITABLE, Layer, LayeredValue, LayersView
from app.core.domain.settings.table import FIELDS
from tests.ui.conftest import ASSETS, READY, STATS, rows
from tests.ui.models import records as hub
from ui.composer.attachments.reader import AttachmentDialog
from ui.settings.dialog import SettingsDialog
from ui.widgets.dialogs import ConfirmDialog, link_dialog
from ui.window.dialogs import ShortcutsDialog
from ui.window.main_window import MainWindow

ANSWER = "Prose with a [link](https://example.org).\n\n```python\nprint(1)\n```\n\n| a |\n|---|\n| b |\n"
DIALOGS = ("chat_settings", "shortcuts", "link", "question", "attachment")
MODELS_PAGES = ("recommended", "search", "library", "downloads", "welcome")
SETTINGS_PAGES = tuple(f"settings {row}" for row in range(7))
PLACES = ("window", *DIALOGS, *SETTINGS_PAGES, *MODELS_PAGES)


def make_window(qtbot: QtBot) -> MainWindow:
    """A shown window with the app's own settings, with chats and messages."""
    window = MainWindow(ASSETS, FIELDS)
    qtbot.addWidget(window)
    window.set_theme("light")
    window.set_engine(READY)
    window.sidebar.set_rows(rows(), 1)
    views = [
        MessageView(1, "user", "question"),
        MessageView(2, "assistant", ANSWER, stats=STATS, versions=(2, 3), cut=True),
    ]
    window.show_conversation("t", views)
    values = {layer: {field.key: LayeredValue(field.default, Layer.DEFAULT) for field in FIELDS} for layer in EDITABLE}
    values[Layer.CHAT]["temperature"] = LayeredValue(0.3, Layer.CHAT)  # a value to reset
    fields = tuple(field for field in FIELDS if field.section in ("Speculation", "Sampling"))
    window.chat_settings.set_view(LayersView(fields, values, "tiny"), 1)
    window.resize(1280, 800)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    return window


def fill_models(window: MainWindow, page: str) -> QWidget:
    """Open a page of the models panel with content."""
    place = window.models.panel
    if not window.models.is_open:
        window.models.toggle()
    place.open(page)
    place.recommended.set_rows(hub.catalog())
    place.recommended.list.choose_first()
    place.search.set_results(place.search.field.text(), hub.results())
    place.library.set_library(hub.library(), hub.OFFERS)
    place.set_downloads(hub.downloads())
    place.welcome.set_first_model(hub.FIRST)
    return place


def open_dialog(window: MainWindow, name: str) -> QWidget:
    """Open one of `DIALOGS`."""
    text = Attachment(1, "notes.txt", AttachmentKind.TEXT, 12, "Some words.", 3)
    made: dict[str, Callable[[], QWidget | None]] = {
        "chat_settings": lambda: _chat_settings(window),
        "shortcuts": lambda: ShortcutsDialog(window, window.commands.rows()),
        "link": lambda: link_dialog(window, "https://example.org"),
        "question": lambda: ConfirmDialog(window, "Sure?", "It goes.", "Do it", danger=True),
        "attachment": lambda: AttachmentDialog(window.theme, text, window),
    }
    dialog = made[name]()
    assert dialog is not None
    dialog.show()
    dialog.activateWindow()
    return dialog


def _chat_settings(window: MainWindow) -> QWidget | None:
    window.chat_settings.open()
    return window.chat_settings.panel


def open_settings(window: MainWindow, row: int) -> SettingsDialog:
    """Open a page of the settings."""
    window.dialogs.open_settings()
    dialog = next(dialog for dialog in window.findChildren(SettingsDialog) if dialog.isVisible())
    dialog.nav.setCurrentRow(row)
    dialog.activateWindow()
    return dialog


@contextmanager
def opened(window: MainWindow, name: str) -> Iterator[QWidget]:
    """Open one of `PLACES`; afterwards restore the window for the next test that shares it."""
    if name in MODELS_PAGES:
        yield fill_models(window, name)
        window.models.leave()
    elif name == "window":
        yield window
    else:
        root = open_dialog(window, name) if name in DIALOGS else open_settings(window, int(name.split()[1]))
        yield root
        if name == "chat_settings":
            window.chat_settings.close_panel()
        else:
            root.close()
            root.deleteLater()
            QApplication.sendPostedEvents(root, QEvent.Type.DeferredDelete.value)
    window.activateWindow()
    window.composer.setFocus()
