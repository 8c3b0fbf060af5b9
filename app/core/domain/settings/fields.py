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
    MODE = "mode"  # a choice of modes with explanations
    SWITCH = "switch"
    MODEL_FILE = "model_file"
    FOLDER = "folder"
    LINE = "line"  # one line of text, parsed by ``check``
    DEVICES = "devices"  # a LINE with a list of the found devices
    SEVERAL = "several"  # several of the choices, comma-separated
    SERVERS = "servers"  # MCP servers and tools that are off; see `app.core.domain.tools.servers.names_line`


@dataclass(frozen=True, slots=True)
class SettingField:
    """``automatic``: the dialog's label for None, which means that the app chooses the value."""

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
    check: Callable[[str], object] | None = None  # parses a line, or raises a ValueError with the reason
    example: str = ""


SettingValue = bool | int | float | str | None
