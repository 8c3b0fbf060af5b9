"""The real app in the folders of PACELINE_HOME, with a scripted model that keeps calling a tool, to be killed.

The tool first writes each call to the file that is its argument and syncs it to disk; then it takes a while. The next
question is sent as soon as a turn has ended.
"""

import dataclasses
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.controllers.chat.projects import ProjectController
from app.controllers.chat.tools import ToolProviders
from app.controllers.parts import Parts
from app.core.domain.engine_view import EngineState
from app.core.tools.interface import ToolDefinition, ToolResult, arguments_of
from app.startup.window import open_window
from engine.records import ChatRequest, Event, ModelInfo, ToolCall, ToolFormat
from tests.app.fakes import keep_settings
from tests.app.scripted_app import tell
from tests.fake_model import Script, ScriptedWorker
from ui.window.main_window import MainWindow

QUESTION = "Write all the numbers."
STEPS, CALLS = 4, 2  # answers with calls per turn, and calls per answer
CALL_S = 0.04
NUMBER = {"type": "object", "properties": {"number": {"type": "string"}}}


def result_of(number: str) -> str:
    return f"The number {number} is written."


class Writer:
    """The tool: a call is done once its line is in the file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def definitions(self) -> tuple[ToolDefinition, ...]:
        return (ToolDefinition("write", "Writes a number.", NUMBER, "files"),)

    def call(self, call: ToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        def run() -> None:
            number = str(arguments_of(call)["number"])
            with self._file.open("a", encoding="utf-8") as file:
                file.write(number + "\n")
                file.flush()
                os.fsync(file.fileno())
            time.sleep(CALL_S)
            done(ToolResult(call.call_id, result_of(number)))

        threading.Thread(target=run, daemon=True).start()
        return lambda: None

    def close(self) -> None:
        pass


class CallingWorker(ScriptedWorker):
    """Calls the tool with unique numbers, in a fixed number of answers per turn."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        super().__init__(on_event, Script(tokens_per_second=400.0))
        self._numbers = (f"{os.getpid()}-{number}" for number in itertools.count())

    def _answer(self, request: ChatRequest) -> Iterator[Event]:
        last = max(place for place, message in enumerate(request.messages) if message.role == "user")
        num_steps = sum(message.role == "assistant" for message in request.messages[last:])
        calls = "\n".join(
            f'<tool_call>\n{{"name": "write", "arguments": {{"number": "{next(self._numbers)}"}}}}\n</tool_call>'
            for _ in range(CALLS)
        )
        answer = f"Two more of them:\n\n{calls}" if num_steps < STEPS else "All of them are written."
        self._script = Script(answer=answer, tokens_per_second=400.0)
        return super()._answer(request)

    def _info(self, path: str) -> ModelInfo:
        return dataclasses.replace(super()._info(path), tool_format=ToolFormat.HERMES)


def ask() -> None:
    """Send the next question once no answer is running."""
    window = next(widget for widget in QApplication.topLevelWidgets() if isinstance(widget, MainWindow))
    if window.engine_view.state is EngineState.READY:
        window.composer.submitted.emit(QUESTION)
        tell(asked=QUESTION)


def main() -> None:
    keep_settings({"tools": True, "built_in_tools": "", "allowed_tools": "files/write"})
    begin = ToolProviders.__init__

    def begin_with_writer(self: ToolProviders, parts: Parts, projects: ProjectController) -> None:
        begin(self, parts, projects)
        self.extra_providers = (Writer(Path(sys.argv[1])),)

    ToolProviders.__init__ = begin_with_writer  # type: ignore[method-assign]
    application = QApplication([])
    timer = QTimer(application, interval=20)
    timer.timeout.connect(ask)
    timer.start()
    sys.exit(open_window([], CallingWorker))


if __name__ == "__main__":
    main()
