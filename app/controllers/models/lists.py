"""Models to choose from, for pages other than the one of models: of the library, of engines of others, the built-in."""

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
    """What is read of files is read beside the window. Without a hub there is no library, and nothing is shown."""

    def __init__(self, hub: HubController | None, engines: EnginesController) -> None:
        self._hub, self._engines = hub, engines

    def targets(self) -> list[Row]:
        """Every model that can be loaded."""
        found = [] if self._hub is None else self._hub.service.targets()
        return [*found, *self._engines.targets(), *_builtin()]

    def find_drafts(self, target: str, show: Show) -> None:
        """Look for drafts of a target in the library."""
        self._find(
            "drafts", lambda service, stop: [(row.path, row.name) for row in service.drafts_here(target, stop)], show
        )

    def find_targets(self, show: Show) -> None:
        """Read which models of the library can answer."""
        self._find(
            "targets", lambda service, _: [*((row.path, row.name) for row in service.picker_rows()), *_builtin()], show
        )

    def find_seeing(self, show: Show) -> None:
        """Read which models of the library see pictures, the last used first."""
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
