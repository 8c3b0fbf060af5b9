"""The server on a thread of its own, beside a program that does something else: the window.

Light to import: the libraries of the server are loaded on its thread, when it starts.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.core.domain.errors import AppError
from app.core.domain.local_server import Activity, LoggedRequest, ServerSetup

if TYPE_CHECKING:
    from app.core.server.library import NamedModels
    from app.core.server.listening import HttpServer
    from app.core.server.request_log import RequestLog
    from app.core.server.scheduler import Scheduler
    from engine.requests import Engine

log = logging.getLogger(__name__)

SHUTDOWN_S = 2  # for answers that were stopped to reach their clients; the window closes meanwhile


class BackgroundServer:
    """One run of the server, from `start` to `stop`. All methods may be called from any thread and return at once.

    ``models`` gives what is loaded, or has it loaded, on the server's threads. ``on_change`` is called on any thread
    where one of the attributes is another, or `activity`, or `requests`; it must be quick.

    Attributes:
        address: where it listens, as ``http://127.0.0.1:8080``; empty before.
        failure: why it does not, or no longer does; None where nothing is wrong.
        has_ended: whether its thread is through, and the port free again.
    """

    def __init__(
        self, engine: Engine, models: NamedModels, setup: ServerSetup, key: str, on_change: Callable[[], None]
    ) -> None:
        self._engine, self._models = engine, models
        self._setup, self._key = setup, key if setup.needs_key else ""
        self._on_change = on_change
        self._lock = threading.Lock()
        self._is_stopping = False
        self._server: HttpServer | None = None
        self._scheduler: Scheduler | None = None
        self._requests: RequestLog | None = None
        self._thread = threading.Thread(target=self._run, name="server", daemon=True)
        self.address = ""
        self.failure: Exception | None = None
        self.has_ended = False

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def activity(self) -> Activity:
        """What its queue does now."""
        return Activity() if self._scheduler is None else self._scheduler.activity

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """The latest requests, the newest first."""
        return () if self._requests is None else self._requests.rows()

    def stop_running(self) -> None:
        """End the answer in the making."""
        if self._scheduler is not None:
            self._scheduler.stop_running()

    def stop(self) -> None:
        """End the answers, close the connections, free the port."""
        with self._lock:
            self._is_stopping = True
            if self._server is not None:
                self._server.should_exit = True

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread after `stop`; False where it did not end within the time limit."""
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    # ---- on the server's thread ---------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._serve()
        except AppError as error:
            self.failure = error
        except Exception as error:  # the window must hear of it
            log.exception("the local server ended")
            self.failure = error
        self.address, self.has_ended = "", True
        self._on_change()

    def _serve(self) -> None:
        from app.core.server.access import AllowedHosts  # noqa: PLC0415  (see above)
        from app.core.server.application import make_application  # noqa: PLC0415
        from app.core.server.listening import HttpServer, address_of, bind  # noqa: PLC0415
        from app.core.server.metrics import Metrics  # noqa: PLC0415
        from app.core.server.request_log import RequestLog  # noqa: PLC0415
        from app.core.server.scheduler import Scheduler  # noqa: PLC0415

        setup = self._setup
        with bind(setup.host, setup.port) as listener:
            self._requests = RequestLog(self._on_change)
            metrics, scheduler = Metrics(self._requests), Scheduler(self._engine)
            scheduler.load_for, scheduler.on_loaded = self._models.load_for, self._models.note_loaded
            scheduler.on_answer, scheduler.on_pass = metrics.count_answer, metrics.count_pass
            scheduler.on_change = self._on_change
            hosts = AllowedHosts(setup.host, names=setup.names)
            app = make_application(self._models, scheduler, metrics, self._key, hosts)
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
