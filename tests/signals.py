"""Waits for signals that other threads emit."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import SignalInstance
from pytestqt.qtbot import QtBot


@contextmanager
def emitted(qtbot: QtBot, signal: SignalInstance) -> Iterator[list[tuple[object, ...]]]:
    """Wait at the end of the block until ``signal`` was emitted; yields a list that receives its arguments.

    The slot stays connected. `QtBot.waitSignal` disconnects its own slot, and a queued emission of another thread then
    calls a deleted slot, which sometimes crashes the process.
    """
    found: list[tuple[object, ...]] = []
    signal.connect(lambda *arguments: found.append(arguments))
    yield found
    qtbot.waitUntil(lambda: bool(found))
