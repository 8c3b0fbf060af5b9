"""Search results: a row for each chat title or message that matches."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit

from app.core.domain.conversations import SearchHit
from ui.text.language import translate
from ui.theme.theme import Theme
from ui.widgets.building import wrap_viewport
from ui.widgets.choice_list import Choice, ChoiceList

BEFORE_CHARS = 16  # of the text before the first match, so that the match is within a narrow row


def claims_escape(event: QEvent) -> bool:
    """Keep Esc from the window's shortcuts. Returns False for any other event."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.key() != Qt.Key.Key_Escape:
        return False
    event.accept()
    return True


class SearchBox(QLineEdit):
    """A search field that signals Enter, Down and Esc."""

    # Enter, Down, Esc
    result_chosen = Signal()
    down_pressed = Signal()
    search_left = Signal()

    def event(self, event: QEvent) -> bool:
        return claims_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.result_chosen.emit()
        elif event.key() == Qt.Key.Key_Down:
            self.down_pressed.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.search_left.emit()
        else:
            super().keyPressEvent(event)


def _key(hit: SearchHit) -> str:
    return f"{hit.conversation_id} {hit.message_id}"


def _choice(hit: SearchHit) -> Choice:
    title = hit.title + (" · " + translate("SearchResults", "archived") if hit.archived else "")
    return Choice(_key(hit), title, () if hit.message_id is None else (excerpt(hit.parts),))


def excerpt(parts: Sequence[tuple[str, bool]]) -> str:
    """The text of a hit, cut at the left so that its first match is near the beginning."""
    first = next((number for number, (_, found) in enumerate(parts) if found), 0)
    before, rest = ("".join(text for text, _ in some) for some in (parts[:first], parts[first:]))
    if len(before) > BEFORE_CHARS:
        before = "…" + before[-BEFORE_CHARS:].partition(" ")[2]
    return before + rest


class SearchResults(ChoiceList):
    # a conversation, its message or None, and the excerpt of the hit
    hit_chosen = Signal(int, object, object)
    # Up in the first row; Esc
    up_pressed = Signal()
    search_left = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, translate("SearchResults", "Search results"), pad=4)
        wrap_viewport(self)
        self.hits: list[SearchHit] = []
        self.clicked.connect(self._choose)
        self.opened.connect(lambda _key: self._choose(self.currentIndex()))

    def set_hits(self, hits: Sequence[SearchHit]) -> None:
        """Replace the results; the current row stays current if it still exists."""
        if list(hits) == self.hits:
            return
        row = self.currentIndex().row() if self.hasFocus() else -1
        self.hits = list(hits)
        self.set_rows([_choice(hit) for hit in hits])
        if row < 0:
            self.scrollToTop()
        elif not self.currentIndex().isValid() and hits:
            self.setCurrentIndex(self.rows.index(min(row, len(hits) - 1), 0))

    def choose_first(self) -> None:
        """Choose the first hit."""
        if self.hits:
            self._choose(self.rows.index(0, 0))

    def focus_first(self) -> None:
        if self.hits:
            self.setCurrentIndex(self.rows.index(0, 0))
            self.setFocus(Qt.FocusReason.TabFocusReason)

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            hit = self.hits[index.row()]
            self.hit_chosen.emit(hit.conversation_id, hit.message_id, hit.source or hit.parts)

    def event(self, event: QEvent) -> bool:
        """Handle Esc while the list has the focus."""
        return claims_escape(event) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= 0:
            self.up_pressed.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.search_left.emit()
        else:
            super().keyPressEvent(event)
