"""Settings in layers: a chat has values of its own, else its model has, else the settings. With presets and prompts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from app.core.domain.settings.fields import SettingField, SettingValue
from app.core.domain.settings.table import DEFAULTS, FIELD_BY_KEY, complaint, normalised
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
AUTOMATIC = "automatic"  # in TOML, which has no null


class Layer(StrEnum):
    """Where a value comes from; the earlier one counts."""

    CHAT = "chat"  # this conversation
    PROJECT = "project"  # the folder that it is in
    MODEL = "model"  # the target in use
    GLOBAL = "global"  # the settings
    FILE = "file"  # of the target: what its makers recommend, or a model of its size needs
    DEFAULT = "default"  # nobody gave one


MAX_PRESET_NAME_CHARS = 60
MAX_PROMPT_NAME_CHARS, MAX_PROMPT_CHARS = 40, 50_000
EDITABLE = (Layer.CHAT, Layer.PROJECT, Layer.MODEL, Layer.GLOBAL)


@dataclass(frozen=True, slots=True)
class LayeredValue:
    """A value as it holds at a layer, and where it comes from.

    ``hidden_by``: a layer before the one asked for that has a value of its own, so that this one does not count now.
    """

    value: SettingValue
    origin: Layer
    hidden_by: Layer | None = None


@dataclass(frozen=True, slots=True)
class Preset:
    """A named bundle of values: sampling, and a system prompt where it has one."""

    name: str
    values: Mapping[str, SettingValue]
    builtin: bool = False


@dataclass(frozen=True, slots=True)
class SavedPrompt:
    """A text to be used again, inserted by ``/name``; ``{words in braces}`` are to be filled."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class LayersView:
    """All layered values as they hold at each layer that can be edited."""

    fields: tuple[SettingField, ...] = ()
    values: Mapping[Layer, Mapping[str, LayeredValue]] = field(default_factory=dict)
    model_name: str = ""
    project_name: str = ""  # empty outside of projects

    @property
    def num_own(self) -> int:
        """How many values the open chat has of its own."""
        return sum(value.origin is Layer.CHAT for value in self.values.get(Layer.CHAT, {}).values())


def valid_values(raw: object, keys: Collection[str] = LAYERED_KEYS) -> dict[str, SettingValue]:
    """Take what is good of values from outside; what is unknown or out of its range is left out."""
    if not isinstance(raw, Mapping):
        return {}
    rows = ((FIELD_BY_KEY[key], raw[key]) for key in keys if key in raw)
    known = ((row, None if value == AUTOMATIC and row.default is None else value) for row, value in rows)
    return {row.key: normalised(row, value) for row, value in known if not complaint(row, value)}


def for_toml(values: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """Write values down without null."""
    return {key: AUTOMATIC if value is None else value for key, value in values.items()}


@dataclass(frozen=True, slots=True)
class Layers:
    """What each layer has: ``chat``, ``project`` and ``model`` only values of their own; ``file`` is `Layer.FILE`."""

    settings: Settings = field(default_factory=Settings)
    model: Mapping[str, SettingValue] = field(default_factory=dict)
    chat: Mapping[str, SettingValue] = field(default_factory=dict)
    file: Mapping[str, SettingValue] = field(default_factory=dict)
    project: Mapping[str, SettingValue] = field(default_factory=dict)

    def value(self, key: str, layer: Layer = Layer.CHAT) -> LayeredValue:
        """Give the value that holds at a layer, looking no further than its own and those behind it."""
        return self._value(key, layer, {each: self._own(each) for each in EDITABLE})

    def _value(self, key: str, layer: Layer, own: Mapping[Layer, Mapping[str, SettingValue]]) -> LayeredValue:
        order = EDITABLE.index(layer)
        hidden_by = next((each for each in EDITABLE[:order] if key in own[each]), None)
        origin = next((each for each in EDITABLE[order:] if key in own[each]), None)
        if origin is not None:
            return LayeredValue(own[origin][key], origin, hidden_by)
        if key in self.file and self.file[key] != DEFAULTS[key]:
            return LayeredValue(self.file[key], Layer.FILE, hidden_by)
        return LayeredValue(DEFAULTS[key], Layer.DEFAULT, hidden_by)

    def values(self, layer: Layer = Layer.CHAT) -> dict[str, LayeredValue]:
        """Give all values that hold at a layer."""
        own = {each: self._own(each) for each in EDITABLE}
        return {key: self._value(key, layer, own) for key in LAYERED_KEYS}

    def effective(self) -> Settings:
        """Give settings as they hold for the open conversation."""
        own = self._own(Layer.GLOBAL)
        layers = (self.settings.values, self.file, own, self.model, self.project, self.chat)
        return replace(self.settings, values={key: value for layer in layers for key, value in layer.items()})

    def with_own(self, layer: Layer, changes: Mapping[str, SettingValue]) -> Layers:
        """Give these layers with values of the chat's or the model's own; what is not good is left out."""
        return self._with(layer, {**self._own(layer), **valid_values(changes)})

    def without_own(self, layer: Layer, keys: Collection[str]) -> Layers:
        """Give these layers without values of the chat's or the model's own."""
        return self._with(layer, {key: value for key, value in self._own(layer).items() if key not in keys})

    def _with(self, layer: Layer, own: Mapping[str, SettingValue]) -> Layers:
        if layer is Layer.CHAT:
            return replace(self, chat=own)
        if layer is Layer.PROJECT:
            return replace(self, project=own)
        if layer is Layer.MODEL:
            return replace(self, model=own)
        raise ValueError(f"the layer {layer} is the settings' affair")

    def _own(self, layer: Layer) -> Mapping[str, SettingValue]:
        if layer is Layer.CHAT:
            return self.chat
        if layer is Layer.PROJECT:
            return self.project
        if layer is Layer.MODEL:
            return self.model
        return {key: value for key, value in self.settings.values.items() if value != DEFAULTS[key]}
