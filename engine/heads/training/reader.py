"""Reads texts through the target, as llama.cpp computes it, and keeps its normed last rows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from engine.errors import PromptError
from engine.heads.training.samples import Reading, Rows
from engine.interfaces import TokenIds
from engine.llama.context import MAX_ROWS, LlamaContext
from engine.llama.hidden_rows import FinalRows
from engine.loading.loading import LoadedModel
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import Message

MOST_TOKENS = 1024  # of a text; what follows is left out
LEAST_TOKENS = 16  # of what is kept of one
Text = tuple[Message, ...] | str  # a conversation, or words that nobody says


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """``ids`` of a text; what is kept begins with the place before ``start``, where the first answer does."""

    ids: tuple[int, ...]
    start: int


def tokenized(text: Text, prompts: PromptBuilder, end: int | None) -> TokenizedText | None:
    """A text as the target reads it, ``end`` behind its last answer; None where too little of it would be kept.

    None also where the chat template refuses it.
    """
    if isinstance(text, str):
        ids, start = prompts.tokens_of(text, special=False, add_bos=True), 1
    else:
        answers = [i for i, one in enumerate(text) if i and one.role == "assistant"]
        if not answers:
            return None
        try:
            ids, before = prompts.build(text[: answers[-1] + 1]), prompts.build(text[: answers[0]])
        except PromptError:
            return None
        ids = ids if end is None else [*ids, end]
        start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ids, before, strict=False)))
    ids = ids[:MOST_TOKENS]
    return TokenizedText(tuple(ids), start) if len(ids) - start >= LEAST_TOKENS else None


class _AllRows:
    """Implements `engine.llama.context.RowTap`: every pass gives the rows of all its tokens."""

    def __init__(self, context: LlamaContext) -> None:
        self.rows = FinalRows(context.handle)

    def prepare(self, *, is_whole: bool) -> bool:
        """See `RowTap.prepare`."""
        self.rows.switch(on=is_whole)
        return is_whole

    def take(self, past: int, count: int) -> None:
        """See `RowTap.take`: they are asked for at once."""

    def forget(self) -> None:
        """See `RowTap.forget`."""


class TextReader:
    """Reads with a loaded target whose cache is free."""

    def __init__(self, target: LoadedModel, width: int) -> None:
        self._context, self._width = target.context, width
        self._tap = _AllRows(target.context)

    def read(self, text: TokenizedText) -> Reading:
        """The rows of one text, from before its first answer on.

        Raises:
            DecodeError: a pass failed.
        """
        context, first = self._context, max(text.start - 1, 0)
        context.tap = None
        self._tap.rows.switch(on=False)
        context.clear()
        parts = list[Rows]()
        for begin in range(0, first, MAX_ROWS):
            context.forward(text.ids[begin : min(begin + MAX_ROWS, first)], 0)
        context.tap = self._tap
        for begin in range(first, len(text.ids), MAX_ROWS):
            parts.append(self._pass(text.ids[begin : begin + MAX_ROWS]))
        context.tap = None
        self._tap.rows.switch(on=False)
        return Reading(np.array(text.ids, dtype=np.int32), np.concatenate(parts), first)

    def _pass(self, ids: Sequence[int]) -> Rows:
        given: TokenIds = ids
        self._context.forward(given, len(ids))
        rows = [self._tap.rows.copy(place, self._width) for place in range(len(ids))]
        return np.array([np.zeros(self._width) if row is None else row for row in rows], dtype=np.float16)
