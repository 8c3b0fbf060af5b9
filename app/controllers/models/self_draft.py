"""Makes a draft of a model itself when somebody asks for one in the library: in a helper process, with its progress.

There is one at a time, and a dialog in front of it. Imported with the Models panel, not with the window.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.controllers.models.jobs import UNEXPECTED
from app.controllers.parts import Parts
from app.domain.models import ModelRef, SelfDraftState, SelfDraftView
from app.hub.file_names import all_shards
from app.paths import builtin_target
from engine.errors import EngineError
from engine.records import Problem
from engine.sentences import said
from engine.session.worker import FunctionJob
from ui.models.panel import ModelsPanel
from ui.models.self_draft_dialog import SelfDraftDialog
from ui.text.problem_words import explanation, in_language, in_words

if TYPE_CHECKING:  # NumPy and llama.cpp are loaded on the engine's thread
    from engine.session.session import Session
    from engine.tuning.self_draft import SelfDraft

log = logging.getLogger(__name__)

NO_ENGINE = Problem("No engine", said("The engine has not started."), "Restart Paceline.")
Post = Callable[[Callable[[], None]], None]


class SelfDraftController:
    """Lives on the window's thread; ``post`` has something called there. ``use`` takes a target with its draft."""

    def __init__(self, parts: Parts, post: Post, use: Callable[[ModelRef, ModelRef], None]) -> None:
        self._parts, self._post, self._use = parts, post, use
        self._stop = threading.Event()
        self.dialog: SelfDraftDialog | None = None

    def attach(self, panel: ModelsPanel) -> None:
        """Follow what is wanted of it in a place that was made."""
        panel.requests.self_draft_requested.connect(self.ask)

    def ask(self, target: ModelRef) -> None:
        """Say what it is, before anything is done."""
        if self.dialog is not None:
            return
        path = Path(target.path)
        view = SelfDraftView(path.stem, _size_of(path))
        self.dialog = dialog = SelfDraftDialog(self._parts.window, self._parts.window.theme, view)
        dialog.start_requested.connect(lambda: self._start(path))
        dialog.stop_requested.connect(self.close)
        dialog.draft_taken.connect(lambda draft: self._use(target, ModelRef(path=draft)))
        dialog.finished.connect(self._on_finished)
        dialog.open()

    def close(self) -> None:
        """End what is under way."""
        self._stop.set()

    def _on_finished(self, _result: int) -> None:
        self.dialog = None

    def _start(self, path: Path) -> None:
        self._stop = stop = threading.Event()
        self._show(stop, state=SelfDraftState.WORKING, words=(), fraction=0.0)

        def turn(_session: Session, pause: Callable[[], None]) -> None:
            self._work(path, stop, pause)

        job = FunctionJob(turn, lambda: self._fail(stop, NO_ENGINE))
        self._parts.worker.run_job(job, in_background=True)

    def _show(self, stop: threading.Event, **changes: object) -> None:
        if self.dialog is not None and stop is self._stop and not stop.is_set():
            self.dialog.set_view(replace(self.dialog.view, **changes))  # type: ignore[arg-type]

    # ---- in a turn of the engine's, which does nothing else meanwhile -----------------------------------------------

    def _work(self, path: Path, stop: threading.Event, pause: Callable[[], None]) -> None:
        from engine.sandbox.self_draft_child import make_in_helper  # noqa: PLC0415  (as above)

        def progress(what: str, fraction: float) -> None:
            self._post(lambda: self._show(stop, words=(in_language(what),), fraction=fraction))

        def is_over() -> bool:
            pause()
            return stop.is_set()

        try:
            paths = self._parts.paths
            found = make_in_helper(path, paths.self_drafts, paths.cache, builtin_target(), progress, is_over)
        except EngineError as error:
            if not stop.is_set():
                self._fail(stop, error.problem)
        except Exception:
            log.exception("a draft of %s itself could not be made", path.name)
            self._fail(stop, UNEXPECTED)
        else:
            self._end(stop, found)

    def _end(self, stop: threading.Event, found: Sequence[SelfDraft]) -> None:
        draft = str(found[0].path) if found[0].pays else ""

        def show() -> None:
            words = tuple(in_language(one.words) for one in found)
            self._show(stop, state=SelfDraftState.ENDED, words=words, draft=draft)

        self._post(show)

    def _fail(self, stop: threading.Event, problem: Problem) -> None:
        def show() -> None:
            words = f"{in_words(problem).title}: {explanation(problem)}"
            self._show(stop, state=SelfDraftState.FAILED, words=(words,))

        self._post(show)


def _size_of(path: Path) -> int:
    try:
        return sum(part.stat().st_size for part in all_shards(path))
    except OSError:
        return 0
