"""How the model is to think before it answers, where it leaves a choice: one button, and the menu behind it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from engine.records import ThinkingOption
from ui.composer.mode_button import MenuButton
from ui.text.formatting import hover
from ui.text.language import translate
from ui.text.thinking_words import thinking_line, thinking_name
from ui.theme.theme import Theme
from ui.widgets.choice_list import Choice
from ui.widgets.popups import ChoicePopup

MENU_PX = 260


class ThinkingButton(MenuButton):
    """Says how the model thinks; hidden where its chat template leaves no choice.

    Signals:
        chosen(str): the name of the `ThinkingOption` that the user took.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._options: tuple[ThinkingOption, ...] = ()
        self._wanted = ""
        self.setAccessibleName(translate("ThinkingButton", "How the model thinks"))
        self.hide()

    @property
    def option(self) -> str:
        """The option in force: the one that is wanted, or the model's usual one where it has not got that."""
        names = [option.name for option in self._options]
        return self._wanted if self._wanted in names else next(iter(names), "")

    def make_popup(self) -> ChoicePopup:
        made = ChoicePopup(self._theme, translate("ThinkingButton", "How the model thinks"), self)
        made.picked.connect(self._take)
        made.setFixedWidth(round(MENU_PX * self._theme.type.growth))
        return made

    def set_options(self, options: Sequence[ThinkingOption]) -> None:
        """What the loaded model leaves to choose, the usual one first."""
        self._options = tuple(options)
        self._show()

    def set_wanted(self, name: str) -> None:
        """Show what is asked for in this chat without telling anybody; empty for the model's usual way."""
        self._wanted = name
        self._show()

    def _take(self, name: str) -> None:
        if name != self.option:
            self.set_wanted(name)
            self.chosen.emit(name)

    def _show(self) -> None:
        self.setVisible(bool(self._options))
        if not self._options:
            return
        name = thinking_name(self.option)
        words = translate("ThinkingButton", "Thinking: {name}").format(name=name)
        self.setText(words)  # a lone "On" would be a riddle, above all where no mode stands beside it
        self.setAccessibleName(words)
        line = thinking_line(self.option)
        self.setAccessibleDescription(line)
        self.setToolTip(hover(translate("ThinkingButton", "Thinking: {name}. {line}.").format(name=name, line=line)))
        self.fill()

    def fill(self) -> None:
        if self._popup is None:
            return
        rows = [
            Choice(
                option.name,
                thinking_name(option.name),
                (thinking_line(option.name),),
                side=translate("ThinkingButton", "usual") if option is self._options[0] else "",
                icon="check" if option.name == self.option else "",
                tone="accent",
                spoken=translate("ThinkingButton", "in use") if option.name == self.option else "",
            )
            for option in self._options
        ]
        self._popup.list.set_rows(rows, self.option)
        self._popup.fit_rows()
