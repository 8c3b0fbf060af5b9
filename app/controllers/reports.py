"""Signals that carry reports from other threads to the GUI thread."""

from PySide6.QtCore import QObject, Signal


class ThreadReports(QObject):
    """Lives on the GUI thread."""

    trouble = Signal(object)  # a `Problem` of the store, or None when all changes are saved
    crashed = Signal(str)  # the type of an uncaught exception
