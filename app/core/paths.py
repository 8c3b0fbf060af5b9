"""The folders, files and assets of the app."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.records import Problem
from engine.sentences import i18n

APP_NAME = "paceline"
HOME_VARIABLE = "PACELINE_HOME"


class _Within:
    """A file or folder with a fixed name in one of the folders of `Paths`."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder, self._name = folder, name

    def __get__(self, paths: Paths, _owner: type[Paths]) -> Path:
        folder: Path = getattr(paths, self._folder)
        return folder / self._name


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders of the app, which `make_folders` creates, and the files in them."""

    config: Path
    data: Path
    cache: Path
    logs: Path
    models: Path

    settings_file = _Within("config", "settings.toml")
    model_settings_file = _Within("config", "models.toml")  # settings for single models
    presets_file = _Within("config", "presets.toml")
    engines_file = _Within("config", "engines.toml")  # remote servers; their keys are in the system's keyring
    tool_servers_file = _Within("config", "mcp.json")  # MCP servers; private, since it may contain keys

    prompts_file = _Within("config", "prompts.toml")
    api_key_file = _Within("config", "api-key")
    layout_file = _Within("config", "layout.bin")
    projects_file = _Within("config", "projects.toml")
    project_files = _Within("data", "projects")  # files of imported projects, one folder per project
    documents_file = _Within("cache", "documents.db")  # the index of the projects' files; it can be rebuilt
    chats_file = _Within("data", "chats.db")
    open_chat_file = _Within("data", "open-chat")
    backups = _Within("data", "backups")
    lock_file = _Within("data", "paceline.lock")  # locked while a window uses these folders
    library_file = _Within("data", "library.json")
    downloads_file = _Within("data", "downloads.json")
    pair_speeds_file = _Within("data", "pair-speeds.json")  # measured speeds of pairs


def find_paths(environ: Mapping[str, str] | None = None) -> Paths:
    """The folders of this user and platform, or all under ``PACELINE_HOME``."""
    home = (os.environ if environ is None else environ).get(HOME_VARIABLE, "")
    if home:
        root = Path(home).expanduser().absolute()
        return Paths(root / "config", root / "data", root / "cache", root / "logs", root / "models")
    data = Path(platformdirs.user_data_dir(APP_NAME, appauthor=False))
    return Paths(
        config=Path(platformdirs.user_config_dir(APP_NAME, appauthor=False)),
        data=data,
        cache=Path(platformdirs.user_cache_dir(APP_NAME, appauthor=False)),
        logs=Path(platformdirs.user_log_dir(APP_NAME, appauthor=False)),
        models=data / "models",
    )


def make_folders(paths: Paths) -> list[Problem]:
    """Make the folders and try to write in each; returns one problem that names all unusable folders."""
    refused: list[tuple[Path, OSError]] = []
    for folder in (paths.config, paths.data, paths.cache, paths.logs, paths.models):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # chats and logs are private
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            refused.append((folder, error))
    if not refused:
        return []
    reason = refused[0][1].strerror or refused[0][1]
    advice = i18n(
        "Allow writing to it, or set {variable} to a folder of your own; until then nothing is saved there.",
        variable=HOME_VARIABLE,
    )
    message = i18n("{folder}: {reason}.", folder=", ".join(str(folder) for folder, _ in refused), reason=reason)
    return [Problem("Cannot write to a folder", message, advice)]


def assets_dir() -> Path:
    """The assets in a checkout, an installation or a frozen build."""
    frozen = getattr(sys, "_MEIPASS", None)
    root = Path(frozen) if frozen else Path(__file__).resolve().parents[2]
    return root / "assets"


def builtin_target() -> Path:
    return assets_dir() / "models" / "paceline-tiny-target.gguf"


def builtin_draft() -> Path:
    return assets_dir() / "models" / "paceline-tiny-draft.gguf"
