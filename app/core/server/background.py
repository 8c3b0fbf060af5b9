"""Runs the server on its own thread in the window's process.

Fast to import: the server's libraries are loaded on its thread when it starts.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.core.domain.errors import AppError
from app.core.domain.local_server import Activity, ServerSetup

if TYPE_CHECKING:
    from app.core.server.library import ModelSwitch
    from app.core.server.listening import HttpServer
    from app.core.server.scheduler import Scheduler
    from engine.requests import Engine

log = logging.getLogger(__name__)

SHUTDOWN_S = 2  # time for stopped answers to reach their clients; the window closes meanwhile


class BackgroundServer:
    """One run of the server, from `start` to `stop`. All methods are thread-safe and return at once.

    ``models`` is used on the server's threads. ``on_change`` is called on any thread when an attribute or
    `activity` changes; it must not block.

    Attributes:
        address: such as ``http://127.0.0.1:8080``; empty before the start.
        failure: why the server does not run; None without a failure.
        has_ended: True when the thread has ended and the port is free.
    """

    def __init__(
        self, engine: Engine, models: ModelSwitch, setup: ServerSetup, key: str, on_change: Callable[[], None]
    ) -> None:
        self._engine, self._models = engine, models
        self._setup, self._key = setup, key if setup.needs_key else ""
        self._on_change = on_change
        self._lock = threading.Lock()
        self._is_stopping = False
        self._server: HttpServer | None = None
        self._scheduler: Scheduler | None = None
        self._thread = threading.Thread(target=self._run, name="server", daemon=True)
        self.address = ""
        self.failure: Exception | None = None
        self.has_ended = False

    def start(self) -> None:
        self._thread.start()

    @property
    def activity(self) -> Activity:
        return Activity() if self._scheduler is None else self._scheduler.activity

    def stop_running(self) -> None:
        if self._scheduler is not None:
            self._scheduler.stop_running()

    def stop(self) -> None:
        """Stop the answers, close the connections, and free the port."""
        with self._lock:
            self._is_stopping = True
            if self._server is not None:
                self._server.should_exit = True

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread after `stop`; False if it does not end within the time limit."""
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    # ---- on the server's thread ---------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._serve()
        except AppError as error:
            self.failure = error
        except Exception as error:  # any error must be shown in the window
            log.exception("the local server ended")
            self.failure = error
        self.address, self.has_ended = "", True
        self._on_change()

    def _serve(self) -> None:
        from app.core.server.access import AllowedHosts  # noqa: PLC0415  (see above)
        from app.core.server.application import make_application  # noqa: PLC0415
        from app.core.server.listening import HttpServer, address_of, bind  # noqa: PLC0415
        from app.core.server.scheduler import Scheduler  # noqa: PLC0415

        setup = self._setup
        with bind(setup.host, setup.port) as listener:
            scheduler = Scheduler(self._engine, self._models, self._on_change)
            app = make_application(scheduler, self._key, AllowedHosts(setup.host, names=setup.names))
            server = HttpServer(app, scheduler.close, SHUTDOWN_S)
            with self._lock:
                if self._is_stopping:
                    return
                self._server, self._scheduler = server, scheduler
            self.address = address_of(listener)
            self._on_change()
            try:
                server.run([listener])
            finally:
                scheduler.close()
