"""A setting: a row of the settings dialog and a key of the settings file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
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

    def explained(self, text: str, *, automatic: str = "", unit: str = "") -> SettingField:
        """The same setting with its help and other shown words."""
        return replace(self, help=text, automatic=automatic, unit=unit)


SettingValue = bool | int | float | str | None


# The functions below begin a row of the table; its section is the one in which it is listed.


def switch(key: str, label: str, default: bool) -> SettingField:
    return SettingField(key, "", label, FieldKind.SWITCH, default, "")


def number(key: str, label: str, default: float, low: float, high: float, step: float) -> SettingField:
    return SettingField(key, "", label, FieldKind.NUMBER, default, "", low, high, step)


def integer(key: str, label: str, default: int | None, low: int, high: int, step: int = 1) -> SettingField:
    return SettingField(key, "", label, FieldKind.INTEGER, default, "", low, high, step)


def choice(
    key: str, label: str, choices: Mapping[str, str], default: str | None = None, kind: FieldKind = FieldKind.CHOICE
) -> SettingField:
    """``choices``: labels by value; the first value is the default unless another one is given."""
    first = next(iter(choices)) if default is None else default
    return SettingField(key, "", label, kind, first, "", choices=tuple(choices.items()))


def text(key: str, label: str, kind: FieldKind, maximum: int | None = None) -> SettingField:
    return SettingField(key, "", label, kind, "", "", maximum=maximum)


def line(key: str, label: str, maximum: int, check: Callable[[str], object], example: str) -> SettingField:
    return SettingField(key, "", label, FieldKind.LINE, "", "", maximum=maximum, check=check, example=example)
