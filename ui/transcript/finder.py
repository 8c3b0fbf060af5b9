"""Finds words in all messages of the open chat, also in folded reasoning and recycled cards.

Searches the text as shown, without Markdown marks, a few messages per event loop iteration.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QHideEvent,
    QKeyEvent,
    QTextDocument,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel

from app.core.domain.thinking import split_thinking
from ui.conversations.search_results import SearchBox
from ui.markdown.blocks import BlockStream
from ui.markdown.html_writer import FORMULA_IMAGE, formula_source
from ui.text.formatting import count
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.user_card import shown_text
from ui.transcript.found_words import FoundWords, forget_found, mark_current
from ui.transcript.transcript import Transcript
from ui.widgets.icon_button import IconButton

tr = Translator("FindBar")

SLICE_S = 0.008
PAUSE_MS = 120  # a pause in typing starts the search


@dataclass(frozen=True, slots=True)
class TextMatch:
    """The ``number``-th match in a message's reasoning or text."""

    message_id: int
    in_reasoning: bool
    number: int


class FoundText(FoundWords):
    def __init__(self, pattern: str, match: TextMatch) -> None:
        super().__init__(())
        self._pattern, self._match = pattern, match

    def _match_position(self, card: MessageCard) -> tuple[bool, int]:
        has_reasoning = isinstance(card, AnswerCard) and card.reasoning is not None
        return self._match.in_reasoning and has_reasoning, self._match.number


class ChatFinder(QObject):
    """Searches the page and marks the matches."""

    changed = Signal(int, int)  # number of the current match (from 1, else 0), and of all matches; -1 while counting

    def __init__(self, theme: Theme, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._theme, self._transcript = theme, transcript
        self._pattern = ""
        self._matches: list[TextMatch] = []
        self._current = -1
        self._step_wanted = 0
        self._words: dict[int, tuple[str, str, str]] = {}  # by message id: stored text, reasoning, visible text
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._count)
        self._scan: Iterator[None] | None = None
        transcript.jump_finished.connect(lambda _id: self._mark())
        transcript.card_restored.connect(self._mark_card)

    @property
    def is_active(self) -> bool:
        return bool(self._pattern)

    def search(self, text: str) -> None:
        """Mark all matches, ignoring case, and go to the first one from the visible part on."""
        self._clear_marks()
        words = text.split()
        self._pattern = "[^\\S\n\u2028]+".join(map(re.escape, words))
        self._step_wanted = 0
        self._begin()

    def step(self, by: int) -> None:
        """Go to the next (1) or previous (-1) match, cyclically."""
        if self._pattern:
            self._step_wanted += by
            self._begin()  # messages may have been added

    def end_search(self) -> None:
        self._timer.stop()
        self._pattern, self._matches, self._current, self._scan = "", [], -1, None
        self._words.clear()
        self._clear_marks()

    def _begin(self) -> None:
        if not self._pattern:
            self._matches, self._current = [], -1
            self._timer.stop()
            self.changed.emit(0, 0)
            return
        self._scan = self._read()
        self._count()

    def _read(self) -> Iterator[None]:
        changed = [entry for entry in self._transcript.texts() if self._words.get(entry[0], ("",))[0] != entry[1]]
        while changed:
            for message_id, raw, is_answer in changed:
                self._words[message_id] = (raw, *_shown(raw, is_answer=is_answer))
                yield
            changed = [
                entry for entry in self._transcript.texts() if entry[0] not in self._words
            ]  # messages that were added meanwhile

    def _count(self) -> None:
        until = time.thread_time() + SLICE_S
        while self._scan is not None:
            if next(self._scan, self) is self:
                self._scan = None
            elif time.thread_time() > until:
                self.changed.emit(0, -1)
                self._timer.start()
                return
        before = self._matches[self._current] if 0 <= self._current < len(self._matches) else None
        pattern = re.compile(self._pattern, re.IGNORECASE)
        self._matches = [
            TextMatch(message_id, in_reasoning, number)
            for message_id, _raw, _is_answer in self._transcript.texts()
            for in_reasoning, text in zip((True, False), self._words[message_id][1:], strict=True)
            for number, _found in enumerate(pattern.finditer(text))
        ]
        self._choose_match(before)

    def _choose_match(self, before: TextMatch | None) -> None:
        num, wanted = len(self._matches), self._step_wanted
        self._step_wanted = 0
        if not num:
            self._current = -1
            self.changed.emit(0, 0)
            return
        if wanted and before in self._matches:
            self._current = (self._matches.index(before) + wanted) % num
        else:
            seen = self._transcript.first_visible_message()
            ids = [message_id for message_id, *_ in self._transcript.texts()]
            later = set(ids[ids.index(seen) :]) if seen in ids else set(ids)
            self._current = next((at for at, one in enumerate(self._matches) if one.message_id in later), 0)
        self.changed.emit(self._current + 1, num)
        match = self._matches[self._current]
        self._transcript.go_to_words(match.message_id, FoundText(self._pattern, match))

    def _mark(self) -> None:
        if self._pattern and 0 <= self._current < len(self._matches):
            for card in self._transcript.cards:
                self._mark_card(card)

    def _mark_card(self, card: MessageCard) -> None:
        if not (self._pattern and 0 <= self._current < len(self._matches)):
            return
        match = self._matches[self._current]
        is_current = card.message_id == match.message_id
        here = match if is_current else TextMatch(card.message_id, in_reasoning=False, number=0)
        found = FoundText(self._pattern, here).mark(card, self._theme.tokens)
        if is_current and found is not None:
            mark_current(*found, self._theme.tokens)

    def _clear_marks(self) -> None:
        self._transcript.forget_found()
        forget_found(self._transcript.cards, self._theme.tokens)


