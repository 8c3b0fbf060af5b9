"""Formulas by their source: typeset once, on a thread of their own, and kept. Tells what has become ready.

A formula takes milliseconds of pure Python: too long between two frames.
"""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from enum import Enum

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from ui.formulas.formula import Formula, typeset

MAX_KEPT = 2_000
LOOK_MS = 40


class Pending(Enum):
    """Stands for a formula that is not ready yet."""

    PENDING = "pending"


class FormulaCache(QObject):
    """The typeset formulas. Looks for results only while some are awaited; nothing of Qt's reaches the thread.

    Signals:
        ready(object): a frozenset of sources that are typeset now, or never will be; emitted for several at once.
    """

    ready = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._cache: OrderedDict[str, Formula | None] = OrderedDict()
        self._pending: dict[str, Future[Formula | None]] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)

    def get(self, source: str) -> Formula | Pending | None:
        """Give a formula; None where it cannot be typeset, `Pending` where it is being done."""
        if source in self._cache:
            self._cache.move_to_end(source)
            return self._cache[source]
        if source not in self._pending:
            self._pending[source] = self._workers().submit(typeset, source)
            self._timer.start()
        return Pending.PENDING

    def close(self) -> None:
        """Typeset nothing more."""
        self._timer.stop()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _workers(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="formulas")
            application = QCoreApplication.instance()
            if application is not None:
                application.aboutToQuit.connect(self.close)
        return self._pool

    def _look(self) -> None:
        done = frozenset(source for source, job in self._pending.items() if job.done())
        for source in done:
            self._cache[source] = self._pending.pop(source).result()
        while len(self._cache) > MAX_KEPT:
            self._cache.popitem(last=False)
        if not self._pending:
            self._timer.stop()
        if done:
            self.ready.emit(done)
