"""The one door to huggingface_hub: searching, details, README, and bytes of files.

Owns addresses, headers and the connection; what an answer means is judged in `app/hub/answers.py`. Every call blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from app.hub.records import RemoteLocation, RepoDetails, RepoSummary, SortBy


class ByteStream(Protocol):
    """The body of an answer, read once."""

    start: int  # offset in the file of the first byte that comes
    etag: str  # of this answer, as the server that gave it calls it; may differ from the hub's
    total_bytes: int | None  # the whole file's size, as this answer says

    def chunks(self) -> Iterator[bytes]:
        """The bytes, in pieces of any size.

        Raises:
            HubUnreachableError: the connection broke or stalled.
        """
        ...


class HubClient:
    """One hub: the real one, or the mirror that HF_ENDPOINT names. Safe to use from several threads."""

    def __init__(self, endpoint: str = "", timeout_s: float = 20.0) -> None:
        """Nothing is imported or opened yet. An empty ``endpoint`` takes HF_ENDPOINT, or the real hub."""
        raise NotImplementedError

    def search(self, query: str, sort: SortBy = SortBy.DOWNLOADS, limit: int = 50) -> tuple[RepoSummary, ...]:
        """Repositories with GGUF files.

        Raises:
            HubError: as its subclasses say.
        """
        raise NotImplementedError

    def details(self, repo_id: str, revision: str = "main") -> RepoDetails:
        """One repository with its models, sizes and checksums.

        Raises:
            HubError: as its subclasses say.
        """
        raise NotImplementedError

    def readme(self, repo_id: str, revision: str = "main") -> str:
        """The README's Markdown without its YAML head, at most 1 MB of it; empty where there is none.

        Raises:
            HubError: as its subclasses say.
        """
        raise NotImplementedError

    def page_url(self, repo_id: str) -> str:
        """The address of the repository's page for a browser."""
        raise NotImplementedError

    def locate(self, repo_id: str, path: str, revision: str = "main") -> RemoteLocation:
        """Ask where a file lies now, its size and its ETag: a fresh HEAD.

        Raises:
            HubError: as its subclasses say.
        """
        raise NotImplementedError

    def open(
        self, location: RemoteLocation, start: int = 0, end: int | None = None, if_range: str = ""
    ) -> AbstractContextManager[ByteStream]:
        """Open bytes ``start`` to ``end`` (exclusive; None: all the rest) of a file.

        The stream's ``start`` is 0 where the server ignored the range or ``if_range`` (an ETag) no longer held.
        A token goes to the hub's own host only, never with a redirect to another.

        Raises:
            HubError: as its subclasses say.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the connections."""
        raise NotImplementedError
