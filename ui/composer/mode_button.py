"""How tokens are proposed for the next answer: one button, and the menu of modes and of the draft length behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QStyledItemDelegate, QToolButton, QWidget

from engine.records import Mode
from ui.text.formatting import hover, mode_label
from ui.text.language import mark, translate
from ui.text.mode_words import MODE_ORDER, mode_line
from ui.theme.theme import Theme
from ui.widgets.building import hbox, label
from ui.widgets.choice_list import Choice
from ui.widgets.no_wheel_combo_box import NoWheelComboBox
from ui.widgets.popups import ChoicePopup

MENU_PX = 372
MAX_DEPTH = 16
DEPTH_HELP = mark("ModeButton", "Tokens proposed per pass. “Auto” follows the measured speed.")


def make_menu_button(button: QToolButton) -> None:
    """Have a button below the message look like one that says what is in force and opens a menu."""
    button.setObjectName("modeButton")
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setIconSize(QSize(14, 14))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the caret in the message
    button.setCursor(Qt.CursorShape.PointingHandCursor)


class ModeMenu(ChoicePopup):
    """The modes, each with a line of plain words, and the draft length below them."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, translate("ModeButton", "How tokens are proposed"), parent)
        depths = [(translate("ModeButton", "Auto"), None), *((str(each), each) for each in range(1, MAX_DEPTH + 1))]
        self.depth_box = NoWheelComboBox(
            translate("ModeButton", "Draft length"), depths, tip=translate("ModeButton", DEPTH_HELP)
        )
        self.depth_box.setItemDelegate(QStyledItemDelegate(self.depth_box))  # draws as the stylesheet says
        self.depth_box.setMaxVisibleItems(MAX_DEPTH + 1)
        length = label(translate("ModeButton", "Draft length"))
        length.setBuddy(self.depth_box)
        foot = QWidget()
        hbox((length, 1), self.depth_box, parent=foot, margins=(10, 0, 4, 2))
        self.add_below(foot)
        self.setFixedWidth(round(MENU_PX * theme.type.growth))

    def show_modes(self, mode: Mode, unavailable: Mapping[Mode, str], offered: Collection[Mode]) -> None:
        """List those ``offered``; ``mode`` has the tick, and each that is ``unavailable`` its reason."""
        self.list.set_rows(
            [
                Choice(
                    each.value,
                    mode_label(each),
                    (unavailable.get(each) or mode_line(each),),
                    icon="check" if each is mode else "",
                    tone="accent",
                    spoken=translate("ModeButton", "in use") if each is mode else "",
                    enabled=each not in unavailable,
                )
                for each in MODE_ORDER
                if each in offered or each is mode
            ],
            mode.value,
        )
        self.fit_rows()

    def show_depth(self, depth: int | None) -> None:
        """Show a draft length; one beyond the list is added to it."""
        index = self.depth_box.findData(depth)
        if index < 0:
            self.depth_box.addItem(str(depth), depth)
            index = self.depth_box.count() - 1
        self.depth_box.setCurrentIndex(index)


class ModeButton(QToolButton):
    """Says which mode is in force.

    Signals:
        chosen(object), depth_chosen(object): the user took another `Mode`, or draft length (None: automatic).
    """

    chosen = Signal(object)
    depth_chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._menu: ModeMenu | None = None
        self._unavailable: dict[Mode, str] = {}
        self._offered: frozenset[Mode] = frozenset(Mode)
        self.mode = Mode.OFF
        self.draft_length: int | None = None
        make_menu_button(self)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow stands at its right
        self.clicked.connect(self.open_menu)
        theme.changed.connect(self._recolor)
        self._recolor()
        self._show()

    @property
    def menu_of_modes(self) -> ModeMenu:
        """What opens from it; made when it is first wanted."""
        if self._menu is None:
            self._menu = ModeMenu(self._theme, self)
            self._menu.picked.connect(lambda key: self._take(Mode(key)))
            self._menu.depth_box.activated.connect(self._take_depth)
            self._fill()
        return self._menu

    def open_menu(self) -> None:
        """Show the modes above the button, ready for the keyboard."""
        self._fill()
        self.menu_of_modes.open_from(self, above=True)
        self.menu_of_modes.list.setFocus(Qt.FocusReason.PopupFocusReason)

    def set_mode(self, mode: Mode) -> None:
        """Show a mode without telling anybody."""
        self.mode = mode
        self._show()

    def set_depth(self, depth: int | None) -> None:
        """Show a draft length without telling anybody; None is automatic."""
        self.draft_length = depth
        self._show()

    def set_unavailable(self, reasons: Mapping[Mode, str], offered: Collection[Mode] = frozenset(Mode)) -> None:
        """The modes that cannot run now, each reason one sentence; and those that are worth a line of the menu."""
        self._unavailable, self._offered = dict(reasons), frozenset(offered)
        self._show()

    def cycle(self) -> None:
        """Take the next mode that can run."""
        modes = list(Mode)
        start = modes.index(self.mode)
        for step in range(1, len(modes)):
            mode = modes[(start + step) % len(modes)]
            if mode not in self._unavailable:
                self._take(mode)
                return

    @property
    def reason(self) -> str:
        """Why a mode cannot run, in one line; empty where all can, but for draft model or head: one of them drafts."""
        reasons = self._unavailable
        if len({Mode.DRAFT, Mode.HEAD} & reasons.keys()) == 1:
            reasons = {mode: reason for mode, reason in reasons.items() if mode not in (Mode.DRAFT, Mode.HEAD)}
        return " ".join(dict.fromkeys(reason for mode, reason in reasons.items() if mode is not Mode.HEAD))

    def _take(self, mode: Mode) -> None:
        if mode is not self.mode:
            self.set_mode(mode)
            self.chosen.emit(mode)

    def _take_depth(self, _index: int) -> None:
        self.set_depth(self.menu_of_modes.depth_box.currentData())
        self.depth_chosen.emit(self.draft_length)

    def _show(self) -> None:
        name = mode_label(self.mode)
        fixed = self.draft_length if self.mode is not Mode.OFF else None
        length = translate("ModeButton", "{mode}, length {depth}").format(mode=name, depth=fixed)
        self.setText(name if fixed is None else length)
        self.setAccessibleName(translate("ModeButton", "Mode: {name}").format(name=self.text()))
        words = self._unavailable.get(self.mode) or mode_line(self.mode)
        self.setAccessibleDescription(words)
        self.setToolTip(
            hover(translate("ModeButton", "{words}. Press Ctrl+D for the next mode.").format(words=words.rstrip(".")))
        )
        self._fill()

    def _fill(self) -> None:
        if self._menu is not None:
            self._menu.show_modes(self.mode, self._unavailable, self._offered)
            self._menu.show_depth(self.draft_length)
            self._menu.depth_box.setEnabled(self.mode is not Mode.OFF)

    def _recolor(self) -> None:
        self.setIcon(self._theme.icon("chevron-down", size=14))
        if self._menu is not None:  # text may have another size
            self._menu.deleteLater()
            self._menu = None
