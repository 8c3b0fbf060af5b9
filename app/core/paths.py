"""The folders, files and assets of the app."""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.records import Problem
from engine.sentences import i18n

APP_NAME = "paceline"
HOME_VARIABLE = "PACELINE_HOME"


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders of the app; `make_folders` creates them."""

    config: Path
    data: Path
    cache: Path
    logs: Path
    models: Path

    @property
    def settings_file(self) -> Path:
        return self.config / "settings.toml"

    @property
    def model_settings_file(self) -> Path:
        """Settings for single models, as TOML."""
        return self.config / "models.toml"

    @property
    def presets_file(self) -> Path:
        return self.config / "presets.toml"

    @property
    def engines_file(self) -> Path:
        """The list of remote servers, as TOML; their keys are in the system's keyring."""
        return self.config / "engines.toml"

    @property
    def tool_servers_file(self) -> Path:
        """The MCP servers, in the format of `mcp.json`; private, since it may contain keys."""
        return self.config / "mcp.json"

    @property
    def prompts_file(self) -> Path:
        return self.config / "prompts.toml"

    @property
    def api_key_file(self) -> Path:
        return self.config / "api-key"

    @property
    def layout_file(self) -> Path:
        return self.config / "layout.bin"

    @property
    def projects_file(self) -> Path:
        """The projects, as TOML."""
        return self.config / "projects.toml"

    @property
    def project_files(self) -> Path:
        """Files of imported projects, one folder per project."""
        return self.data / "projects"

    @property
    def documents_file(self) -> Path:
        """The index of the projects' files, as SQLite; it can be rebuilt."""
        return self.cache / "documents.db"

    @property
    def chats_file(self) -> Path:
        return self.data / "chats.db"

    @property
    def open_chat_file(self) -> Path:
        return self.data / "open-chat"

    @property
    def backups(self) -> Path:
        return self.data / "backups"

    @property
    def lock_file(self) -> Path:
        """Locked while a window uses these folders."""
        return self.data / "paceline.lock"

    @property
    def library_file(self) -> Path:
        return self.data / "library.json"

    @property
    def downloads_file(self) -> Path:
        return self.data / "downloads.json"

    @property
    def pair_speeds_file(self) -> Path:
        """Measured speeds of pairs, as JSON."""
        return self.data / "pair-speeds.json"

    @property
    def races(self) -> Path:
        return self.data / "races"


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
    message = i18n("{folder}: {reason}.", folder=_folder_list_text([folder for folder, _ in refused]), reason=reason)
    return [Problem("Cannot write to a folder", message, advice)]


def _folder_list_text(folders: Sequence[Path]) -> str:
    """Folders on one line, grouped by parent."""
    parents = {folder.parent for folder in folders}
    if len(folders) == 1 or len(parents) > 1:
        return ", ".join(map(str, folders))
    return f"{parents.pop()} ({', '.join(folder.name for folder in folders)})"


def assets_dir() -> Path:
    """The assets in a checkout, an installation or a frozen build."""
    frozen = getattr(sys, "_MEIPASS", None)
    root = Path(frozen) if frozen else Path(__file__).resolve().parents[2]
    return root / "assets"


def builtin_target() -> Path:
    return assets_dir() / "models" / "paceline-tiny-target.gguf"


def builtin_draft() -> Path:
    return assets_dir() / "models" / "paceline-tiny-draft.gguf"
