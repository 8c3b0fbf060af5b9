"""Signals that carry reports from other threads to the GUI thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class ThreadReports(QObject):
    """Lives on the GUI thread.

    Signals:
        trouble(object): a `Problem` of the store, or None when all changes are saved.
        crashed(str): the type of an uncaught exception.
    """

    trouble = Signal(object)
    crashed = Signal(str)
