"""Garbage is collected when idle, never during an answer."""

import gc
import weakref

from pytestqt.qtbot import QtBot

from app.controllers.window.garbage import GarbageController


class Cycle:
    """Refers to itself: only cyclic garbage collection frees it."""

    def __init__(self) -> None:
        self.me = self


def test_it_waits_for_the_answer_and_leaves_everything_as_it_was(qtbot: QtBot) -> None:
    busy = [True]
    garbage = GarbageController(lambda: busy[0])
    try:
        assert not gc.isenabled()
        garbage._timer.setInterval(5)
        left = weakref.ref(Cycle())
        garbage.note_activity()
        qtbot.wait(20)
        assert left() is not None
        busy[0] = False
        qtbot.waitUntil(lambda: left() is None)
        assert not garbage._timer.isActive()
        busy[0], left = True, weakref.ref(Cycle())
        garbage.note_activity()  # it ends, however busy a server is
        qtbot.waitUntil(lambda: left() is None)
    finally:
        garbage.close()
    assert gc.isenabled()
