"""Presets: named sets of sampling values and a system prompt; built in, or the user's in a TOML file."""

from collections.abc import Callable, Mapping
from pathlib import Path

from app.core.domain.errors import PresetError
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import MAX_PRESET_NAME_CHARS, PRESET_KEYS, Preset, valid_values
from app.core.storage.toml_file import TableFile, TomlFile
from engine.records import Problem
from engine.sentences import i18n

MAX_PRESETS = 500
_NO_PENALTIES = {"repeat_penalty": 1.0, "frequency_penalty": 0.0, "presence_penalty": 0.0}

BUILTIN = (
    Preset("Precise", {"temperature": 0.0, "top_k": 1, "top_p": 1.0, "min_p": 0.0, **_NO_PENALTIES}, builtin=True),
    Preset("Balanced", {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05, **_NO_PENALTIES}, builtin=True),
    Preset("Creative", {"temperature": 1.1, "top_k": 0, "top_p": 1.0, "min_p": 0.05, **_NO_PENALTIES}, builtin=True),
)


class Presets(TableFile):
    """All presets; changes are saved at once."""

    def __init__(self, path: Path, on_problem: Callable[[Problem], None]) -> None:
        super().__init__(TomlFile(path, i18n("presets"), i18n("the built-in presets")), "presets", on_problem)
        found = {preset.name.casefold(): preset for preset in BUILTIN}
        for table in self.tables or ():
            name = " ".join(str(table.get("name", "")).split())
            if 0 < len(name) <= MAX_PRESET_NAME_CHARS:
                found.setdefault(name.casefold(), Preset(name, valid_values(table, PRESET_KEYS)))
        self._own = [preset for preset in found.values() if not preset.builtin][:MAX_PRESETS]

    @property
    def all(self) -> tuple[Preset, ...]:
        """The built-in presets, then the user's, sorted by name."""
        return (*BUILTIN, *sorted(self._own, key=lambda preset: preset.name.casefold()))

    def find(self, name: str) -> Preset | None:
        """Find a preset by name, ignoring case."""
        return next((preset for preset in self.all if preset.name.casefold() == name.strip().casefold()), None)

    def save(self, name: str, values: Mapping[str, SettingValue]) -> Preset:
        """Save values under a name; replaces a user's preset with this name.

        Raises:
            PresetError: the name is empty, too long, or belongs to a built-in preset.
        """
        preset = Preset(self._good_name(name), valid_values(values, PRESET_KEYS))
        kept = [each for each in self._own if each.name.casefold() != preset.name.casefold()]
        if len(kept) >= MAX_PRESETS:
            raise PresetError(i18n("There are already {limit} presets.", limit=MAX_PRESETS), "Delete one first.")
        self._save_own([*kept, preset])
        return preset

    def rename(self, name: str, new_name: str) -> None:
        """Rename a preset of the user.

        Raises:
            PresetError: no preset has this name, or the new name is empty, too long, or taken.
        """
        preset, good = self._user_presets(name), self._good_name(new_name)
        taken = self.find(good)
        if taken is not None and taken is not preset:
            raise PresetError(i18n("There is already a preset named {name}.", name=taken.name), "Choose another name.")
        self._save_own([Preset(good, each.values) if each is preset else each for each in self._own])

    def delete(self, name: str) -> None:
        """Delete a preset of the user.

        Raises:
            PresetError: no preset has this name.
        """
        preset = self._user_presets(name)
        self._save_own([each for each in self._own if each is not preset])

    def _user_presets(self, name: str) -> Preset:
        preset = self.find(name)
        if preset is None or preset.builtin:
            raise PresetError(i18n("You have no preset named {name}.", name=name), "Choose another one.")
        return preset

    @staticmethod
    def _good_name(name: str) -> str:
        good = " ".join(name.split())
        if not good or len(good) > MAX_PRESET_NAME_CHARS:
            raise PresetError(
                i18n("A name has 1 to {limit} characters.", limit=MAX_PRESET_NAME_CHARS), "Choose another name."
            )
        if any(preset.name.casefold() == good.casefold() for preset in BUILTIN):
            raise PresetError(
                i18n("{name} comes with Paceline and cannot be changed.", name=good), "Choose another name."
            )
        return good

    def _save_own(self, own: list[Preset]) -> None:
        self._own = own
        self.save_tables([{"name": preset.name, **preset.values} for preset in own])
