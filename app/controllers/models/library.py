"""Connects the library page with the library: show, add, remove, reveal."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices

from app.controllers.models.jobs import JobRunner, ReportProblem
from app.controllers.parts import Parts, PartsController
from app.core.domain.models import LinkView, ScanView
from engine.records import Problem
from ui.text.formatting import size
from ui.text.language import translate
from ui.window.navigation import ModelsNavigation

if TYPE_CHECKING:  # the first paint waits for none of it
    from app.controllers.models.hub_service import HubService, LibraryAnswer
    from ui.models.panel import ModelsPanel


class HubLibraryController(PartsController):
    """Lives on the GUI thread; ``jobs`` do the work. ``report`` shows a problem, ``log`` only logs it."""

    changed = Signal()  # a model was added or removed by the user
    noted = Signal()  # the loaded models are recorded in the library

    def __init__(
        self,
        parts: Parts,
        jobs: JobRunner,
        service: Callable[[], HubService],
        report: ReportProblem,
        log: ReportProblem,
    ) -> None:
        super().__init__(parts)
        self._jobs = jobs
        self._service = service
        self._report = report
        self._log = log
        self._stop = threading.Event()  # of a scan
        self._used = ("", "")  # the files of target and draft
        self._looked_elsewhere = False
        self._scanned: LibraryAnswer | None = None  # what the last scan of a folder found

    @property
    def _navigation(self) -> ModelsNavigation:
        return self._window.models

    def attach(self, panel: ModelsPanel) -> None:
        requests = panel.requests
        requests.reveal_requested.connect(self._reveal)
        requests.remove_requested.connect(self._remove)
        requests.add_requested.connect(self._add)
        requests.offer_taken.connect(self._add)
        requests.rescan_requested.connect(lambda: self.show(look_elsewhere=True))
        requests.scan_requested.connect(self._scan)
        requests.scan_stopped.connect(self._stop.set)
        requests.link_given.connect(self._judge_link)
        requests.link_closed.connect(lambda: self._jobs.cancel("link"))

    def use(self, target: str, draft: str) -> None:
        """Record which files are loaded; empty without one, or for built-in ones."""
        self._used = used = (target, draft)

        def done(pairs: dict[str, str]) -> None:
            self._state.pairs = pairs
            self.noted.emit()
            if self._navigation.is_open:
                self.show()

        self._jobs.run("use", lambda _stop: self._service().note_use(*used), done, self._log)

    def on_page(self) -> None:
        """The page is shown; the first time, other apps' folders are searched as well."""
        self.show(look_elsewhere=not self._looked_elsewhere)

    def show(self, *, look_elsewhere: bool = False) -> None:
        """Reload the library if it is visible; with ``look_elsewhere`` also other apps' folders."""
        if not self._navigation.is_created:
            return
        self._looked_elsewhere = self._looked_elsewhere or look_elsewhere
        used, offers = self._used, self._looked_elsewhere

        def done(answer: LibraryAnswer) -> None:
            here = {row.path for row in answer.rows}
            scanned = self._scanned
            more = [row for row in scanned.offers if row.path not in here] if scanned else []
            offers = tuple({row.path: row for row in (*more, *answer.offers)}.values())
            skipped = dict.fromkeys((*(scanned.skipped if scanned else ()), *answer.skipped))
            self._navigation.panel.library.set_library(answer.rows, offers, tuple(skipped))
            self._navigation.panel.welcome.set_offers(offers)

        self._jobs.run("library", lambda _stop: self._service().library_views(*used, offers=offers), done, self._report)

    def _scan(self, folder: str) -> None:
        self._stop.clear()
        panel = self._navigation.panel
        show = panel.show_scan
        show(ScanView(folder, is_running=True))

        def work(should_stop: Callable[[], bool]) -> tuple[ScanView, LibraryAnswer]:
            def report(view: ScanView) -> None:
                self._jobs.post(lambda: show(view))

            return self._service().scan(folder, report, lambda: should_stop() or self._stop.is_set())

        def done(found: tuple[ScanView, LibraryAnswer]) -> None:
            view, self._scanned = found
            show(view)
            self.show(look_elsewhere=True)

        def failed(problem: Problem) -> None:
            show(None)
            self._report(problem)

        self._jobs.run("scan", work, done, failed)

    def _judge_link(self, address: str) -> None:
        show = self._navigation.panel.show_link
        show(LinkView(address, is_looking=True))
        self._jobs.run(
            "link",
            lambda stop: self._service().judge_link(address, stop),
            show,
            lambda problem: show(LinkView(address, problem=problem)),
        )

    def _add(self, path: str) -> None:
        self._jobs.run(
            f"add {path}", lambda _stop: self._service().add(path), lambda _name: self._changed(), self._report
        )

    def _remove(self, name: str) -> None:
        def done(num_bytes: int) -> None:
            self._navigation.panel.show_notice(_removal_notice(num_bytes))
            self._changed()

        self._jobs.run(f"remove {name}", lambda _stop: self._service().library.remove(name), done, self._report)

    def _changed(self) -> None:
        self.show()
        self.changed.emit()

    def _reveal(self, path: str) -> None:
        folder = Path(path).parent
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self._report(
                Problem(
                    "The folder could not be opened",
                    translate("Problems", "It is {parent}.").format(parent=folder),
                    translate("HubController", "Open the folder with your file manager."),
                )
            )


def _removal_notice(freed_bytes: int) -> str:
    if not freed_bytes:
        return translate("HubController", "Removed from the list.")
    return translate("HubController", "Freed {size} of disk space.").format(size=size(freed_bytes))
