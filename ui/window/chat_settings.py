"""Opens a chat's settings, presets and reusable prompts, by a button, a shortcut or the prompt list.

A line above the chat shows the system prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QSizePolicy

from app.core.domain.engine_view import EngineView
from app.core.domain.settings.layers import Layer, LayeredValue, LayersView, Preset, SavedPrompt
from app.core.domain.settings.table import COMPLETION_FORMAT
from ui.composer.prompt_list import PromptList
from ui.text.formatting import tooltip
from ui.text.language import Translator, mark, translate
from ui.text.one_line import elided
from ui.theme.theme import Theme
from ui.widgets.commands import CHAT, Commands, native_keys
from ui.widgets.icon_button import IconButton

tr = Translator("ChatSettings")

if TYPE_CHECKING:  # the first paint does not wait for dialogs
    from ui.settings.chat_panel import ChatSettingsPanel
    from ui.window.main_window import MainWindow


PANEL_PX = 300
SETTINGS_KEYS = "Ctrl+."
PROMPT_PADDING_PX = 16
_PROMPT_LINES: dict[Layer, str] = {
    Layer.CHAT: mark("PromptLine", "System prompt of this chat: {text}"),
    Layer.PROJECT: mark("PromptLine", "Instructions of this project: {text}"),
    Layer.MODEL: mark("PromptLine", "System prompt of this model: {text}"),
    Layer.GLOBAL: mark("PromptLine", "System prompt of all chats: {text}"),
}


class PromptLine(QPushButton):
    """A line with the system prompt; hidden if there is none."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._words = ""
        self.setObjectName("promptInUse")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.updateGeometry)
        self.setAccessibleName(translate("PromptLine", "System prompt"))
        self.hide()

    def show_prompt(self, prompt: LayeredValue | None) -> None:
        text = str(prompt.value or "").strip() if prompt is not None else ""
        self.setVisible(bool(text) and prompt is not None and prompt.origin in _PROMPT_LINES)
        if not self.isHidden() and prompt is not None:
            self._words = translate("PromptLine", _PROMPT_LINES[prompt.origin]).format(text=" ".join(text.split()))
            self.setAccessibleName(self._words)
            self.setAccessibleDescription(translate("PromptLine", "Opens it to be changed"))
            self.setToolTip(tooltip(text))
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, round(self._theme.text_height(-1)) + 12)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the elided text on a button's background."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setFont(self._theme.paint_cache.font(-1))
        painter.setPen(self._theme.paint_cache.color(self._theme.tokens.text_muted))
        rect = self.rect().adjusted(PROMPT_PADDING_PX, 0, -PROMPT_PADDING_PX, 0)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(rect, left, elided(self._words, painter.fontMetrics(), rect.width()))


