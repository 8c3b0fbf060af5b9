"""The download queue: runs several downloads at once; they can be paused and resumed, and continue after a crash.

`app/core/hub/downloads/transfer.py` moves the bytes.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import closing, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.core.domain.errors import AppError
from app.core.domain.models import Download, DownloadRequest, DownloadStatus, RepoFile, sum_if_all_known
from app.core.hub.addresses import host_of
from app.core.hub.client import FileSource
from app.core.hub.downloads.first_model import fetch_first_model, is_first_model
from app.core.hub.downloads.part_file import bytes_on_disk
from app.core.hub.downloads.transfer import FileRequest, RetryPolicy, StoppedError, TransferControl, discard, fetch
from app.core.hub.errors import DownloadError, LibraryError, LinkRefusedError, UnsafeNameError
from app.core.hub.file_names import check_repo_id, group_models, safe_parts
from app.core.hub.library.library import Library
from app.core.hub.links import LinkSource, check_link
from app.core.hub.records import LibraryModel
from app.core.storage.atomic import write_atomically
from engine.errors import EngineError
from engine.sentences import i18n

MAX_QUEUE_BYTES = 4 << 20
MAX_TEXT_CHARS = 300
MAX_SIZE_BYTES = 1 << 50
Row = tuple[DownloadRequest, DownloadStatus]
STEP_S, NUM_STEPS = 0.25, 32  # the displayed speed is that of the last 8 seconds
MIN_SPAN_S = 0.5  # minimum measured time for a speed
MAX_AT_ONCE = 3
REPORT_EVERY_S = 0.1
CLOSE_WAIT_S = 10.0
_RESUMABLE = (DownloadStatus.PAUSED, DownloadStatus.FAILED)
log = logging.getLogger(__name__)


class QueueFile:
    """The queue's file, locked from `open` to `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: Any = None

    def open(self) -> tuple[Row, ...]:
        """Lock and read the file. If another process has the lock, returns nothing, and `save` does nothing."""
        import filelock  # noqa: PLC0415 (startup time)

        lock = filelock.FileLock(self._path.with_name(self._path.name + ".lock"), timeout=0, thread_local=False)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except (filelock.Timeout, OSError) as error:
            log.warning("The download queue is not kept: another Paceline has it (%s)", type(error).__name__)
            return ()
        self._lock = lock
        return self._read()

    def save(self, rows: Iterable[Row]) -> None:
        """Write the queue. A failure is only logged, since downloads and partial files are not affected."""
        if self._lock is None:
            return
        content = {"version": 1, "downloads": [_as_dict(request, status) for request, status in rows]}
        try:
            write_atomically(self._path, json.dumps(content, indent=1).encode())
        except OSError as error:
            log.warning("The download queue could not be saved: %s", error)

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _read(self) -> tuple[Row, ...]:
        try:
            with self._path.open("rb") as file:
                content = json.loads(file.read(MAX_QUEUE_BYTES))
            rows = content["downloads"]
            return tuple(row for row in map(_row_of, rows) if row is not None)
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, RecursionError, KeyError, TypeError, AppError) as error:
            log.warning("The download queue cannot be read, and is set aside: %s", type(error).__name__)
            if self._path.exists():
                self._path.replace(self._path.with_name(self._path.name + ".damaged"))
            return ()


def _as_dict(request: DownloadRequest, status: DownloadStatus) -> dict[str, Any]:
    return {
        "repo_id": request.repo_id,
        "files": [asdict(file) for file in request.model.files],
        "draft_of": request.draft_of,
        "licence": request.licence,
        "url": request.url,
        "status": (DownloadStatus.QUEUED if status.is_active else status).value,
    }


def _row_of(facts: Any) -> Row | None:  # noqa: ANN401 (whatever the file holds)
    """Read one download; None if it is invalid or not allowed."""
    try:
        (model,) = group_models([_file_of(**file) for file in facts["files"]])
        texts = facts["draft_of"], facts["licence"]
        if not all(isinstance(text, str) and len(text) <= MAX_TEXT_CHARS for text in texts):
            return None
        url = check_link(facts["url"]) if facts["url"] else ""
        return DownloadRequest(check_repo_id(facts["repo_id"]), model, *texts, url), DownloadStatus(facts["status"])
    except (KeyError, TypeError, ValueError, AttributeError, UnsafeNameError, LinkRefusedError) as error:
        log.warning("A download in the queue's file cannot be understood: %s", type(error).__name__)
        return None


