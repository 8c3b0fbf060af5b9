"""Connects the header's model list with the library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from app.controllers.models.jobs import JobRunner, ReportProblem
from app.controllers.models.models import ModelController
from app.controllers.parts import Parts, PartsController
from app.core.domain.model_name import name_of_file
from app.core.domain.models import LibraryRow, PickerView

if TYPE_CHECKING:  # the first paint waits for none of it
    from app.controllers.models.hub_service import HubService


class ModelPickerController(PartsController):
    def __init__(
        self,
        parts: Parts,
        jobs: JobRunner,
        service: Callable[[], HubService],
        models: ModelController,
        report: ReportProblem,
    ) -> None:
        super().__init__(parts)
        self._header = parts.window.header
        self._jobs = jobs
        self._service = service
        self._models = models
        self._report = report
        self._view = PickerView()
        self._drafts_of = ""  # the target whose drafts are in the view
        self._header.models_wanted.connect(self.show)
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
            self._jobs.run(
                "drafts to choose", lambda stop: self._service().drafts_here(path, stop), drafts, self._report
            )

    def prepare(self) -> None:
        """Read the library ahead, so that the list is complete on opening, except for drafts."""

        def listed(rows: tuple[LibraryRow, ...]) -> None:
            self._window.note_titles([(name_of_file(row.path), row.name) for row in rows])
            self._view = replace(self._view, targets=rows)
            self._header.set_models(self._view)

        self._jobs.run("models to choose", lambda _stop: self._service().picker_rows(), listed, self._report)

    def _pick(self, path: str) -> None:
        """Load a target with its paired draft; the chat continues with it."""
        target = self._state.engine.target
        if target is not None and target.path == path:
            return
        self._jobs.run(
            "pick",
            lambda _stop: self._service().draft_of(path),
            lambda draft: self._models.load_pair(path, draft),
            self._report,
        )
