"""What is used of a hub (`HubClient`) and of whatever else gives files (`LinkSource`), as protocols."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from app.core.hub.records import RemoteLocation, RepoDetails, RepoSummary, SortBy


class Stream(Protocol):
    """The bytes of a file, opened: see `app.core.hub.client.ByteStream`."""

    start: int
    etag: str

    def chunks(self) -> Iterator[bytes]:
        """The bytes as they arrive."""
        ...

    def abort(self) -> None:
        """End a read that waits."""
        ...


class DownloadSource(Protocol):
    """Gives files, or ranges of them."""

    def locate(self, repo_id: str, path: str, revision: str = "main") -> RemoteLocation:
        """Where a file lies now, and how long it is."""
        ...

    def open(
        self, location: RemoteLocation, start: int = 0, end: int | None = None, if_range: str = ""
    ) -> AbstractContextManager[Stream]:
        """Open its bytes, or a range of them."""
        ...


class Hub(DownloadSource, Protocol):
    """Knows repositories, too: see `app.core.hub.client.HubClient`."""

    def search(self, query: str, sort: SortBy = SortBy.DOWNLOADS, limit: int = 50) -> tuple[RepoSummary, ...]:
        """Find repositories."""
        ...

    def details(self, repo_id: str, revision: str = "main") -> RepoDetails:
        """Describe one repository."""
        ...
