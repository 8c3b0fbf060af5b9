"""A hover over a marked token shows its pass."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QHelpEvent
from PySide6.QtWidgets import QToolTip, QWidget

from ui.transcript.cards.part import BodyPart
from ui.transcript.marks.pass_tip import pass_tip, pass_words
from ui.transcript.marks.provenance import PassView, SourceRuns, nearest_place, place_at


class PassHover(QObject):
    """Watches parts while their tokens are marked only: every one of their events would come by here."""

    def __init__(self, parent: QWidget, parts: Sequence[BodyPart]) -> None:
        super().__init__(parent)
        self._parts = parts
        self._raw, self._runs = "", SourceRuns()
        self._is_watching = False

    def set_provenance(self, raw: str, runs: SourceRuns, *, marked: bool) -> None:
        """What the tokens of the parts are, and whether any of them may be marked."""
        self._raw, self._runs = raw, runs
        watched, self._is_watching = self._is_watching, marked
        for part in self._parts if marked != watched else ():
            self.watch(part)

    def watch(self, part: BodyPart) -> None:
        """Begin or end to see what happens to a part, as it is with the others."""
        viewport = part.view.viewport()
        (viewport.installEventFilter if self._is_watching else viewport.removeEventFilter)(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._is_watching:
            for part in self._parts:
                if part.view.viewport() is watched:
                    self._show_tip(part, event)
                    return True
        return super().eventFilter(watched, event)

    def _show_tip(self, part: BodyPart, event: QHelpEvent) -> None:
        view = part.view
        cursor = view.cursorForPosition(event.pos())
        # A cursor stands between characters: the one before it is under the pointer where the pointer is left of it.
        position = cursor.position() - (1 if event.pos().x() < view.cursorRect(cursor).x() else 0)
        found = _pass_at(place_at(view.toPlainText(), part.source_map, position), self._raw, self._runs)
        if found is None:
            QToolTip.hideText()
            return
        QToolTip.showText(event.globalPos(), pass_tip(found), view)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, pass_words(found)))

    def pass_at_caret(self, view: QWidget, raw: str, runs: SourceRuns) -> PassView | None:
        """The pass of the token at the caret of one of the views, or of the nearest one on its line."""
        part = next((part for part in self._parts if part.view is view), None)
        if part is None:
            return None
        place = nearest_place(part.view.toPlainText(), part.source_map, part.view.textCursor().position())
        return _pass_at(place, raw, runs)


def _pass_at(place: int | None, raw: str, runs: SourceRuns) -> PassView | None:
    """The pass of the token at a place of the text; None where that is not known."""
    return None if place is None or len(runs.sources) != len(raw) else runs.pass_at(raw, place)
