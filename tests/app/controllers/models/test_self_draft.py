"""Tests a draft made from a library model: made and measured on the engine's thread, offered or not."""

import pickle
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from pytestqt.qtbot import QtBot

from app.controllers.models.self_draft import SelfDraftController
from app.core.domain.models import ModelRef
from app.core.hub.self_draft_job import SelfDraftJob
from engine.process.client import EngineClient
from engine.records import EngineFailed, Problem
from engine.requests import JobEnded, OnEvent, RunJob
from engine.sandbox.self_draft_child import SelfDraftPlan
from engine.session.session import Session
from tests.engine.gguf_factory import GgufFile, tiny_llama
from tests.ui import conftest as ui_parts
from ui.models.self_draft_dialog import SelfDraftDialog
from ui.window.main_window import MainWindow

theme, window = ui_parts.theme, ui_parts.window  # fixtures
EARLY = tiny_llama(n_ff=3072, n_layer=8, idle=range(4, 8), seed=3)  # half of its layers determine its output


class Posted(QObject):
    """Calls functions from other threads on this thread."""

    arrived = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.arrived.connect(lambda function: function(), Qt.ConnectionType.QueuedConnection)


class IdleEngine:
    """An engine whose thread is always idle."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.cancelled: set[int] = set()
        self.is_gone = False

    def submit(self, request: RunJob, on_event: OnEvent) -> None:
        assert request.background
        number = request.request_id
        if self.is_gone:
            on_event(EngineFailed(Problem("No engine", "The engine has not started.", "Restart Paceline."), number))
            return

        def run() -> None:
            session = cast("Session", None)
            value = request.job.run(session, lambda: number in self.cancelled, on_event, lambda: None)
            on_event(JobEnded(value, request_id=number))

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def cancel(self, number: int) -> None:
        self.cancelled.add(number)


class Bench:
    """The controller with everything it uses."""

    def __init__(self, window: MainWindow, folder: Path, worker: EngineClient | None = None) -> None:
        self.engine, self.posted, self.used = IdleEngine(), Posted(), list[tuple[ModelRef, ModelRef]]()
        self.folder = folder / "self-drafts"
        paths = SimpleNamespace(cache=folder, self_drafts=self.folder)
        jobs = SimpleNamespace(post=self.posted.arrived.emit)
        parts = SimpleNamespace(window=window, worker=worker or self.engine, paths=paths, jobs=jobs)
        self.controller = SelfDraftController(
            parts,  # type: ignore[arg-type]
            lambda target, draft: self.used.append((target, draft)),
        )

    def start(self, path: Path) -> None:
        self.controller.ask(ModelRef(path=str(path)))
        assert self.controller.dialog is not None
        self.controller.dialog.start_button.click()

    @property
    def dialog(self) -> SelfDraftDialog:
        assert self.controller.dialog is not None
        return self.controller.dialog


@pytest.fixture
def bench(window: MainWindow, tmp_path: Path) -> Bench:
    return Bench(window, tmp_path / "cache")


@pytest.mark.parametrize(("file", "pays"), [(EARLY, True), (tiny_llama(n_layer=4, seed=1), False)])
def test_it_is_measured_before_it_is_offered(
    bench: Bench, tmp_path: Path, qtbot: QtBot, file: GgufFile, pays: bool
) -> None:
    target = file.write(tmp_path / "target.gguf")
    bench.start(target)
    assert bench.dialog.bar.isVisible()
    qtbot.waitUntil(bench.dialog.measured.isVisible, timeout=120_000)
    dialog = bench.controller.dialog
    assert dialog is not None
    assert "it agrees with the whole model on" in dialog.measured.text()
    assert bool(dialog.draft) is pays
    if pays:
        dialog.use_button.click()
        ((used_target, draft),) = bench.used
        assert used_target.path == str(target)
        assert Path(draft.path).parent == bench.folder
        assert Path(draft.path).exists()
    else:
        assert dialog.use_button.isHidden()
        assert list(bench.folder.iterdir()) == []
        dialog.close_button.click()
    assert bench.controller.dialog is None


def test_cancelling_ends_it_and_leaves_nothing(bench: Bench, tmp_path: Path) -> None:
    bench.start(EARLY.write(tmp_path / "target.gguf"))
    dialog = bench.controller.dialog
    assert dialog is not None
    dialog.close_button.click()
    bench.engine.threads[0].join(60.0)
    assert not bench.engine.threads[0].is_alive()
    assert not bench.folder.exists() or list(bench.folder.iterdir()) == []
    assert bench.used == []


def test_the_job_crosses_to_another_process_without_a_window() -> None:
    job = SelfDraftJob(SelfDraftPlan(Path("target.gguf"), Path("drafts"), Path("cache"), Path("sample.gguf")))
    assert pickle.loads(pickle.dumps(job)) == job  # noqa: S301 (our own)
    code = "import sys; from app.core.hub import self_draft_job; sys.exit('PySide6' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_what_fails_is_said_in_the_dialog(bench: Bench, tmp_path: Path, qtbot: QtBot) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(40))
    bench.start(broken)
    qtbot.waitUntil(bench.dialog.verdict.isVisible)
    dialog = bench.controller.dialog
    assert dialog is not None
    assert "broken.gguf" in dialog.verdict.text.text()
    bench.engine.is_gone = True
    dialog.start_button.click()
    qtbot.waitUntil(lambda: "The engine has not started." in dialog.verdict.text.text())
    dialog.close_button.click()


def test_it_is_made_in_another_process_and_closing_waits_for_its_files(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    engine = EngineClient(lambda _event: None, Session)
    engine.start()
    bench = Bench(window, tmp_path / "cache", engine)
    target = EARLY.write(tmp_path / "target.gguf")
    bench.start(target)
    qtbot.waitUntil(bench.dialog.measured.isVisible, timeout=120_000)
    dialog = bench.controller.dialog
    assert dialog is not None
    (made,) = bench.folder.iterdir()
    assert dialog.draft == str(made)
    dialog.close_button.click()
    bench.start(tiny_llama(n_layer=4, seed=1).write(tmp_path / "other.gguf"))
    qtbot.waitUntil(lambda: len(list(bench.folder.iterdir())) > 1)
    bench.controller.close()
    assert engine.close(60.0)
    assert list(bench.folder.iterdir()) == [made]
