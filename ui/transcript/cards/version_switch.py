"""`‹ 2 of 3 ›`: the shown version of a message, with arrows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget

from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import hbox, label
from ui.widgets.icon_button import IconButton

ARROW_INSET_PX = 9  # from the edge of a button to its arrow: border, padding, and the rim of the icon
LABEL_GAP_PX = 3


class VersionSwitch(QWidget):
    """Always visible if there are versions.

    ``pressed_by_key``: whether an arrow was last pressed by key or by pointer.

    Signals:
        wanted(int): the id of the version to show.
    """

    wanted = Signal(int)

    def __init__(self, theme: Theme, versions: Sequence[int], current: int) -> None:
        super().__init__()
        self.setObjectName("versionSwitch")
        self._versions = tuple(versions)
        self._at = self._versions.index(current)
        self.pressed_by_key = False
        self.back = IconButton(
            theme, "chevron-left", translate("VersionSwitch", "Previous version (Alt+Left)"), partial(self.step, -1)
        )
        self.forth = IconButton(
            theme, "chevron-right", translate("VersionSwitch", "Next version (Alt+Right)"), partial(self.step, 1)
        )
        self.label = label(
            translate("VersionSwitch", "{number} of {total}").format(number=self._at + 1, total=len(self._versions)),
            "caption",
        )
        self.label.setContentsMargins(LABEL_GAP_PX, 0, LABEL_GAP_PX, 0)  # off the rings of the buttons
        self.label.setFont(theme.font(-1))
        self.label.setAccessibleName(
            translate("VersionSwitch", "Version {number} of {total}").format(
                number=self._at + 1, total=len(self._versions)
            )
        )
        self.back.setEnabled(self._at > 0)
        self.forth.setEnabled(self._at + 1 < len(self._versions))
        for arrow in (self.back, self.forth):
            arrow.installEventFilter(self)
        hbox(self.back, self.label, self.forth, parent=self, margins=0, spacing=0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Record how an arrow was pressed, to keep the focus on it."""
        if event.type() in (QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress):
            self.pressed_by_key = event.type() == QEvent.Type.KeyPress
        return super().eventFilter(watched, event)

    def step(self, by: int) -> None:
        """Request the previous (-1) or next (1) version, if any."""
        if 0 <= self._at + by < len(self._versions):
            self.wanted.emit(self._versions[self._at + by])
