"""The switch in the header that marks tokens by their source: all that speculation gave, or none."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QAbstractButton

from engine.records import Source
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton


class SourceSwitch(IconButton):
    """Turns the rows of a legend on and off together, and follows them where one is turned alone.

    What the target drew alone stays unmarked: its row of the legend is left as it is, and counts for nothing here.
    Rejected tokens, which ``refused`` shows, go with the marks; they do not come with them.
    """

    def __init__(self, theme: Theme, legend: Mapping[Source, QAbstractButton], refused: QAbstractButton) -> None:
        super().__init__(theme, "highlighter", translate("SourceSwitch", "Mark tokens by source (Ctrl+Shift+M)"))
        self.setCheckable(True)
        self._refused = refused
        self._rows = [row for source, row in legend.items() if source is not Source.TARGET]
        for row in self._rows:
            row.toggled.connect(self._follow)
        self.clicked.connect(self._turn)

    def _turn(self, wanted: bool) -> None:
        changed = [row for row in self._rows if row.isChecked() is not wanted]
        for row in changed[:-1]:
            with QSignalBlocker(row):  # the answers are marked once, not row by row
                row.setChecked(wanted)
        for row in changed[-1:]:
            row.setChecked(wanted)
        if not wanted:
            self._refused.setChecked(False)

    def _follow(self) -> None:
        is_any = any(row.isChecked() for row in self._rows)
        self.setChecked(is_any)
        self.set_marked(is_any)
