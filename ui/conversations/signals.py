"""Requests to the library of conversations: pins, folders, order, archive, copies, files."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class LibrarySignals(QObject):
    """Intentions of the conversation list; a conversation and a folder are named by their ids.

    Signals:
        pinned(int, bool), archived(int, bool), duplicated(int): one conversation.
        foldered(int, object): a conversation into a folder, or out of all for None.
        arranged(object, object): ids in their new order, in a folder, or pinned for None.
        folder_made(object): a new folder, for a conversation or for None. folder_renamed(int, str).
        folder_folded(int, bool), folder_deleted(int): its conversations stay. folders_arranged(object): their ids.
        exported(object, str): a conversation, or all for None; "markdown" or "json". imported: a file is to be chosen.
    """

    pinned = Signal(int, bool)
    archived = Signal(int, bool)
    duplicated = Signal(int)
    foldered = Signal(int, object)
    arranged = Signal(object, object)
    folder_made = Signal(object)
    folder_renamed = Signal(int, str)
    folder_folded = Signal(int, bool)
    folder_deleted = Signal(int)
    folders_arranged = Signal(object)
    exported = Signal(object, str)
    imported = Signal()
