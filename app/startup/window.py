"""Opens the window: takes the lock, starts the logs, runs the start-up tasks and the event loop."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMessageLogContext, Qt, QtMsgType, Signal, qInstallMessageHandler
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from app.controllers.reports import ThreadReports
from app.controllers.window.garbage import GarbageController
from app.core.logs import Logs
from app.core.paths import assets_dir, find_paths
from app.startup.single_instance import ACTIVATION, SingleInstance
from app.startup.tasks import Startup
from ui.widgets.building import preload_wrappers
from ui.widgets.first_paint import HIDDEN_WINDOW_MS, FirstPaint

if TYPE_CHECKING:
    from app.controllers.engine_bridge import MakeWorker
    from ui.window.main_window import MainWindow

_qt = logging.getLogger("qt")

ALREADY_OPEN = "Paceline is already open; its window was asked to come forward.\n"
LOCK_HELD = "Another Paceline holds {lock}, but does not answer. End it, then start this one again.\n"
_QT_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class Application(QApplication):
    """Receives files that are opened with the app, which macOS reports to the running program."""

    file_opened = Signal(str)  # the path of a file
    file = ""  # path of the last opened file

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file = event.file()
            self.file_opened.emit(self.file)
            return True
        return super().event(event)


def open_window(argv: Sequence[str], make_worker: MakeWorker | None = None, file: str = "") -> int:
    """Open the window on this user's folders until it closes; returns the exit status.

    ``make_worker`` replaces the real engine. ``file``: a model to load as the target.
    """
    application = QApplication.instance() or Application(["paceline", *argv])
    if not isinstance(application, QApplication):
        raise TypeError("a window needs a QApplication")
    application.setApplicationName("paceline")
    application.setApplicationDisplayName("Paceline")
    application.setDesktopFileName("paceline")
    paths = find_paths()
    with contextlib.suppress(OSError):  # the start-up tasks report the folder
        paths.data.mkdir(parents=True, exist_ok=True)
    instance = SingleInstance(paths.lock_file, file=file)
    if not instance.acquire():
        sys.stderr.write(ALREADY_OPEN if instance.other_answered else LOCK_HELD.format(lock=paths.lock_file))
        return 0 if instance.other_answered else 1
    reports = ThreadReports()
    logs = Logs(paths.logs, reports.crashed.emit)
    logs.start()
    log_qt_messages()
    # Ctrl+C ends the program at once, like kill: acknowledged changes are already on the disk.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        startup = Startup(paths, reports.trouble.emit)
        return _run(application, startup, instance, reports, make_worker, file)
    finally:
        instance.release()
        stop_logging_qt_messages()
        logs.stop()


def _run(
    application: QApplication,
    startup: Startup,
    instance: SingleInstance,
    reports: ThreadReports,
    make_worker: MakeWorker | None,
    file: str,
) -> int:
    # Import now, while another thread opens the chats: SQLite releases the GIL while it checks the file.
    from app.core.domain.settings.table import FIELDS  # noqa: PLC0415
    from app.startup.assembly import assemble, real_engine  # noqa: PLC0415
    from ui.text.language import install_language  # noqa: PLC0415
    from ui.window.main_window import MainWindow  # noqa: PLC0415

    install_language(application, assets_dir() / "translations", startup.settings.text("language"))
    painted = threading.Event()
    window = MainWindow(assets_dir(), FIELDS)
    make_engine = make_worker or real_engine(startup.paths, painted)
    controller = assemble(window, startup.paths, reports, make_engine, startup)
    instance.raise_requested.connect(lambda token: _bring_forward(window, token))
    instance.file_requested.connect(lambda path: open_file(window, path))
    # Preload after the first paint, so that the first answer is not interrupted.
    FirstPaint(window, preload_wrappers, after_ms=HIDDEN_WINDOW_MS)
    FirstPaint(window, instance.accept_others)
    FirstPaint(window, painted.set)
    if isinstance(application, Application):
        application.file_opened.connect(lambda path: open_file(window, path))
        file = file or application.file
    if file:
        FirstPaint(window, lambda: open_file(window, file))
    window.layout_state.fit_screen()
    window.show()
    handle = window.windowHandle()
    if handle is not None:  # another screen may have another device pixel ratio
        handle.screenChanged.connect(lambda _screen: window.theme.changed.emit())
    window.transcript.fill_viewport()
    garbage = GarbageController(lambda: bool(controller.state.answers), application)
    sidebar, server = window.sidebar, controller.server
    for happened in (window.composer.submitted, sidebar.list.chosen, sidebar.new_chat, server.activity_changed):
        happened.connect(garbage.note_activity)
    status = application.exec()
    garbage.close()
    return status if controller.close() else 1


def open_file(window: MainWindow, path: str) -> None:
    """Load a model file that another program opened with the app, and show the chat."""
    if window.models.is_open:
        window.models.panel.close_panel()
    window.show_chat()
    window.dialogs.file_chosen.emit(path, "target")


def _bring_forward(window: MainWindow, token: str) -> None:
    if token:
        os.environ[ACTIVATION] = token  # Qt reads the token from this variable
    window.setVisible(True)
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.raise_()
    window.activateWindow()


def log_qt_messages() -> None:
    qInstallMessageHandler(_log_qt)


def stop_logging_qt_messages() -> None:
    qInstallMessageHandler(None)


def _log_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    _qt.log(_QT_LEVELS.get(kind, logging.WARNING), "%s (%s)", message, context.category or "default")
