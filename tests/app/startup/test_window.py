"""Tests the window as a program: unwritable folders, no display, an uncaught exception."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core.paths import builtin_target, find_paths
from app.startup.window import open_file
from tests.app.fakes import AppHarness

ROOT = Path(__file__).resolve().parents[3]
OPEN_AND_CLOSE = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.startup.window import open_window
from tests.fake_model import ScriptedWorker
application = QApplication([])
def close():
    window = next(widget for widget in QApplication.topLevelWidgets() if widget.inherits("QMainWindow"))
    print("problem:", window.problem_banner.message.text())
    window.close()
QTimer.singleShot(500, application, close)
sys.exit(open_window([], ScriptedWorker))
"""

OPEN_ON_A_FILE = """
import sys, time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.core.paths import find_paths
from app.startup.window import open_window
application = QApplication([])
began, settings = time.monotonic(), find_paths().settings_file
def close():
    if settings.exists() or time.monotonic() > began + 60:
        next(widget for widget in QApplication.topLevelWidgets() if widget.inherits("QMainWindow")).close()
timer = QTimer(interval=200)
timer.timeout.connect(close)
timer.start()
sys.exit(open_window([], file=sys.argv[1]))
"""

TELL_BEFORE_THE_FIRST_PICTURE = """
import sys
from PySide6.QtWidgets import QApplication
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from app.core.paths import find_paths
from app.startup.window import open_window
from tests.fake_model import ScriptedWorker
from ui.transcript import transcript
paths = find_paths()
paths.data.mkdir(parents=True)
paths.config.mkdir(parents=True)
(paths.config / "welcomed").touch()
store = ChatStore(StoreLocation(paths.chats_file, paths.backups), print)
assert store.open() is None
chat = store.create_conversation("long")
for _ in range(20):
    store.add_message(chat, "user", "a word and another one\\n\\n" * 10)
assert store.close(10)
transcript.FIRST_SLICE_S, transcript.FIRST_FRAME_S = 1e-9, 30.0
def tell(*_):
    window = next(widget for widget in QApplication.topLevelWidgets() if widget.inherits("QMainWindow"))
    print("below the first picture:", window.transcript.verticalScrollBar().maximum())
    print("within the screen:", window.screen().availableGeometry().contains(window.frameGeometry()))
    window.close()
    return 0
application = QApplication([])
QApplication.exec = tell
sys.exit(open_window([], ScriptedWorker))
"""

CLOSE_BEFORE_THE_FIRST_PICTURE = """
import sys
from PySide6.QtWidgets import QApplication
from app.core.paths import find_paths
from app.startup.window import open_window
find_paths().config.mkdir(parents=True)
(find_paths().config / "welcomed").touch()
def close(*_):
    next(widget for widget in QApplication.topLevelWidgets() if widget.inherits("QMainWindow")).close()
    return 0
application = QApplication([])
QApplication.exec = close
status = open_window([])
print("llama.cpp was loaded:", "llama_cpp" in sys.modules)
sys.exit(status)
"""


def run(code: str, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_it_opens_and_closes(tmp_path: Path) -> None:
    done = run(OPEN_AND_CLOSE)
    assert done.returncode == 0, done.stderr
    paths = find_paths()
    assert paths.chats_file.exists()
    assert paths.layout_file.exists()
    assert len(list(paths.backups.iterdir())) == 1
    assert "The chats are being opened." in (paths.logs / "paceline.log").read_text(encoding="utf-8")


def test_it_opens_on_a_model_file() -> None:
    done = run(OPEN_ON_A_FILE, str(builtin_target()))
    assert done.returncode == 0, done.stderr
    assert str(builtin_target()) in find_paths().settings_file.read_text("utf-8")


def test_a_model_file_that_is_not_there_is_one_line() -> None:
    done = run("import sys; from app.__main__ import main; sys.exit(main(['/no/such.gguf']))")
    assert done.returncode == 1
    assert done.stderr == "paceline: This file cannot be opened: There is no file /no/such.gguf. Check its name.\n"


def test_closing_before_the_first_paint_does_not_wait_for_the_engine() -> None:
    done = run(CLOSE_BEFORE_THE_FIRST_PICTURE)
    assert done.returncode == 0, done.stderr
    assert "llama.cpp was loaded: False" in done.stdout


def test_the_first_picture_fits_the_screen_and_has_all_that_is_in_sight() -> None:
    done = run(TELL_BEFORE_THE_FIRST_PICTURE)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split("below the first picture:")[1].split()[0]) > 0
    assert "within the screen: True" in done.stdout, "as nobody gave it a size yet"


def test_an_unwritable_home_is_reported_and_the_window_opens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where the folder should be")
    done = run(OPEN_AND_CLOSE, PACELINE_HOME=str(tmp_path / "file"))
    assert done.returncode == 0, done.stderr
    assert "Cannot write to a folder" in done.stdout
    assert "only until Paceline is closed" in done.stdout


def test_without_a_display_one_line_says_so() -> None:
    environ = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"), "")
    if sys.platform != "linux":
        pytest.skip("only Linux may be without a display")
    done = run("import sys; from app.cli.parser import main; sys.exit(main([]))", **environ)
    assert done.returncode != 0
    assert "paceline run" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_exception_that_nobody_caught_is_reported(harness: AppHarness, qtbot: QtBot) -> None:
    harness.reports.crashed.emit("ZeroDivisionError")
    qtbot.waitUntil(lambda: bool(harness.window.problems))
    assert "ZeroDivisionError" in harness.window.problems[0].message
    assert str(harness.paths.logs) in harness.window.problems[0].message


def test_trouble_with_saving_and_its_end_are_reported(harness: AppHarness) -> None:
    harness.reports.trouble.emit(None)
    assert harness.window.notices == ["Everything is saved again."]


def test_a_file_that_is_handed_over_is_loaded_where_it_is_seen(harness: AppHarness) -> None:
    window = harness.window
    for place in (window.models, window.race, window.server):
        place.show_page()
        open_file(window, "models/other.gguf")
        assert not place.is_open
    assert harness.engine.loads[-1].target == "models/other.gguf"


def test_a_file_that_the_system_opens_with_the_app_is_taken() -> None:
    script = """
import sys
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFileOpenEvent
from app.startup.window import Application
application, told = Application([]), []
application.file_opened.connect(told.append)
QCoreApplication.sendEvent(application, QFileOpenEvent(sys.argv[1]))
print(told == [sys.argv[1]] == [application.file])
"""
    command = [sys.executable, "-c", script, str(ROOT / "model.gguf")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "True\n"
