"""Settings in layers (see `Layer`): the first layer with a value wins. Also presets and saved prompts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from app.core.domain.settings.fields import SettingField, SettingValue
from app.core.domain.settings.table import DEFAULTS, FIELD_BY_KEY, normalised, value_problem
from app.core.domain.settings.values import Settings

SAMPLING_KEYS = (
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "repeat_penalty",
    "frequency_penalty",
    "presence_penalty",
)
PRESET_KEYS = ("system_prompt", *SAMPLING_KEYS)
LAYERED_KEYS = (
    "mode",
    "depth",
    "learn_past",
    *SAMPLING_KEYS,
    "seed",
    "max_tokens",
    "system_prompt",
    "thinking",
    "template_variables",
    "prompt_format",
    "overflow",
    "tools",
    "built_in_tools",
    "unused_servers",
    "allowed_tools",
)
LAYERED_FIELDS: tuple[SettingField, ...] = tuple(FIELD_BY_KEY[key] for key in LAYERED_KEYS)
AUTOMATIC = "automatic"  # stands for None in TOML, which has no null


class Layer(StrEnum):
    """The source of a value; earlier ones win."""

    CHAT = "chat"  # the open chat
    PROJECT = "project"  # the project that the chat is in
    MODEL = "model"  # the loaded target's settings
    GLOBAL = "global"  # the app's settings
    MODEL_FILE = "file"  # the target's file: its makers' recommendation, or a default for its size
    DEFAULT = "default"  # no layer has a value


MAX_PRESET_NAME_CHARS = 60
MAX_PROMPT_NAME_CHARS, MAX_PROMPT_CHARS = 40, 50_000

EDITABLE = (Layer.CHAT, Layer.PROJECT, Layer.MODEL, Layer.GLOBAL)


@dataclass(frozen=True, slots=True)
class LayeredValue:
    """The value at a layer, and the layer that it comes from.

    ``hidden_by``: an earlier layer whose value wins.
    """

    value: SettingValue
    origin: Layer
    hidden_by: Layer | None = None


@dataclass(frozen=True, slots=True)
class Preset:
    """A named set of values: sampling settings, optionally a system prompt."""

    name: str
    values: Mapping[str, SettingValue]
    builtin: bool = False


@dataclass(frozen=True, slots=True)
class SavedPrompt:
    """A text that the user inserts by typing ``/name``. The user fills in its ``{words in braces}``."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class LayersView:
    fields: tuple[SettingField, ...] = ()
    values: Mapping[Layer, Mapping[str, LayeredValue]] = field(default_factory=dict)
    model_name: str = ""
    project_name: str = ""  # name of the chat's project; empty without one

    @property
    def num_chat_values(self) -> int:
        """The number of the open chat's own values."""
        return sum(value.origin is Layer.CHAT for value in self.values.get(Layer.CHAT, {}).values())


def valid_values(raw: object, keys: Collection[str] = LAYERED_KEYS) -> dict[str, SettingValue]:
    """The valid values of an untrusted mapping; invalid ones are dropped."""
    if not isinstance(raw, Mapping):
        return {}
    rows = ((FIELD_BY_KEY[key], raw[key]) for key in keys if key in raw)
    known = ((row, None if value == AUTOMATIC and row.default is None else value) for row, value in rows)
    return {row.key: normalised(row, value) for row, value in known if not value_problem(row, value)}


def as_toml_values(values: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """Replace None, which TOML does not have."""
    return {key: AUTOMATIC if value is None else value for key, value in values.items()}


@dataclass(frozen=True, slots=True)
class Layers:
    """The values of each layer.

    ``chat``, ``project`` and ``model`` hold only own values; ``model_file`` is `Layer.MODEL_FILE`.
    """

    settings: Settings = field(default_factory=Settings)
    model: Mapping[str, SettingValue] = field(default_factory=dict)
    chat: Mapping[str, SettingValue] = field(default_factory=dict)
    model_file: Mapping[str, SettingValue] = field(default_factory=dict)
    project: Mapping[str, SettingValue] = field(default_factory=dict)

    def _value(self, key: str, layer: Layer, own: Mapping[Layer, Mapping[str, SettingValue]]) -> LayeredValue:
        order = EDITABLE.index(layer)
        hidden_by = next((each for each in EDITABLE[:order] if key in own[each]), None)
        origin = next((each for each in EDITABLE[order:] if key in own[each]), None)
        if origin is not None:
            return LayeredValue(own[origin][key], origin, hidden_by)
        if key in self.model_file and self.model_file[key] != DEFAULTS[key]:
            return LayeredValue(self.model_file[key], Layer.MODEL_FILE, hidden_by)
        return LayeredValue(DEFAULTS[key], Layer.DEFAULT, hidden_by)

    def values(self, layer: Layer = Layer.CHAT) -> dict[str, LayeredValue]:
        own = {each: self._own_values(each) for each in EDITABLE}
        return {key: self._value(key, layer, own) for key in LAYERED_KEYS}

    def effective(self) -> Settings:
        """The settings that apply to the open chat."""
        own = self._own_values(Layer.GLOBAL)
        layers = (self.settings.values, self.model_file, own, self.model, self.project, self.chat)
        return replace(self.settings, values={key: value for layer in layers for key, value in layer.items()})

    def with_own(self, layer: Layer, changes: Mapping[str, SettingValue]) -> Layers:
        """A copy with changed values of the chat or the model; invalid values are dropped."""
        return self._with(layer, {**self._own_values(layer), **valid_values(changes)})

    def without_own(self, layer: Layer, keys: Collection[str]) -> Layers:
        """A copy without some values of the chat or the model."""
        return self._with(layer, {key: value for key, value in self._own_values(layer).items() if key not in keys})

    def _with(self, layer: Layer, own: Mapping[str, SettingValue]) -> Layers:
        if layer not in (Layer.CHAT, Layer.PROJECT, Layer.MODEL):
            raise ValueError(f"the layer {layer} is the settings' affair")
        changes: dict[str, Any] = {layer.value: own}
        return replace(self, **changes)

    def _own_values(self, layer: Layer) -> Mapping[str, SettingValue]:
        if layer is Layer.GLOBAL:
            return {key: value for key, value in self.settings.values.items() if value != DEFAULTS[key]}
        own: Mapping[str, SettingValue] = getattr(self, layer.value)
        return own
