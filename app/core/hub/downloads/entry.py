"""One entry of the download queue: what was asked for, how far it is, and how fast."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import replace
from pathlib import Path

from app.core.domain.errors import AppError
from app.core.domain.models import Download, DownloadRequest, DownloadStatus, FileProgress
from app.core.hub.downloads.part_file import bytes_on_disk
from app.core.hub.downloads.transfer import TransferControl

WINDOW_S = 8.0  # the speed is that of so long a time
STEP_S = 0.25
MIN_SPAN_S = 0.5  # what was seen in less says nothing


class QueueEntry:
    """One download: what was asked for, how it stands, and the thread that works on it, if any."""

    def __init__(self, request: DownloadRequest, status: DownloadStatus) -> None:
        self.request = request
        done = status is DownloadStatus.DONE
        files = tuple(
            FileProgress(file.path, file.size_bytes, (file.size_bytes or 0) if done else 0)
            for file in request.model.files
        )
        self.state = Download(id_of(request), request, status, files)
        self.thread: threading.Thread | None = None
        self.watch: TransferControl | None = None
        self.speed = SpeedMeter()
        self.is_cancelled = False

    def stop(self) -> None:
        """End the work soon."""
        if self.watch is not None:
            self.watch.stop()

    def snapshot(self) -> Download:
        """How it stands now, with its speed."""
        return replace(self.state, bytes_per_s=self.speed.bytes_per_s(time.monotonic()))

    def set_status(self, status: DownloadStatus, error: AppError | None = None, attempt: int = 0) -> None:
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

    def measure_files(self, places: list[Path]) -> None:
        """See how much of each file is on the disk."""
        for at, (place, file) in enumerate(zip(places, self.state.files, strict=True)):
            self.note(at, bytes_on_disk(place), file.size_bytes or 0)
        self.speed.reset()


def id_of(request: DownloadRequest) -> str:
    """The id of a download: one for each model of each repository."""
    return f"{request.repo_id}/{request.model.files[0].path}"


# ---- speed -------------------------------------------------------------------------------------------------------


class SpeedMeter:
    """Counts pieces as they come; pieces of the same quarter of a second are counted together."""

    def __init__(self) -> None:
        self._steps: deque[tuple[float, int]] = deque()  # when it began, bytes

    def note(self, now_s: float, num_bytes: int) -> None:
        """Count a piece. The first sets the beginning, since its bytes came before; going back counts for nothing."""
        if not self._steps:
            self._steps.append((now_s, 0))
        elif num_bytes > 0:
            begun_s, counted = self._steps[-1]
            if now_s - begun_s < STEP_S:
                self._steps[-1] = (begun_s, counted + num_bytes)
            else:
                self._steps.append((now_s, num_bytes))
        while now_s - self._steps[0][0] > WINDOW_S:
            self._steps.popleft()
            if not self._steps:
                self._steps.append((now_s, 0))

    def bytes_per_s(self, now_s: float) -> float | None:
        """The speed; None where too little was seen."""
        recent = [(begun_s, counted) for begun_s, counted in self._steps if now_s - begun_s <= WINDOW_S]
        if not recent or now_s - recent[0][0] < MIN_SPAN_S:
            return None
        return sum(counted for _, counted in recent) / (now_s - recent[0][0])

    def reset(self) -> None:
        """Forget what was seen."""
        self._steps.clear()
