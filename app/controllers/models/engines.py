"""Manages remote servers: add, refresh, remove, and choose one of their models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from app.controllers.jobs import JobRunner, log_problem
from app.controllers.models.hub import HubController
from app.controllers.models.models import ModelController
from app.controllers.parts import Parts, PartsController
from app.core.domain.engines import ServerRecord
from app.core.paths import builtin_target
from engine.records import Problem
from ui.text.language import translate

if TYPE_CHECKING:  # imported late, to start faster
    from app.controllers.models.hub_service import HubService
    from app.core.domain.models import LibraryRow
    from ui.models.panel import ModelsPanel

ModelRow = tuple[str, str]  # path and name
ShowModels = Callable[[Sequence[ModelRow]], None]


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
            self._panel.engines.set_used(self._state.models.target_path)
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


class ModelLists:
    """Lists of models by path and name, read in the background. Without a hub the lists are empty."""

    def __init__(self, jobs: JobRunner, hub: HubController | None) -> None:
        self._jobs, self._hub = jobs, hub

    def find_drafts(self, target: str, show: ShowModels) -> None:
        self._run_search("drafts", lambda service, stop: _rows(service.drafts_here(target, stop)), show)

    def find_targets(self, show: ShowModels) -> None:
        """Find the library's models that can answer."""
        self._run_search("targets", lambda service, _: [*_rows(service.picker_rows()), *_builtin()], show)

    def _run_search(
        self, what: str, find: Callable[[HubService, Callable[[], bool]], list[ModelRow]], show: ShowModels
    ) -> None:
        if (hub := self._hub) is not None:
            self._jobs.run(f"{what} to offer", lambda stop: find(hub.service, stop), show, log_problem)


def _rows(rows: Sequence[LibraryRow]) -> list[ModelRow]:
    return [(row.path, row.name) for row in rows]


def _builtin() -> list[ModelRow]:
    builtin = builtin_target()
    return [(str(builtin), translate("Header", "Quick demo"))] if builtin.exists() else []
