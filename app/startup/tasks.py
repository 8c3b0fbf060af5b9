"""The start-up tasks before the first paint; they run without a window, too.

No task may stop the start: a failure is a problem to show, and the app continues with what it has.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.core.domain.settings.values import Settings
from app.core.paths import Paths, make_folders
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from app.core.storage.settings_file import read_settings
from engine.records import Problem

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Startup:
    paths: Paths
    on_save_state: Callable[[Problem | None], None]
    settings: Settings = field(default_factory=Settings)
    store: ChatStore | None = None
    problems: list[Problem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def opened_store(self) -> ChatStore:
        """Wait until the chats are open, record their problems, and return them.

        Raises:
            RuntimeError: no task has begun to open them.
        """
        if self.store is None:
            raise RuntimeError("the start-up tasks opened no store")
        problem = self.store.open()
        if problem is not None:
            self.problems.append(problem)
        return self.store


@dataclass(frozen=True, slots=True)
class StartupTask:
    """A named step."""

    name: str
    run: Callable[[Startup], None]


def run_tasks(startup: Startup, tasks: Sequence[StartupTask]) -> None:
    for task in tasks:
        log.info("start: %s", task.name)
        task.run(startup)


def _folders(startup: Startup) -> None:
    startup.problems += make_folders(startup.paths)


def _settings(startup: Startup) -> None:
    loaded = read_settings(startup.paths.settings_file)
    startup.settings = loaded.settings
    startup.notices += loaded.notices
    if loaded.problem is not None:
        startup.problems.append(loaded.problem)


def _chats(startup: Startup) -> None:
    store = ChatStore(StoreLocation(startup.paths.chats_file, startup.paths.backups), startup.on_save_state)
    store.begin_opening()
    startup.store = store


TASKS = (StartupTask("folders", _folders), StartupTask("settings", _settings), StartupTask("chats", _chats))
