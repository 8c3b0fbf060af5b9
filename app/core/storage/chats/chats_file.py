"""The open chats file. Jobs run on its thread, which also writes streaming answers.

`ChatStore` uses it for conversations.
"""

import contextlib
import functools
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path

from app.core.domain.errors import BackupError, DamagedFileError, StorageError
from app.core.storage.chats import messages
from app.core.storage.chats.answers import RETRY_S, AnswerSnapshot, StreamingAnswers
from app.core.storage.chats.backups import (
    backup_is_due,
    copy_database,
    discard_unfinished,
    rotate,
    verify,
)
from app.core.storage.chats.calls import settle_open
from app.core.storage.chats.clean_shutdown import write_marker
from app.core.storage.chats.database import as_storage_error, transaction
from app.core.storage.chats.deletion import delete_expired
from app.core.storage.chats.index import rebuild
from app.core.storage.chats.opening import OpenedStore, StoreLocation, open_chats
from app.core.storage.chats.writer import Job, Result, WriterThread
from engine.records import Problem

log = logging.getLogger(__name__)

VERIFY_S = 2.0  # maximum wait for the verification of today's backup when closing


class ChatsFile:
    """The chats file and its thread. Thread-safe.

    ``on_save_state`` is called on that thread: with a problem when saving begins to fail, with None when all changes
    are saved again. ``on_written`` is called on that thread after every attempt to write.
    """

    def __init__(
        self,
        place: StoreLocation,
        on_save_state: Callable[[Problem | None], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._place = place
        self._on_save_state = on_save_state
        self.on_written: Callable[[], None] = lambda: None
        self._now = now
        self._save_fails = False
        self._may_be_damaged = False  # after an error: the next start checks the whole file
        self._verifying: threading.Thread | None = None
        self._opened: OpenedStore | None = None
        self.wiped: tuple[int, ...] = ()  # chats that this start deleted for good
        self._answers = StreamingAnswers(time.monotonic)
        self._writer = WriterThread(self._open, self._write_due)

    # ---- life -------------------------------------------------------------------------------------------------------

    def begin_opening(self) -> None:
        """Start opening the file on its thread; then call `open`."""
        self._writer.begin()

    def open(self) -> Problem | None:
        """Wait until the file or a substitute is open; returns a problem to show, if any."""
        self._writer.begin()
        self._writer.wait_for_opening()
        if self._opened is None:
            raise RuntimeError("the writer started without opening")
        return self._opened.problem

    def back_up_daily(self) -> None:
        """Make today's backup unless it exists, and delete some old backups; does not wait. Ignored after `close`."""
        with contextlib.suppress(StorageError):
            self._writer.post(self._back_up)

    def close(self, timeout_s: float = 5.0) -> bool:
        """Write everything and close the file; False if something could not be saved."""
        with contextlib.suppress(StorageError):
            self._writer.call(functools.partial(self._write_due, everything=True))
        ended = self._writer.stop(timeout_s)
        if self._verifying is not None:
            self._verifying.join(VERIFY_S)
        if ended and self.is_persistent and not self._may_be_damaged:
            write_marker(self._place.file)
        return ended and self._answers.num_unwritten == 0

    @property
    def is_persistent(self) -> bool:
        """False while the chats are only in memory."""
        return self._opened is not None and self._opened.is_persistent

    @property
    def has_stored(self) -> bool:
        """False if a backup or an empty file replaces the stored chats."""
        return self._opened is not None and self._opened.has_stored

    # ---- on the writer's thread -------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        self._opened = open_chats(self._place, self._now())
        connection = self._opened.connection
        try:
            with transaction(connection):
                num_interrupted = messages.interrupt_streaming(connection) + settle_open(connection)
                self.wiped = delete_expired(connection, self._now())
            if num_interrupted:
                log.info("%d answers and calls of tools were interrupted when Paceline last ended.", num_interrupted)
        except sqlite3.Error as error:
            self._record_damage(error)
            # Open anyway, for example with a full disk: unfinished answers are shown as interrupted (see _current), and
            # deleted chats are hidden.
            log.warning("What was left over of the last time could not be put in order: %s", error)
        return connection

    def _write_due(self, db: sqlite3.Connection, *, everything: bool = False) -> float | None:
        for snapshot in self._answers.due(everything=everything):
            self._write_snapshot(db, snapshot)
        return self._answers.wait_s()

    def _write_snapshot(self, db: sqlite3.Connection, snapshot: AnswerSnapshot) -> None:
        try:
            self._store_snapshot(db, snapshot)
        except (sqlite3.Error, ValueError, ArithmeticError) as error:  # the thread must survive any error
            self._answers.mark_failed(snapshot)
            problem = as_storage_error(error, self._place.file).problem
            log.warning("An answer could not be saved and is tried again in %g s: %s", RETRY_S, error)
            if not self._save_fails:
                self._save_fails = True
                self._on_save_state(problem)
        finally:
            self.on_written()

    def _store_snapshot(self, db: sqlite3.Connection, snapshot: AnswerSnapshot) -> None:
        with transaction(db):
            messages.write_answer(db, snapshot, self._now())
        self._answers.mark_written(snapshot)
        if self._save_fails and self._answers.num_unwritten == 0:
            self._save_fails = False
            self._on_save_state(None)

    def _back_up(self, db: sqlite3.Connection) -> None:
        folder = self._place.backups
        try:
            if not self.is_persistent or not backup_is_due(folder, self._now()):
                return
            discard_unfinished(folder)
            copied = copy_database(db, folder, self._now(), between=lambda: self._writer.run_waiting(db))
        except (BackupError, OSError) as error:
            self._record_damage(error.__cause__)
            log.warning("The chats could not be backed up: %s", error)
            return
        self._verifying = threading.Thread(target=self._verify, args=(copied,), name="backup", daemon=True)
        self._verifying.start()

    def _record_damage(self, error: BaseException | None) -> None:
        """If SQLite reports damage, let the next start check the whole file, and offer a backup."""
        damaged = isinstance(error, sqlite3.Error) and isinstance(
            as_storage_error(error, self._place.file), DamagedFileError
        )
        self._may_be_damaged = self._may_be_damaged or damaged

    def _verify(self, copied: Path) -> None:
        """Verify the backup on another thread: damage in it means damage in the file."""
        try:
            verify(copied)
            rotate(self._place.backups, self._now())
        except (BackupError, OSError) as error:
            log.warning("The chats could not be backed up: %s", error)
            self._may_be_damaged = True

    # ---- between the threads ----------------------------------------------------------------------------------------

    def read(self, job: Job[Result]) -> Result:
        """Run a job on the connection and wait for it. Ended answers are written first.

        Raises:
            StorageError: SQLite reports an error.
        """

        def read(db: sqlite3.Connection) -> Result:
            self._write_due(db)  # so that ended answers are read completely
            return job(db)

        try:
            return self._writer.call(read)
        except (sqlite3.Error, ValueError, ArithmeticError, LookupError) as error:
            failure = as_storage_error(error, self._place.file)
            self._may_be_damaged = self._may_be_damaged or isinstance(failure, DamagedFileError)
            raise failure from error

    def write(self, job: Job[Result]) -> Result:
        """Run a job in a transaction and wait for it. On return the change is safely stored."""
        return self.read(self._in_transaction(job))

    def retry_write(self, message_id: int) -> None:
        """Write an ended answer now, even if an earlier attempt failed.

        Raises:
            StorageError: writing fails again; it is retried later.
        """

        def job(db: sqlite3.Connection) -> None:
            for snapshot in self._answers.due(everything=True):
                if snapshot.message_id == message_id:
                    self._store_snapshot(db, snapshot)

        self.read(job)

    def unwritten(self, message_id: int) -> AnswerSnapshot | None:
        """The state of an answer that is streaming or not yet written; None for other messages."""
        return self._answers.current(message_id)

    def post(self, job: Job[Result]) -> Future[Result]:
        """Run a job in a transaction without waiting. The future may raise SQLite's errors."""
        return self._writer.post(self._in_transaction(job))

    def run_on_writer_thread(self, function: Callable[[], None]) -> None:
        """Call a function on the file's thread, after the waiting jobs; does not wait."""
        self._writer.post(lambda _db: function())

    def _in_transaction(self, job: Job[Result]) -> Job[Result]:
        def attempt(db: sqlite3.Connection) -> Result:
            with transaction(db):
                return job(db)

        def write(db: sqlite3.Connection) -> Result:
            # Retry also answers whose write just failed: no message may be stored below an unwritten answer.
            for snapshot in self._answers.due(ended=True):
                self._write_snapshot(db, snapshot)
            try:
                return attempt(db)
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_CORRUPT_VTAB:
                    raise
                log.warning("The index of the search was damaged and is made anew: %s", error)
                with transaction(db):
                    rebuild(db)
                return attempt(db)
            finally:
                self.on_written()

        return write