def plain_text(markdown: str) -> str:
    """The text of Markdown as its views contain it; formulas as their source."""
    stream, document, words = BlockStream(), QTextDocument(), ""
    for block in stream.feed(markdown) + stream.finish():
        if block.is_code:
            words += block.code.rstrip("\n") + "\n\n"
            continue
        document.setHtml(FORMULA_IMAGE.sub(lambda found: escape(formula_source(found[1])), block.html))
        words += document.toPlainText().strip() + ("\n" if block.has_more else "\n\n")
    return words.removesuffix("\n\n")


def _shown(raw: str, *, is_answer: bool) -> tuple[str, str]:
    """Reasoning and answer as the page shows them."""
    if not is_answer:
        return "", shown_text(raw)
    split = split_thinking(raw)
    return plain_text(split.shown_reasoning(raw)) if split.opened else "", plain_text(split.answer(raw))


class FindBox(SearchBox):
    """The search field."""

    escape_pressed = Signal()  # Shift+Enter was pressed

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.escape_pressed.emit()
        else:
            super().keyPressEvent(event)


class FindBar(QFrame):
    """The search bar, hidden until requested."""

    closed = Signal()  # the bar was closed while it had the focus

    def __init__(self, theme: Theme, transcript: Transcript) -> None:
        super().__init__()
        self.setObjectName("findBar")
        self.setAccessibleName(tr("Find in this chat"))
        self.finder = ChatFinder(theme, transcript)
        self.edit = FindBox()
        self.edit.setPlaceholderText(tr("Find in this chat"))
        self.edit.setAccessibleName(tr("Find in this chat"))
        self.edit.setMaximumWidth(360)
        self.number = QLabel()
        self.number.setProperty("kind", "caption")
        self.back_button = IconButton(theme, "arrow-up", tr("Previous match (Shift+F3)"))
        self.next_button = IconButton(theme, "arrow-down", tr("Next match (F3)"))
        self.close_button = IconButton(theme, "x", tr("Close (Esc)"))
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 12, 6)
        row.setSpacing(8)
        row.addWidget(self.edit, 10)
        row.addWidget(self.number)
        row.addStretch(1)
        for button in (self.back_button, self.next_button, self.close_button):
            row.addWidget(button)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(lambda: self.finder.search(self.edit.text()))
        self.edit.textChanged.connect(lambda _text: self._pause.start())
        self.edit.result_chosen.connect(lambda: self.step(1))
        self.edit.escape_pressed.connect(lambda: self.step(-1))
        self.edit.search_left.connect(self.close_bar)
        self.next_button.clicked.connect(lambda: self.step(1))
        self.back_button.clicked.connect(lambda: self.step(-1))
        self.close_button.clicked.connect(self.close_bar)
        self.finder.changed.connect(self._show_number)
        self.hide()

    def open(self) -> None:
        was_hidden = self.isHidden()
        self.show()
        self.edit.setFocus()
        self.edit.selectAll()
        if was_hidden and self.edit.text():
            self._pause.start()

    def step(self, by: int) -> None:
        """Go to another match; text that was just typed is searched first."""
        if self.isHidden():
            self.open()
        elif self._pause.isActive():
            self._pause.stop()
            self.finder.search(self.edit.text())
        else:
            self.finder.step(by)

    def close_bar(self) -> bool:
        """Close the bar; False if it was closed already."""
        if self.isHidden():
            return False
        self.hide()
        self.closed.emit()
        return True

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self.isHidden():
            self._pause.stop()
            self.finder.end_search()

    def _show_number(self, current: int, num: int) -> None:
        words = ""
        if num < 0:
            words = tr("Reading the chat…")
        elif num:
            words = tr("{number} of {total}").format(number=count(current), total=count(num))
        elif self.edit.text().strip():
            words = tr("Nothing found")
        for button in (self.back_button, self.next_button):
            button.setEnabled(num > 0)
        if words != self.number.text():
            self.number.setText(words)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))
