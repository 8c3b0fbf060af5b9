"""Puts window, engine, store and settings together. Imported late: it imports all of the window's code."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.controllers.controller import Controller
from app.controllers.engine_bridge import EngineBridge, MakeWorker
from app.controllers.engine_router import EngineRouter
from app.controllers.parts import Parts, SettingsKeeper
from app.controllers.reports import ThreadReports
from app.controllers.state import AppState
from app.core.logs import RedactingFormatter
from app.core.paths import Paths, builtin_target
from app.core.remote.server_list import RemoteServerList
from app.startup.tasks import Startup
from engine.process.client import EngineClient
from engine.records import Event, Problem
from engine.session.worker import probing_session
from ui.text.language import translate
from ui.text.problem_words import in_words
from ui.widgets.first_paint import FirstPaint
from ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from app.core.remote.worker import RemoteWorker


def assemble(
    window: MainWindow, paths: Paths, reports: ThreadReports, make_worker: MakeWorker, startup: Startup | None = None
) -> Controller:
    """Connect all parts; on return the models are loading. ``startup``: start-up tasks that have already run."""
    startup = startup or Startup(paths, reports.trouble.emit)
    engines = RemoteServerList(paths.engines_file)
    bridge = EngineBridge(
        lambda on_event: EngineRouter(on_event, make_worker, lambda on_remote: _remote_engine(on_remote, engines))
    )
    state = AppState(startup.settings)
    keeper = SettingsKeeper(paths.settings_file, state, window.show_problem)
    store = startup.opened_store()
    controller = Controller(Parts(window, bridge.worker, store, keeper, state, paths, engines), bridge)
    reports.trouble.connect(controller.on_save_state)
    reports.crashed.connect(lambda name: window.show_problem(_crash_problem(name, paths)))
    bridge.worker.start()
    controller.start()
    FirstPaint(window, store.back_up_daily, even_if_closed=True)
    for notice in startup.notices:
        window.show_notice(notice)
    problems = (*startup.problems, *controller.chat_settings.problems)
    if problems:
        window.show_problem(_merged_problem(problems))
        window.models.leave()  # the chat shows the problem; the next start shows the welcome page
    return controller


def real_engine(paths: Paths, painted: threading.Event | None = None) -> MakeWorker:
    """Returns a factory that starts the engine in its own process, once ``painted`` is set."""
    make_session = partial(probing_session, paths.cache, builtin_target())
    return lambda on_event: EngineClient(on_event, make_session, painted, RedactingFormatter())


def _remote_engine(on_event: Callable[[Event], None], engines: RemoteServerList) -> RemoteWorker:
    from app.core.remote.worker import RemoteWorker  # noqa: PLC0415  (the start does not wait for it)

    return RemoteWorker(on_event, lambda: engines)


def _merged_problem(problems: Sequence[Problem]) -> Problem:
    if len(problems) == 1:
        return problems[0]
    message = " ".join(f"{problem.title}: {problem.message}" for problem in map(in_words, problems))
    return Problem("Something needs your attention", message, problems[0].advice)


def _crash_problem(name: str, paths: Paths) -> Problem:
    return Problem(
        "Something went wrong inside Paceline",
        translate("Problems", "An unexpected error ({name}) was written to the log in {logs}.").format(
            name=name, logs=paths.logs
        ),
        "Your chats are saved. If something looks odd, restart Paceline.",
    )
