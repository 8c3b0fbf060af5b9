"""What the controllers share: one window, one engine, one store, one set of settings."""

from __future__ import annotations

from dataclasses import dataclass

from app.chats.store import ChatStore
from app.engine_bridge import Worker
from app.paths import Paths
from app.settings_keeper import SettingsKeeper
from ui.main_window import MainWindow


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that `app.window` puts together."""

    window: MainWindow
    worker: Worker
    store: ChatStore
    keeper: SettingsKeeper
    paths: Paths
