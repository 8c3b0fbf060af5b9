"""Opens the window: puts the parts together, runs until it closes, takes them apart. The only place that does so."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QApplication

from app.controller import Controller
from app.engine_bridge import EngineBridge, MakeWorker
from app.logs import Logs
from app.parts import Parts
from app.paths import Paths, assets_dir, find_paths
from app.qt_logs import log_qt_messages, stop_logging_qt_messages
from app.settings_keeper import SettingsKeeper
from app.settings_table import FIELDS
from app.single_instance import SingleInstance
from app.startup import TASKS, Startup, run_tasks
from engine.records import Problem
from ui.main_window import MainWindow

log = logging.getLogger(__name__)

ALREADY_OPEN = "Paceline is already open; its window was asked to come forward.\n"
HELD = "Another Paceline holds {lock}, but does not answer. End it, then start this one again.\n"


class Reports(QObject):
    """Carries reports from other threads to the GUI thread.

    Signals:
        trouble(object): a `Problem` of the store, or None when all is saved again.
        crashed(str): the type of an exception that nobody caught.
    """

    trouble = Signal(object)
    crashed = Signal(str)


def open_window(argv: Sequence[str], make_worker: MakeWorker | None = None) -> int:
    """Open the window on this user's folders and stay until it closes; return the exit status.

    ``make_worker`` puts another engine in the place of the real one.
    """
    application = QApplication.instance() or QApplication(["paceline", *argv])
    if not isinstance(application, QApplication):
        raise TypeError("a window needs a QApplication")
    application.setApplicationName("paceline")
    application.setApplicationDisplayName("Paceline")
    application.setDesktopFileName("paceline")
    paths = find_paths()
    with contextlib.suppress(OSError):  # a folder that cannot be made is told by the start-up tasks
        paths.data.mkdir(parents=True, exist_ok=True)
    instance = SingleInstance(paths.lock_file)
    if not instance.take():
        sys.stderr.write(ALREADY_OPEN if instance.other_answered else HELD.format(lock=paths.lock_file))
        return 0 if instance.other_answered else 1
    reports = Reports()
    logs = Logs(paths.logs, reports.crashed.emit)
    logs.start()
    log_qt_messages()
    # Ctrl+C ends it at once, as kill does: all that was acknowledged is on the disk.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _run(application, paths, instance, reports, make_worker or _real_engine(paths))
    finally:
        instance.release()
        stop_logging_qt_messages()
        logs.stop()


def _run(
    application: QApplication,
    paths: Paths,
    instance: SingleInstance,
    reports: Reports,
    make_worker: MakeWorker,
) -> int:
    window = MainWindow(assets_dir(), FIELDS)
    controller = assemble(window, paths, reports, make_worker)
    instance.raise_requested.connect(lambda: _bring_forward(window))
    window.show()
    status = application.exec()
    return status if controller.close() else 1


def assemble(window: MainWindow, paths: Paths, reports: Reports, make_worker: MakeWorker) -> Controller:
    """Run the start-up tasks and connect everything; the models are loading when this returns."""
    startup = Startup(paths, reports.trouble.emit)
    run_tasks(startup, TASKS)
    if startup.store is None:
        raise RuntimeError("the start-up tasks opened no store")
    bridge = EngineBridge(make_worker)
    keeper = SettingsKeeper(paths.settings_file, startup.settings, window.show_problem)
    controller = Controller(Parts(window, bridge.worker, startup.store, keeper, paths), bridge)
    reports.trouble.connect(controller.on_trouble)
    reports.crashed.connect(lambda name: window.show_problem(_crash_problem(name, paths)))
    bridge.worker.start()
    controller.start()
    startup.store.back_up_daily()  # after the first look at the chats, which would wait for it
    for notice in startup.notices:
        window.show_notice(notice)
    if startup.problems:
        window.show_problem(_together(startup.problems))
    return controller


def _real_engine(paths: Paths) -> MakeWorker:
    from engine.worker import EngineWorker, probing_session  # noqa: PLC0415  (loads llama.cpp)

    return lambda on_event: EngineWorker(on_event, lambda: probing_session(paths.cache))


def _together(problems: Sequence[Problem]) -> Problem:
    """Make one problem of several: the window shows one at a time."""
    if len(problems) == 1:
        return problems[0]
    return Problem(
        "Not everything is as it should be",
        " ".join(f"{problem.title}: {problem.message}" for problem in problems),
        problems[0].advice,
    )


def _crash_problem(name: str, paths: Paths) -> Problem:
    return Problem(
        "Something went wrong inside Paceline",
        f"An error that should not happen ({name}) was written to the log in {paths.logs}.",
        "Your chats are saved. If something looks odd, restart Paceline.",
    )


def _bring_forward(window: MainWindow) -> None:
    window.setVisible(True)
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.raise_()
    window.activateWindow()
