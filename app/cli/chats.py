"""`paceline chats export|import`: exports conversations to a file and imports them, without a window."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from app.cli.output import counted_text, fail
from app.core.domain.errors import ChatsImportError, StorageFullError
from app.core.paths import find_paths
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.transfer import export_chats, import_chats

DISK_FULL_ADVICE = "Free some space and try again. Chats that are already here are not imported twice."


def command(options: argparse.Namespace) -> int:
    """Returns 0, or 1 after printing why it failed."""
    if options.action == "export":
        return with_chats(lambda store: _export(store, options), only_reads=True)
    return with_chats(lambda store: _import(store, options.files), only_reads=False)


def with_chats(work: Callable[[ChatStore], int], *, only_reads: bool) -> int:
    """Run ``work`` with the stored chats; returns its exit code, or 1 after printing why it failed."""
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


def _export(store: ChatStore, options: argparse.Namespace) -> int:
    number = export_chats(store, Path(options.file), options.format, None)
    sys.stderr.write(f"{counted_text(number, 'chat', 'chats')} exported.\n")
    return 0


def _import(store: ChatStore, files: list[str]) -> int:
    """Import the files; after a file that cannot be used, the remaining files are still imported."""
    code = 0
    for name in files:
        try:
            imported = import_chats(store, Path(name))
        except ChatsImportError as error:
            code = fail(error.problem)
        except StorageFullError as error:
            return fail(replace(error.problem, advice=DISK_FULL_ADVICE))
        else:
            sys.stdout.write(f"{name}: {imported.sentence}\n")
            code = code or int(bool(imported.bad))
    return code
