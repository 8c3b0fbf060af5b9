"""The key that shows the pass of the token at the caret of an answer, as a hover does; the tip follows the caret."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextEdit, QToolTip
from shiboken6 import isValid

from ui.text.language import mark, translate
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.marks.pass_tip import pass_tip, pass_words
from ui.transcript.marks.provenance import PassView
from ui.transcript.text_caret import show_caret, texts_of
from ui.transcript.transcript import Transcript
from ui.widgets.commands import CHAT, Commands

KEPT_MS = 600_000  # who reads by keyboard sends it away by keyboard
BELOW_PX = 4


class PassKeys(QObject):
    """Lives as long as its transcript."""

    def __init__(self, transcript: Transcript, commands: Commands) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._view: QTextEdit | QPlainTextEdit | None = None  # above which a pass is shown
        self._announced: PassView | None = None
        words = mark("Commands", "Show details of the pass at the cursor")
        commands.add(CHAT, words, "Ctrl+I", self.show_pass)
        commands.describe(CHAT, mark("Commands", "Move the cursor through the messages"), ("Up", "Down"))

    def show_pass(self) -> None:
        """Show the pass at the caret; from elsewhere, put the caret into the last answer first."""
        view = self._focused() or self._last_text()
        if view is None:
            return
        if not view.hasFocus():
            view.setFocus(Qt.FocusReason.ShortcutFocusReason)
            show_caret(self._transcript, view)
        if view is not self._view:
            self._leave()
            self._view = view
            view.cursorPositionChanged.connect(self._follow)
            view.installEventFilter(self)
        self._announced = None
        self._show(view)

    def _follow(self) -> None:
        """The caret moved while a pass was shown."""
        view = self._view
        if view is not None and view.hasFocus() and QToolTip.isVisible():
            self._show(view)
        else:
            self._leave()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._view and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if not QToolTip.isVisible():
                return False
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self._leave()
                QToolTip.hideText()
            return True
        return False

    def _leave(self) -> None:
        view, self._view = self._view, None
        if view is not None and isValid(view):
            view.cursorPositionChanged.disconnect(self._follow)
            view.removeEventFilter(self)

    def _show(self, view: QTextEdit | QPlainTextEdit) -> None:
        card = self._card_of(view)
        found = card.pass_at_caret(view) if card is not None else None
        none = translate("PassKeys", "No pass is recorded here.")
        place = view.viewport().mapToGlobal(view.cursorRect().bottomLeft())
        place.setY(place.y() + BELOW_PX)
        QToolTip.showText(place, none if found is None else pass_tip(found), view, QRect(), KEPT_MS)
        if found is None or found != self._announced:
            said = none if found is None else pass_words(found)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, said))
        self._announced = found

    def _focused(self) -> QTextEdit | QPlainTextEdit | None:
        focus = QApplication.focusWidget()
        is_text = isinstance(focus, QTextEdit | QPlainTextEdit)
        return focus if is_text and self._card_of(focus) is not None else None  # type: ignore[return-value, arg-type]

    def _card_of(self, view: QTextEdit | QPlainTextEdit) -> AnswerCard | None:
        cards = (card for card in self._transcript.cards if isinstance(card, AnswerCard))
        return next((card for card in cards if view in texts_of(card)), None)

    def _last_text(self) -> QTextEdit | QPlainTextEdit | None:
        answer = self._transcript.last_answer()
        texts = texts_of(answer) if answer is not None else []
        return texts[0] if texts else None
