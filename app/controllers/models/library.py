"""Connects the library page, the downloads page and the header's model list with the library and the downloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices

from app.controllers.jobs import log_problem
from app.controllers.layers import ChatLayers
from app.controllers.models.models import ModelController
from app.controllers.parts import Parts, PartsController
from app.core.domain.model_name import name_of_file
from app.core.domain.models import LibraryRow, PickerView
from app.core.storage.window_state import note_welcomed
from engine.records import Problem
from ui.models.parts import WELCOME
from ui.text.formatting import size
from ui.text.language import translate

if TYPE_CHECKING:  # imported after the first paint
    from app.controllers.models.hub_service import HubService
    from app.core.domain.models import Download, ModelRef, Offer
    from ui.models.panel import ModelsPanel

Service = Callable[[], "HubService"]


class HubLibraryController(PartsController):
    changed = Signal()  # the user added or removed a model
    noted = Signal()  # the library has recorded the loaded models

    def __init__(self, parts: Parts, service: Service) -> None:
        super().__init__(parts)
        self._service, self._navigation = service, self._window.models
        self._used = ("", "")  # the loaded files: target, draft
        self._looked_elsewhere = False
        self._scanned: tuple[Offer, ...] = ()  # models in the folder that was searched last

    def attach(self, panel: ModelsPanel) -> None:
        requests = panel.requests
        requests.reveal_requested.connect(self._reveal)
        requests.remove_requested.connect(self._remove)
        requests.add_requested.connect(self._add)
        requests.offer_taken.connect(self._add)
        requests.scan_requested.connect(self._scan)

    def use(self, target: str, draft: str) -> None:
        """Record which files are loaded; empty for a built-in or missing model."""
        self._used = used = (target, draft)

        def done(pairs: dict[str, str]) -> None:
            self._state.pairs = pairs
            self.noted.emit()
            if self._navigation.is_open:
                self.show()

        self._jobs.run("use", lambda _stop: self._service().record_use(*used), done, log_problem)

    def on_page(self) -> None:
        """Called when the page is shown; the first time also searches the folders of other apps."""
        self.show(look_elsewhere=not self._looked_elsewhere)

    def show(self, *, look_elsewhere: bool = False) -> None:
        """Reload the library if it is visible; with ``look_elsewhere`` also other apps' folders."""
        if not self._navigation.is_created:
            return
        self._looked_elsewhere = self._looked_elsewhere or look_elsewhere
        used, scanned, offers = self._used, self._scanned, self._looked_elsewhere

        def done(found: tuple[tuple[LibraryRow, ...], tuple[Offer, ...], int]) -> None:
            rows, offers, free_bytes = found
            self._navigation.panel.library.set_library(rows, offers)
            self._navigation.panel.welcome.set_offers(offers, free_bytes)

        def work(_stop: object) -> tuple[tuple[LibraryRow, ...], tuple[Offer, ...], int]:
            from app.controllers.models.hub_service import free_memory  # noqa: PLC0415  (the start does not wait for it)

            service = self._service()
            found = service.library.find_offers(scanned) if offers else ()
            return service.library_rows(*used), found, free_memory()

        self._jobs.run("library", work, done)

    def _scan(self, folder: str) -> None:
        def done(offers: tuple[Offer, ...]) -> None:
            self._scanned = offers
            self._navigation.panel.show_notice(
                translate("HubController", "Searched {folder}: %n models.", None, len(offers)).format(folder=folder)
            )
            self.show(look_elsewhere=True)

        words = translate("HubController", "Searching {folder}…")
        self._navigation.panel.show_notice(words.format(folder=folder))
        self._jobs.run("scan", lambda stop: self._service().search_folder(Path(folder), stop), done)

    def _add(self, path: str) -> None:
        self._jobs.run(f"add {path}", lambda _stop: self._service().add(path), lambda _name: self._changed())

    def _remove(self, name: str) -> None:
        def done(num_bytes: int) -> None:
            words = translate("HubController", "Freed {size} of disk space.").format(size=size(num_bytes))
            words = words if num_bytes else translate("HubController", "Removed from the list.")
            self._navigation.panel.show_notice(words)
            self._changed()

        self._jobs.run(f"remove {name}", lambda _stop: self._service().library.remove(name), done)

    def _changed(self) -> None:
        self.show()
        self.changed.emit()

    def _reveal(self, path: str) -> None:
        folder = Path(path).parent
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            where = translate("Problems", "It is at {parent}.").format(parent=folder)
            advice = translate("HubController", "Open the folder with your file manager.")
            self._parts.report(Problem("The folder could not be opened", where, advice))


