"""Splits a streaming chat answer into reasoning, text and tool calls."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from types import MappingProxyType

from app.core.domain.thinking import split_thinking
from app.core.tools.output import OutputPart, ToolOutput
from engine.records import TextChunk
from engine.tools.reading import Schemas


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
