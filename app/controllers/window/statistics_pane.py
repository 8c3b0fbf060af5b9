"""Shows, exports and resets the statistics of all time.

Nothing here blocks: reads run on the storage thread, and files are written on another thread.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future
from pathlib import Path

from PySide6.QtCore import Signal

from app.controllers.parts import Parts, PartsController
from app.core.domain.sums import PairSums
from app.core.storage.chats.totals import read_totals, reset_totals
from app.core.storage.pair_speeds import PairSpeeds
from engine.records import Problem
from ui.text.language import translate
from ui.widgets.dialogs import ask_statistics_file

log = logging.getLogger(__name__)


class StatisticsController(PartsController):
    totals_read = Signal(object)  # the sums by pair and mode; emitted on the storage thread

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._speeds = PairSpeeds(parts.paths.pair_speeds_file)
        self._is_writing = False
        panel = self._window.stats
        self.totals_read.connect(panel.show_all)
        panel.totals_requested.connect(self.refresh)
        panel.export_requested.connect(lambda: ask_statistics_file(self._window, lambda path: self.export(Path(path))))
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

    def export(self, file: Path) -> None:
        if self._is_writing:
            self._window.show_notice(translate("Statistics", "Another export is still running."))
            return

        def write(_stop: object) -> str:
            from app.core.storage.statistics_export import export_chunks, write_file  # noqa: PLC0415  (few starts export anything)

            write_file(file, export_chunks(self._store))
            return translate("Statistics", "Statistics exported to {name}.").format(name=file.name)

        self._is_writing = True
        self._jobs.run("statistics", write, self._on_ended, self._on_ended, writes=True)

    def _on_ended(self, result: str | Problem) -> None:
        self._is_writing = False
        if isinstance(result, Problem):
            self._window.show_problem(result)
        else:
            self._window.show_notice(result)
