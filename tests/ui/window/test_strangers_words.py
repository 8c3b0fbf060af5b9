"""Untrusted names (chats, files, models) are shown literally: Qt would load resources of HTML in them."""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtGui import Qt as Gui
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLabel, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.conversations import FolderRow, SearchHit
from app.core.domain.messages import MessageView
from app.core.domain.settings.layers import EDITABLE, Layer, LayeredValue, LayersView, Preset
from app.core.domain.settings.table import FIELDS
from tests.ui.conftest import READY, STATS, model, rows
from tests.ui.filled_window import MODELS_PAGES, make_window
from tests.ui.models import records as hub
from ui.composer.attachments.reader import AttachmentDialog
from ui.text.formatting import tooltip, without_markup
from ui.widgets.dialogs import ConfirmDialog
from ui.window.main_window import MainWindow

EVIL = "<img src='file:///nowhere/evil.png'> & <b>bold</b>"
Whatever = TypeVar("Whatever")


def evil(value: Whatever) -> Whatever:
    """A copy with every text replaced."""
    made: Any = value
    if type(value) is str and value:
        made = EVIL
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: evil(getattr(value, field.name)) for field in dataclasses.fields(value) if field.init}
        made = dataclasses.replace(value, **fields)
    elif isinstance(value, tuple):
        made = tuple(map(evil, value))
    elif isinstance(value, list):
        made = list(map(evil, value))
    elif isinstance(value, Mapping):
        made = {key: evil(inner) for key, inner in value.items()}
    return made  # type: ignore[no-any-return]


def read_as_html() -> Iterator[str]:
    """All texts that Qt currently interprets as HTML."""
    for widget in QApplication.allWidgets():
        yield from (f"{type(widget).__name__} tip" for tip in (widget.toolTip(),) if _is_risky(tip))
        if isinstance(widget, QLabel) and widget.textFormat() is Qt.TextFormat.AutoText and _is_risky(widget.text()):
            yield f"label {widget.objectName()} in {type(widget.parent()).__name__}"
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from _items(widget.model(), QModelIndex())
        for action in widget.findChildren(QAction):
            if _is_risky(action.toolTip()):
                yield f"action in {type(widget).__name__}"


def _items(model: QAbstractItemModel, parent: QModelIndex) -> Iterator[str]:
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        if _is_risky(str(index.data(Qt.ItemDataRole.ToolTipRole) or "")):
            yield f"item of {type(model).__name__}"
        yield from _items(model, index)


def _is_risky(text: str) -> bool:
    return Gui.mightBeRichText(text) and "<img" in text


@pytest.fixture(name="window")
def fixture_window(qtbot: QtBot) -> MainWindow:
    return make_window(qtbot)


def test_chats_and_messages(window: MainWindow, qtbot: QtBot) -> None:
    window.set_engine(evil(READY))
    window.sidebar.set_rows(tuple(dataclasses.replace(row, title=EVIL) for row in rows()), 1)
    attachment = Attachment(1, EVIL, AttachmentKind.TEXT, 12, EVIL, 3)
    stats = dataclasses.replace(STATS, decisions=(EVIL,))
    views = [
        MessageView(1, "user", EVIL, attachments=(attachment,)),
        MessageView(2, "assistant", EVIL, stats=stats, versions=(2, 3), cut=True, notice=EVIL, target=EVIL),
    ]
    window.show_conversation(EVIL, views)
    window.stats.now.show_stats(stats)
    window.composer.show_attachments((attachment,), (EVIL,), reading=False)
    hit = SearchHit(1, EVIL, 2, "assistant", ((EVIL, True),), False)
    window.sidebar.results.set_hits((hit,))
    dialogs = (AttachmentDialog(window.theme, attachment, window), ConfirmDialog(window, EVIL, EVIL, "Do it"))
    for dialog in dialogs:
        dialog.show()
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    found = sorted(set(read_as_html()))
    assert found == [], found


def test_settings_of_models_and_chats(window: MainWindow) -> None:
    fields = tuple(field for field in FIELDS if field.section in ("Speculation", "Sampling"))
    values = {layer: {field.key: LayeredValue(field.default, Layer.MODEL) for field in fields} for layer in EDITABLE}
    window.chat_settings.set_view(LayersView(fields, values, EVIL), 1)
    window.chat_settings.open()
    found = sorted(set(read_as_html()))
    assert found == [], found


@pytest.mark.parametrize("page", MODELS_PAGES)
def test_the_models_place(window: MainWindow, page: str) -> None:
    window.models.toggle()
    place = window.models.panel
    place.open(page)
    place.search.set_results(place.search.field.text(), evil(hub.results()))
    place.library.set_library(evil(hub.library()), evil(hub.OFFERS))
    place.set_downloads(evil(hub.downloads()))
    place.recommended.set_rows(evil(hub.catalog()))
    place.recommended.list.choose_first()
    found = sorted(set(read_as_html()))
    assert found == [], found


def test_words_that_are_no_html_stay_as_they_are() -> None:
    assert without_markup("a < b & c") == "a < b & c"
    assert tooltip("two\nlines") == "two\nlines"
    shown = without_markup(EVIL)
    assert "<img" not in shown
    assert "&lt;img" in shown


def seen(words: str) -> str:
    """The text that Qt shows on a button or menu entry: a single ``&`` marks a mnemonic and is hidden."""
    return re.sub("&(.)", r"\1", words)


def test_an_ampersand_in_a_name_is_seen_on_buttons_and_in_menus(window: MainWindow, qtbot: QtBot) -> None:
    window.set_engine(dataclasses.replace(READY, target=model("B&W"), draft=None))
    assert "B&W" in seen(window.header.model_button.text())
    window.sidebar.set_rows(rows(), 1, (FolderRow(7, "R&D"),))
    listing = window.sidebar.list
    menu = listing.make_menu(listing.rows.index_of(1))
    assert menu is not None
    folders = next(each for each in menu.findChildren(QMenu) if each.title() == "Move to folder")
    assert seen(folders.actions()[0].text()) == "R&D"
    window.chat_settings.set_presets([Preset("Q&A", {"temperature": 0.8})])
    window.chat_settings.open()
    dialog = window.chat_settings.panel
    assert dialog is not None
    button = dialog.presets
    button.set_values({"temperature": 0.8})
    assert seen(button.text()) == "Preset: Q&A"
    button.list_menu.aboutToShow.emit()
    entries = [entry for each in (button.list_menu, *button.list_menu.findChildren(QMenu)) for entry in each.actions()]
    assert [seen(entry.text()) for entry in entries].count("Q&A") == 3  # entries to apply, rename and delete it
    deed = next(entry for entry in entries if seen(entry.text()) == "Q&A" and not entry.isCheckable())
    deed.trigger()
    assert next(each for each in dialog.findChildren(QLineEdit) if each.text()).text() == "Q&A"
