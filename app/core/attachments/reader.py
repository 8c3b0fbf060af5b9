"""Reads attached files one by one on its own thread, and stores each before reporting it."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.core.domain.attachments import Attachment
from app.core.domain.errors import AppError
from app.core.domain.file_kinds import shown_name
from app.core.storage.chats.store import ChatStore
from engine.records import Problem
from engine.sentences import i18n

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A file, or a pasted ``text`` or ``picture``, for the unsent message of a chat. The caller chooses the ``key``.

    ``picture`` returns the bytes of a picture file; it is called on the reading thread.
    """

    key: int
    conversation_id: int | None
    name: str
    path: Path | None = None
    text: str = ""
    may_import: bool = False
    picture: Callable[[], bytes] | None = None


@dataclass(frozen=True, slots=True)
class ReadOutcome:
    """The result of a request: a stored attachment, a problem, or (``is_export``) an export of chats to import."""

    request: ReadRequest
    attachment: Attachment | None = None
    problem: Problem | None = None
    notice: str = ""
    is_export: bool = False


class AttachmentReader:
    """Owns the reading thread, which calls ``on_outcome`` once for each request that is not cancelled."""

    def __init__(self, store: ChatStore, on_outcome: Callable[[ReadOutcome], None]) -> None:
        self._store = store
        self._on_outcome = on_outcome
        self._queue: queue.SimpleQueue[ReadRequest | None] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def read(self, request: ReadRequest) -> None:
        """Queue a request."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="attachments", daemon=True)
            self._thread.start()
        self._queue.put(request)

    def cancel(self, key: int) -> None:
        """Skip the request or stop reading it; its outcome is not reported."""
        self._cancelled.add(key)

    def close(self, timeout_s: float) -> bool:
        """Stop reading; False if it does not stop within the time limit."""
        self._closing.set()
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is None or not self._thread.is_alive()

    def _run(self) -> None:
        while (request := self._queue.get()) is not None and not self._closing.is_set():
            if request.key in self._cancelled:
                continue
            try:
                outcome = self._read(request)
            except AppError as error:
                outcome = ReadOutcome(request, problem=error.problem)
            except Exception as error:  # noqa: BLE001  (whatever a strange file brings about, the next one is read)
                log.error("an attachment could not be read: %s", type(error).__name__)  # noqa: TRY400 (no contents)
                problem = Problem(
                    "The file could not be attached",
                    i18n(
                        "“{name}” could not be read ({kind}).", name=shown_name(request.name), kind=type(error).__name__
                    ),
                    "Attach another file, or paste the part that matters.",
                )
                outcome = ReadOutcome(request, problem=problem)
            if outcome.request.key in self._cancelled:
                if outcome.attachment is not None:
                    self._store.attachments.remove(outcome.attachment.id)
            elif not self._closing.is_set():
                self._on_outcome(outcome)

    def _read(self, request: ReadRequest) -> ReadOutcome:
        # Imported with the first file, on this thread: the readers of all formats load slowly.
        from app.core.attachments.reading import read_attachment, text_attachment  # noqa: PLC0415
        from app.core.storage.exchange.reading import may_be_export  # noqa: PLC0415
        from app.core.storage.pictures import picture_attachment  # noqa: PLC0415

        notice = ""
        if request.picture is not None:
            attachment = picture_attachment(request.name, request.picture())
        elif request.path is None:
            attachment = text_attachment(request.name, request.text)
        elif request.may_import and may_be_export(request.path):
            return ReadOutcome(request, is_export=True)
        else:
            attachment, notice = read_attachment(request.path, lambda: self._is_unwanted(request))
        if self._is_unwanted(request):
            return ReadOutcome(request)
        kept = self._store.attachments.add_unsent(request.conversation_id, attachment)
        return ReadOutcome(request, kept, notice=notice)

    def _is_unwanted(self, request: ReadRequest) -> bool:
        return request.key in self._cancelled or self._closing.is_set()
