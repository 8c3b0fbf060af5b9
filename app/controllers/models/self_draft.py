"""Makes a self-draft (a copy of a model without some layers) in a helper process, with progress.

Started in the library; one at a time, with a dialog. Imported with the Models panel, not with the window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from app.controllers.parts import Parts
from app.core.domain.models import ModelRef
from app.core.hub.file_names import all_shards
from app.core.hub.self_draft_job import SelfDraftJob, SelfDraftProgress
from app.core.paths import builtin_target
from engine.records import EngineFailed, Event, Problem
from engine.requests import JobEnded, RunJob
from engine.sandbox.self_draft_child import SelfDraftPlan
from ui.models.panel import ModelsPanel
from ui.models.self_draft_dialog import SelfDraftDialog
from ui.text.problem_words import explanation, in_language, in_words

if TYPE_CHECKING:  # imported late: NumPy and llama.cpp
    from engine.tuning.self_draft import SelfDraft


class SelfDraftController:
    """Lives on the GUI thread. ``use`` loads a target with its draft."""

    def __init__(self, parts: Parts, use: Callable[[ModelRef, ModelRef], None]) -> None:
        self._parts, self._use = parts, use
        self._number: int | None = None  # number of the running request
        self.dialog: SelfDraftDialog | None = None

    def attach(self, panel: ModelsPanel) -> None:
        panel.requests.self_draft_requested.connect(self.ask)

    def ask(self, target: ModelRef) -> None:
        if self.dialog is not None:
            return
        path, num_bytes = Path(target.path), 0
        window = self._parts.window
        with suppress(OSError):
            num_bytes = sum(part.stat().st_size for part in all_shards(path))
        self.dialog = dialog = SelfDraftDialog(window, window.theme, path.stem, num_bytes)
        dialog.start_requested.connect(lambda: self._start(path))
        dialog.stop_requested.connect(self.close)
        dialog.draft_taken.connect(lambda draft: self._use(target, ModelRef(path=draft)))
        dialog.finished.connect(self._on_finished)
        dialog.open()

    def close(self) -> None:
        if self._number is not None:
            number, self._number = self._number, None
            self._parts.worker.cancel(number)

    def _on_finished(self, _result: int) -> None:
        self.dialog = None

    def _start(self, path: Path) -> None:
        paths = self._parts.paths
        job = SelfDraftJob(SelfDraftPlan(path, paths.self_drafts, paths.cache, builtin_target()))
        request = RunJob(job, background=True)
        self._number = request.request_id
        if self.dialog is not None:
            self.dialog.show_progress()

        def post(event: Event) -> None:
            self._parts.jobs.post(lambda: self._on_event(request.request_id, event))

        self._parts.worker.submit(request, post)

    def _on_event(self, number: int, event: Event) -> None:
        dialog = self.dialog
        if number != self._number or dialog is None:
            return
        if isinstance(event, SelfDraftProgress):
            dialog.show_progress(in_language(event.what), event.fraction)
        elif isinstance(event, EngineFailed):
            dialog.show_failure(_words(event.problem))
        elif isinstance(event, JobEnded) and isinstance(event.value, Problem):
            dialog.show_failure(_words(event.value))
        elif isinstance(event, JobEnded):
            found = cast("Sequence[SelfDraft]", event.value)
            draft = str(found[0].path) if found[0].pays else ""
            dialog.show_result([in_language(one.words) for one in found], draft)


def _words(problem: Problem) -> str:
    return f"{in_words(problem).title}: {explanation(problem)}"
