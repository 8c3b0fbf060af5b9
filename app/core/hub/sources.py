"""Protocols for sources of files: the hub (`HubClient`) and links (`LinkSource`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from app.core.hub.records import RemoteLocation, RepoDetails, RepoSummary, SortBy


class Stream(Protocol):
    """The opened bytes of a file: see `app.core.hub.client.ByteStream`."""

    start: int
    etag: str

    def chunks(self) -> Iterator[bytes]: ...

    def abort(self) -> None: ...


class DownloadSource(Protocol):
    def locate(self, repo_id: str, path: str, revision: str = "main") -> RemoteLocation:
        """The current address and length of a file."""
        ...

    def open(
        self, location: RemoteLocation, start: int = 0, end: int | None = None, if_range: str = ""
    ) -> AbstractContextManager[Stream]: ...


class Hub(DownloadSource, Protocol):
    """A source with repositories: see `app.core.hub.client.HubClient`."""

    def search(self, query: str, sort: SortBy = SortBy.DOWNLOADS, limit: int = 50) -> tuple[RepoSummary, ...]: ...

    def details(self, repo_id: str, revision: str = "main") -> RepoDetails: ...
