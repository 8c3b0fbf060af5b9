"""The menus of the chat list: of a chat, of a folder, and of the list."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtWidgets import QWidget

from app.core.domain.conversations import ConversationRow, FolderRow
from ui.conversations.model import Heading, LibrarySignals
from ui.text.formatting import escape_mnemonics
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.widgets.popups import Menu

tr = Translator("ConversationMenu")

if TYPE_CHECKING:
    from ui.conversations.list import ConversationList


def make_menu(listing: ConversationList, index: QModelIndex) -> Menu | None:
    item = listing.rows.item(index)
    if listing.has_several(index):
        return _menu_of_several(listing, QPersistentModelIndex(index))
    if isinstance(item, ConversationRow):
        return _conversation_menu(listing, item, QPersistentModelIndex(index))
    if isinstance(item, Heading) and item.folder is not None:
        return _folder_menu(listing, item.folder, item, QPersistentModelIndex(index))
    return None


def _conversation_menu(listing: ConversationList, row: ConversationRow, index: QPersistentModelIndex) -> Menu:
    menu, theme, library_signals = Menu(listing), listing.theme, listing.rows.library_signals
    menu.addAction(theme.icon("message-square"), tr("Open"), lambda: listing.choose(_now(index)))
    menu.addAction(theme.icon("pencil"), tr("Rename\tF2"), lambda: listing.edit(_now(index)))
    pin = tr("Unpin") if row.pinned else tr("Pin")
    menu.addAction(theme.icon("pin"), pin, partial(library_signals.pinned.emit, row.id, not row.pinned))
    _add_folders(menu, listing, row)
    _add_export(menu, theme, partial(library_signals.exported.emit, row.id), tr("Export"))
    archive = tr("Unarchive") if row.archived else tr("Archive")
    menu.addAction(theme.icon("archive"), archive, partial(library_signals.archived.emit, row.id, not row.archived))
    menu.addSeparator()
    menu.addAction(theme.icon("trash-2"), tr("Delete\tDel"), lambda: listing.ask_delete(_now(index)))
    return menu


def _menu_of_several(listing: ConversationList, index: QPersistentModelIndex) -> Menu:
    menu, theme, ids = Menu(listing), listing.theme, listing.selected_ids

    def archive() -> None:
        for conversation_id in ids:
            listing.rows.library_signals.archived.emit(conversation_id, True)

    words = tr("Archive %n chats", None, len(ids))
    menu.addAction(theme.icon("archive"), words, archive)
    words = tr("Delete %n chats", None, len(ids))
    menu.addAction(theme.icon("trash-2"), f"{words}\tDel", lambda: listing.ask_delete(_now(index)))
    return menu


def _folder_menu(listing: ConversationList, folder: FolderRow, heading: Heading, index: QPersistentModelIndex) -> Menu:
    menu, theme = Menu(listing), listing.theme
    menu.addAction(
        tr("Unfold") if heading.folded else tr("Fold"),
        lambda: listing.choose(_now(index)),
    )
    folder_id, library_signals = folder.id, listing.rows.library_signals
    menu.addAction(
        theme.icon("plus"), tr("New chat in this folder"), partial(library_signals.new_in_folder.emit, folder_id)
    )
    menu.addAction(
        theme.icon("file-text"), tr("Files and instructions…"), partial(library_signals.page_requested.emit, folder_id)
    )
    menu.addAction(theme.icon("pencil"), tr("Rename\tF2"), lambda: listing.edit(_now(index)))
    menu.addAction(theme.icon("trash-2"), tr("Remove folder, keep chats\tDel"), lambda: listing.ask_delete(_now(index)))
    return menu


def make_list_menu(parent: QWidget, theme: Theme, library_signals: LibrarySignals) -> Menu:
    menu = Menu(parent)
    menu.addAction(theme.icon("folder"), tr("New folder"), partial(library_signals.folder_created.emit, None))
    menu.addAction(theme.icon("trash-2"), tr("Recently deleted…"), library_signals.deleted_chats_requested.emit)
    menu.addSeparator()
    menu.addAction(theme.icon("download"), tr("Import chats or a project…"), library_signals.imported.emit)
    _add_export(menu, theme, partial(library_signals.exported.emit, None), tr("Export all chats"))
    return menu


def _add_folders(menu: Menu, listing: ConversationList, row: ConversationRow) -> None:
    library_signals = listing.rows.library_signals
    folders = menu.add_submenu(tr("Move to folder"), listing.theme.icon("folder"))
    for folder in listing.rows.folders:
        if folder.id != row.folder_id:
            folders.addAction(
                escape_mnemonics(folder.name), partial(library_signals.moved_to_folder.emit, row.id, folder.id)
            )
    folders.addAction(tr("New folder"), partial(library_signals.folder_created.emit, row.id))
    if row.folder_id is not None:
        folders.addAction(tr("No folder"), partial(library_signals.moved_to_folder.emit, row.id, None))


def _add_export(menu: Menu, theme: Theme, export: Callable[[str], object], words: str) -> None:
    formats = menu.add_submenu(words, theme.icon("upload"))
    formats.addAction(tr("As Markdown…"), partial(export, "markdown"))
    formats.addAction(tr("As JSON, with branches and statistics…"), partial(export, "json"))


def _now(index: QPersistentModelIndex) -> QModelIndex:
    return QModelIndex(index)  # type: ignore[call-overload,no-any-return]
