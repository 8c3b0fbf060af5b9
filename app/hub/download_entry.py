"""One entry of the download queue: what was asked for and how it stands. Knows no other entry and no network."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

from app.errors import AppError
from app.hub.part_file import length_here
from app.hub.records import DownloadRequest, DownloadState, DownloadStatus, FileProgress
from app.hub.speed import Speed
from app.hub.transfer import Watch


class Entry:
    """One download: what was asked for, how it stands, and the thread that works on it, if any."""

    def __init__(self, request: DownloadRequest, status: DownloadStatus) -> None:
        self.request = request
        done = status is DownloadStatus.DONE
        files = tuple(
            FileProgress(file.path, file.size_bytes, (file.size_bytes or 0) if done else 0)
            for file in request.model.files
        )
        self.state = DownloadState(id_of(request), request, status, files)
        self.thread: threading.Thread | None = None
        self.watch: Watch | None = None
        self.speed = Speed()
        self.is_cancelled = False

    def stop(self) -> None:
        """End the work soon."""
        if self.watch is not None:
            self.watch.stop()

    def shown(self) -> DownloadState:
        """How it stands now, with its speed."""
        return replace(self.state, bytes_per_s=self.speed.bytes_per_s(time.monotonic()))

    def turn(self, status: DownloadStatus, error: AppError | None = None, attempt: int = 0) -> None:
        """Change the status, with what went wrong."""
        message, advice = (error.message, error.advice) if error else ("", "")
        self.state = replace(self.state, status=status, message=message, advice=advice, attempt=attempt)
        if status is not DownloadStatus.RUNNING:
            self.speed.reset()

    def note(self, file_index: int, done_bytes: int, size_bytes: int) -> None:
        """Take the length of one file."""
        files = list(self.state.files)
        self.speed.note(time.monotonic(), done_bytes - files[file_index].done_bytes)
        files[file_index] = replace(files[file_index], done_bytes=done_bytes, size_bytes=size_bytes)
        self.state = replace(self.state, files=tuple(files))

    def look(self, places: list[Path]) -> None:
        """See how much of each file is on the disk."""
        for at, (place, file) in enumerate(zip(places, self.state.files, strict=True)):
            self.note(at, length_here(place), file.size_bytes or 0)
        self.speed.reset()


def id_of(request: DownloadRequest) -> str:
    """The id of a download: one for each model of each repository."""
    return f"{request.repo_id}/{request.model.files[0].path}"
