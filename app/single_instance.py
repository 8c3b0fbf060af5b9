"""One window on one set of folders: a second start asks the first to come forward. Knows no window itself."""

from __future__ import annotations

import hashlib
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

ANSWER_MS = 1500


class SingleInstance(QObject):
    """Holds the lock and listens for later starts.

    ``other_answered`` says, after `take` failed, whether the other one was reached.

    Signals:
        raise_requested: somebody started the app again.
    """

    raise_requested = Signal()

    def __init__(self, lock_file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = QLockFile(str(lock_file))
        # Age says nothing here: a window may be open for weeks. A lock whose process is gone is stale all the same.
        self._lock.setStaleLockTime(0)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)
        self.other_answered = False
        # A socket's path may have about 100 characters; a folder's may have more.
        self._name = "paceline-" + hashlib.sha256(str(lock_file).encode()).hexdigest()[:16]

    def take(self) -> bool:
        """Become the one; False where another is (or the folder takes no lock file while another answers)."""
        if not self._lock.tryLock(0):
            if self._lock.error() is not QLockFile.LockError.LockFailedError:
                # No lock can be made in this folder; the chats' own lock still keeps two from writing.
                return not self._raise_other()
            # A crash followed by another program with the same process number looks alive, but does not hold the file.
            if self._raise_other() or not (self._lock.removeStaleLockFile() and self._lock.tryLock(0)):
                return False
        QLocalServer.removeServer(self._name)
        self._server.listen(self._name)
        return True

    def release(self) -> None:
        """Let another start take over."""
        self._server.close()
        self._lock.unlock()

    def _raise_other(self) -> bool:
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        self.other_answered = socket.waitForConnected(ANSWER_MS) and socket.waitForReadyRead(ANSWER_MS)
        socket.disconnectFromServer()
        return self.other_answered

    def _on_connection(self) -> None:
        socket = self._server.nextPendingConnection()
        if socket is not None:
            socket.disconnected.connect(socket.deleteLater)
            socket.write(b"here")
            socket.flush()
            self.raise_requested.emit()
