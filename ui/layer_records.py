"""What the window shows of layered settings, presets and reusable prompts: plain data filled by the app. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ui.records import SettingField, SettingValue


class Layer(StrEnum):
    """Where a value comes from; the earlier one counts."""

    CHAT = "chat"  # this conversation
    MODEL = "model"  # the target in use
    GLOBAL = "global"  # the settings
    DEFAULT = "default"  # nobody gave one


LAYERS = tuple(Layer)
EDITABLE = (Layer.CHAT, Layer.MODEL, Layer.GLOBAL)


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
class Prompt:
    """A text to be used again, inserted by ``/name``; ``{words in braces}`` are to be filled."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class LayersView:
    """All layered values as they hold at each layer that can be edited, and what the model's makers recommend."""

    fields: tuple[SettingField, ...] = ()
    values: Mapping[Layer, Mapping[str, LayeredValue]] = field(default_factory=dict)
    model_name: str = ""
    recommended: Mapping[str, SettingValue] = field(default_factory=dict)

    @property
    def num_own(self) -> int:
        """How many values the open chat has of its own."""
        return sum(value.origin is Layer.CHAT for value in self.values.get(Layer.CHAT, {}).values())
