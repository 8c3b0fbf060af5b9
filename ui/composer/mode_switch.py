"""Off, N-gram, Suffix, Draft, Hybrid or Auto: one choice of how tokens are proposed, beside the composer."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QMenu, QToolButton, QWidget

from engine.records import Mode
from ui.text.formatting import hover, mode_label
from ui.text.language import mark, translate

LEAST_BUTTON_PX = 36  # six whole labels would not let the window get narrow

MODE_HELP: dict[str, str] = {
    "off": mark("ModeSwitch", "Plain decoding: one token per pass of the target. The baseline for comparisons."),
    "ngram": mark(
        "ModeSwitch", "Drafts what followed the same words earlier in this conversation; needs no second model."
    ),
    "suffix": mark(
        "ModeSwitch", "Drafts what most often followed the longest match in this conversation; needs no second model."
    ),
    "draft": mark("ModeSwitch", "A small model drafts tokens, and the target checks them all in one pass."),
    "head": mark(
        "ModeSwitch",
        "Layers that read the target's hidden state draft tokens, and the target checks them all in one pass.",
    ),
    "hybrid": mark(
        "ModeSwitch", "Drafts from text where it matches well, and with the draft model elsewhere or before a match."
    ),
    "auto": mark("ModeSwitch", "Picks what should be fastest for each pass, plain decoding included."),
}


_OTHERS = tuple(mode for mode in Mode if mode not in (Mode.DRAFT, Mode.HEAD))


class ModeSwitch(QFrame):
    """A segmented switch, or one button with a menu where there is little room.

    A mode that cannot run now is disabled and says why. Draft model and head share a place: only one of them drafts.

    Signals:
        chosen(object): the user took another `Mode`.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modeSwitch")
        self.setAccessibleName(translate("ModeSwitch", "How tokens are proposed"))
        self._unavailable: dict[Mode, str] = {}
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self.buttons: dict[Mode, QToolButton] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for mode in Mode:
            button = QToolButton()
            button.setText(mode_label(mode))
            button.setCheckable(True)
            button.setMinimumWidth(LEAST_BUTTON_PX)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the caret in the message
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.setAccessibleName(translate("ModeSwitch", "Mode: {name}").format(name=mode_label(mode)))
            button.clicked.connect(lambda _checked=False, mode=mode: self.chosen.emit(mode))
            button.toggled.connect(self._show_short)
            self._group.addButton(button)
            self.buttons[mode] = button
            layout.addWidget(button)
        self.short = QToolButton()
        self._make_short()
        layout.addWidget(self.short)
        self.set_mode(Mode.OFF)
        self.set_unavailable({})

    def _make_short(self) -> None:
        short, menu = self.short, QMenu(self.short)
        short.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        short.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        short.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow stands at its right
        short.setIconSize(QSize(14, 14))
        short.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        short.setCursor(Qt.CursorShape.PointingHandCursor)
        menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(lambda: self._fill(menu))
        short.setMenu(menu)
        short.hide()

    def _fill(self, menu: QMenu) -> None:
        menu.clear()
        for button in self._shown:
            action = menu.addAction(button.text(), button.click)
            action.setCheckable(True)
            action.setChecked(button.isChecked())
            action.setEnabled(button.isEnabled())
            action.setToolTip(button.toolTip())

    @property
    def full_width(self) -> int:
        """What it takes to show every label, in pixels."""
        return sum(button.sizeHint().width() for button in self._shown)

    @property
    def _shown(self) -> list[QToolButton]:
        """The buttons of all modes, of draft model and head only the one that is chosen or can run."""
        chosen = next((mode for mode in (Mode.DRAFT, Mode.HEAD) if self.buttons[mode].isChecked()), None)
        runs_head = Mode.DRAFT in self._unavailable and Mode.HEAD not in self._unavailable
        kept = chosen or (Mode.HEAD if runs_head else Mode.DRAFT)
        return [button for mode, button in self.buttons.items() if mode in (kept, *_OTHERS)]

    def _show_buttons(self) -> None:
        shown = self._shown if self.short.isHidden() else []
        for button in self.buttons.values():
            button.setVisible(button in shown)

    def set_narrow(self, narrow: bool) -> None:
        """Show one button with a menu, or every mode; what had the focus keeps it."""
        if narrow is not self.short.isHidden():
            return
        had_focus = any(each.hasFocus() for each in (*self.buttons.values(), self.short))
        self.short.setVisible(narrow)
        self._show_buttons()
        if had_focus:
            (self.short if narrow else self.buttons[self.mode]).setFocus()

    def _show_short(self, _checked: bool = True) -> None:
        button = next((each for each in self.buttons.values() if each.isChecked()), None)
        if button is None:  # between two modes
            return
        self.short.setText(button.text())
        self.short.setAccessibleName(button.accessibleName())
        self.short.setAccessibleDescription(button.accessibleDescription())
        self.short.setToolTip(button.toolTip())

    @property
    def mode(self) -> Mode:
        """The mode that is checked."""
        return next(mode for mode, button in self.buttons.items() if button.isChecked())

    def set_mode(self, mode: Mode) -> None:
        """Check a mode without telling anybody."""
        self.buttons[mode].setChecked(True)
        self._show_buttons()

    def set_unavailable(self, reasons: Mapping[Mode, str]) -> None:
        """Disable the modes that cannot run now; each reason is one sentence."""
        self._unavailable = dict(reasons)
        for mode, button in self.buttons.items():
            reason = self._unavailable.get(mode, "")
            button.setEnabled(not reason)
            button.setToolTip(
                hover(
                    reason
                    or translate("ModeSwitch", "{words} Press Ctrl+D for the next mode.").format(
                        words=translate("ModeSwitch", MODE_HELP[mode])
                    )
                )
            )
            button.setAccessibleDescription(reason or translate("ModeSwitch", MODE_HELP[mode]))
        self._show_buttons()
        self._show_short()

    def cycle(self) -> None:
        """Take the next mode that can run."""
        modes = list(Mode)
        start = modes.index(self.mode)
        for step in range(1, len(modes)):
            mode = modes[(start + step) % len(modes)]
            if mode not in self._unavailable and self.buttons[mode] in self._shown:
                self.set_mode(mode)
                self.chosen.emit(mode)
                return

    @property
    def reason(self) -> str:
        """Why a mode cannot run, in one line; empty where all can."""
        shown = [mode for mode, button in self.buttons.items() if button in self._shown]
        return " ".join(dict.fromkeys(reason for mode, reason in self._unavailable.items() if mode in shown))