class ModelPickerController(PartsController):
    """Fills the header's list of models."""

    def __init__(self, parts: Parts, service: Service, models: ModelController) -> None:
        super().__init__(parts)
        self._service, self._models = service, models
        self._header = self._window.header
        self._view = PickerView()
        self._drafts_of = ""  # the target whose drafts are in the view
        self._header.models_opening.connect(self.show)
        self._header.target_picked.connect(self._pick)

    def show(self) -> None:
        target = self._state.engine.target
        path = target.path if target else ""
        if path != self._drafts_of:
            self._view, self._drafts_of = replace(self._view, drafts=()), path
            self._header.set_models(self._view)

        def drafts(rows: tuple[LibraryRow, ...]) -> None:
            if path == self._drafts_of:
                self._view = replace(self._view, drafts=rows)
                self._header.set_models(self._view)

        self.prepare()
        if path:
            self._jobs.run("drafts to choose", lambda stop: self._service().drafts_here(path, stop), drafts)

    def prepare(self) -> None:
        """Read the library in advance, so that the list can open at once; drafts are added later."""

        def listed(rows: tuple[LibraryRow, ...]) -> None:
            self._window.set_titles([(name_of_file(row.path), row.name) for row in rows])
            self._view = replace(self._view, targets=rows)
            self._header.set_models(self._view)

        self._jobs.run("models to choose", lambda _stop: self._service().picker_rows(), listed)

    def _pick(self, path: str) -> None:
        """Load a target with its paired draft; the chat continues with it."""
        target = self._state.engine.target
        if target is not None and target.path == path:
            return
        self._jobs.run("pick", lambda _stop: self._service().draft_of(path), partial(self._models.load_pair, path))


class HubDownloadsController(PartsController):
    arrived = Signal()  # downloads completed since the last check
    changed = Signal()  # a download was added, removed, or changed its state
    complete = Signal(str, str)  # target and draft (or "") are downloaded: chat with them

    def __init__(self, parts: Parts, service: Service, layers: ChatLayers) -> None:
        super().__init__(parts)
        self._service, self._layers, self._navigation = service, layers, self._window.models
        self._rows: tuple[Download, ...] = ()
        self._looking = self._look_again = False
        self._has_begun = False  # the stored queue was loaded
        self._is_known = False  # true after the first check: report downloads that ended since then
        self._chat_after: tuple[ModelRef, ...] = ()

    def attach(self, panel: ModelsPanel) -> None:
        panel.requests.pull_requested.connect(self.pull)
        panel.requests.download_action_requested.connect(self._on_action)

    def start(self) -> None:
        def begin(should_stop: Callable[[], bool]) -> None:
            service = self._service()
            if not should_stop():
                service.downloads.start()

        def begun(ended: Problem | None) -> None:
            if ended is not None:
                log_problem(ended)
            self._has_begun = True
            self.show()

        self._jobs.run("start", begin, begun, begun)

    def pull(self, refs: tuple[ModelRef, ...], then_chat: bool) -> None:
        """Download the missing files; with ``then_chat`` load them when all are complete."""
        self._chat_after = refs if then_chat else ()
        if self._navigation.page == WELCOME:
            note_welcomed(self._parts.paths)

        def done(_none: None) -> None:
            self.show()
            self._chat_if_complete()
            if self._chat_after:
                self._navigation.open("downloads")

        # A separate job for each: the failure of one is reported even if others follow.
        self._jobs.run(f"pull {refs}", lambda _stop: self._service().pull(refs), done)

    def _on_action(self, key: str, action: str) -> None:
        downloads = self._service().downloads
        actions = {"pause": downloads.pause, "resume": downloads.resume, "cancel": downloads.cancel}
        if action == "cancel":
            self._chat_after = ()
        # In a job: cancelling deletes files, which may block.
        self._jobs.run(f"{action} {key}", lambda _stop: actions[action](key), lambda _none: self.show())

    def show(self) -> None:
        # Rows change ten times a second. Only one read runs at a time, followed by one more, so that a read can finish.
        if self._looking:
            self._look_again = True
            return
        self._looking, self._look_again = True, False
        has_begun = self._has_begun

        def done(rows: tuple[Download, ...]) -> None:
            self._on_rows(rows)
            self._is_known = has_begun

        def failed(problem: Problem) -> None:
            self._looking = False
            log_problem(problem)

        self._jobs.run("downloads", lambda _stop: self._service().all_downloads(), done, failed)

    def _on_rows(self, rows: tuple[Download, ...]) -> None:
        # The job has loaded these.
        from app.core.domain.models import DownloadStatus  # noqa: PLC0415
        from app.core.hub.downloads.first_model import SMALL, is_first_model  # noqa: PLC0415

        self._looking = False
        if self._look_again:
            self.show()
        before = {row.key: row.status for row in self._rows}
        self._rows = rows
        self._navigation.set_downloads(rows)
        ended = [row for row in rows if row.status is DownloadStatus.DONE and before.get(row.key) is not row.status]
        for row in ended:
            if is_first_model(row.request.repo_id, row.request.model.files[0].path):
                self._layers.begin_model(row.path, dict(SMALL.own))
        if ended and self._is_known:  # also reports downloads that began and ended since then
            self.arrived.emit()
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
            if self._navigation.is_open:  # do not interrupt a user who went back to a chat
                self.complete.emit(paths[0], paths[1] if len(paths) > 1 else "")

        self._jobs.run("complete", lambda _stop: [self._service().path_of(ref) for ref in refs], done, log_problem)


def _arrival_notice(rows: Sequence[Download]) -> str:
    checked, others = (
        ", ".join(row.name for row in rows if bool(row.request.url) is linked) for linked in (False, True)
    )
    words = [translate("HubController", "Downloaded and checked: {names}.").format(names=checked)] if checked else []
    if others:
        unchecked = translate("HubController", "Downloaded, but not verified, as there is no checksum: {names}.")
        words.append(unchecked.format(names=others))
    return " ".join(words)
