"""The download queue on the disk: JSON, written atomically, locked by one process at a time; every field is checked."""

from __future__ import annotations

import json
import logging
import queue
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from app.core.domain.errors import AppError
from app.core.domain.models import DownloadRequest, DownloadStatus, RepoFile, RepoModel
from app.core.hub.errors import LinkRefusedError, UnsafeNameError
from app.core.hub.file_names import check_repo_id, kind_of, safe_parts
from app.core.hub.links import check_link
from app.core.storage.atomic import write_atomically

MAX_QUEUE_BYTES = 4 << 20
MAX_TEXT_CHARS = 300
MAX_SIZE_BYTES = 1 << 50

Row = tuple[DownloadRequest, DownloadStatus]

log = logging.getLogger(__name__)


class QueueFile:
    """The file and its lock, from `open` to `close`. A thread of its own writes, so that nobody waits for the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: Any = None
        self._rows: queue.SimpleQueue[tuple[Row, ...] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="download queue", daemon=True)

    def open(self) -> tuple[Row, ...]:
        """Take the file and read it; nothing where another process has it, and then nothing is saved either."""
        import filelock  # noqa: PLC0415 (startup time)

        lock = filelock.FileLock(self._path.with_name(self._path.name + ".lock"), timeout=0, thread_local=False)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except (filelock.Timeout, OSError) as error:
            log.warning("The download queue is not kept: another Paceline has it (%s)", type(error).__name__)
            return ()
        self._lock = lock
        self._writer.start()
        return self._read()

    def save(self, rows: Iterable[Row]) -> None:
        """Have the queue written soon. A failure is logged: the downloads themselves go on, and their parts stay."""
        if self._lock is not None:
            self._rows.put(tuple(rows))

    def close(self) -> None:
        """Write what is still to be written, and let others have the file."""
        if self._lock is not None:
            self._rows.put(None)
            self._writer.join()
            self._lock.release()
            self._lock = None

    def _write(self) -> None:
        while (rows := self._rows.get()) is not None:
            content = {"version": 1, "downloads": [_as_dict(request, status) for request, status in rows]}
            try:
                write_atomically(self._path, json.dumps(content, indent=1).encode())
            except OSError as error:
                log.warning("The download queue could not be saved: %s", error)

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
    model = request.model
    return {
        "repo_id": request.repo_id,
        "revision": request.revision,
        "name": model.name,
        "quantization": model.quantization,
        "files": [{"path": file.path, "size_bytes": file.size_bytes, "sha256": file.sha256} for file in model.files],
        "draft_of": request.draft_of,
        "licence": request.licence,
        "url": request.url,
        "status": (DownloadStatus.QUEUED if status.is_active else status).value,
    }


def _row_of(facts: Any) -> Row | None:  # noqa: ANN401 (whatever the file holds)
    """Read one download; None where it is none that may be fetched."""
    try:
        files = tuple(_file_of(file) for file in facts["files"])
        safe_parts(facts["revision"])
        texts = [facts[key] for key in ("name", "quantization", "draft_of", "licence")]
        if not files or not all(isinstance(text, str) and len(text) <= MAX_TEXT_CHARS for text in texts):
            return None
        model = RepoModel(texts[0], kind_of(files[0].path), files, texts[1])
        url = check_link(facts["url"]) if facts.get("url") else ""  # older files have none
        request = DownloadRequest(check_repo_id(facts["repo_id"]), model, facts["revision"], texts[2], texts[3], url)
        return request, DownloadStatus(facts["status"])
    except (KeyError, TypeError, ValueError, AttributeError, UnsafeNameError, LinkRefusedError) as error:
        log.warning("A download in the queue's file cannot be understood: %s", type(error).__name__)
        return None


def _file_of(facts: dict[str, Any]) -> RepoFile:
    path, size, sha256 = facts["path"], facts["size_bytes"], facts["sha256"]
    safe_parts(path)
    if not (size is None or (isinstance(size, int) and 0 <= size <= MAX_SIZE_BYTES)) or not re.fullmatch(
        r"([0-9a-f]{64})?", sha256
    ):
        raise ValueError("a size or checksum that is none")
    return RepoFile(path, size, sha256)
