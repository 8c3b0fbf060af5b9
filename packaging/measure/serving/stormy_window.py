"""The window of `storm.py`, in a process of its own: its server is on, and its chat asks one question after another.

    QT_QPA_PLATFORM=offscreen PACELINE_HOME=DIR python packaging/measure/serving/stormy_window.py PORT SEED

On standard input ``chat`` has its chat begin, and ``end`` closes it. Each answer is a line of JSON on standard output.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication
from stormy_clients import questions

from app.domain.engine_view import EngineState
from app.domain.messages import MessageView
from app.domain.settings.values import Settings
from app.paths import find_paths
from app.startup.window import open_window
from app.storage.settings_file import write_settings
from ui.window.main_window import MainWindow

PAUSE_MS, RETRY_MS = 1_000, 200


class ChatDriver(QObject):
    """Asks in new chats, one after another, and tells of each answer.

    Signals:
        told(str): a word came on standard input.
    """

    reported = Signal(str)

    def __init__(self, texts: list[str]) -> None:
        super().__init__()
        self._texts = texts
        self._number = 0
        self._asked_at = 0.0
        self._window: MainWindow | None = None
        self.reported.connect(self._obey)

    def read_words(self) -> None:
        """Take words from standard input, on a thread of its own."""
        for line in sys.stdin:
            self.reported.emit(line.strip())

    def _obey(self, word: str) -> None:
        window = next(one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow))
        if word == "end":
            window.close()
            return
        self._window = window
        show = window.finish_answer

        def finish_and_report(view: MessageView) -> None:
            show(view)
            self._report(view)

        window.finish_answer = finish_and_report  # type: ignore[method-assign]
        window.models.leave()
        self._ask()

    def _report(self, view: MessageView) -> None:
        took_s = time.monotonic() - self._asked_at
        reported = {"asked": self._text, "text": view.text, "state": view.state.value, "seconds": took_s}
        sys.stdout.write(json.dumps(reported) + "\n")
        sys.stdout.flush()
        self._number += 1
        QTimer.singleShot(PAUSE_MS, self, self._ask)

    @property
    def _text(self) -> str:
        return self._texts[self._number % len(self._texts)]

    def _ask(self) -> None:
        if self._window is None or self._window.engine_view.state is not EngineState.READY:
            QTimer.singleShot(RETRY_MS, self, self._ask)
            return
        self._asked_at = time.monotonic()
        self._window.new_chat_requested.emit()
        self._window.composer.edit.setPlainText(self._text)
        self._window.composer.submit()


def main(port: int, seed: int) -> int:
    """Open the window; it stays until it is told to close."""
    paths = find_paths()
    paths.config.mkdir(parents=True, exist_ok=True)
    values: dict[str, bool | int | float | str] = {"server": True, "server_port": port, "temperature": 0.0}
    # What is kept of each of the many chats would look like memory that is lost.
    values |= {"kept_caches": 0, "learn_past": False, "language": "en"}
    write_settings(paths.settings_file, Settings().changed(values)[0])
    application = QApplication(["paceline"])
    chatter = ChatDriver(questions(seed))
    threading.Thread(target=chatter.read_words, daemon=True).start()
    status = open_window([])
    del application
    return status


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
