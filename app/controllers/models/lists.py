"""Model lists for other pages: the library's, the remote servers', the built-in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from app.controllers.models.engines import EnginesController
from app.controllers.models.hub import HubController
from app.core.paths import builtin_target
from ui.text.language import translate

if TYPE_CHECKING:  # the first paint waits for none of it
    from app.controllers.models.hub_service import HubService

log = logging.getLogger(__name__)

Row = tuple[str, str]  # path and name
Show = Callable[[Sequence[Row]], None]


class ModelLists:
    """Reads files in the background. Without a hub the lists are empty."""

    def __init__(self, hub: HubController | None, engines: EnginesController) -> None:
        self._hub, self._engines = hub, engines

    def targets(self) -> list[Row]:
        found = [] if self._hub is None else self._hub.service.targets()
        return [*found, *self._engines.targets(), *_builtin()]

    def find_drafts(self, target: str, show: Show) -> None:
        self._find(
            "drafts", lambda service, stop: [(row.path, row.name) for row in service.drafts_here(target, stop)], show
        )

    def find_targets(self, show: Show) -> None:
        """Find the library's models that can answer."""
        self._find(
            "targets", lambda service, _: [*((row.path, row.name) for row in service.picker_rows()), *_builtin()], show
        )

    def find_seeing(self, show: Show) -> None:
        self._find("models that see", lambda service, _: [(row.path, row.name) for row in service.seeing_rows()], show)

    def _find(self, what: str, find: Callable[[HubService, Callable[[], bool]], list[Row]], show: Show) -> None:
        if self._hub is not None:
            hub = self._hub
            hub.jobs.run(
                f"{what} to offer",
                lambda should_stop: find(hub.service, should_stop),
                show,
                lambda problem: log.info("%s could not be looked for: %s", what, problem.message),
            )


def _builtin() -> list[Row]:
    builtin = builtin_target()
    return [(str(builtin), translate("Header", "Quick demo"))] if builtin.exists() else []
