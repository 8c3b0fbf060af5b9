"""Opens the settings of a chat, its presets and reusable prompts: button, shortcuts, dialog and prompt list."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.domain.engine_view import EngineView
from app.domain.settings.layers import Layer, LayersView, Preset, Prompt
from app.domain.settings.table import COMPLETES
from engine.records import Mode
from ui.composer.composer import RACE_COMMAND, Composer
from ui.composer.prompt_list import PromptList
from ui.text.formatting import hover
from ui.text.language import mark, translate
from ui.text.mode_words import mode_words
from ui.theme.theme import Theme
from ui.widgets.commands import CHAT, Commands
from ui.widgets.icon_button import IconButton
from ui.window.header import Header

if TYPE_CHECKING:  # the first paint waits for no dialog
    from ui.settings.chat_dialog import ChatSettingsDialog
    from ui.settings.prompts_page import PromptsPage


class ChatSettings(QObject):
    """The button, the shortcuts and the dialog; what the user changes goes out by signals.

    Signals:
        changed(object, dict), reset(object, object): a `Layer`, and values or the keys of values that are to go.
        kept_for_model: what the chat has of its own is to be its model's.
        preset_saved(str, dict), preset_renamed(str, str), preset_deleted(str): what is to become of presets.
        prompts_changed(object): all prompts as they are to be.
        completing(bool): whether messages of the open chat are continued as texts.
        manage_prompts: the page of the prompts is wanted.
        notice(str): why something cannot be done.
    """

    changed = Signal(object, dict)
    reset = Signal(object, object)
    kept_for_model = Signal()
    preset_saved = Signal(str, dict)
    preset_renamed = Signal(str, str)
    preset_deleted = Signal(str)
    prompts_changed = Signal(object)
    manage_prompts = Signal()
    notice = Signal(str)
    completing = Signal(bool)

    def __init__(self, window: QWidget, theme: Theme, header: Header, composer: Composer) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._composer = composer
        self._view = LayersView()
        self._chat_id: int | None = None
        self._presets: tuple[Preset, ...] = ()
        self._prompts: tuple[Prompt, ...] = ()
        self._engine = EngineView()
        self.dialog: ChatSettingsDialog | None = None
        self.prompt_list = PromptList(theme, composer.edit, composer)
        self.prompt_list.manage_requested.connect(self.manage_prompts)
        self.button = IconButton(theme, "sliders-horizontal", translate("ChatSettings", "Chat settings"))
        self.button.clicked.connect(self.open)
        header.bar.insertWidget(header.bar.indexOf(header.stats_button), self.button)
        composer.thinking.chosen.connect(lambda name: self.changed.emit(Layer.CHAT, {"thinking": name}))
        self._show_button()

    def add_commands(self, commands: Commands) -> None:
        """Have its keys."""
        commands.add(CHAT, mark("Commands", "Chat settings"), "Ctrl+.", self.open)
        keys = [f"Ctrl+Shift+{number}" for number in range(1, len(Mode) + 1)]
        for mode, key in zip(Mode, keys, strict=True):
            commands.bind(CHAT, key, partial(self.take_mode, mode))
        commands.describe(CHAT, mark("Commands", "Choose a speculation mode"), keys)
        commands.describe(CHAT, mark("Commands", "Insert a prompt (in an empty message)"), "/")

    # ---- values -----------------------------------------------------------------------------------------------------

    def set_view(self, view: LayersView, chat_id: int | None) -> None:
        """Show the layers as they are; ``chat_id`` tells one chat from another."""
        other, self._view, self._chat_id = chat_id != self._chat_id, view, chat_id
        held = view.values.get(Layer.CHAT, {}).get("prompt_format")
        self.completing.emit(held is not None and held.value == COMPLETES)
        thinks = view.values.get(Layer.CHAT, {}).get("thinking")
        self._composer.thinking.set_wanted(str(thinks.value) if thinks is not None else "")
        if self.dialog is not None:
            self.dialog.set_view(view, other=other)
        self._show_button()

    def choose_completing(self, completes: bool) -> None:
        """Have this model continue messages as texts, or answer them."""
        self.changed.emit(Layer.MODEL, {"prompt_format": COMPLETES if completes else "chat"})

    def set_presets(self, presets: Sequence[Preset]) -> None:
        """The presets there are."""
        self._presets = tuple(presets)
        if self.dialog is not None:
            self.dialog.presets.set_presets(self._presets)

    def set_prompts(self, prompts: Sequence[Prompt]) -> None:
        """The prompts there are."""
        self._prompts = tuple(prompts)
        self.prompt_list.set_prompts((*self._prompts, Prompt("race", f"{RACE_COMMAND} {{question}}")))

    def set_engine(self, view: EngineView) -> None:
        """What can run now."""
        self._engine = view
        if self.dialog is not None:
            self.dialog.set_unavailable(view.unavailable)

    def flush(self) -> None:
        """Emit pending edits: another chat is about to be opened."""
        if self.dialog is not None:
            self.dialog.flush()

    def prompts_page(self) -> PromptsPage:
        """A page of the settings on which the prompts are edited."""
        from ui.settings.prompts_page import PromptsPage  # noqa: PLC0415

        page = PromptsPage(self._prompts)
        page.saved.connect(self.prompts_changed)
        return page

    # ---- requests ---------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Show the settings of this chat, or bring them forward."""
        if self.dialog is None:
            self.dialog = self._make_dialog()
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    def _make_dialog(self) -> ChatSettingsDialog:
        from ui.settings.chat_dialog import ChatSettingsDialog  # noqa: PLC0415
        from ui.settings.preset_menu import PresetMenu  # noqa: PLC0415

        menu = PresetMenu(self._theme)
        menu.set_presets(self._presets)
        menu.saved.connect(self.preset_saved)
        menu.renamed.connect(self.preset_renamed)
        menu.deleted.connect(self.preset_deleted)
        dialog = ChatSettingsDialog(self._window, self._view, menu)
        dialog.changed.connect(self.changed)
        dialog.reset.connect(self.reset)
        dialog.kept_for_model.connect(self.kept_for_model)
        dialog.set_unavailable(self._engine.unavailable)
        return dialog

    def take_mode(self, mode: Mode) -> None:
        """Take a mode by its key; where it cannot run, say why."""
        reason = self._engine.unavailable.get(mode, "")
        if reason:
            words = translate("ChatSettings", "{mode} is not available now. {reason}")
            self.notice.emit(words.format(mode=mode_words(mode).name, reason=reason))
            return
        self._composer.set_mode(mode)
        self._composer.mode_chosen.emit(mode)

    def _show_button(self) -> None:
        num_own = self._view.num_own
        name = translate("ChatSettings", "Chat settings (Ctrl+.)")
        own = translate("ChatSettings", "%n values set for this chat", None, num_own) if num_own else ""
        self.button.setToolTip(hover(f"{name}\n{own}".strip()))
        self.button.setAccessibleName(name)
        self.button.setAccessibleDescription(own)
        self.button.set_marked(num_own > 0)
