"""Downloads one file of a repository over unreliable connections: attempts, resuming, checking.

The client handles HTTP, `app/core/hub/downloads/part_file.py` the partial file.
"""

import hashlib
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.core.domain.models import DownloadStatus
from app.core.hub.client import ByteStream, FileSource
from app.core.hub.downloads.part_file import PartFile, check_space, matches
from app.core.hub.errors import (
    ChecksumError,
    DownloadBusyError,
    DownloadError,
    HubAnswerError,
    HubBusyError,
    HubBytesError,
    HubError,
    HubRangeError,
    HubUnreachableError,
)
from app.core.hub.file_names import short
from app.core.hub.records import RemoteLocation
from engine.sentences import i18n

SPACE_EVERY_BYTES = 64 << 20
MAX_DAMAGED = 1  # wrong checksums until the transfer fails
_WORTH_ANOTHER_ATTEMPT = (HubUnreachableError, HubBusyError, HubAnswerError, HubRangeError, ChecksumError)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to retry. Progress (a new maximum length) resets the number of failures."""

    max_failures: int = 12  # successive failures without progress
    first_wait_s: float = 1.0
    max_wait_s: float = 60.0


Judge = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class FileRequest:
    """The file to download and its destination. ``lock_folder`` is shared by all processes that use the library.

    ``sha256``: from the repository's file list, if known; a newer one from the file's own headers takes precedence.
    ``judge`` is for sources without checksums: it checks the complete file before it gets its final name, and raises a
    `DownloadError` to reject it. Without ``judge`` a checksum is required.
    """

    repo_id: str
    path: str
    destination: Path
    lock_folder: Path
    sha256: str = ""
    judge: Judge | None = None
    revision: str = "main"


class StoppedError(Exception):
    """The user stopped the transfer; the partial file stays."""


class TransferControl:
    """Controls a transfer and receives its progress. Override ``on_*`` methods as needed."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._stream: ByteStream | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Allow another transfer after `stop`."""
        self._stop.clear()

    def stop(self) -> None:
        """End the transfer soon, even while it waits for bytes."""
        self._stop.set()
        with self._lock:
            if self._stream is not None:
                self._stream.abort()

    def check(self) -> None:
        """Raise if the transfer was stopped.

        Raises:
            StoppedError: `stop` was called.
        """
        if self._stop.is_set():
            raise StoppedError

    def wait(self, seconds: float) -> None:
        """Wait, or raise if the transfer is stopped meanwhile.

        Raises:
            StoppedError: `stop` was called.
        """
        self._stop.wait(seconds)
        self.check()

    @contextmanager
    def reading(self, stream: ByteStream) -> Iterator[None]:
        """Let `stop` abort this stream."""
        with self._lock:
            self._stream = stream
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._stream = None

    def on_status(self, status: DownloadStatus, error: HubError | DownloadError | None, attempt: int) -> None:
        """Called with RUNNING, WAITING (and the error) and VERIFYING."""

    def on_progress(self, done_bytes: int, size_bytes: int) -> None:
        """Called after every piece."""


def fetch(
    source: FileSource, wanted: FileRequest, control: TransferControl, retry_policy: RetryPolicy | None = None
) -> RemoteLocation:
    """Download a file. On return it is complete, checked, and has its final name.

    Raises:
        StoppedError: the user stopped it.
        HubError: the hub refused, or too many attempts failed in a row.
        DownloadError: the disk is full, the bytes are wrong, or another process is downloading the file.
    """
    with exclusive(wanted):
        return _Transfer(source, wanted, control, retry_policy or RetryPolicy()).run()


def discard(wanted: FileRequest) -> None:
    """Delete the partial file of a download.

    Raises:
        DownloadBusyError: another process is writing it.
    """
    with exclusive(wanted):
        PartFile(wanted.destination).discard()


