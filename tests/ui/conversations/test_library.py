"""Tests pins, folders, the archive and the manual order, with real keys, drops and menus."""

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAction, QColor
from PySide6.QtWidgets import QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.core.domain.conversations import ConversationRow, FolderRow
from tests.ui.conftest import NOW
from ui.conversations.model import BATCH, ConversationModel, Heading
from ui.window.main_window import MainWindow

ROWS = (
    ConversationRow(1, "Plain", NOW),
    ConversationRow(2, "Second pinned", NOW, pinned=True, place=2),
    ConversationRow(3, "First pinned", NOW, pinned=True, place=1),
    ConversationRow(4, "Inside", NOW, folder_id=7, place=0),
    ConversationRow(5, "Also inside", NOW, folder_id=7, place=1),
    ConversationRow(6, "Old", NOW, archived=True),
)
FOLDERS = (FolderRow(7, "Work"), FolderRow(8, "Play", folded=True))


@pytest.fixture
def filled(window: MainWindow) -> MainWindow:
    window.sidebar.set_rows(ROWS, 1, FOLDERS)
    return window


def lines(model: ConversationModel) -> list[str]:
    items = [model.item(model.index(row, 0)) for row in range(model.rowCount())]
    return [f"[{item.text}]" if isinstance(item, Heading) else item.title for item in items if item]


def heading(model: ConversationModel, text: str) -> QModelIndex:
    return next(model.index(row, 0) for row in range(model.rowCount()) if lines(model)[row] == f"[{text}]")


def actions(menu: QMenu | None) -> dict[str, QAction]:
    assert menu is not None
    return {action.text().split("\t")[0]: action for action in menu.actions() if action.text()}


def test_sections_stand_in_their_order(filled: MainWindow) -> None:
    assert lines(filled.sidebar.list.rows) == [
        "[Pinned]", "First pinned", "Second pinned", "[Work]", "Inside", "Also inside", "[Play]",
        "[Today]", "Plain", "[Archived]",
    ]  # fmt: skip


def test_enter_on_a_folder_folds_and_on_the_archive_opens(filled: MainWindow, qtbot: QtBot) -> None:
    listing = filled.sidebar.list
    listing.setCurrentIndex(heading(listing.rows, "Play"))
    listing.setFocus()
    with qtbot.waitSignal(filled.sidebar.library_signals.folder_folded) as caught:
        qtbot.keyClick(listing, Qt.Key.Key_Return)
    assert caught.args == [8, False]
    listing.setCurrentIndex(heading(listing.rows, "Archived"))
    qtbot.keyClick(listing, Qt.Key.Key_Return)
    assert lines(listing.rows)[-2:] == ["[Archived]", "Old"]


def test_f2_renames_a_folder_and_del_removes_it(filled: MainWindow, qtbot: QtBot) -> None:
    listing = filled.sidebar.list
    listing.setFocus()
    listing.setCurrentIndex(heading(listing.rows, "Work"))
    qtbot.keyClick(listing, Qt.Key.Key_F2)
    editor = listing.findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    qtbot.keyClicks(editor, "Office")
    with qtbot.waitSignal(filled.sidebar.library_signals.folder_renamed) as caught:
        qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert caught.args == [7, "Office"]
    with qtbot.waitSignal(filled.sidebar.library_signals.folder_deleted) as caught:
        qtbot.keyClick(listing, Qt.Key.Key_Delete)
    assert caught.args == [7]


def test_a_list_that_changes_meanwhile_leaves_the_editor_alone(filled: MainWindow, qtbot: QtBot) -> None:
    listing = filled.sidebar.list
    listing.setFocus()
    listing.setCurrentIndex(listing.rows.index_of(1))
    qtbot.keyClick(listing, Qt.Key.Key_F2)
    editor = listing.findChild(QLineEdit)
    assert editor is not None
    filled.sidebar.set_rows([ConversationRow(9, "Newer", NOW), *ROWS], 1, FOLDERS)
    editor.selectAll()
    qtbot.keyClicks(editor, "Typed on")
    with qtbot.waitSignal(filled.sidebar.list.rename_requested) as caught:
        qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert caught.args == [1, "Typed on"]
    qtbot.waitUntil(lambda: "Newer" in lines(listing.rows))


def drop(model: ConversationModel, conversation_id: int, line: int, onto: QModelIndex | None = None) -> None:
    data = model.mimeData([model.index_of(conversation_id)])
    assert not model.dropMimeData(data, Qt.DropAction.MoveAction, line, 0, onto or QModelIndex())


def test_dropping_on_a_folder_the_archive_or_a_day(filled: MainWindow, qtbot: QtBot) -> None:
    model, library_signals = filled.sidebar.list.rows, filled.sidebar.library_signals
    with qtbot.waitSignal(library_signals.moved_to_folder) as caught:
        drop(model, 1, -1, heading(model, "Play"))
    assert caught.args == [1, 8]
    with qtbot.waitSignal(library_signals.archived) as caught:
        drop(model, 1, -1, heading(model, "Archived"))
    assert caught.args == [1, True]
    with qtbot.waitSignal(library_signals.moved_to_folder) as caught:
        drop(model, 4, 9)
    assert caught.args == [4, None]


