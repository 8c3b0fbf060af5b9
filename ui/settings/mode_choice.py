"""The mode as a list to choose from, where its cards would be too tall: what the chosen one does, needs and costs.

The same words as on the cards stand beside the list, and on hover of each of its lines.
"""

from __future__ import annotations

from PySide6.QtCore import Qt

from engine.records import Mode
from ui.settings.rows import ChoiceRow
from ui.text.formatting import hover
from ui.text.mode_words import mode_words, not_now


class ModeChoiceRow(ChoiceRow):
    """One of the modes."""

    def _show_reason(self) -> None:
        self.help.setTextFormat(Qt.TextFormat.PlainText)  # a reason may quote what a file says
        for place in range(self.combo.count()):
            lines = self._lines(place)
            self.combo.setItemData(place, hover("\n".join(lines)), Qt.ItemDataRole.ToolTipRole)
            if place == self.combo.currentIndex():
                self.help.setText("\n".join(lines))
                self.combo.setAccessibleDescription(" ".join(lines))

    def _lines(self, place: int) -> tuple[str, ...]:
        value = str(self.combo.itemData(place))
        lines = mode_words(Mode(value)).lines
        reason = not_now(self._reasons.get(value, ""))
        return (*lines, reason) if reason else lines
