"""Opens the stored chats for a command."""

from __future__ import annotations

from collections.abc import Callable

from app.cli.output import fail
from app.core.paths import find_paths
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore


def with_chats(work: Callable[[ChatStore], int], *, only_reads: bool) -> int:
    """Run ``work``; returns its exit code, or 1 after printing why it failed."""
    paths = find_paths()
    store = ChatStore(StoreLocation(paths.chats_file, paths.backups), lambda _trouble: None)
    problem = store.open()
    try:
        # After a problem stored chats may be read but not written: an empty file may have replaced a damaged one.
        if problem is not None and not (only_reads and store.has_stored):
            return fail(problem)
        return work(store)
    finally:
        store.close()