def test_the_menu_wishes(filled: MainWindow, qtbot: QtBot) -> None:
    listing, library_signals = filled.sidebar.list, filled.sidebar.library_signals
    menu = actions(listing.make_menu(listing.rows.index_of(1)))
    for word, signal, wanted in (
        ("Pin", library_signals.pinned, [1, True]),
        ("Archive", library_signals.archived, [1, True]),
    ):
        with qtbot.waitSignal(signal) as caught:
            menu[word].trigger()
        assert caught.args == wanted
    folders = menu["Move to folder"].menu()
    assert isinstance(folders, QMenu)
    assert list(actions(folders)) == ["Work", "Play", "New folder"]
    with qtbot.waitSignal(library_signals.moved_to_folder) as caught:
        actions(folders)["Play"].trigger()
    assert caught.args == [1, 8]
    formats = menu["Export"].menu()
    assert isinstance(formats, QMenu)
    with qtbot.waitSignal(library_signals.exported) as caught:
        formats.actions()[0].trigger()
    assert caught.args == [1, "markdown"]
    assert "Unpin" in actions(listing.make_menu(listing.rows.index_of(2)))
    assert next(iter(actions(listing.make_menu(heading(listing.rows, "Work"))))) == "Fold"


def test_thousands_are_fetched_in_slices(window: MainWindow) -> None:
    many = [ConversationRow(number, f"chat {number}", NOW) for number in range(1, 5001)]
    window.sidebar.set_rows(many, 4000)
    model = window.sidebar.list.rows
    assert model.rowCount() >= 4000  # all rows up to the open one
    window.sidebar.set_rows(many[:10], 1)
    window.sidebar.set_rows(many, 1)
    assert model.canFetchMore(QModelIndex())
    before = model.rowCount()
    model.fetchMore(QModelIndex())
    assert model.rowCount() == before + BATCH


def test_the_open_chat_is_reported_from_the_chosen_row(filled: MainWindow) -> None:
    listing = filled.sidebar.list
    listing.setCurrentIndex(listing.rows.index_of(4))

    def bar(chat: int) -> str:
        box = listing.visualRect(listing.rows.index_of(chat))
        image = listing.viewport().grab().toImage()
        return image.pixelColor(box.left() + 3, box.center().y()).name()

    accent = QColor(filled.theme.tokens.accent).name()
    assert bar(1) == accent
    assert bar(4) != accent
    filled.sidebar.set_rows(ROWS, 4, FOLDERS)
    assert bar(4) == accent
    assert bar(1) != accent


def test_keys_step_through_the_chats_from_the_message(filled: MainWindow, qtbot: QtBot) -> None:
    filled.sidebar.set_rows(ROWS, 3, FOLDERS)
    filled.composer.edit.setFocus()
    steps = ((Qt.Key.Key_PageDown, 2), (Qt.Key.Key_PageDown, 4), (Qt.Key.Key_PageUp, 2), (Qt.Key.Key_PageUp, 3))
    for key, wanted in steps:
        with qtbot.waitSignal(filled.sidebar.list.chosen) as caught:
            qtbot.keyClick(filled.composer.edit, key, Qt.KeyboardModifier.ControlModifier)
        assert caught.args == [wanted]
        filled.sidebar.set_rows(ROWS, wanted, FOLDERS)
    with qtbot.assertNotEmitted(filled.sidebar.list.chosen):
        filled.sidebar.list.open_adjacent(-1)
    filled.sidebar.set_rows(ROWS, None, FOLDERS)
    with qtbot.waitSignal(filled.sidebar.list.chosen) as caught:
        filled.sidebar.list.open_adjacent(1)
    assert caught.args == [3]


def test_headings_and_chats_are_read_aloud_with_what_is_seen_of_them(filled: MainWindow) -> None:
    listing = filled.sidebar.list

    def spoken(index: QModelIndex) -> str:
        return str(index.data(Qt.ItemDataRole.AccessibleTextRole))

    assert spoken(heading(listing.rows, "Work")) == "Folder Work, 2 chats, open"
    assert spoken(heading(listing.rows, "Play")) == "Folder Play, 0 chats, closed"
    assert spoken(heading(listing.rows, "Archived")) == "Archived, 1 chat, closed"
    assert spoken(heading(listing.rows, "Pinned")) == "Pinned"
    filled.sidebar.set_rows((ConversationRow(1, "Plain", NOW, used_remote_server=True), ROWS[5]), 1, ())
    chat = listing.rows.index(1, 0)
    assert spoken(chat) == chat.data(Qt.ItemDataRole.ToolTipRole) == "Plain · was sent to a remote server"
    assert chat.data() == "Plain"


def test_a_chat_that_is_dropped_among_the_archived_is_archived(filled: MainWindow) -> None:
    rows, told = filled.sidebar.list.rows, list[tuple[int, bool]]()
    rows.library_signals.archived.connect(lambda number, is_archived: told.append((number, is_archived)))
    rows.toggle_archive()
    assert lines(rows)[-2:] == ["[Archived]", "Old"]
    drop(rows, 1, rows.rowCount())
    assert told == [(1, True)]
    drop(rows, 1, 0)  # there is no section above the first heading
    assert told == [(1, True)]
