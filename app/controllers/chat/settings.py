"""Connects the dialogs for settings, presets and prompts with their storage."""

from collections.abc import Callable, Collection, Mapping

from app.controllers.chat.conversations import ConversationController
from app.controllers.parts import Parts, PartsController
from app.core.domain.errors import PresetError
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import Layer
from app.core.domain.settings.table import DEFAULTS
from app.core.storage.presets import Presets
from app.core.storage.prompts import Prompts
from engine.requests import ForgetPast
from ui.composer.prompt_list import builtin_prompts

APPEARANCE = frozenset({"theme", "text_size"})


class ChatSettingsController(PartsController):
    def __init__(self, parts: Parts, conversations: ConversationController) -> None:
        super().__init__(parts)
        self._conversations = conversations
        self.presets = Presets(parts.paths.presets_file, parts.window.show_problem)
        self.prompts = Prompts(parts.paths.prompts_file, builtin_prompts(), parts.window.show_problem)
        found = (*conversations.problems, self.presets.problem, self.prompts.problem)
        self.problems = tuple(problem for problem in found if problem is not None)
        wants = self._window.chat_settings
        self._window.dialogs.saved.connect(self._keeper.change)
        self._state.settings_changed.connect(self._on_settings)
        wants.set_presets(self.presets.all)
        wants.set_prompts(self.prompts.all)
        wants.changed.connect(self._on_changed)
        wants.reset.connect(self._on_reset)
        wants.saved_for_model.connect(self._conversations.remember_for_model)
        wants.preset_saved.connect(lambda name, values: self._with_presets(lambda: self.presets.save(name, values)))
        wants.preset_renamed.connect(lambda old, new: self._with_presets(lambda: self.presets.rename(old, new)))
        wants.preset_deleted.connect(lambda name: self._with_presets(lambda: self.presets.delete(name)))
        wants.prompts_changed.connect(self.prompts.replace)
        wants.prompts_changed.connect(lambda _prompts: wants.set_prompts(self.prompts.all))

    def show(self) -> None:
        self._on_settings(APPEARANCE)

    def _on_settings(self, changed: Collection[str]) -> None:
        window, settings = self._window, self._state.settings
        window.set_settings(settings.values)
        looks = {"theme": window.set_theme, "text_size": window.set_text_size}
        for key in APPEARANCE.intersection(changed):
            looks[key](settings.text(key))
        if "learn_past" in changed and not settings.values["learn_past"]:
            self._worker.submit(ForgetPast())

    def _on_changed(self, layer: Layer, values: Mapping[str, SettingValue]) -> None:
        if layer is Layer.GLOBAL:
            self._keeper.change(values)
            return
        self._conversations.change(layer, values)
        if values.get("learn_past") is False:
            self._worker.submit(ForgetPast())  # the index of past answers does not separate chats

    def _on_reset(self, layer: Layer, keys: Collection[str]) -> None:
        if layer is Layer.GLOBAL:
            self._keeper.change({key: DEFAULTS[key] for key in keys})
        else:
            self._conversations.reset(layer, keys)

    def _with_presets(self, action: Callable[[], object]) -> None:
        try:
            action()
        except PresetError as error:
            self._window.show_problem(error.problem)
        self._window.chat_settings.set_presets(self.presets.all)
