"""A setting: a row of the settings dialog and a key of the settings file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class FieldKind(StrEnum):
    """How a setting is edited."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    CHOICE = "choice"
    MODE = "mode"  # a choice of modes, each explained
    SWITCH = "switch"
    MODEL_FILE = "model_file"
    FOLDER = "folder"
    LINE = "line"  # text of one line, as ``check`` reads it
    DEVICES = "devices"  # as LINE, with the found devices to choose from
    SEVERAL = "several"  # some of the choices, comma-separated
    SERVERS = "servers"  # MCP servers that are left out, as `app.core.domain.tools.servers.names_line` writes them


@dataclass(frozen=True, slots=True)
class SettingField:
    """``default`` None with ``automatic`` means that the app chooses; the dialog offers ``automatic`` as a choice."""

    key: str
    section: str
    label: str
    kind: FieldKind
    default: bool | int | float | str | None
    help: str
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    choices: tuple[tuple[str, str], ...] = ()  # (value, label)
    automatic: str = ""
    unit: str = ""
    check: Callable[[str], object] | None = None  # of a line: a ValueError says why it is refused
    example: str = ""


SettingValue = bool | int | float | str | None
