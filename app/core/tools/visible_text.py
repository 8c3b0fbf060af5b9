"""Separates the visible text of a streaming answer with tool calls: all text before the first call."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

from app.core.domain.thinking import split_thinking
from app.core.domain.tools.calls import CallTokens
from app.core.tools.interface import ToolDefinition
from app.core.tools.output import ToolCallPart
from app.core.tools.turn import find_call_marker, parts_of
from engine.records import LAST_SOURCES, TextChunk, TokenSpan, ToolFormat

MAX_MARK_CHARS = 100  # maximum length of a call's mark
VisiblePiece = tuple[str, tuple[TokenSpan, ...]]


class VisibleText:
    """Holds back possible calls, also unreadable ones that begin like ``tool_format``.

    ``raw``: the whole answer, including text of a continued answer that is already shown.
    """

    def __init__(self, definitions: Iterable[ToolDefinition], tool_format: ToolFormat, begun: str = "") -> None:
        self._format = tool_format
        self._searched, self._call_at = len(begun), -1  # offset of the first call in ``raw``; -1: none so far
        self._parts = parts_of(definitions)
        self.raw = begun
        self._num_shown = len(begun)
        self._num_said = 0
        self._has_called = False
        self._spans: list[TokenSpan] = []  # provenance of the held-back text
        self._starts: list[int] = []  # start offsets of all tokens in ``raw``
        self._tokens: list[tuple[bool, bool]] = []  # for each token: was it drafted, was it forced
        self._call_ends: list[int] = []  # end offsets of calls in ``raw``
        self._count(self._parts.feed(TextChunk(0, begun, ())) if begun else ())

    def feed(self, text: str, spans: Iterable[TokenSpan]) -> VisiblePiece:
        """Process a text chunk; returns the text that is certainly no call."""
        offset = len(self.raw)
        self.raw += text
        for span in spans:
            self._spans.append(span)
            self._starts.append(offset)
            self._tokens.append((span.source not in LAST_SOURCES, span.is_forced))
            offset += span.num_chars
        found = self._parts.feed(TextChunk(0, text, ()))
        self._count(found)
        self._call_ends += [len(self.raw)] * sum(isinstance(part, ToolCallPart) for part in found)
        return self._text_up_to(self._end_of_text())

    @property
    def num_held(self) -> int:
        """Number of characters that are held back."""
        return len(self.raw) - self._num_shown

    def tokens_of(self, number: int) -> CallTokens:
        """Numbers of tokens of a call by source; zeros if unknown.

        A call's tokens start at the end of the previous call and end at its own end, or with the answer for the
        last call.
        """
        begin = (
            self._end_of_text()
            if number == 0
            else self._call_ends[number - 1]
            if number <= len(self._call_ends)
            else None
        )
        if begin is None:
            return CallTokens()
        end = self._call_ends[number] if number + 1 < len(self._call_ends) else len(self.raw)
        own = self._tokens[bisect_left(self._starts, begin) : bisect_left(self._starts, end)]
        drafted, forced = (sum(one[offset] for one in own) for offset in (0, 1))
        is_shared = bool(own) and own[-1][0]  # the pass of the call's last token also made later tokens
        return CallTokens(len(own), drafted, forced, len(own) - drafted + is_shared)

    def rest(self) -> VisiblePiece:
        """The held-back text of an answer without calls."""
        return self._text_up_to(len(self.raw))

    def rest_of(self, said: str) -> str:
        """The text of an answer with calls that was not shown yet. ``said``: its whole text."""
        return said[max(0, self._num_shown - split_thinking(self.raw).answer_start) :]

    def _count(self, parts: Iterable[object]) -> None:
        """Advance the visible text up to the first call."""
        for part in parts:
            self._has_called = self._has_called or isinstance(part, ToolCallPart)
            if isinstance(part, str) and not self._has_called:
                self._num_said += len(part)

    def _end_of_text(self) -> int:
        split = split_thinking(self.raw)
        if split.opened and not split.closed:
            return len(self.raw)
        if self._call_at < 0:
            begin = max(split.answer_start, self._searched - MAX_MARK_CHARS)
            offset = find_call_marker(self.raw[begin:], self._format)
            first = self.raw[split.answer_start : split.answer_start + MAX_MARK_CHARS].lstrip()
            if offset is None and self._format is not ToolFormat.NONE and first.startswith("{"):  # an unmarked call
                if '"name"' not in first and len(first) < MAX_MARK_CHARS:
                    return split.answer_start
                begin, offset = (split.answer_start, 0) if '"name"' in first else (0, None)
            self._searched = len(self.raw)
            self._call_at = -1 if offset is None else begin + offset
        end = split.answer_start + self._num_said
        return end if self._call_at < 0 else min(end, self._call_at)

    def _text_up_to(self, end: int) -> VisiblePiece:
        begin, self._num_shown = self._num_shown, max(self._num_shown, end)
        text = self.raw[begin : self._num_shown]
        return text, tuple(self._take_spans(len(text))) if self._spans else ()

    def _take_spans(self, num_chars: int) -> list[TokenSpan]:
        """Remove and return the provenance of the first characters; a token at their end is split."""
        taken: list[TokenSpan] = []
        while self._spans and (num_chars or not self._spans[0].num_chars):
            span = self._spans.pop(0)
            if span.num_chars > num_chars:
                self._spans.insert(0, replace(span, num_chars=span.num_chars - num_chars))
                span = replace(span, num_chars=num_chars)
            num_chars -= span.num_chars
            taken.append(span)
        return taken
