"""Splits a streaming chat answer into reasoning, text and tool calls, and separates its visible text."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType

from app.core.domain.thinking import split_thinking
from app.core.tools.interface import ToolDefinition
from app.core.tools.output import OutputPart, ToolOutput
from engine.records import TextChunk, TokenSpan, ToolCall, ToolFormat
from engine.tools.formats import SYNTAXES
from engine.tools.reading import Schemas

MAX_MARK_CHARS = 100  # maximum length of a call's mark
VisiblePiece = tuple[str, tuple[TokenSpan, ...]]


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """A chunk of reasoning, without its tags."""

    text: str


Part = ReasoningPart | OutputPart


class AnswerParts:
    """Reads an answer chunk by chunk. Reasoning is recognized at the beginning only."""

    def __init__(
        self,
        tool_names: frozenset[str] = frozenset(),
        schemas: Schemas = MappingProxyType({}),
        *,
        streams: bool = False,
    ) -> None:
        """``schemas``: of the tools' parameters. ``streams``: calls are returned in parts while they stream."""
        self._start_tag = ""  # the reasoning tag that the prompt ends with
        self._tools = ToolOutput(tool_names, schemas, streams=streams) if tool_names else None
        self._raw = ""
        self._starts: list[int] = []  # start offsets of tokens in the text
        self._num_reasoning_chars = self._num_answer_chars = 0  # numbers of characters that were returned
        self._is_plain = False  # True if the answer does not begin with reasoning
        self._answer_from: int | None = None  # offset where the reasoning ends; None without reasoning

    @property
    def num_calls(self) -> int:
        return 0 if self._tools is None else self._tools.num_calls

    @property
    def num_reasoning_tokens(self) -> int:
        """Number of tokens of the reasoning so far, with tags."""
        if not self._num_reasoning_chars:
            return 0
        return len(self._starts) if self._answer_from is None else bisect_left(self._starts, self._answer_from)

    def feed(self, chunk: TextChunk) -> list[Part]:
        """Process a text chunk; returns the parts that are certain."""
        text = chunk.text
        self._start_tag = self._start_tag or chunk.reasoning_start_tag
        if self._is_plain:
            return self._text_parts(text)
        place = len(self._raw)
        for span in chunk.spans:
            self._starts.append(place)
            place += span.num_chars
        self._raw += text
        return self._advance(is_end=False) if self._is_opened(is_end=False) else []

    def flush(self) -> list[Part]:
        """Return the remaining parts at the end of the answer."""
        self._is_opened(is_end=True)
        parts = [] if self._is_plain else self._advance(is_end=True)
        return parts if self._tools is None else [*parts, *self._tools.flush()]

    def _is_opened(self, *, is_end: bool) -> bool:
        """Prepend the prompt's reasoning tag unless the model repeats it; False if that is not certain yet."""
        tag, text = self._start_tag.strip(), self._raw.lstrip()
        if not tag or text.startswith(tag):
            self._start_tag = ""
            return True
        if tag.startswith(text) and not is_end:
            return False
        self._raw = self._start_tag + self._raw
        self._starts = [len(self._start_tag) + start for start in self._starts]
        self._start_tag = ""
        return True

    def _advance(self, *, is_end: bool) -> list[Part]:
        split = split_thinking(self._raw, final=is_end)
        thought, said = split.shown_reasoning(self._raw), split.answer(self._raw)
        new_thought, new_said = thought[self._num_reasoning_chars :], said[self._num_answer_chars :]
        self._num_reasoning_chars, self._num_answer_chars = len(thought), len(said)
        if split.opened and split.closed:
            self._answer_from = split.answer_start
        self._is_plain = bool(said) and not split.opened and split.answer_start == 0
        return [*([ReasoningPart(new_thought)] if new_thought else []), *self._text_parts(new_said)]

    def _text_parts(self, text: str) -> list[Part]:
        if self._tools is not None:
            return list(self._tools.feed(text))
        return [text] if text else []


def parts_of(definitions: Iterable[ToolDefinition]) -> AnswerParts:
    """A reader for a streaming answer."""
    schemas = {one.name: one.parameters for one in definitions}
    return AnswerParts(frozenset(schemas), schemas)


def find_call_marker(text: str, tool_format: ToolFormat) -> int | None:
    """The offset of the first mark of a call in the model's own form; None without one."""
    if tool_format is ToolFormat.NONE:
        return None
    syntax = SYNTAXES[tool_format]
    marks = (mark for mark in (syntax.mark, *syntax.other_marks) if mark)
    return min((offset for mark in marks if (offset := text.find(mark)) >= 0), default=None)


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
        self._count(self._parts.feed(TextChunk(0, begun, ())) if begun else ())

    def feed(self, text: str, spans: Iterable[TokenSpan]) -> VisiblePiece:
        """Process a text chunk; returns the text that is certainly no call."""
        self.raw += text
        self._spans += spans
        self._count(self._parts.feed(TextChunk(0, text, ())))
        return self._text_up_to(self._end_of_text())

    @property
    def num_held(self) -> int:
        """Number of characters that are held back."""
        return len(self.raw) - self._num_shown

    def rest(self) -> VisiblePiece:
        """The held-back text of an answer without calls."""
        return self._text_up_to(len(self.raw))

    def rest_of(self, said: str) -> str:
        """The text of an answer with calls that was not shown yet. ``said``: its whole text."""
        return said[max(0, self._num_shown - split_thinking(self.raw).answer_start) :]

    def _count(self, parts: Iterable[object]) -> None:
        """Advance the visible text up to the first call."""
        for part in parts:
            self._has_called = self._has_called or isinstance(part, ToolCall)
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