class _Transfer:
    """The attempts at one file, with state from earlier attempts."""

    def __init__(
        self, source: FileSource, wanted: FileRequest, control: TransferControl, retry_policy: RetryPolicy
    ) -> None:
        self._source = source
        self._wanted = wanted
        self._watch = control
        self._retry_policy = retry_policy
        self._part = PartFile(wanted.destination)
        self._attempt = 0
        self._failures = 0
        self._num_damaged = 0
        self._can_resume = True  # resume where the previous attempt ended
        self._best = 0

    def run(self) -> RemoteLocation:
        while True:
            self._attempt += 1
            try:
                return self._one_attempt()
            except _WORTH_ANOTHER_ATTEMPT as error:
                self._watch.check()
                self._wait_or_raise(error)
            finally:
                self._part.close()

    def _one_attempt(self) -> RemoteLocation:
        control, wanted, part = self._watch, self._wanted, self._part
        control.check()
        control.on_status(DownloadStatus.RUNNING, None, self._attempt)
        location = self._source.locate(wanted.repo_id, wanted.path, wanted.revision)
        size = location.size_bytes
        checksum = _checksum(location, wanted)
        if self._is_complete(location, checksum):
            part.discard()
            return location
        part.open(location.etag, size)
        control.on_progress(part.size_bytes, size)
        check_space(wanted.destination.parent, size - part.size_bytes)
        if part.size_bytes < size:
            self._append_missing(location)
        self._best = max(self._best, part.size_bytes)
        control.on_status(DownloadStatus.VERIFYING, None, self._attempt)
        part.finish(checksum, lambda _checked: control.check(), wanted.judge)
        control.on_progress(size, size)
        return location

    def _append_missing(self, location: RemoteLocation) -> None:
        control, part, size = self._watch, self._part, location.size_bytes
        source_etag = part.label.source_etag if part.label else ""
        start = part.size_bytes if self._can_resume else 0
        since_check = 0
        with self._source.open(location, start, if_range=source_etag) as stream, control.reading(stream):
            if stream.start != part.size_bytes:
                part.start_over()
            part.set_source_etag(stream.etag)
            for chunk in stream.chunks():
                control.check()
                if part.size_bytes + len(chunk) > size:
                    part.start_over()  # the partial file may be of another version
                    raise HubBytesError("More bytes came than announced.")
                part.append(chunk)
                control.on_progress(part.size_bytes, size)
                since_check += len(chunk)
                if since_check >= SPACE_EVERY_BYTES:
                    since_check = 0
                    check_space(self._wanted.destination.parent, size - part.size_bytes)
        if part.size_bytes < size:
            raise HubUnreachableError("The connection ended too early.")

    def _is_complete(self, location: RemoteLocation, checksum: str) -> bool:
        destination = self._wanted.destination
        if not destination.is_file() or destination.stat().st_size != location.size_bytes:
            return False
        self._watch.on_status(DownloadStatus.VERIFYING, None, self._attempt)
        return matches(destination, checksum, location.size_bytes, lambda _checked: self._watch.check())

    def _wait_or_raise(self, error: HubError | DownloadError) -> None:
        """Wait for the next attempt, or raise the error to give up."""
        if isinstance(error, HubRangeError):
            self._part.start_over()
        if isinstance(error, HubBytesError):
            if not self._can_resume:  # a full request failed, too
                raise error
            # Request the whole file; the partial file is deleted only when the answer arrives.
            self._can_resume = False
        if isinstance(error, ChecksumError):
            self._num_damaged += 1
        progressed = self._part.size_bytes > self._best
        self._best = max(self._best, self._part.size_bytes)
        self._failures = 1 if progressed else self._failures + 1
        if self._failures >= self._retry_policy.max_failures or self._num_damaged > MAX_DAMAGED:
            raise error
        wait_s = min(self._retry_policy.first_wait_s * 2.0 ** (self._failures - 1), self._retry_policy.max_wait_s)
        wait_s *= random.uniform(0.75, 1.25)  # noqa: S311 (so that many clients do not return at once)
        if isinstance(error, HubBusyError) and error.retry_after_s is not None:
            wait_s = max(wait_s, error.retry_after_s)
        self._watch.on_status(DownloadStatus.WAITING, error, self._attempt)
        self._watch.wait(wait_s)


def _checksum(location: RemoteLocation, wanted: FileRequest) -> str:
    """The checksum of the file; raises an error if it has none and ``judge`` is missing."""
    if location.sha256 or wanted.sha256:
        return location.sha256 or wanted.sha256
    etag = location.etag.lower()
    if len(etag) == 40 and set(etag) <= set("0123456789abcdef"):
        return etag
    if wanted.judge is not None:
        return ""
    raise HubAnswerError(
        i18n("The hub gives no checksum for {path}, so it is not downloaded.", path=short(location.path))
    )


@contextmanager
def exclusive(wanted: FileRequest) -> Iterator[None]:
    """Lock this destination against other threads and processes; a killed process leaves no lock."""
    import filelock  # noqa: PLC0415 (startup time)

    name = hashlib.sha256(str(wanted.destination).encode()).hexdigest()[:32]
    lock = filelock.FileLock(wanted.lock_folder / f"{name}.lock", timeout=0)
    try:
        wanted.lock_folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout as error:
        raise DownloadBusyError(i18n("Another Paceline is downloading {path}.", path=short(wanted.path))) from error
    except OSError as error:
        reason = error.strerror or error
        raise DownloadError(
            i18n("{folder} cannot be written: {reason}.", folder=wanted.lock_folder, reason=reason),
            "Check its permissions.",
        ) from error
    try:
        yield
    finally:
        lock.release()
