"""Reads attached files on a thread of its own, one after the other, and stores each before it is reported."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from app.domain.attachments import Attachment
from app.domain.errors import AppError
from app.domain.file_kinds import shown_name
from app.storage.chats.store import ChatStore
from engine.records import Problem
from engine.sentences import said

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file, or a pasted ``text``, for the unsent message of a conversation. ``key`` is the caller's."""

    key: int
    conversation_id: int | None
    name: str
    path: Path | None = None
    text: str = ""
    may_import: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it: an attachment that is kept, a problem, or an export to be imported."""

    wanted: Wanted
    attachment: Attachment | None = None
    problem: Problem | None = None
    notice: str = ""
    is_export: bool = False


class AttachmentReader:
    """One thread. ``on_outcome`` is called on it, once for each that was wanted and not cancelled."""

    def __init__(self, store: ChatStore, on_outcome: Callable[[Outcome], None]) -> None:
        self._store = store
        self._on_outcome = on_outcome
        self._queue: queue.SimpleQueue[Wanted | None] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def read(self, wanted: Wanted) -> None:
        """Read it when those before are done."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="attachments", daemon=True)
            self._thread.start()
        self._queue.put(wanted)

    def cancel(self, key: int) -> None:
        """Do not read it, or stop reading it; it is not told."""
        self._cancelled.add(key)

    def close(self, timeout_s: float) -> bool:
        """Stop; False where it takes longer."""
        self._closing.set()
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is None or not self._thread.is_alive()

    def _run(self) -> None:
        while (wanted := self._queue.get()) is not None and not self._closing.is_set():
            if wanted.key in self._cancelled:
                continue
            try:
                outcome = self._read(wanted)
            except AppError as error:
                outcome = Outcome(wanted, problem=error.problem)
            except Exception as error:  # noqa: BLE001  (whatever a strange file brings about, the next one is read)
                log.error("an attachment could not be read: %s", type(error).__name__)  # noqa: TRY400 (no contents)
                problem = Problem(
                    "The file could not be attached",
                    said(
                        "“{name}” could not be read ({kind}).", name=shown_name(wanted.name), kind=type(error).__name__
                    ),
                    "Attach another file, or paste the part that matters.",
                )
                outcome = Outcome(wanted, problem=problem)
            self._tell(outcome)

    def _read(self, wanted: Wanted) -> Outcome:
        # What reads every kind of file and of export is loaded on this thread, with the first of them.
        from app.attachments.reading import read_attachment, text_attachment  # noqa: PLC0415
        from app.storage.exchange.reading import may_be_export  # noqa: PLC0415

        notice = ""
        if wanted.path is None:
            attachment = text_attachment(wanted.name, wanted.text)
        elif wanted.may_import and may_be_export(wanted.path):
            return Outcome(wanted, is_export=True)
        else:
            read = read_attachment(wanted.path, lambda: self._is_unwanted(wanted))
            attachment, notice = read.attachment, read.notice
        if self._is_unwanted(wanted):
            return Outcome(wanted)
        kept = self._store.attachments.add_unsent(wanted.conversation_id, attachment)
        return Outcome(wanted, replace(kept), notice=notice)

    def _is_unwanted(self, wanted: Wanted) -> bool:
        return wanted.key in self._cancelled or self._closing.is_set()

    def _tell(self, outcome: Outcome) -> None:
        if outcome.wanted.key in self._cancelled:
            if outcome.attachment is not None:
                self._store.attachments.remove(outcome.attachment.id)
        elif not self._closing.is_set():
            self._on_outcome(outcome)