class ChatSettings(QObject):
    """Connects the button, the shortcuts and the settings panel."""

    # a `Layer`, and new values or the keys to remove
    changed = Signal(object, dict)
    reset = Signal(object, object)
    # changes of presets
    preset_saved = Signal(str, dict)
    preset_renamed = Signal(str, str)
    preset_deleted = Signal(str)
    prompts_changed = Signal(object)  # all prompts

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        theme, header, composer = window.theme, window.header, window.composer
        self._window, self._theme, self._composer = window, theme, composer
        self._view = LayersView()
        self._chat_id: int | None = None
        self._presets: tuple[Preset, ...] = ()
        self._prompts: tuple[SavedPrompt, ...] = ()

        self._engine = EngineView()
        self.panel: ChatSettingsPanel | None = None
        self.side = QHBoxLayout()  # holds the panel beside the chat
        self.prompt_line = PromptLine(theme)
        self.prompt_line.clicked.connect(lambda: self.open_at("system_prompt"))
        self.prompt_list = PromptList(composer.edit, composer)
        self.prompt_list.manage_requested.connect(self.edit_prompts)
        self.button = IconButton(theme, "sliders-horizontal", tr("Chat settings"))
        self.button.clicked.connect(self.open)
        header.bar.insertWidget(header.bar.indexOf(header.stats_button), self.button)
        composer.thinking.chosen.connect(lambda name: self.changed.emit(Layer.CHAT, {"thinking": name}))
        self._show_button()

    def add_commands(self, commands: Commands) -> None:
        commands.add(CHAT, mark("Commands", "Chat settings"), SETTINGS_KEYS, self.open)
        commands.describe(CHAT, mark("Commands", "Insert a prompt (in an empty message)"), "/")

    def set_view(self, view: LayersView, chat_id: int | None) -> None:
        """Show the values of all layers; ``chat_id`` identifies the chat."""
        other, self._view, self._chat_id = chat_id != self._chat_id, view, chat_id
        held = view.values.get(Layer.CHAT, {}).get("prompt_format")
        completes = held is not None and held.value == COMPLETION_FORMAT
        self._window.empty.set_completing(completes)
        prompt = view.values.get(Layer.CHAT, {}).get("system_prompt")
        self.prompt_line.show_prompt(None if completes else prompt)
        thinks = view.values.get(Layer.CHAT, {}).get("thinking")
        self._composer.thinking.set_wanted(str(thinks.value) if thinks is not None else "")
        if self.panel is not None:
            self.panel.set_view(view, other=other)
        self._show_button()

    def set_presets(self, presets: Sequence[Preset]) -> None:
        self._presets = tuple(presets)
        if self.panel is not None:
            self.panel.presets.set_presets(self._presets)

    def set_prompts(self, prompts: Sequence[SavedPrompt]) -> None:
        self._prompts = tuple(prompts)
        self.prompt_list.set_prompts(self._prompts)

    def edit_prompts(self) -> None:
        from ui.settings.prompts_dialog import PromptsDialog  # noqa: PLC0415

        dialog = PromptsDialog(self._prompts, self._window)
        dialog.saved.connect(self.prompts_changed)
        dialog.open()

    def set_engine(self, view: EngineView) -> None:
        self._engine = view
        if self.panel is not None:
            self.panel.set_unavailable(view.unavailable)

    def flush(self) -> None:
        """Emit pending edits; called before another chat is opened."""
        if self.panel is not None:
            self.panel.flush()

    def open(self) -> None:
        """Show or hide the settings of this chat."""
        if self.panel is not None and self.panel.isVisible():
            self.panel.hide()
            return
        if self.panel is None:
            self.panel = self._make_panel()
        width = max(round(PANEL_PX * self._theme.type.growth), self.panel.minimum_width)
        self.panel.setFixedWidth(width)
        self._window.layout_state.reserve_panel_width(width)
        self.panel.show()
        self.panel.switch.buttons[self.panel.layer].setFocus()

    def open_at(self, key: str) -> None:
        """Show the settings of this chat, and focus the setting ``key``."""
        if self.panel is None or not self.panel.isVisible():
            self.open()
        if self.panel is not None and key in self.panel.rows:
            self.panel.focus_setting(key)

    @property
    def has_focus(self) -> bool:
        focus = QApplication.focusWidget()
        return self.panel is not None and focus is not None and self.panel.isAncestorOf(focus)

    def close_panel(self) -> bool:
        if self.panel is None or self.panel.isHidden():
            return False
        self.panel.hide()
        return True

    def _on_closed(self) -> None:
        self._window.layout_state.reserve_panel_width(0)
        self._composer.setFocus()

    def _make_panel(self) -> ChatSettingsPanel:
        from ui.settings.chat_panel import ChatSettingsPanel  # noqa: PLC0415
        from ui.settings.preset_menu import PresetMenu  # noqa: PLC0415

        menu = PresetMenu(self._theme)
        menu.set_presets(self._presets)
        menu.saved.connect(self.preset_saved)
        menu.renamed.connect(self.preset_renamed)
        menu.deleted.connect(self.preset_deleted)
        panel = ChatSettingsPanel(self._theme, self._view, menu)
        panel.changed.connect(self.changed)
        panel.reset.connect(self.reset)
        panel.set_unavailable(self._engine.unavailable)
        panel.closed.connect(self._on_closed)
        panel.hide()
        self.side.addWidget(panel)
        return panel

    def _show_button(self) -> None:
        num_own = self._view.num_chat_values
        name = tr("Chat settings")
        own = tr("%n values set for this chat", None, num_own) if num_own else ""
        self.button.setToolTip(tooltip(f"{name} ({native_keys(SETTINGS_KEYS)})\n{own}".strip()))
        self.button.setAccessibleName(name)
        self.button.setAccessibleDescription(own)
        self.button.set_marked(num_own > 0)
