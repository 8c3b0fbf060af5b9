"""The thread that owns the only connection: it runs jobs in order, and housekeeping when due."""

import functools
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from app.core.domain.errors import StorageError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Job = Callable[[sqlite3.Connection], Result]


class DatabaseAccess(Protocol):
    """Runs jobs, which are functions of the connection."""

    def read(self, job: Job[Result]) -> Result: ...

    def write(self, job: Job[Result]) -> Result:
        """Run a job in a transaction. On return its change is safely stored."""

    def post(self, job: Job[Result]) -> Future[Result]: ...


class StorePart:
    """Methods about one part of the chats."""

    def __init__(self, access: DatabaseAccess) -> None:
        self.access = access


Part = TypeVar("Part", bound=StorePart)


def stored(
    method: Callable[Concatenate[Part, sqlite3.Connection, Arguments], Result],
) -> Callable[Concatenate[Part, Arguments], Result]:
    """Run a method in a transaction on the file's thread, and wait for it. Callers leave out the connection.

    It raises `StorageError` if it fails.
    """

    @functools.wraps(method)
    def call(self: Part, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        return self.access.write(lambda db: method(self, db, *arguments, **named))

    return call


class WriterThread:
    """Runs jobs on a connection that never leaves its thread.

    ``housekeeping(connection)`` runs between jobs and returns the seconds until its next run, or None for no further
    run.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], housekeeping: Job[float | None]) -> None:
        self._connect = connect
        self._housekeeping = housekeeping
        self._jobs: queue.SimpleQueue[tuple[Job[Any], Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="chats", daemon=True)
        self._closing = threading.Lock()
        self._closed = False
        self._opened: Future[None] = Future()

    def begin(self) -> None:
        """Start opening the connection on the thread; jobs wait until it is open."""
        if self._thread.ident is None:
            self._thread.start()

    def wait_for_opening(self) -> None:
        """Wait until the connection is open, or raise the error of opening it."""
        self._opened.result()

    def call(self, job: Job[Result]) -> Result:
        """Run ``job`` after all earlier jobs; returns its result or raises its error."""
        return self.post(job).result()

    def post(self, job: Job[Result]) -> Future[Result]:
        future: Future[Result] = Future()
        with self._closing:
            if self._closed:
                raise StorageError("The chats are closed.")
            self._jobs.put((job, future))
        return future

    def wake(self) -> None:
        """Run the housekeeping now."""
        self.post(lambda _connection: None)

    def run_waiting(self, connection: sqlite3.Connection) -> None:
        """Run the waiting jobs within a long job.

        Raises:
            StorageError: `stop` was called, so the long job should end.
        """
        while not self._jobs.empty():
            entry = self._jobs.get()
            if entry is None:
                self._jobs.put(None)
                raise StorageError("The chats are being closed.")
            _run_job(connection, *entry)
        self._housekeeping(connection)

    def stop(self, timeout_s: float) -> bool:
        """Run the queued jobs, close the connection and end the thread; False if that exceeds ``timeout_s``."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            connection = self._connect()
        except BaseException as error:  # noqa: BLE001 (handed to the thread that waits for it)
            self._opened.set_exception(error)
            return
        self._opened.set_result(None)
        try:
            while (entry := self._next(connection)) is not None:
                _run_job(connection, *entry)
        finally:
            connection.close()
            self._refuse_waiting()

    def _next(self, connection: sqlite3.Connection) -> tuple[Job[Any], Future[Any]] | None:
        while True:
            wait_s = self._housekeeping(connection)
            try:
                return self._jobs.get(timeout=wait_s)
            except queue.Empty:
                continue

    def _refuse_waiting(self) -> None:
        with self._closing:
            self._closed = True
        while not self._jobs.empty():
            entry = self._jobs.get()
            if entry is not None:
                entry[1].set_exception(StorageError("The chats were closed before this was saved."))


def _run_job(connection: sqlite3.Connection, job: Job[Any], future: Future[Any]) -> None:
    try:
        future.set_result(job(connection))
    except BaseException as error:  # noqa: BLE001 (handed to the thread that waits for it)
        future.set_exception(error)
