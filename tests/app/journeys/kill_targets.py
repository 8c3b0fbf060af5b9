"""A child process to be killed while it writes settings, imports, titles or edits. It reports what was stored."""

import itertools
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from app.core.domain.settings.values import Settings
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.portable import PortableChat
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange import transfer
from app.core.storage.settings_file import write_settings


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def write_settings_again_and_again(folder: Path) -> None:
    for number in itertools.count():
        settings, _ = Settings().changed({"system_prompt": f"{number} " * 20_000, "top_k": number % 100})
        write_settings(folder / "settings.toml", settings)
        tell(str(number))


def import_a_file(folder: Path) -> None:
    store, insert, batches = opened(folder), transfer._insert_all, itertools.count()

    def insert_and_tell(chats: Sequence[PortableChat], db: sqlite3.Connection) -> int:
        tell(str(next(batches)))  # this batch has begun; the earlier ones are stored
        return insert(chats, db)

    transfer._insert_all = insert_and_tell
    transfer.import_chats(store, folder / "chats.json")
    store.close()


def rename_and_type(folder: Path) -> None:
    store = opened(folder)
    chat = store.create_conversation("0")
    sent = store.add_message(chat, "user", "sent").id
    for number in itertools.count(1):
        store.rename_conversation(chat, str(number))
        store.library.save_unsent(chat, f"typed {number}").result()
        store.edits.save(sent, f"typed {number}").result()
        tell(str(number))


def opened(folder: Path) -> ChatStore:
    store = ChatStore(StoreLocation(folder / "chats.db", folder / "backups"), [].append)
    if (problem := store.open()) is not None:
        raise SystemExit(problem.message)
    return store


if __name__ == "__main__":
    DEEDS = {"settings": write_settings_again_and_again, "import": import_a_file, "titles": rename_and_type}
    DEEDS[sys.argv[1]](Path(sys.argv[2]))
