"""Defaults of `paceline run`, first found wins: preset, project, the model's settings, the model's file.

The window's settings for all chats are ignored: a script behaves the same for every user with the same model file.
"""

import argparse
from pathlib import Path

from app.cli.output import warn
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import LAYERED_KEYS, valid_values
from app.core.paths import builtin_target, find_paths
from app.core.projects.projects import Projects
from app.core.storage.model_settings import ModelSettings
from app.core.storage.presets import Presets
from engine.errors import EngineError, SettingError
from engine.gguf.head_files import has_next_token_layers
from engine.gguf.header import read_header
from engine.loading.loading import sampling_of_file
from engine.records import Mode, SamplingParams

_NO_OPTION = ("learn_past", "overflow", "prompt_format", "tools", "built_in_tools", "unused_servers", "allowed_tools")
_OPTION_OF_KEY = {key: key for key in LAYERED_KEYS if key not in _NO_OPTION} | {"system_prompt": "system"}


def apply_layers(options: argparse.Namespace) -> None:
    """Fill in the options that were not given.

    Raises:
        SettingError: no preset has this name.
        ProjectError: no project has this name.
    """
    file = valid_values(sampling_of_file(options.model or str(builtin_target())))
    project = getattr(options, "project", None)  # only some commands have it
    of_project = Projects(find_paths().projects_file).find(project).values if project else {}
    default = SamplingParams()
    values: dict[str, SettingValue] = {key: getattr(default, key) for key in LAYERED_KEYS if hasattr(default, key)}
    values |= {"mode": Mode.AUTO.value, **file, **_model_values(options), **of_project}
    values |= _preset_values(options.preset)
    if missing_drafter(Mode(str(values["mode"])), options.model, options.draft):
        values["mode"] = Mode.AUTO.value  # the stored mode needs a draft that is missing now
    if (options.mode or values["mode"]) == Mode.OFF:
        values["depth"] = None
    for key, name in _OPTION_OF_KEY.items():
        if getattr(options, name) is None:
            setattr(options, name, values.get(key))


def missing_drafter(mode: Mode, model: str | None, draft: str | None) -> str:
    """Names the drafter that a mode needs and lacks, as the end of a sentence; empty if nothing is missing.

    Also empty if a file cannot be read. Without a ``model`` the built-in pair is used.
    """
    brings_draft = draft is not None or model is None
    if mode is Mode.DRAFT and not brings_draft:
        return "a draft model: give one with --draft."
    if mode is not Mode.HEAD or draft is not None:
        return ""
    try:
        has_heads = model is not None and has_next_token_layers(read_header(Path(model)))
    except EngineError:
        return ""  # loading the file will report the error
    if has_heads:
        return ""
    return "a model with next-token layers (MTP), or a head made for the model: give one with --draft."


def _model_values(options: argparse.Namespace) -> dict[str, SettingValue]:
    models = ModelSettings(find_paths().model_settings_file, warn)
    if models.problem is not None:
        warn(models.problem)
    return models.values(options.model or str(builtin_target()))


def _preset_values(name: str | None) -> dict[str, SettingValue]:
    if name is None:
        return {}
    presets = Presets(find_paths().presets_file, warn)
    if presets.problem is not None:
        warn(presets.problem)
    preset = presets.find(name)
    if preset is None:
        known = ", ".join(each.name for each in presets.all)
        raise SettingError(f"There is no preset {name}.", f"Choose one of: {known}.")
    return dict(preset.values)
