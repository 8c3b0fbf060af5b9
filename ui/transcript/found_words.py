"""Reveals and marks the words of a search hit in a message."""

import re
from collections.abc import Iterable, Iterator

from PySide6.QtCore import QRegularExpression
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.core.domain.thinking import split_thinking
from app.core.domain.unspaced import any_word_pattern
from ui.theme.palette import Palette
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.body import AnswerBody
from ui.transcript.cards.card import MessageCard
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.prose_view import ProseView
from ui.transcript.cards.reasoning_block import ReasoningBlock
from ui.transcript.cards.tool_card import ToolCard
from ui.transcript.cards.user_card import UserCard

HitPieces = tuple[tuple[str, bool], ...]
TINT_ALPHA = 110
FOUND_PROPERTY = QTextFormat.Property.UserProperty.value + 11
CURRENT_PROPERTY = FOUND_PROPERTY + 1
View = QTextEdit | QPlainTextEdit


class FoundWords:
    """The words of a search hit. ``parts``: the pieces of its excerpt, and whether each piece is a match."""

    def __init__(self, parts: HitPieces) -> None:
        words = {piece for piece, found in parts if found}
        self._pattern = any_word_pattern(words, whole=True)
        before, excerpt = "", "".join(text for text, _ in parts)
        for text, found in parts:
            if found:
                break
            before += text
        self._excerpt = excerpt.strip("… ")
        self._first = len(before) - (len(excerpt) - len(excerpt.lstrip("… ")))

    def __bool__(self) -> bool:
        return bool(self._pattern)

    def open(self, card: MessageCard) -> bool:
        if isinstance(card, ToolCard | UserCard):
            card.set_open(True)
            return True
        if not isinstance(card, AnswerCard) or card.reasoning is None or not self._match_position(card)[0]:
            return True
        card.reasoning.set_open(True)
        return not card.reasoning.is_building

    def mark(self, card: MessageCard, tokens: Palette) -> tuple[View, QTextCursor] | None:
        in_reasoning, number = self._match_position(card)
        for view in _views(card):
            _show(view, self._cursors(view), tokens)
        reasoning = _views(card.reasoning) if isinstance(card, AnswerCard) and card.reasoning is not None else []
        words = _views(card)[len(reasoning) :]
        for views in (reasoning, words) if in_reasoning else (words, reasoning):
            found = [(view, cursor) for view in views for cursor in self._cursors(view)]
            if found:
                return found[min(number, len(found) - 1)]
        return None

    def _cursors(self, view: View) -> Iterator[QTextCursor]:
        options = QRegularExpression.PatternOption
        flags = options.CaseInsensitiveOption | options.UseUnicodePropertiesOption
        pattern = QRegularExpression(self._pattern, flags)
        found = view.document().find(pattern, 0)
        while not found.isNull():
            yield found
            found = view.document().find(pattern, found)

    def _match_position(self, card: MessageCard) -> tuple[bool, int]:
        """Whether the excerpt is in the reasoning, and how many matches precede it in that part."""
        raw = card.raw_text if isinstance(card, AnswerCard) else card.text
        line = _as_one_line(raw)
        starts = [found.start() for found in re.finditer(self._pattern, line, re.IGNORECASE)]
        at = line.find(self._excerpt)
        place = at + self._first if at >= 0 else next(iter(starts), 0)
        split = split_thinking(raw)
        words_at = len(_as_one_line(raw[: split.reasoning_end])) if isinstance(card, AnswerCard) and split.opened else 0
        in_reasoning = place < words_at
        return in_reasoning, sum((0 if in_reasoning else words_at) <= start < place for start in starts)


def _show(view: View, cursors: Iterable[QTextCursor], tokens: Palette) -> None:
    """Mark these ranges in addition to other marks; an empty ``cursors`` removes the marks."""
    others = [one for one in view.extraSelections() if not one.format.hasProperty(FOUND_PROPERTY)]
    color = QColor(tokens.accent)
    color.setAlpha(TINT_ALPHA)
    found = [_selection(cursor, color, tokens.text) for cursor in cursors]
    if found or len(others) != len(view.extraSelections()):
        view.setExtraSelections([*others, *found])


def mark_current(view: View, cursor: QTextCursor, tokens: Palette) -> None:
    """Fill the current match with the accent colour, in place of its mark."""
    current = _selection(cursor, QColor(tokens.accent), tokens.on_accent)
    current.format.setProperty(CURRENT_PROPERTY, True)
    others = [one for one in view.extraSelections() if one.cursor != cursor]
    view.setExtraSelections([*others, current])


def _selection(cursor: QTextCursor, background: QColor, text: str) -> QTextEdit.ExtraSelection:
    selection = QTextEdit.ExtraSelection()
    selection.cursor = cursor
    selection.format = QTextCharFormat()
    selection.format.setBackground(background)
    selection.format.setForeground(QColor(text))
    selection.format.setFontUnderline(True)  # not by colour alone, for accessibility
    selection.format.setProperty(FOUND_PROPERTY, True)
    return selection


def forget_found(cards: Iterable[MessageCard], tokens: Palette) -> None:
    for card in cards:
        for view in _views(card):
            _show(view, (), tokens)


def _views(part: QWidget) -> list[View]:
    if isinstance(part, UserCard):
        return [each.view for each in part.parts]
    if isinstance(part, ToolCard):
        return [] if part.details is None else [part.details]
    if isinstance(part, AnswerCard):
        reasoning = [] if part.reasoning is None else _views(part.reasoning)
        return [*reasoning, *_views(part.body)]
    if isinstance(part, ReasoningBlock):
        return [] if part.body is None else _views(part.body)
    if isinstance(part, AnswerBody):
        return [one.view if isinstance(one, CodeBlock) else one for one in part.segments]
    return [part] if isinstance(part, ProseView) else []


def _as_one_line(text: str) -> str:
    return " ".join(text.split())
