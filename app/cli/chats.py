"""`paceline chats export|import`: exports conversations to a file and imports them, without a window."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from app.cli.output import counted_text, fail, message_stream
from app.cli.stored_chats import with_chats
from app.core.domain.errors import ChatsImportError, StorageFullError
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.transfer import export_chats, import_chats

STDOUT = "-"
DISK_FULL_ADVICE = "Free some space and try again. Chats that are already here are not imported twice."


def command(options: argparse.Namespace) -> int:
    """Returns 0, or 1 after printing why it failed."""
    if options.action == "export":
        return with_chats(lambda store: _export(store, options), only_reads=True)
    return with_chats(lambda store: _import(store, options.files), only_reads=False)


def _export(store: ChatStore, options: argparse.Namespace) -> int:
    if options.file == STDOUT:
        return _export_to_stdout(store, options)
    messages = message_stream(options.file)
    number = export_chats(store, Path(options.file), options.format, options.chat)
    messages.write(f"{counted_text(number, 'chat', 'chats')} exported to {options.file}.\n")
    return 0


def _export_to_stdout(store: ChatStore, options: argparse.Namespace) -> int:
    """Export to a temporary file first, so that nothing reaches stdout if the export fails."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chats"
        number = export_chats(store, file, options.format, options.chat)
        if sys.stdout.isatty():
            sys.stdout.write(file.read_text("utf-8", "replace"))
        else:
            with file.open("rb") as written:
                shutil.copyfileobj(written, sys.stdout.buffer)
    sys.stdout.flush()
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
