"""How the model is to think before it answers, where it leaves a choice: one button, and the menu behind it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from engine.records import ThinkingOption
from ui.composer.mode_button import make_menu_button
from ui.text.formatting import hover
from ui.text.language import translate
from ui.text.thinking_words import thinking_line, thinking_name
from ui.theme.theme import Theme
from ui.widgets.choice_list import Choice
from ui.widgets.popups import ChoicePopup

MENU_PX = 260


class ThinkingButton(QToolButton):
    """Says how the model thinks; hidden where its chat template leaves no choice.

    Signals:
        chosen(str): the name of the `ThinkingOption` that the user took.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._menu: ChoicePopup | None = None
        self._options: tuple[ThinkingOption, ...] = ()
        self._wanted = ""
        self.setAccessibleName(translate("ThinkingButton", "How the model thinks"))
        make_menu_button(self)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the chevron at the right, as of the modes
        self.clicked.connect(self.open_menu)
        theme.changed.connect(self._recolor)
        self._recolor()
        self.hide()

    @property
    def option(self) -> str:
        """The option in force: the one that is wanted, or the model's usual one where it has not got that."""
        names = [option.name for option in self._options]
        return self._wanted if self._wanted in names else next(iter(names), "")

    @property
    def menu_of_options(self) -> ChoicePopup:
        """What opens from it; made when it is first wanted."""
        if self._menu is None:
            self._menu = ChoicePopup(self._theme, translate("ThinkingButton", "How the model thinks"), self)
            self._menu.picked.connect(self._take)
            self._menu.setFixedWidth(round(MENU_PX * self._theme.type.growth))
        return self._menu

    def open_menu(self) -> None:
        """Show the options above the button, ready for the keyboard."""
        self._fill()
        self.menu_of_options.open_from(self, above=True)
        self.menu_of_options.list.setFocus(Qt.FocusReason.PopupFocusReason)

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

    def _fill(self) -> None:
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
        self.menu_of_options.list.set_rows(rows, self.option)
        self.menu_of_options.fit_rows()

    def _recolor(self) -> None:
        self.setIcon(self._theme.icon("chevron-down", size=14))
        if self._menu is not None:  # text may have another size
            self._menu.deleteLater()
            self._menu = None
