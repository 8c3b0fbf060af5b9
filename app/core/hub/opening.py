"""Opens the model library in the folder of the settings or of the app."""

from __future__ import annotations

from pathlib import Path

from app.core.domain.settings.values import Settings
from app.core.hub.library.library import Library
from app.core.paths import Paths
from app.core.storage.settings_file import read_settings


def open_library(paths: Paths, settings: Settings | None = None) -> Library:
    """Open the library; ``settings`` None: read the settings file."""
    settings = read_settings(paths.settings_file).settings if settings is None else settings
    chosen = settings.text("models_dir").strip()
    folder = Path(chosen).expanduser() if chosen else paths.models
    return Library(folder if folder.is_absolute() else paths.data / folder, paths.library_file)
