"""What a start does before the first paint; it runs without a window, too.

Nothing here stops the start: a failure is a problem to show, and the app continues with what it has.
"""

import logging
from collections.abc import Callable

from app.core.paths import Paths, make_folders
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from app.core.storage.settings_file import read_settings
from engine.records import Problem

log = logging.getLogger(__name__)


class Startup:
    """Makes the folders, reads the settings, and begins to open the chats."""

    def __init__(self, paths: Paths, on_save_state: Callable[[Problem | None], None]) -> None:
        self.paths = paths
        self.problems: list[Problem] = list(make_folders(paths))
        loaded = read_settings(paths.settings_file)
        self.settings, self.notices = loaded.settings, loaded.notices
        self.problems += [loaded.problem] if loaded.problem is not None else []
        self._store = ChatStore(StoreLocation(paths.chats_file, paths.backups), on_save_state)
        self._store.begin_opening()
        log.info("The chats are being opened.")

    def opened_store(self) -> ChatStore:
        """Wait until the chats are open, record their problem, and return them."""
        problem = self._store.open()
        self.problems += [problem] if problem is not None else []
        return self._store
