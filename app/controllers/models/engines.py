"""Manages remote servers: add, refresh, remove, and choose one of their models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.controllers.models.models import ModelController
from app.controllers.parts import Parts, PartsController
from app.core.domain.engines import ServerRecord
from engine.records import Problem
from ui.text.language import translate

if TYPE_CHECKING:  # imported late, to start faster
    from ui.models.panel import ModelsPanel


class RemoteServersController(PartsController):
    """Stores the list of remote servers and requests their models in the background."""

    def __init__(self, parts: Parts, models: ModelController) -> None:
        super().__init__(parts)
        self._engines, self._models = parts.engines, models
        self._panel: ModelsPanel | None = None
        self._unreachable: frozenset[str] = frozenset()  # addresses of servers that did not answer last time
        parts.window.models.page_created.connect(self._attach)
        parts.window.header.set_engines(self._engines.all)
        parts.window.header.models_opening.connect(self._refresh_all)
        if self._engines.problem is not None:
            parts.window.show_problem(self._engines.problem)

    def _attach(self, panel: ModelsPanel) -> None:
        self._panel = panel
        requests = panel.requests
        requests.engine_added.connect(self._add)
        requests.refresh_requested.connect(lambda url: self._refresh(url, by_user=True))
        requests.engine_removed.connect(self._remove)
        requests.engine_chat_requested.connect(self._chat_with)
        self._show()

    def _show(self) -> None:
        records = self._engines.all
        self._window.header.set_engines(records, self._unreachable)
        if self._panel is not None:
            self._panel.engines.set_engines(records, self._unreachable)

    def _refresh_all(self) -> None:
        for record in self._engines.all:
            self._refresh(record.url)

    def _refresh(self, url: str, *, by_user: bool = False) -> None:
        """Refresh the facts of a server; the user gets a notice of the result."""

        def note(unreachable: frozenset[str]) -> None:
            is_new, self._unreachable = unreachable != self._unreachable, unreachable
            if is_new or by_user:
                self._show()

        def refreshed(record: ServerRecord) -> None:
            note(self._unreachable - {url})
            words = translate(
                "RemoteServersController", "Connected to {host}: %n models.", None, len(record.facts.models)
            )
            if by_user and self._panel is not None:
                self._panel.show_notice(words.format(host=record.host))

        def failed(problem: Problem) -> None:
            note(self._unreachable | {url})
            if by_user and self._panel is not None:
                self._panel.show_problem(problem)

        name = f"{'ask' if by_user else 'look'} {url}"
        self._jobs.run(name, lambda _stop: self._engines.refresh(url), refreshed, failed)

    def _add(self, address: str, key: str, allows_plain: bool) -> None:
        form = self._panel.engines.form if self._panel is not None else None
        if form is None:
            return

        def added(_record: ServerRecord) -> None:
            form.added()
            self._show()

        def add(_stop: object) -> ServerRecord:
            return self._engines.add(address, key, allows_plain=allows_plain)

        self._jobs.run("add server", add, added, form.show_failure)

    def _remove(self, url: str) -> None:
        def failed(problem: Problem) -> None:
            self._show()
            self._parts.report(problem)

        self._jobs.run(f"remove {url}", lambda _stop: self._engines.remove(url), lambda _none: self._show(), failed)

    def _chat_with(self, path: str) -> None:
        self._window.models.leave()
        self._models.load_pair(path, "")
