"""Stores the list of remote servers in a file: addresses and facts, never keys."""

import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.core.domain.engines import RemoteModel, ServerFacts, ServerKind, ServerRecord
from app.core.domain.errors import SettingsWriteError
from app.core.hub.errors import TokenStoreError
from app.core.remote.client import RemoteClient, check_encrypted, normal_url, server_key_store
from app.core.remote.detection import detect
from app.core.remote.errors import ModelNotOfferedError, ServerAddressError, ServerListError
from app.core.storage.toml_file import TomlFile
from engine.records import Problem
from engine.sentences import i18n

SCHEMA = 1
NO_KEYRING = i18n("Set up a keyring such as GNOME Keyring or KWallet. Paceline does not write keys to files.")


class RemoteServerList:
    """The list of remote servers. Thread-safe; methods that use a server or the keyring block."""

    def __init__(self, path: Path) -> None:
        self._file = TomlFile(path, i18n("remote servers"), i18n("no remote servers"))
        self._lock = threading.Lock()
        read = self._file.read()
        self.problem: Problem | None = read.problem
        entries = read.document.get("engines")
        found = map(_record, entries if isinstance(entries, list) else ())
        self._records = {record.url: record for record in found if record is not None}

    @property
    def all(self) -> tuple[ServerRecord, ...]:
        """All servers, in the order in which they were added."""
        with self._lock:
            return tuple(self._records.values())

    def find(self, url: str) -> ServerRecord:
        """The server at an address.

        Raises:
            ServerAddressError: the list has no such server.
        """
        with self._lock:
            record = self._records.get(url)
        if record is None:
            raise ServerAddressError("This remote server is no longer in the list.", "Add it again, or choose a model.")
        return record

    def add(self, address: str, key: str = "", *, allows_plain: bool = False) -> ServerRecord:
        """Request a server's facts, store its key in the keyring, and add it to the list.

        Nothing is stored if the server is unreachable. An empty ``key`` keeps the stored one.

        Raises:
            RemoteError: see `app.core.remote.detection.detect`.
            UnencryptedAddressError: ``allows_plain`` is needed.
            TokenStoreError: the key cannot be stored.
            ServerListError: the list cannot be written.
        """
        url = normal_url(address)
        check_encrypted(url, allowed=allows_plain)
        keys = server_key_store(url)
        facts = detect(RemoteClient(url, key.strip() or keys.find(), allows_plain=allows_plain))
        if not facts.models:
            raise ModelNotOfferedError(
                "The remote server offers no model.", "Load a model there, then add the server again."
            )
        if key.strip():
            try:
                keys.save(key)
            except TokenStoreError as error:
                raise TokenStoreError(error.message, NO_KEYRING) from error
        record = ServerRecord(url, facts, allows_plain)
        self._keep(record)
        return record

    def refresh(self, url: str, client: RemoteClient | None = None) -> ServerRecord:
        """Refresh the facts of a server. A caller that may abort passes its own ``client``.

        Raises:
            RemoteError: the server is unreachable, or the list cannot be written.
        """
        record = self.find(url)
        asked = replace(record, facts=detect(client or self.client(record)))
        if asked != record:
            self._keep(asked)
        return asked

    def client(self, record: ServerRecord) -> RemoteClient:
        """Make a client with the server's key."""
        return RemoteClient(record.url, server_key_store(record.url).find(), allows_plain=record.allows_plain)

    def remove(self, url: str) -> None:
        """Remove a server from the list, and its key from the keyring unless another server of that host needs it.

        Raises:
            ServerListError: the list cannot be written.
            TokenStoreError: the keyring cannot be used.
        """
        with self._lock:
            removed = self._records.pop(url, None)
            self._write()
        if removed is not None and all(_origin(other.url) != _origin(url) for other in self.all):
            keys = server_key_store(url)
            if keys.find():
                keys.forget()

    def _keep(self, record: ServerRecord) -> None:
        with self._lock:
            self._records[record.url] = record
            self._write()

    def _write(self) -> None:
        try:
            tables = [
                {"url": record.url, "allows_plain": record.allows_plain, **asdict(record.facts)}
                for record in self._records.values()
            ]
            self._file.write({"schema": SCHEMA, "engines": tables})
        except (SettingsWriteError, OSError) as error:
            raise ServerListError(i18n("{path} cannot be written.", path=self._file.path)) from error


def _origin(url: str) -> str:
    return "/".join(url.split("/")[:3])


def _record(table: Any) -> ServerRecord | None:  # noqa: ANN401 (TOML)
    """Parse an entry of the file; None if it is invalid."""
    try:
        kind = ServerKind(table["kind"]) if table["kind"] in set(ServerKind) else ServerKind.OTHER
        models = tuple(
            RemoteModel(str(each["name"]), int(each["n_ctx"]), each.get("has_vision") is not False)
            for each in table["models"]
        )
        facts = ServerFacts(kind, str(table["version"]), models, str(table["drafting"]))
        return ServerRecord(normal_url(str(table["url"])), facts, table["allows_plain"] is True)
    except (LookupError, TypeError, ValueError, ServerAddressError):
        return None
