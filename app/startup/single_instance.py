"""One window per set of folders: a second start asks the first to come forward.

The lock decides and is taken first. The first paint waits neither for the socket nor for Qt's network library.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLockFile, QObject, Signal

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

MAX_PATH_BYTES = 32_768
ACTIVATION = "XDG_ACTIVATION_TOKEN"  # set by Wayland; lets a clicked program raise its window
ANSWER_MS = 1500
_RETRY_S = 0.05


class SingleInstance(QObject):
    """Holds the lock from `acquire` on, and answers later starts from `accept_others` on.

    ``other_answered``: whether the other instance responded, after `acquire` failed. ``file``: a model to open, by the
    other instance if there is one.
    """

    raise_requested = Signal(str)  # the app was started again, with an activation token or an empty text
    file_requested = Signal(str)  # the app was started again with this model file

    def __init__(self, lock_file: Path, file: str = "") -> None:
        super().__init__()
        self._file = file
        self._lock = QLockFile(str(lock_file))
        # No lock is stale by age, since a window may be open for weeks; only if its process is gone.
        self._lock.setStaleLockTime(0)
        self._lock_file = lock_file
        self._server: QLocalServer | None = None
        self.other_answered = False

    def acquire(self) -> bool:
        """Take the lock; False if another instance runs. If no lock file can be made: False if another answers."""
        if self._lock.tryLock(0):
            return True
        if self._lock.error() is not QLockFile.LockError.LockFailedError:
            # No lock can be made in this folder; the chats' own lock still prevents two writers.
            return not self._raise_other(patiently=False)
        # After a crash another program may have the lock's process number, but it does not hold the file.
        return not self._raise_other() and self._lock.removeStaleLockFile() and self._lock.tryLock(0)

    def accept_others(self) -> None:
        from PySide6.QtNetwork import QLocalServer  # noqa: PLC0415  (the first paint does not wait for it)

        if self._server is not None:
            return
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)
        QLocalServer.removeServer(self._name())
        self._server.listen(self._name())

    def release(self) -> None:
        if self._server is not None:
            self._server.close()
        self._lock.unlock()

    def _name(self) -> str:
        import hashlib  # noqa: PLC0415  (as above)

        # A digest, since a socket's path is limited to about 100 characters; of the real path, since links may vary.
        place = os.path.realpath(self._lock_file)
        return "paceline-" + hashlib.sha256(os.fsencode(place)).hexdigest()[:16]

    def _raise_other(self, *, patiently: bool = True) -> bool:
        """Ask the other instance to come forward; ``patiently``: wait for one that is starting."""
        from PySide6.QtNetwork import QLocalSocket  # noqa: PLC0415  (as above)

        until = time.monotonic() + ANSWER_MS / 1000
        socket = QLocalSocket()
        socket.connectToServer(self._name())
        while not (is_there := socket.waitForConnected(ANSWER_MS)) and patiently and time.monotonic() < until:
            time.sleep(_RETRY_S)
            socket.connectToServer(self._name())
        self.other_answered = is_there and socket.waitForReadyRead(ANSWER_MS)
        token = os.environ.get(ACTIVATION, "")
        if self.other_answered and (self._file or token):
            socket.write(os.fsencode(f"{self._file}\0{token}" if token else self._file))
            socket.waitForBytesWritten(ANSWER_MS)
        socket.disconnectFromServer()
        return self.other_answered

    def _on_connection(self) -> None:
        socket = self._server.nextPendingConnection() if self._server is not None else None
        if socket is not None:
            socket.disconnected.connect(lambda: self._on_message(socket))
            socket.write(b"here")
            socket.flush()
            self.raise_requested.emit("")

    def _on_message(self, socket: QLocalSocket) -> None:
        """The message of another start: a path or nothing, and after a zero byte an activation token."""
        words = os.fsdecode(bytes(socket.readAll().data()[:MAX_PATH_BYTES]))
        socket.deleteLater()
        file, _, token = words.partition("\0")
        if token:
            self.raise_requested.emit(token)
        if file and Path(file).is_file():
            self.file_requested.emit(file)
