"""The preset menu: apply a preset, save the current values, rename or delete own presets."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QMenu, QToolButton

from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import MAX_PRESET_NAME_CHARS, Preset
from engine.sentences import drop_double_stop, i18n
from ui.text.formatting import escape_mnemonics
from ui.text.language import Translator
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.widgets.building import label, line_edit, show_text
from ui.widgets.dialogs import ConfirmDialog
from ui.widgets.popups import Menu

tr = Translator("Presets")

_BUILTIN = {
    "Precise": tr.mark("Precise"),
    "Balanced": tr.mark("Balanced"),
    "Creative": tr.mark("Creative"),
}


class PresetMenu(QToolButton):
    """A button with the name of the preset in use, if any."""

    opening = Signal()  # the menu is about to read the values; emit pending edits first
    applied = Signal(dict)  # the values of a preset
    # changes of presets
    saved = Signal(str, dict)
    renamed = Signal(str, str)
    deleted = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._presets: tuple[Preset, ...] = ()
        self._values: Mapping[str, SettingValue] = {}
        self.setObjectName("modelButton")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.setIconSize(QSize(14, 14))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.list_menu = Menu(self)
        self.list_menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.list_menu.aboutToShow.connect(self._fill)
        self.setMenu(self.list_menu)
        theme.changed.connect(self._show)
        self._show()

    def set_presets(self, presets: Sequence[Preset]) -> None:
        self._presets = tuple(presets)
        self._show()

    def set_values(self, values: Mapping[str, SettingValue]) -> None:
        self._values = values
        self._show()

    @property
    def current_preset(self) -> Preset | None:
        """The preset whose values are all set; the user's own presets take precedence."""
        own_first = sorted(self._presets, key=lambda preset: preset.builtin)
        return next((each for each in own_first if each.values and self._matches(each)), None)

    def _matches(self, preset: Preset) -> bool:
        return all(self._values.get(key) == value for key, value in preset.values.items())

    def _show(self) -> None:
        chosen = self.current_preset
        name = _shown_name(chosen) if chosen else tr("none")
        named = tr("Preset: {name}").format(name=escape_mnemonics(name))
        self.setText(named if chosen else tr("Presets"))
        self.setAccessibleName(tr("Presets, active: {name}").format(name=name))
        self.setIcon(self._theme.icon("chevron-down", size=14))

    def _fill(self) -> None:
        """Fill the menu when it opens, never during one of its actions."""
        self.opening.emit()
        menu, chosen = self.list_menu, self.current_preset
        menu.clear()
        for old in menu.findChildren(QMenu):
            old.deleteLater()
        for preset in self._presets:
            action = menu.addAction(
                escape_mnemonics(_shown_name(preset)), partial(self.applied.emit, dict(preset.values))
            )
            action.setCheckable(True)
            action.setChecked(preset is chosen)
        menu.addSeparator()
        menu.addAction(tr("Save these values as a preset…"), self._ask_save)
        own = [preset for preset in self._presets if not preset.builtin]
        for title, ask in (
            (tr("Rename"), self._ask_rename),
            (tr("Delete"), self._ask_delete),
        ):
            below = menu.add_submenu(title)
            below.setEnabled(bool(own))
            for preset in own:
                below.addAction(escape_mnemonics(preset.name), partial(ask, preset.name))

    def _ask_save(self) -> None:
        text = tr(
            "Saves the sampling settings and the system prompt shown here. It replaces your preset of the same name."
        )
        title, accept_text = tr("Save as a preset"), tr("Save")
        question, edit = self._ask_name(title, text, accept_text, self._name_problem)
        question.accepted.connect(lambda: self.saved.emit(edit.text(), dict(self._values)))
        question.open()

    def _ask_rename(self, name: str) -> None:
        text = drop_double_stop(tr("A new name for “{name}”."), {"name": name}).format(name=name)
        title, accept_text = tr("Rename the preset"), tr("Rename")
        question, edit = self._ask_name(title, text, accept_text, lambda new: self._name_problem(new, instead_of=name))
        edit.setText(name)
        edit.selectAll()
        question.accepted.connect(lambda: self.renamed.emit(name, edit.text()))
        question.open()

    def _ask_delete(self, name: str) -> None:
        text = tr("“{name}” will be deleted. Chats that use its values keep them.").format(name=name)
        accept_text = tr("Delete")
        question = ConfirmDialog(self, tr("Delete this preset?"), text, accept_text, danger=True)
        question.accepted.connect(lambda: self.deleted.emit(name))
        question.open()

    def _name_problem(self, name: str, instead_of: str | None = None) -> str:
        """Why a name is refused; empty if it is valid. A new preset may replace another, a renamed one may not."""
        same = [one for one in self._presets if name.casefold() in (one.name.casefold(), _shown_name(one).casefold())]
        if any(one.builtin for one in same):
            return in_language(i18n("{name} comes with Paceline and cannot be changed.", name=name))
        if instead_of is not None and any(one.name != instead_of for one in same):
            return in_language(i18n("There is already a preset named {name}.", name=name))
        return ""

    def _ask_name(
        self, title: str, text: str, accept_text: str, complaint: Callable[[str], str]
    ) -> tuple[ConfirmDialog, QLineEdit]:
        question, wrong = ConfirmDialog(self, title, text, accept_text), label("", "error", wrap=True)
        edit = line_edit(tr("Name"), tr("Name"))
        edit.setMaxLength(MAX_PRESET_NAME_CHARS)
        wrong.hide()

        def check(typed: str) -> None:
            name = " ".join(typed.split())
            show_text(wrong, complaint(name))
            edit.setAccessibleDescription(wrong.text())
            question.accept_button.setEnabled(bool(name) and not wrong.text())

        edit.textChanged.connect(check)
        question.accept_button.setEnabled(False)
        question.column.addWidget(edit)
        question.column.addWidget(wrong)
        edit.setFocus()
        return question, edit


def _shown_name(preset: Preset) -> str:
    return tr(_BUILTIN[preset.name]) if preset.builtin and preset.name in _BUILTIN else preset.name
