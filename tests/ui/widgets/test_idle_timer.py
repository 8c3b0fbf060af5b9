"""Work that can wait is done in a turn of the event loop that paints nothing."""

from __future__ import annotations

from PySide6.QtCore import QAbstractEventDispatcher, QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.widgets.idle_timer import IdleTimer


class _Paints(QObject):
    """Counts what is painted in the turn at hand."""

    def __init__(self, watched: QWidget) -> None:
        super().__init__()
        self.count = self.total = 0
        self._turns = QAbstractEventDispatcher.instance()
        self._turns.awake.connect(self._on_turn)
        watched.installEventFilter(self)

    def _on_turn(self) -> None:
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Called by Qt."""
        is_paint = event.type() == QEvent.Type.Paint
        self.count += is_paint
        self.total += is_paint
        return False

    def end(self) -> None:
        """No more is counted."""
        self._turns.awake.disconnect(self._on_turn)


def test_the_work_waits_for_a_turn_that_paints_nothing(qtbot: QtBot) -> None:
    page, seen = QWidget(), list[int]()
    qtbot.addWidget(page)
    page.show()
    qtbot.waitExposed(page)
    paints = _Paints(page)
    quiet = IdleTimer(page, lambda: seen.append(paints.count))
    beside = QTimer(page, singleShot=True)  # runs out in the same turn, and asks for what the next one paints
    beside.timeout.connect(page.update)
    for _ in range(5):
        num_before = len(seen)
        beside.start(3)
        quiet.begin(3)
        qtbot.waitUntil(lambda known=num_before: len(seen) == known + 1)
    paints.end()
    assert seen == [0] * 5
    assert paints.total >= 5


def test_what_begins_anew_is_done_once(qtbot: QtBot) -> None:
    page, seen = QObject(), list[str]()
    quiet = IdleTimer(page, lambda: seen.append("done"))
    quiet.begin(1)
    quiet.begin(2)
    assert quiet.isActive()
    qtbot.waitUntil(lambda: not quiet.isActive())
    assert seen == ["done"]
    quiet.begin(1)
    quiet.stop()
    QTimer.singleShot(20, page, lambda: seen.append("later"))
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert seen == ["done", "later"]
