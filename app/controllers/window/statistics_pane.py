"""Shows and resets the statistics of all time. Nothing here blocks: reads run on the storage thread."""

from __future__ import annotations

import logging
from concurrent.futures import Future

from PySide6.QtCore import Signal

from app.controllers.parts import Parts, PartsController
from app.core.domain.sums import PairSums
from app.core.storage.chats.totals import read_totals, reset_totals
from app.core.storage.pair_speeds import PairSpeeds

log = logging.getLogger(__name__)


class StatisticsController(PartsController):
    totals_read = Signal(object)  # the sums by pair and mode; emitted on the storage thread

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._speeds = PairSpeeds(parts.paths.pair_speeds_file)
        panel = self._window.stats
        self.totals_read.connect(panel.show_all)
        panel.totals_requested.connect(self.refresh)
        panel.reset_requested.connect(self.reset)

    def refresh(self) -> None:
        """Read the totals, and show them later."""

        def report(future: Future[tuple[PairSums, ...]]) -> None:
            error = future.exception()
            if error is not None:
                log.warning("The statistics could not be read: %s", error)
            else:
                self.totals_read.emit(future.result())

        self._store.post(read_totals).add_done_callback(report)

    def reset(self) -> None:
        self._attempt(lambda: self._store.write(reset_totals))
        self._store.run_on_writer_thread(self._speeds.forget_answers)
        self.refresh()
