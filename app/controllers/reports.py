"""Signals that carry reports of other threads to the thread of the window."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class ThreadReports(QObject):
    """Lives on the window's thread.

    Signals:
        trouble(object): a `Problem` of the store, or None when all is saved again.
        crashed(str): the type of an exception that nobody caught.
    """

    trouble = Signal(object)
    crashed = Signal(str)
