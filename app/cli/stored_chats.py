"""The file of chats for a command: opened without a window, used, and closed again."""

from __future__ import annotations

from collections.abc import Callable

from app.cli.output import fail
from app.core.domain.errors import AppError
from app.core.paths import find_paths
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore


def with_chats(work: Callable[[ChatStore], int], *, only_reads: bool) -> int:
    """Do the work; its exit code, or 1 with one sentence where it could not be done."""
    paths = find_paths()
    store = ChatStore(StoreLocation(paths.chats_file, paths.backups), lambda _trouble: None)
    problem = store.open()
    try:
        # Chats that were set aside: what stands in for them holds nothing, and nothing may be written to it. Chats that
        # cannot be saved can be read all the same.
        if problem is not None and not (only_reads and store.has_stored):
            return fail(problem)
        return work(store)
    except AppError as error:
        return fail(error.problem)
    finally:
        store.close()