def _file_of(path: str, size_bytes: int | None, sha256: str) -> RepoFile:
    safe_parts(path)
    good_size = size_bytes is None or (isinstance(size_bytes, int) and 0 <= size_bytes <= MAX_SIZE_BYTES)
    if not good_size or not re.fullmatch(r"([0-9a-f]{64})?", sha256):
        raise ValueError("a size or checksum that is none")
    return RepoFile(path, size_bytes, sha256)


class QueueEntry(TransferControl):
    """One download: request, state, and the thread while it runs."""

    def __init__(self, queue: DownloadQueue, request: DownloadRequest, status: DownloadStatus) -> None:
        super().__init__()
        self._queue = queue
        self.file_index = 0
        self.request = request
        self._sizes = [file.size_bytes for file in request.model.files]
        self._done = [(size or 0) if status is DownloadStatus.DONE else 0 for size in self._sizes]
        self.state = Download(id_of(request), request, status, sum(self._done), sum_if_all_known(self._sizes))
        self.thread: threading.Thread | None = None
        self.speed = SpeedMeter()
        self.is_cancelled = False

    def snapshot(self) -> Download:
        """A copy of the state with the current speed."""
        return replace(self.state, bytes_per_s=self.speed.bytes_per_s(time.monotonic()))

    def set_status(self, status: DownloadStatus, error: AppError | None = None, attempt: int = 0) -> None:
        message, advice = (error.message, error.advice) if error else ("", "")
        self.state = replace(self.state, status=status, message=message, advice=advice, attempt=attempt)
        if status is not DownloadStatus.RUNNING:
            self.speed.reset()

    def record_progress(self, file_index: int, done_bytes: int, size_bytes: int) -> None:
        """Update the progress of one file."""
        self._done[file_index], self._sizes[file_index] = done_bytes, size_bytes
        self.speed.record(time.monotonic(), sum(self._done))
        self.state = replace(self.state, done_bytes=sum(self._done), size_bytes=sum_if_all_known(self._sizes))

    def on_status(self, status: DownloadStatus, error: AppError | None, attempt: int) -> None:
        with self._queue.lock:
            if self.state.status.is_active:  # not paused meanwhile
                self.set_status(status, error, attempt)
        self._queue.notify(now=True)

    def on_progress(self, done_bytes: int, size_bytes: int) -> None:
        with self._queue.lock:
            self.record_progress(self.file_index, done_bytes, size_bytes)
        self._queue.notify()

    def measure_files(self, paths: list[Path]) -> None:
        """Read from the disk how many bytes of each file are present."""
        for at, path in enumerate(paths):
            self.record_progress(at, bytes_on_disk(path), self._sizes[at] or 0)
        self.speed.reset()


def id_of(request: DownloadRequest) -> str:
    """The id of a download, which identifies a model of a repository."""
    return f"{request.repo_id}/{request.model.files[0].path}"


class SpeedMeter:
    """Measures the speed of the last seconds."""

    def __init__(self) -> None:
        self._steps: deque[tuple[float, int]] = deque(maxlen=NUM_STEPS)  # time, done bytes
        self._done_bytes = 0

    def record(self, now_s: float, done_bytes: int) -> None:
        if done_bytes < self._done_bytes:  # the download started over
            self._steps.clear()
        self._done_bytes = done_bytes
        if not self._steps or now_s - self._steps[-1][0] >= STEP_S:
            self._steps.append((now_s, done_bytes))

    def bytes_per_s(self, now_s: float) -> float | None:
        """The speed; None if the measured time is too short."""
        first_s, first_bytes = self._steps[0] if self._steps else (now_s, 0)
        span_s = now_s - first_s
        return (self._done_bytes - first_bytes) / span_s if span_s >= MIN_SPAN_S else None

    def reset(self) -> None:
        self._steps.clear()


