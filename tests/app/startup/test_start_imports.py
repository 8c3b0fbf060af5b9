"""Modules that the first paint does not need are not imported before it. The start is timed elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.core.domain.messages import MessageState
from app.core.paths import find_paths
from app.core.storage.chats.answers import AnswerEnding
from app.core.storage.chats.opening import StoreLocation
from app.core.storage.chats.store import ChatStore
from tests.app.fakes import keep_settings

ROOT = Path(__file__).resolve().parents[3]
# Libraries of the engine, the hub, and for PDF files, formulas and code: imported when first needed.
HEAVY = ("numpy", "llama_cpp", "jinja2", "huggingface_hub", "pygments", "pypdf", "ziamath", "gguf", "ssl")
OURS_LATER = ("app.core.storage.statistics_export",)
# Modules that the start does not need: imported at their first use.
LATER = ("PySide6.QtNetwork", "hashlib", "subprocess")
PAINT_AND_TELL = """
import sys, threading, types
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
import app.startup.window
from app.__main__ import main
class Painted(threading.Event):
    def set(self):  # the engine's thread begins to load its libraries after this
        if self.is_set():
            return  # the window closes
        print("loaded:", *sorted(sys.modules))
        window = next(widget for widget in QApplication.topLevelWidgets() if widget.inherits("QMainWindow"))
        print("all widgets:", "QWizard" in vars(sys.modules["PySide6.QtWidgets"]))
        print("shown:", window.isVisible(), len(window.transcript.cards))
        super().set()
        QTimer.singleShot(0, window.close)
app.startup.window.threading = types.SimpleNamespace(Event=Painted)
sys.exit(main([]))
"""


@pytest.fixture
def chat() -> None:
    """A conversation with an answer, which the first paint shows."""
    keep_settings({})
    paths = find_paths()
    store = ChatStore(StoreLocation(paths.chats_file, paths.backups), [].append)
    assert store.open() is None
    turn = store.begin_turn(None, "What is it?")
    store.append(turn.answer.id, "It is **bold**.")
    store.finish_answer(turn.answer.id, AnswerEnding(MessageState.COMPLETE))
    assert store.close()


@pytest.mark.usefixtures("chat")
def test_nothing_heavy_is_loaded_before_the_first_paint() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PAINT_AND_TELL],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    assert told["shown"] == "True 2"
    loaded = set(told["loaded"].split())
    assert {"PySide6", "ui", "app"} <= loaded
    # Getting one of Qt's own widgets makes PySide load all widget classes: see `ui.widgets.building`.
    assert told["all widgets"] == "False"
    assert loaded.isdisjoint({*HEAVY, *LATER, *OURS_LATER}), loaded & {*HEAVY, *LATER, *OURS_LATER}


def test_the_page_of_a_first_start_waits_for_no_numpy() -> None:
    code = "import sys, app.controllers.models.pairs; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
