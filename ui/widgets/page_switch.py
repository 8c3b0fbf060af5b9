"""A segmented switch, such as the pages of a panel."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QToolButton

from ui.widgets.building import hbox


class PageSwitch(QFrame):
    """The first is chosen initially; click or arrow keys choose another.

    Signals:
        chosen(object): the key of the user's choice.
    """

    chosen = Signal(object)

    def __init__(
        self, name: str, choices: Sequence[tuple[Hashable, str]], *, spoken: str = "{page}", stretch: int = 0
    ) -> None:
        """``choices``: keys and words, ``spoken``: their accessible names."""
        super().__init__()
        self.setObjectName("pageSwitch")
        self.setAccessibleName(name)
        group = QButtonGroup(self)
        self.buttons: dict[Hashable, QToolButton] = {}
        for key, words in choices:
            self.buttons[key] = made = QToolButton()
            made.setText(words)
            made.setAccessibleName(spoken.format(page=words))
            made.setCheckable(True)
            made.setChecked(len(self.buttons) == 1)
            made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            made.setCursor(Qt.CursorShape.PointingHandCursor)
            made.clicked.connect(lambda _checked=False, key=key: self.chosen.emit(key))
            group.addButton(made)
        hbox(*((made, stretch) for made in self.buttons.values()), parent=self, margins=0, spacing=0)
