"""What happens between the command and the first paint, as named tasks; it runs without a window, too.

No task may stop the start: what goes wrong is a problem to be shown, and the app goes on with what it has.
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
    """What the tasks have brought about so far."""

    paths: Paths
    on_trouble: Callable[[Problem | None], None]
    settings: Settings = field(default_factory=Settings)
    store: ChatStore | None = None
    problems: list[Problem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def opened_store(self) -> ChatStore:
        """Wait until the chats are open, note what there is to tell of it, and give them.

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
class Task:
    """One step, with the name it has in the log."""

    name: str
    run: Callable[[Startup], None]


def run_tasks(startup: Startup, tasks: Sequence[Task]) -> None:
    """Run all tasks in order."""
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
    store = ChatStore(StoreLocation(startup.paths.chats_file, startup.paths.backups), startup.on_trouble)
    store.begin_opening()
    startup.store = store


TASKS = (Task("folders", _folders), Task("settings", _settings), Task("chats", _chats))
