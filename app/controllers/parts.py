"""What the controllers share: one window, one engine, one store, one set of settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from app.controllers.settings_keeper import SettingsKeeper
from app.core.domain.errors import StorageError
from app.core.domain.requests import Decode
from app.core.paths import Paths
from app.core.remote.engines import Engines
from app.core.storage.chats.store import ChatStore
from app.core.storage.pictures import PictureCache
from engine.requests import Engine
from ui.window.main_window import MainWindow

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that `app.startup.window` puts together."""

    window: MainWindow
    worker: Engine
    store: ChatStore
    keeper: SettingsKeeper
    paths: Paths
    engines: Engines
    pictures: PictureCache = field(default_factory=PictureCache)

    @property
    def decode(self) -> Decode | None:
        """What gives the pixels of pictures to the loaded model; None where it does not see."""
        target = self.window.engine_view.target
        return self.pictures.decoded if target is not None and target.sees else None

    def attempt(self, job: Callable[[], Result]) -> Result | None:
        """Do what reads or writes the chats; None where it could not be done, which the window says."""
        try:
            return job()
        except StorageError as error:
            self.window.show_problem(error.problem)
            return None

    def succeeds(self, job: Callable[[], object]) -> bool:
        """Do what writes the chats; False where it could not be done, which the window says."""
        return self.attempt(lambda: (job(),)) is not None
