"""Connects the downloads page with the download queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from app.controllers.models.jobs import JobRunner, ReportProblem
from app.controllers.parts import Parts, PartsController
from app.core.storage.window_state import note_welcomed
from engine.records import Problem
from ui.models.parts import WELCOME
from ui.text.language import translate
from ui.window.navigation import ModelsNavigation

if TYPE_CHECKING:  # the first paint waits for none of it
    from app.controllers.models.hub_service import HubService
    from app.core.domain.models import Download, ModelRef
    from ui.models.panel import ModelsPanel


class HubDownloadsController(PartsController):
    """Lives on the GUI thread; ``jobs`` do the work. ``report`` shows a problem, ``log`` only logs it."""

    came = Signal()  # downloads have completed since the last check
    changed = Signal()  # a download was added, removed, or changed its state
    complete = Signal(str, str)  # the target and the draft (or an empty text) to chat with are here

    def __init__(
        self,
        parts: Parts,
        jobs: JobRunner,
        service: Callable[[], HubService],
        report: ReportProblem,
        log: ReportProblem,
    ) -> None:
        super().__init__(parts)
        self._paths = parts.paths
        self._jobs = jobs
        self._service = service
        self._report = report
        self._log = log
        self._rows: tuple[Download, ...] = ()
        self._looking = self._look_again = False
        self._has_begun = False  # the queue of last time is among the rows
        self._is_known = False  # and was at the last look: what has ended since is news
        self._chat_after: tuple[ModelRef, ...] = ()

    @property
    def _navigation(self) -> ModelsNavigation:
        return self._window.models

    def attach(self, panel: ModelsPanel) -> None:
        panel.requests.pull_requested.connect(self.pull)
        panel.requests.download_action_requested.connect(self._on_action)

    def start(self) -> None:
        def begin(should_stop: Callable[[], bool]) -> None:
            service = self._service()
            if not should_stop():
                service.downloads.start()

        def begun(_none: None = None) -> None:
            self._has_begun = True
            self.show()

        def failed(problem: Problem) -> None:
            self._log(problem)
            begun()

        self._jobs.run("start", begin, begun, failed)

    def pull(self, refs: tuple[ModelRef, ...], then_chat: bool) -> None:
        """Download the missing files; with ``then_chat`` load them when all are here."""
        self._chat_after = refs if then_chat else ()
        if self._navigation.page == WELCOME:
            note_welcomed(self._paths)

        def done(_none: None) -> None:
            self.show()
            self._chat_if_complete()
            if self._chat_after:
                self._navigation.open("downloads")

        # Each by itself: one that fails is told, whatever else is wanted meanwhile.
        self._jobs.run(f"pull {refs}", lambda _stop: self._service().pull(refs), done, self._report)

    def _on_action(self, key: str, action: str) -> None:
        downloads = self._service().downloads
        actions: dict[str, Callable[[str], None]] = {
            "pause": downloads.pause,
            "resume": downloads.resume,
            "retry": downloads.retry,
            "cancel": downloads.cancel,
            "forget": downloads.remove,
        }
        if action == "cancel":
            self._chat_after = ()
        # Off this thread: cancelling deletes files.
        self._jobs.run(f"{action} {key}", lambda _stop: actions[action](key), lambda _none: self.show(), self._report)

    def show(self) -> None:
        # They change ten times a second: one look at a time, and one more after it, so that none is cut off for ever.
        if self._looking:
            self._look_again = True
            return
        self._looking, self._look_again = True, False
        has_begun = self._has_begun

        def done(rows: tuple[Download, ...]) -> None:
            self._on_rows(rows)
            self._is_known = has_begun

        self._jobs.run("downloads", lambda _stop: self._service().all_downloads(), done, self._on_no_rows)

    def _on_no_rows(self, problem: Problem) -> None:
        self._looking = False
        self._log(problem)

    def _on_rows(self, rows: tuple[Download, ...]) -> None:
        from app.core.domain.models import DownloadStatus  # noqa: PLC0415  (the job has loaded it)

        self._looking = False
        if self._look_again:
            self.show()
        before = {row.key: row.status for row in self._rows}
        self._rows = rows
        self._navigation.set_downloads(rows)
        ended = [row for row in rows if row.status is DownloadStatus.DONE and before.get(row.key) is not row.status]
        if ended and self._is_known:  # also of one that was not yet there at the last look, small as it is
            self.came.emit()
            self._window.show_notice(_arrival_notice(ended))
        if {row.key: row.status for row in rows} != before:
            self.changed.emit()
        self._chat_if_complete()

    def _chat_if_complete(self) -> None:
        refs = self._chat_after
        if not refs:
            return

        def done(paths: list[str]) -> None:
            if not all(paths) or refs != self._chat_after:
                return
            self._chat_after = ()
            if self._navigation.is_open:  # whoever went back to a chat meanwhile is not torn out of it
                self.complete.emit(paths[0], paths[1] if len(paths) > 1 else "")

        self._jobs.run("complete", lambda _stop: [self._service().path_of(ref) for ref in refs], done, self._log)


def _arrival_notice(rows: Sequence[Download]) -> str:
    checked, others = (
        ", ".join(row.name for row in rows if bool(row.request.url) is linked) for linked in (False, True)
    )
    words = [translate("HubController", "Downloaded and checked: {names}.").format(names=checked)] if checked else []
    if others:
        unchecked = translate("HubController", "Downloaded, but not verified, as there is no checksum: {names}.")
        words.append(unchecked.format(names=others))
    return " ".join(words)
