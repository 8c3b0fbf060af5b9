"""The parts that all controllers share: window, engine, store, settings, state."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, QTimer

from app.controllers.jobs import JobRunner
from app.controllers.state import AppState
from app.core.domain.errors import StorageError
from app.core.domain.requests import Decode
from app.core.domain.settings.fields import SettingValue
from app.core.paths import Paths
from app.core.projects.projects import Projects
from app.core.remote.server_list import RemoteServerList
from app.core.storage.chats.store import ChatStore
from app.core.storage.pictures import PictureCache
from app.core.storage.settings_file import settings_document, settings_file
from app.core.storage.toml_file import DocumentSaver
from engine.records import Problem
from engine.requests import Engine
from ui.window.main_window import MainWindow

Result = TypeVar("Result")


class SettingsKeeper:
    """The only class that changes the app's settings; saves at once and reports a failure."""

    def __init__(self, path: Path, state: AppState, on_problem: Callable[[Problem], None]) -> None:
        self._on_problem = on_problem
        self._saver = DocumentSaver(settings_file(path), on_problem)
        self._state = state

    def change(self, changes: Mapping[str, SettingValue]) -> None:
        """Apply and save ``changes``. A rejected value is reported and its old value is shown again."""
        before = self._state.settings
        settings, complaints = before.changed(changes)
        for sentence in complaints:
            self._on_problem(Problem("This setting was not accepted", sentence, "Enter a value in its range."))
        changed = frozenset(key for key, value in settings.values.items() if value != before.values[key])
        if changed:
            self._saver.save(settings_document(settings))
        self._state.set_settings(settings, changed)


@dataclass(slots=True)
class Parts:
    window: MainWindow
    worker: Engine
    store: ChatStore
    keeper: SettingsKeeper
    state: AppState
    paths: Paths
    engines: RemoteServerList
    projects: Projects = field(init=False)
    jobs: JobRunner = field(init=False)
    pictures: PictureCache = field(default_factory=PictureCache)

    def __post_init__(self) -> None:
        self.projects = Projects(self.paths.projects_file)
        self.jobs = JobRunner(self.report)

    def report(self, problem: Problem) -> None:
        """Show a problem in the Models panel if it is open, else in the window."""
        (self.window.models.panel if self.window.models.is_open else self.window).show_problem(problem)

    @property
    def decode(self) -> Decode | None:
        """Decodes pictures for the loaded model; None if it has no vision."""
        return self.pictures.decoded if self.state.models.has_vision else None

    def attempt(self, job: Callable[[], Result]) -> Result | None:
        """Run a store operation; on failure report it and return None."""
        try:
            return job()
        except StorageError as error:
            self.window.show_problem(error.problem)
            return None

    def succeeds(self, job: Callable[[], object]) -> bool:
        """Run a store operation; on failure report it and return False."""
        return self.attempt(lambda: (job(),)) is not None


class PartsController(QObject):
    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self._parts, self._state, self._window = parts, parts.state, parts.window
        self._store, self._worker, self._keeper = parts.store, parts.worker, parts.keeper
        self._attempt, self._succeeds, self._jobs = parts.attempt, parts.succeeds, parts.jobs


DEBOUNCE_MS = 300
MAX_DELAY_S = 2.0  # longest delay while the user types or drags without a pause


class DebounceTimer(QTimer):
    """Fires shortly after the last change, and at least every `MAX_DELAY_S` during continuous changes."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent, singleShot=True, interval=DEBOUNCE_MS)
        self._since_s = 0.0

    def restart(self) -> None:
        now_s = time.monotonic()
        if not self.isActive():
            self._since_s = now_s
        if not self.isActive() or now_s - self._since_s < MAX_DELAY_S:
            self.start()
