"""The button and menu of the speculation mode for the next answer."""

from collections.abc import Collection, Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QToolButton

from engine.records import Mode
from ui.text.formatting import mode_label, tooltip
from ui.text.language import Translator
from ui.text.mode_words import MODE_ORDER, mode_summary
from ui.theme.theme import Theme
from ui.widgets.choice_list import Choice
from ui.widgets.commands import native_keys
from ui.widgets.popups import ChoicePopup

tr = Translator("ModeButton")

MENU_PX = 372
NEXT_MODE_KEYS = "Ctrl+D"


class MenuButton(QToolButton):
    """A button below the message that shows the current choice and opens a popup above itself."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._popup: ChoicePopup | None = None
        self.setObjectName("modeButton")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(14, 14))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the caret in the message
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # puts the arrow to the right of the text
        self.clicked.connect(self.open_menu)
        theme.changed.connect(self._recolor)
        self._recolor()

    def make_popup(self) -> ChoicePopup:
        raise NotImplementedError

    def fill(self) -> None:
        raise NotImplementedError

    @property
    def popup(self) -> ChoicePopup:
        """The popup; created when first needed."""
        if self._popup is None:
            self._popup = self.make_popup()
            self.fill()
        return self._popup

    def open_menu(self) -> None:
        self.popup.open_from(self, above=True)
        self.popup.list.setFocus(Qt.FocusReason.PopupFocusReason)

    def _recolor(self) -> None:
        self.setIcon(self._theme.icon("chevron-down", size=14))
        if self._popup is not None:  # the text size may have changed
            self._popup.deleteLater()
            self._popup = None


class ModeButton(MenuButton):
    chosen = Signal(object)  # a `Mode`

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._unavailable: dict[Mode, str] = {}
        self._offered: frozenset[Mode] = frozenset(Mode)
        self.mode = Mode.OFF
        self._show()

    def make_popup(self) -> ChoicePopup:
        made = ChoicePopup(self._theme, tr("How tokens are proposed"), self)
        made.setFixedWidth(round(MENU_PX * self._theme.type.growth))
        made.picked.connect(lambda key: self._choose_mode(Mode(key)))
        return made

    def set_mode(self, mode: Mode) -> None:
        """Show a mode without a signal."""
        self.mode = mode
        self._show()

    def set_unavailable(self, reasons: Mapping[Mode, str], offered: Collection[Mode] = frozenset(Mode)) -> None:
        """Set the modes that cannot run, each with its reason, and the modes to list."""
        self._unavailable, self._offered = dict(reasons), frozenset(offered)
        self._show()

    def cycle(self) -> None:
        start = MODE_ORDER.index(self.mode)
        for step in range(1, len(MODE_ORDER)):
            mode = MODE_ORDER[(start + step) % len(MODE_ORDER)]
            if mode not in self._unavailable:
                self._choose_mode(mode)
                return

    @property
    def reason(self) -> str:
        """Why modes cannot run, in one line. A missing draft model is no reason if a head can run, or vice versa."""
        reasons = self._unavailable
        if len({Mode.DRAFT, Mode.HEAD} & reasons.keys()) == 1:
            reasons = {mode: reason for mode, reason in reasons.items() if mode not in (Mode.DRAFT, Mode.HEAD)}
        return " ".join(dict.fromkeys(reason for mode, reason in reasons.items() if mode is not Mode.HEAD))

    def _choose_mode(self, mode: Mode) -> None:
        if mode is not self.mode:
            self.set_mode(mode)
            self.chosen.emit(mode)

    def _show(self) -> None:
        name = mode_label(self.mode)
        self.setText(name)
        self.setAccessibleName(tr("Mode: {name}").format(name=self.text()))
        words = self._unavailable.get(self.mode) or mode_summary(self.mode)
        self.setAccessibleDescription(words)
        tip = tr("{words}. Press {keys} for the next mode.")
        self.setToolTip(tooltip(tip.format(words=words.rstrip("."), keys=native_keys(NEXT_MODE_KEYS))))
        self.fill()

    def fill(self) -> None:
        """List the offered modes; a mode that cannot run shows why."""
        if self._popup is None:
            return
        rows = [
            Choice(
                each.value,
                mode_label(each),
                (self._unavailable.get(each) or mode_summary(each),),
                icon="check" if each is self.mode else "",
                tone="accent",
                spoken=tr("in use") if each is self.mode else "",
                enabled=each not in self._unavailable,
            )
            for each in MODE_ORDER
            if each in self._offered or each is self.mode
        ]
        self._popup.list.set_rows(rows, self.mode.value)
        self._popup.fit_rows()