class DownloadQueue:
    """All downloads of this process; each runs on a thread. Unknown ids are ignored."""

    def __init__(
        self,
        client: FileSource,
        library: Library,
        queue_file: Path | None = None,
        listener: Callable[[], None] = lambda: None,
        *,
        max_at_once: int = MAX_AT_ONCE,
        retry_policy: RetryPolicy | None = None,
    ) -> None:
        """``listener`` is called on the thread of a change: at once, or for progress ten times a second.

        With a ``queue_file`` the queue is persistent: queued and running downloads continue after `start`.
        """
        self._client = client
        self._library = library
        self._queue = None if queue_file is None else QueueFile(queue_file)
        self._listener = listener
        self._max_at_once = max_at_once
        self._retry_policy = retry_policy or RetryPolicy()
        self.lock = threading.RLock()
        self._entries: dict[str, QueueEntry] = {}
        self._cancelling: dict[str, QueueEntry] = {}  # cancelled downloads whose threads are still ending
        self._closed = False
        self._notified_s = 0.0

    def start(self) -> None:
        """Read the queue file and start the downloads. The only method that blocks on the disk."""
        with self.lock:
            for request, status in self._queue.open() if self._queue else ():
                entry = self._entries.setdefault(id_of(request), QueueEntry(self, request, status))
                try:
                    entry.measure_files([wanted.destination for wanted in self._file_requests(request)])
                except LibraryError as error:  # a symbolic link now leads out of the folder: skip this download
                    entry.set_status(DownloadStatus.FAILED, error)
            self._schedule()
        self._listener()

    def close(self) -> None:
        """Stop all threads; partial files and the queue's file stay."""
        with self.lock:
            self._closed = True
            entries = (*self._entries.values(), *self._cancelling.values())
            threads = [entry.thread for entry in entries if entry.thread is not None]
            for entry in self._entries.values():
                if entry.state.status.is_active:
                    entry.set_status(DownloadStatus.QUEUED)
                entry.stop()
            self._save()
        for thread in threads:
            thread.join(CLOSE_WAIT_S)
        if self._queue is not None:
            self._queue.close()

    def add(self, request: DownloadRequest) -> str:
        """Queue a model; returns its id. A queued model is not queued again; a paused or failed one is resumed.

        Raises:
            UnsafeNameError: the path would be outside the library folder.
        """
        for file in request.model.files:
            self._library.path_for(request.repo_id, file.path)
        download_id = id_of(request)
        with self.lock:
            entry = self._entries.get(download_id)
            if entry is None or entry.thread is None:
                self._entries[download_id] = QueueEntry(self, request, DownloadStatus.QUEUED)
            self._set_status(download_id, DownloadStatus.QUEUED, only_from=(*_RESUMABLE, DownloadStatus.DONE))
        return download_id

    def pause(self, download_id: str) -> None:
        """Stop a download and keep its partial file."""
        with self.lock:
            entry = self._entries.get(download_id)
            if entry is not None and entry.state.status not in (DownloadStatus.DONE, DownloadStatus.FAILED):
                entry.stop()
                self._set_status(download_id, DownloadStatus.PAUSED)

    def resume(self, download_id: str) -> None:
        self._set_status(download_id, DownloadStatus.QUEUED, only_from=_RESUMABLE)

    def cancel(self, download_id: str) -> None:
        """Stop a download, delete its partial file, and remove it from the queue; a finished model stays."""
        with self.lock:
            entry = self._entries.pop(download_id, None)
            if entry is None:
                return
            self._cancelling[download_id] = entry
            entry.is_cancelled = True
            entry.stop()
            if entry.thread is None:
                entry.thread = threading.Thread(target=self._delete_parts, args=(entry,), name="discard", daemon=True)
                entry.thread.start()
            self._save()
        self.notify(now=True)

    def snapshot(self) -> tuple[Download, ...]:
        """The state of all downloads, oldest first."""
        with self.lock:
            return tuple(entry.snapshot() for entry in self._entries.values())

    # ---- inside --------------------------------------------------------------------------------------------------

    def _set_status(
        self, download_id: str, status: DownloadStatus, only_from: tuple[DownloadStatus, ...] | None = None
    ) -> None:
        with self.lock:
            entry = self._entries.get(download_id)
            if entry is not None and (only_from is None or entry.state.status in only_from):
                entry.set_status(status)
            self._save()
            self._schedule()
        self.notify(now=True)

    def _schedule(self) -> None:
        """Start waiting downloads, oldest first, up to the limit."""
        active = sum(entry.thread is not None for entry in (*self._entries.values(), *self._cancelling.values()))
        for download_id, entry in self._entries.items():
            if self._closed or active >= self._max_at_once:
                return
            # The thread of a paused download may still be ending: wait for it.
            is_free = entry.thread is None and download_id not in self._cancelling
            if entry.state.status is DownloadStatus.QUEUED and is_free:
                active += 1
                entry.begin()
                entry.set_status(DownloadStatus.RUNNING)
                name = f"download {download_id}"[:60]
                entry.thread = threading.Thread(target=self._run, args=(entry,), name=name, daemon=True)
                entry.thread.start()

    def _run(self, entry: QueueEntry) -> None:
        """Download all files of one entry, on its own thread."""
        error: AppError | None = None
        is_done = False
        try:
            self._make_pairs(entry, self._library.add_downloaded(entry.request, self._download(entry)))
            is_done = True
        except StoppedError:
            log.info("A download was stopped; its part is kept.")
        except AppError as failure:
            error = failure
        except OSError as failure:
            error = DownloadError(
                i18n("Disk error: {reason}.", reason=failure.strerror or failure), "Check the library folder."
            )
        except Exception as failure:  # noqa: BLE001 (whatever a strange hub brings about, the next one has its turn)
            kind = type(failure).__name__
            log.error("a download failed: %s", kind)  # noqa: TRY400 (a message may hold a signed address)
            error = DownloadError(
                i18n("It stopped unexpectedly ({kind}).", kind=kind),
                "Resume it; if it happens again, choose another repository.",
            )
        if entry.is_cancelled:
            self._delete_parts(entry)
            return
        with self.lock:
            entry.thread = None
            if is_done:
                entry.set_status(DownloadStatus.DONE)
            elif error is not None and entry.state.status.is_active:
                entry.set_status(DownloadStatus.FAILED, error)
            self._save()
            self._schedule()
        self.notify(now=True)

    def _download(self, entry: QueueEntry) -> str:
        """Download all files; returns the name of their source if it is not the repository."""
        request = entry.request
        if is_first_model(request.repo_id, request.model.files[0].path):
            return fetch_first_model(self._library, entry, self._client)
        with closing(LinkSource(request.url)) if request.url else nullcontext(self._client) as source:
            for at, wanted in enumerate(self._file_requests(request)):
                entry.file_index = at
                fetch(source, wanted, entry, self._retry_policy)
        return host_of(request.url) if request.url else ""

    def _delete_parts(self, entry: QueueEntry) -> None:
        """Delete the partial files of a cancelled download, on its own thread."""
        try:
            for wanted in self._file_requests(entry.request):
                discard(wanted)
        except (DownloadError, LibraryError) as error:  # another process is writing it, or a link leads elsewhere
            log.warning("A cancelled part stays: %s", error.message)
        with self.lock:
            self._cancelling.pop(entry.state.key, None)
            self._schedule()

    def _file_requests(self, request: DownloadRequest) -> list[FileRequest]:
        path_for, locks = self._library.path_for, self._library.lock_folder
        repo_id, judge = request.repo_id, judge_model if request.url else None
        return [
            FileRequest(repo_id, file.path, path_for(repo_id, file.path), locks, file.sha256, judge)
            for file in request.model.files
        ]

    def _make_pairs(self, finished: QueueEntry, model: LibraryModel) -> None:
        """Pair a finished target and draft that were requested together, whichever finished first."""
        with self.lock:
            here = [entry.request for entry in self._entries.values() if entry.state.status is DownloadStatus.DONE]
        request = finished.request
        pairs = [(request.draft_of, model.name)] if request.draft_of else []
        pairs += [(other.draft_of, f"{other.repo_id}/{other.model.name}") for other in here if other.draft_of]
        for target, draft in pairs:
            try:
                if model.name in (self._library.find(target).name, draft):
                    self._library.set_draft(target, draft)
            except LibraryError as error:
                log.info("Not paired yet: %s", error.message)

    def _save(self) -> None:
        if self._queue is not None:
            self._queue.save([(entry.request, entry.state.status) for entry in self._entries.values()])

    def notify(self, *, now: bool = False) -> None:
        moment = time.monotonic()
        with self.lock:
            if not now and moment - self._notified_s < REPORT_EVERY_S:
                return
            self._notified_s = moment
        self._listener()


def judge_model(path: Path) -> None:
    """Check a file without a checksum.

    Raises:
        DownloadError: the file is no GGUF file, or is damaged.
    """
    from engine.gguf.header import read_header  # noqa: PLC0415 (NumPy: the start does not wait for it)

    try:
        read_header(path)
    except EngineError as error:
        raise DownloadError(error.problem.message, "The received data was discarded. Check the link.") from error
