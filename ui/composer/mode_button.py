"""The button and menu of the speculation mode and the draft length for the next answer."""

from collections.abc import Collection, Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QStyledItemDelegate, QToolButton, QWidget

from engine.records import Mode
from ui.text.formatting import mode_label, tooltip
from ui.text.language import Translator
from ui.text.mode_words import MODE_ORDER, mode_summary
from ui.theme.theme import Theme
from ui.widgets.building import hbox, label
from ui.widgets.choice_list import Choice
from ui.widgets.commands import native_keys
from ui.widgets.popups import ChoicePopup, NoWheelComboBox

tr = Translator("ModeButton")

MENU_PX = 372
MAX_DEPTH = 16
NEXT_MODE_KEYS = "Ctrl+D"
DEPTH_HELP = tr.mark("Tokens proposed per pass. “Auto” follows the measured speed.")


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


class ModeMenu(ChoicePopup):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, tr("How tokens are proposed"), parent)
        depths = [(tr("Auto"), None), *((str(each), each) for each in range(1, MAX_DEPTH + 1))]
        self.depth_box = NoWheelComboBox(tr("Draft length"), depths, tip=tr(DEPTH_HELP))
        self.depth_box.setItemDelegate(QStyledItemDelegate(self.depth_box))  # makes the stylesheet apply to the items
        self.depth_box.setMaxVisibleItems(MAX_DEPTH + 1)
        length = label(tr("Draft length"))
        length.setBuddy(self.depth_box)
        foot = QWidget()
        hbox((length, 1), self.depth_box, parent=foot, margins=(10, 0, 4, 2))
        self.add_below(foot)
        self.setFixedWidth(round(MENU_PX * theme.type.growth))

    def show_modes(self, mode: Mode, unavailable: Mapping[Mode, str], offered: Collection[Mode]) -> None:
        """List the ``offered`` modes. ``mode`` is ticked; an ``unavailable`` mode shows its reason."""
        self.list.set_rows(
            [
                Choice(
                    each.value,
                    mode_label(each),
                    (unavailable.get(each) or mode_summary(each),),
                    icon="check" if each is mode else "",
                    tone="accent",
                    spoken=tr("in use") if each is mode else "",
                    enabled=each not in unavailable,
                )
                for each in MODE_ORDER
                if each in offered or each is mode
            ],
            mode.value,
        )
        self.fit_rows()

    def show_depth(self, depth: int | None) -> None:
        index = self.depth_box.findData(depth)
        if index < 0:
            self.depth_box.addItem(str(depth), depth)
            index = self.depth_box.count() - 1
        self.depth_box.setCurrentIndex(index)


class ModeButton(MenuButton):
    # the chosen `Mode`, or draft length (None: automatic)
    chosen = Signal(object)
    depth_chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._unavailable: dict[Mode, str] = {}
        self._offered: frozenset[Mode] = frozenset(Mode)
        self.mode = Mode.OFF
        self.draft_length: int | None = None
        self._show()

    def make_popup(self) -> ModeMenu:
        made = ModeMenu(self._theme, self)
        made.picked.connect(lambda key: self._choose_mode(Mode(key)))
        made.depth_box.activated.connect(lambda _index: self._choose_depth(made.depth_box.currentData()))
        return made

    def set_mode(self, mode: Mode) -> None:
        """Show a mode without a signal."""
        self.mode = mode
        self._show()

    def set_depth(self, depth: int | None) -> None:
        """Show a draft length without a signal; None is automatic."""
        self.draft_length = depth
        self._show()

    def set_unavailable(self, reasons: Mapping[Mode, str], offered: Collection[Mode] = frozenset(Mode)) -> None:
        """Set the modes that cannot run, each with its reason, and the modes to list."""
        self._unavailable, self._offered = dict(reasons), frozenset(offered)
        self._show()

    def cycle(self) -> None:
        modes = list(Mode)
        start = modes.index(self.mode)
        for step in range(1, len(modes)):
            mode = modes[(start + step) % len(modes)]
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

    def _choose_depth(self, depth: int | None) -> None:
        self.set_depth(depth)
        self.depth_chosen.emit(depth)

    def _show(self) -> None:
        name = mode_label(self.mode)
        fixed = self.draft_length if self.mode is not Mode.OFF else None
        length = tr("{mode}, length {depth}").format(mode=name, depth=fixed)
        self.setText(name if fixed is None else length)
        self.setAccessibleName(tr("Mode: {name}").format(name=self.text()))
        words = self._unavailable.get(self.mode) or mode_summary(self.mode)
        self.setAccessibleDescription(words)
        tip = tr("{words}. Press {keys} for the next mode.")
        self.setToolTip(tooltip(tip.format(words=words.rstrip("."), keys=native_keys(NEXT_MODE_KEYS))))
        self.fill()

    def fill(self) -> None:
        if isinstance(self._popup, ModeMenu):
            self._popup.show_modes(self.mode, self._unavailable, self._offered)
            self._popup.show_depth(self.draft_length)
            self._popup.depth_box.setEnabled(self.mode is not Mode.OFF)
