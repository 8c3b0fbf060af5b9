"""The real app in the folders of PACELINE_HOME with a scripted engine, to be started, used and killed by tests.

It sends one question in a new chat, and reports on standard output, one JSON line each: the sent question, and every
piece of text from the engine with its time and request number. An argument is a key of `ANSWERS`; with "two", a second
chat is asked at the same time.
"""

import json
import sys
import time
from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.startup.window import open_window
from engine.records import Event, TextChunk
from tests.app.fakes import keep_settings
from tests.fake_model import Script, ScriptedWorker
from ui.window.main_window import MainWindow

QUESTION, OTHER_QUESTION = "Tell me a long story.", "And another one."
ANSWER = "".join(f"word{number} " for number in range(100_000))
ANSWERS = {
    "words": ANSWER,
    "two": ANSWER,
    "reasoning": "<think>" + ANSWER,
    "reasoned": "<think>" + "".join(f"thought{number} " for number in range(60)) + "</think>\n\n" + ANSWER,
}


def tell(**values: object) -> None:
    sys.stdout.write(json.dumps({"at_s": time.monotonic(), **values}) + "\n")
    sys.stdout.flush()


class TellingWorker(ScriptedWorker):
    """Reports every piece of text before it passes it to the app."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        def on_event_and_tell(event: Event) -> None:
            if isinstance(event, TextChunk):
                tell(text=event.text, number=event.request_id)
            on_event(event)

        script = Script(answer=ANSWERS[wanted()], tokens_per_second=200.0, parallel=2)
        super().__init__(on_event_and_tell, script)


def wanted() -> str:
    return (sys.argv[1:] or ["words"])[0]


def ask() -> None:
    windows = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, MainWindow)]
    for question in (QUESTION, OTHER_QUESTION) if wanted() == "two" else (QUESTION,):
        windows[0].sidebar.new_chat.emit()
        windows[0].composer.submitted.emit(question)
    tell(asked=QUESTION)


def main() -> None:
    keep_settings({})
    application = QApplication([])
    QTimer.singleShot(0, application, ask)
    sys.exit(open_window([], TellingWorker))


if __name__ == "__main__":
    main()
