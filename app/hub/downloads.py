"""The download queue: several at once with a bound, paused, resumed, retried, and there again after a crash.

Knows no byte: `app/hub/transfer.py` moves those.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.hub.client import HubClient
from app.hub.library import Library
from app.hub.records import DownloadRequest, DownloadState

MAX_AT_ONCE = 3


class Downloads:
    """All downloads of this process. Every method returns at once; the work is done on threads of its own."""

    def __init__(
        self,
        client: HubClient,
        library: Library,
        queue_file: Path | None = None,
        listener: Callable[[], None] = lambda: None,
        max_at_once: int = MAX_AT_ONCE,
    ) -> None:
        """``listener`` is called on a worker's thread, at most ten times a second, when `snapshot` has changed.

        With a ``queue_file`` the queue survives: what was queued or running goes on by itself after `start`.
        """
        raise NotImplementedError

    def start(self) -> None:
        """Read the queue file and begin to work."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop all threads; parts stay on the disk, and the queue in its file."""
        raise NotImplementedError

    def add(self, request: DownloadRequest) -> str:
        """Queue a model; its id. One that is queued already is not queued twice.

        Raises:
            UnsafeNameError: a name would lead out of the library folder.
        """
        raise NotImplementedError

    def pause(self, download_id: str) -> None:
        """Stop, and keep the part."""
        raise NotImplementedError

    def resume(self, download_id: str) -> None:
        """Go on with a paused or failed one."""
        raise NotImplementedError

    def retry(self, download_id: str) -> None:
        """The same as `resume`, for a failed one."""
        raise NotImplementedError

    def cancel(self, download_id: str) -> None:
        """Stop, delete the part, and drop it from the queue."""
        raise NotImplementedError

    def remove(self, download_id: str) -> None:
        """Drop a finished one from the queue; its model stays in the library. Others are cancelled."""
        raise NotImplementedError

    def snapshot(self) -> tuple[DownloadState, ...]:
        """All downloads, oldest first."""
        raise NotImplementedError
