"""Shows, exports and resets the statistics of the open chat and of all time.

Nothing here blocks: reads run on the storage thread, and files are written on another thread.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from app.controllers.parts import Parts, PartsController
from app.core.domain.speed.pair_speed import PairSpeed
from app.core.domain.sums import PairSums, sums_by_pair, total
from app.core.storage.chats.answer_records import answers_of_chat
from app.core.storage.chats.totals import read_totals, reset_totals
from app.core.storage.pair_speeds import PairSpeeds
from engine.records import Problem
from ui.text.language import translate
from ui.widgets.dialogs import ask_statistics_file

if TYPE_CHECKING:
    from app.core.storage.statistics_export import ExportRequest

log = logging.getLogger(__name__)

Rows = tuple[PairSums, ...]


@dataclass(frozen=True, slots=True)
class _PageSums:
    """A page's sums by pair and mode; for all time also each pair's latest speeds."""

    rows: Rows
    speeds: tuple[PairSpeed, ...] = ()


class StatisticsController(PartsController):
    sums_read = Signal(int, str, object)  # request number, page, sums; emitted on the storage thread

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._speeds = PairSpeeds(parts.paths.pair_speeds_file)
        self._is_writing = False
        self._num_asked = 0
        self.sums_read.connect(self._show)
        panel = self._window.stats
        panel.sums_requested.connect(self.refresh)
        panel.export_requested.connect(self.ask_export)
        panel.reset_requested.connect(self.reset)

    def refresh(self, page: str) -> None:
        """Request the sums of a page: "chat" (the open chat) or "all" (all time)."""
        chat = self._state.chat_id

        def of_chat(db: sqlite3.Connection) -> _PageSums:
            answers = answers_of_chat(db, chat) if chat is not None else ()
            return _PageSums(sums_by_pair((each.target, each.draft, each.stats) for each in answers))

        def of_all(db: sqlite3.Connection) -> _PageSums:
            return _PageSums(read_totals(db), self._speeds.all())

        self._ask(page, of_chat if page == "chat" else of_all)

    def reset(self) -> None:
        self._attempt(lambda: self._store.write(reset_totals))
        self._store.run_on_writer_thread(self._speeds.forget_answers)
        self.refresh("all")

    def ask_export(self, scope: str) -> None:
        ask_statistics_file(self._window, scope, lambda path, form: self.export(scope, Path(path), form))

    def export(self, scope: str, file: Path, form: str) -> None:
        """Write statistics of "answer", "chat", "everything" or "totals" as "json" or "csv"."""
        if self._is_writing:
            self._window.show_notice(translate("Statistics", "Another export is still running."))
            return
        chat = self._state.chat_id
        done = translate("Statistics", "Statistics exported to {name}.").format(name=file.name)

        def write(_stop: object) -> str:
            from app.core.storage.statistics_export import export_chunks, write_file  # noqa: PLC0415  (few starts export anything)

            chunks = export_chunks(self._store, self._request(scope, chat), form)
            write_file(file, chunks, for_spreadsheets=form == "csv")
            return done

        self._is_writing = True
        self._jobs.run("statistics", write, self._on_ended, self._on_ended, writes=True)

    def _request(self, scope: str, chat: int | None) -> ExportRequest:
        """What to export; the scope "answer" is the last answer with statistics in the chat."""
        from app.core.storage.statistics_export import ExportRequest, Scope  # noqa: PLC0415  (as above)

        if scope != Scope.ANSWER or chat is None:
            return ExportRequest(Scope(scope), chat)
        views = self._store.messages(chat)
        return ExportRequest(Scope.ANSWER, next((view.id for view in reversed(views) if view.stats is not None), None))

    def _ask(self, page: str, job: Callable[[sqlite3.Connection], _PageSums]) -> None:
        self._num_asked += 1
        number = self._num_asked

        def report(future: Future[_PageSums]) -> None:
            error = future.exception()
            if error is not None:
                log.warning("The statistics could not be read: %s", error)
            else:
                self.sums_read.emit(number, page, future.result())

        self._store.post(job).add_done_callback(report)

    def _show(self, number: int, page: str, figures: _PageSums) -> None:
        if number != self._num_asked:
            return  # outdated: newer sums were requested meanwhile
        panel = self._window.stats
        if page == "chat":
            panel.show_chat(figures.rows, total(figures.rows))
        else:
            panel.show_all(figures.rows, total(figures.rows), figures.speeds)

    def _on_ended(self, result: str | Problem) -> None:
        self._is_writing = False
        if isinstance(result, Problem):
            self._window.show_problem(result)
        else:
            self._window.show_notice(result)
